"""`./lfd plan` as a user runs it."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pytest

from lfd_bringup import plan
from lfd_bringup.commands import handler, parse
from lfd_bringup.home.faults import Fault
from lfd_description.robots import find_robot
from lfd_planner.mtdf import task_file
from lfd_planner.solution import Segment, Solution
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
    assert 'm away' in error['reasons'][0]['detail']
    assert "m away from 'base_link'" in error['message']
    told = capsys.readouterr()
    assert 'keyframes[1]' in told.err
    assert told.out == ''
    assert isinstance(read_solution(out).outcome, PlanningError)


def test_the_origin_of_the_task_is_used_unless_another_is_given(tmp_path: Path) -> None:
    one, other = tmp_path / 'one.json', tmp_path / 'other.json'
    assert run(arguments('--json', one)) == 0
    assert run(arguments('--json', other, '--origin', -0.125, 0.402, -0.15, 0, 0, 0.5236)) == 0
    assert read_solution(one).request.origin != read_solution(other).request.origin


def test_what_was_found_is_told_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments()) == 0
    first, *keyframes = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r'8 keyframes, \d+ segments, [\d.]+ s of motion, planned in \d+ ms\.', first)
    assert len(keyframes) == 8
    assert re.fullmatch(r' *0\.00 s  keyframe 0, pick blue_box: .*approach, close, lift', keyframes[0])
    assert 'keyframe 7, place green_box: transfer, lower, open, retreat' in keyframes[-1]


def test_a_success_is_explained_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments('--explain')) == 0
    assert 'grasp: blue_box' in capsys.readouterr().out


def test_half_the_speed_takes_twice_as_long(tmp_path: Path) -> None:
    fast, slow = tmp_path / 'fast.json', tmp_path / 'slow.json'
    assert run(arguments('--json', fast)) == 0
    assert run(arguments('--json', slow, '--speed', 0.5)) == 0
    full, half = (read_solution(file).outcome for file in (fast, slow))
    assert isinstance(full, Solution)
    assert isinstance(half, Solution)
    hand = sum(full.trajectory.times[each.last] - full.trajectory.times[each.first] for each in still(full))
    assert half.trajectory.duration - hand == pytest.approx(2.0 * (full.trajectory.duration - hand), rel=0.05)
    assert np.abs(half.trajectory.v).max() < 0.75 * np.abs(full.trajectory.v).max()


def still(solution: Solution) -> list[Segment]:
    """The segments in which the hand moves and the arm does not."""
    return [each for each in solution.segments if each.name in ('open', 'close')]


def test_the_arm_ends_where_it_is_told_to(tmp_path: Path) -> None:
    out = tmp_path / 'out.json'
    assert run(arguments('--json', out, '--end-pose', 'home')) == 0
    found = read_solution(out).outcome
    assert isinstance(found, Solution)
    assert found.trajectory.q[-1] == pytest.approx(find_robot('ur5e').poses['home'])


def test_a_pose_that_the_robot_has_not_is_named() -> None:
    with pytest.raises(Fault, match="no pose 'hme'") as fault:
        run(arguments('--end-pose', 'hme'))
    assert 'home' in str(fault.value)


@pytest.mark.parametrize(
    ('more', 'words'),
    [
        (('--seed', '-1'), 'no whole number'),
        (('--budget', '-2'), 'no duration'),
        (('--speed', '0'), 'no speed'),
        (('--speed', '1.5'), 'no speed'),
        (('--speed', 'fast'), 'no finite number'),
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
