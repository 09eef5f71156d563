"""`./lfd plan` as a user runs it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from lfd_bringup import plan
from lfd_bringup.commands import handler, parse
from lfd_bringup.home.faults import Fault
from lfd_planner.mtdf import task_file
from lfd_planner.solution_file import PlanningError, read_solution

FAR_AWAY = ('5', '0', '0', '0', '0', '0')


def arguments(*more: object, robot: str = 'ur5e', scene: object = 'seed_cell') -> argparse.Namespace:
    task = str(task_file('stack_boxes'))
    return parse(['plan', '--robot', robot, '--scene', str(scene), '--task', task, *map(str, more)])


def run(given: argparse.Namespace) -> int:
    return handler(given)(given)


def test_a_plan_is_written_as_the_contract_says(tmp_path: Path) -> None:
    out = tmp_path / 'out.json'
    assert run(arguments('--json', out, '--seed', 2)) == 0
    data = json.loads(out.read_text(encoding='utf-8'))
    assert data['robot'] == 'ur5e'
    assert len(data['joint_names']) == 6
    assert set(data['points'][0]) == {'t', 'q', 'v'}
    assert [len(point['q']) for point in data['points'][:3]] == [6, 6, 6]
    assert {'name', 'keyframe', 'first', 'last', 'attach', 'detach'} <= set(data['segments'][0])
    assert data['segments'][-1]['last'] == len(data['points']) - 1
    assert data['planning_time'] > 0.0
    assert data['seed'] == 2


def test_a_failure_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / 'out.json'
    assert run(arguments('--json', out, '--origin', *FAR_AWAY, '--explain')) == 1
    error = json.loads(out.read_text(encoding='utf-8'))['error']
    assert error['keyframe'] == 1
    assert error['reasons'][0]['reason'] == 'unreachable'
    assert "m away from 'base_link'" in error['message']
    assert 'keyframes[1]' in capsys.readouterr().err
    assert isinstance(read_solution(out).outcome, PlanningError)


def test_the_origin_of_the_task_is_used_unless_another_is_given(tmp_path: Path) -> None:
    one, other = tmp_path / 'one.json', tmp_path / 'other.json'
    assert run(arguments('--json', one)) == 0
    assert run(arguments('--json', other, '--origin', -0.125, 0.402, -0.15, 0, 0, 0.5236)) == 0
    assert read_solution(one).request.origin != read_solution(other).request.origin


def test_a_success_is_explained_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments('--explain')) == 0
    told = capsys.readouterr()
    assert 'blue_box' in told.err
    assert told.out == ''


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        (('--seed', '-1'), 'no whole number'),
        (('--budget', '-2'), 'no duration'),
        (('--origin', '1', '2', '3'), 'expected 6 arguments'),
        (('--origin', '1', '2', '3', 'x', '5', '6'), 'no finite number'),
    ],
)
def test_wrong_usage_is_one_sentence(more: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        arguments(*more)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_scene_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Fault, match='seed_cel'):
        run(arguments(scene='seed_cel'))


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(Fault, match='is a folder'):
        plan.main(arguments('--json', tmp_path))
