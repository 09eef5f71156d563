import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name('bench_scene.py')


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_bytes_and_time_for_each_size_and_the_peer_beside_them() -> None:
    result = run('--server', 'small', '--objects', '1', '20', '--moves', '3', '--keyframes', '20')

    assert result.returncode in (0, 1), result.stderr
    lines = result.stdout.splitlines()
    for title in ('1 new objects', '20 new objects', '1 mesh moved among 20', '1 mesh sent again (peer)'):
        assert any(line.strip().startswith(title) and 'bytes' in line for line in lines), title
    assert any('peer / ours' in line for line in lines)
    assert any(line.startswith('MTDF, 20 keyframes') for line in lines)
    assert not any('must not grow' in line for line in lines)


def test_a_scene_of_nothing_is_wrong_usage() -> None:
    result = run('--objects', '0')

    assert result.returncode == 2
    assert 'numbers must be at least 1' in result.stderr
