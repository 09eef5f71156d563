import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import bench_vr

PROGRAM = Path(__file__).with_name('bench_vr.py')
PARTS = ('hands', 'frames')  # the others start a whole graph


@pytest.fixture(scope='module')
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp('bench')
    few = ('--seconds', '0.3', '--objects', '10', '40')
    command = [sys.executable, str(PROGRAM), '--part', *PARTS, *few, '--out', str(out), '--plots', str(out)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return out


def rows(measured: Path, name: str) -> list[dict]:
    return json.loads((measured / f'vr_{name}.json').read_text(encoding='utf-8'))['rows']


def test_every_hand_and_move_is_recorded_with_and_without_load(measured: Path) -> None:
    found = rows(measured, 'hands')
    assert [(row['load'], row['frame'], row['who']) for row in found] == [
        (load, frame, who) for load in ('idle', 'planner') for frame in ('hands', 'move') for who in ('lfd', 'floor')
    ]
    for row in found:
        assert row['lost'] == 0
        assert row['count'] >= 3
        assert 0.0 < row['p50'] <= row['p99'] <= row['max']
        assert ('ratio' in row) == (row['who'] == 'lfd')


def test_the_page_draws_as_many_objects_in_as_many_calls(measured: Path) -> None:
    small, large = rows(measured, 'frames')
    assert (small['objects'], large['objects']) == (10, 40)
    assert small['calls'] == large['calls']
    assert large['peer_calls'] > small['peer_calls'], 'the peer has a call for each object that is in view'
    assert min(row[key] for row in (small, large) for key in ('rate', 'peer', 'ratio')) > 0.0


def test_every_part_is_drawn(measured: Path) -> None:
    for name in PARTS:
        assert (measured / f'bench_vr_{name}.png').stat().st_size > 5000


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [(('--releases', '0'), '--releases'), (('--objects', '0'), '--objects'), (('--seconds', 'nan'), '--seconds')],
)
def test_wrong_usage_is_told(arguments: tuple[str, str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='2'):
        bench_vr.main(arguments)

    last = capsys.readouterr().err.splitlines()[-1]
    assert said in last
    assert 'must be' in last
