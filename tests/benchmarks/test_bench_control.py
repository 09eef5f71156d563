import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name('bench_control.py')


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.fixture(scope='module')
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    out = tmp_path_factory.mktemp('bench')
    few = ('--rates', '500', '--arms', 'ur', '--seconds', '1', '--goals', '2')
    result = run(*few, '--out', str(out), '--plots', str(out))
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout, out


def rows(measured: tuple[str, Path], name: str) -> list[dict]:
    return json.loads((measured[1] / f'control_{name}.json').read_text(encoding='utf-8'))['rows']


def test_periods_of_the_loop_and_of_its_peers_with_and_without_load(measured: tuple[str, Path]) -> None:
    found = rows(measured, 'period')
    assert [(row['rate'], row['who'], row['load']) for row in found] == [
        (500, who, load) for loop in ('lfd', 'ur-rtde') for load in ('idle', 'planner') for who in (loop, 'floor')
    ]
    for row in found:
        assert 0.0 < row['p50'] <= row['p99'] <= row['max']
        assert row['cycles'] > 0
        assert (row['cycle_p50'] > 0.0) if row['who'] == 'lfd' else ('cycle_p50' not in row)


def test_every_goal_reaches_the_controllers(measured: tuple[str, Path]) -> None:
    found = rows(measured, 'latency')
    assert [(row['who'], row['load']) for row in found] == [
        (who, load) for who in ('ur', 'ur-rtde') for load in ('idle', 'planner')
    ]
    for row in found:
        assert row['lost'] == 0
        assert len(row['latencies']) == 2
        assert min(row['latencies']) > 0.0


def test_a_motoman_gets_every_goal_too(tmp_path: Path) -> None:
    result = run(
        '--part', 'latency', '--arms', 'motoman', '--goals', '2', '--out', str(tmp_path), '--plots', str(tmp_path)
    )
    assert result.returncode in (0, 1), result.stdout + result.stderr
    found = rows((result.stdout, tmp_path), 'latency')
    assert [(row['who'], row['load'], row['lost']) for row in found] == [
        ('motoman', 'idle', 0),
        ('motoman', 'planner', 0),
    ]


def test_what_arms_take_of_the_cpu(measured: tuple[str, Path]) -> None:
    found = rows(measured, 'cpu')
    assert [row['who'] for row in found] == ['ur', 'ur-rtde']
    assert all(row['move'] > 0.0 for row in found)


def test_three_arms_at_once(measured: tuple[str, Path]) -> None:
    found = rows(measured, 'three')
    assert [row['driver'] for row in found] == [
        *('mock', 'floor'),
        *('mock', 'mock', 'mock', 'floor'),
        *('ur', 'abb', 'motoman', 'floor'),
    ]
    assert all(row['cycles'] > 0 for row in found)


def test_every_part_is_drawn(measured: tuple[str, Path]) -> None:
    for name in ('period', 'latency', 'cpu', 'three'):
        assert (measured[1] / f'bench_control_{name}.png').stat().st_size > 5000


def test_the_limits_that_are_wider_than_usual_are_told(measured: tuple[str, Path]) -> None:
    assert 'state_limit, robot_receive_timeout and the like are 1 s' in measured[0]


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [(('--goals', '0'), '--goals'), (('--rates', '0'), '--rates'), (('--seconds', 'nan'), '--seconds')],
)
def test_wrong_usage_is_told(arguments: tuple[str, str], said: str) -> None:
    result = run(*arguments)

    assert result.returncode == 2
    assert f'{said} ' in result.stderr.splitlines()[-1]
    assert 'must be' in result.stderr
