import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.planner_measure import run_ours
from benchmarks.planner_tasks import random_task

PROGRAM = Path(__file__).with_name('bench_planner.py')


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope='module')
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp('bench')
    few = ('--tasks', '2', '--peer-tasks', '1', '--rounds', '1', '--pairs', '1', '2', '--jobs', '1', '--seed', '2')
    result = run('--arms', 'ur5e', *few, '--out', str(out), '--plots', str(out))
    assert result.returncode in (0, 1), result.stderr
    return result.stdout, out


def part(measured: tuple[str, Path], name: str) -> dict:
    return json.loads((measured[1] / f'planner_{name}.json').read_text(encoding='utf-8'))


def test_ours_and_the_peer_stack_the_boxes(measured: tuple[str, Path]) -> None:
    (row,) = part(measured, 'stack')['rows']
    assert row['solved']
    assert row['valid']
    assert row['peer_solved']
    assert {'grasp', 'transit', 'transfer', 'approach', 'retreat'} <= set(row['split'])
    assert {'ik', 'lines', 'search', 'simplify', 'timing', 'check'} <= set(row['peer_split'])
    assert row['ratio'] == pytest.approx(row['peer'] / row['ours'])


def test_random_tasks_are_solved_valid_and_told_with_their_seeds(measured: tuple[str, Path]) -> None:
    data = part(measured, 'random')
    (row,) = data['rows']
    assert (row['tasks'], row['solved'], row['valid']) == (2, 2, 2)
    assert (row['peer_tasks'], data['missed'], data['failed']) == (1, [], [])
    assert [record['seed'] for record in data['records']] == [2, 3]
    assert all(2 <= record['pairs'] <= 6 for record in data['records'])


def test_long_tasks_are_solved(measured: tuple[str, Path]) -> None:
    (row,) = part(measured, 'scaling')['rows']
    assert [one['pairs'] for one in row['rows']] == [1, 2]
    assert all(one['solved'] for one in row['rows'])


def test_no_motion_is_faster_than_its_path_allows(measured: tuple[str, Path]) -> None:
    (row,) = part(measured, 'quality')['rows']
    assert row['tasks'] >= 1
    for bound, ours, peer in row['cycles']:
        assert 0.0 < bound <= 1.001 * ours
        assert peer > 0.0


def test_what_cannot_be_done_is_refused_and_what_is_similar_can_be_done(measured: tuple[str, Path]) -> None:
    (row,) = part(measured, 'hopeless')['rows']
    assert len(row['named']) > 10
    assert all(one['why'] and not one['similar_why'] for one in row['named'])
    assert row['crowds'] == 2 == len(row['solved']) + len(row['refused'])


def test_every_part_is_drawn(measured: tuple[str, Path]) -> None:
    for name in ('stack', 'random', 'scaling', 'quality', 'hopeless'):
        assert (measured[1] / f'bench_planner_{name}.png').stat().st_size > 5000


@pytest.mark.parametrize(('robot', 'seed'), [('gp8', 104), ('ur5e', 511), ('irb1600', 20261121), ('irb1600', 20261128)])
def test_motions_between_things_that_stand_close_do_not_graze_them(robot: str, seed: int) -> None:
    ours = run_ours(robot, random_task(robot, seed))

    assert ours.solved
    assert ours.faults == ()


def test_wrong_usage_is_told() -> None:
    result = run('--tasks', '0')

    assert result.returncode == 2
    assert '--tasks must be at least 1' in result.stderr
