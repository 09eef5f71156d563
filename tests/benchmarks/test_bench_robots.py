import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name('bench_robots.py')


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_row_for_each_arm_and_a_word_on_each_peer() -> None:
    result = run('--poses', '20', 'gp8', 'panda')

    assert result.returncode in (0, 1), result.stderr
    lines = result.stdout.splitlines()
    assert any(line.startswith('gp8 ') and 'spherical wrist' in line and '0.00%' in line for line in lines)
    assert any(line.startswith('panda ') and 'numeric' in line for line in lines)
    assert all(any(line.strip().startswith(f'{peer}:') for line in lines) for peer in ('EAIK', 'TRAC-IK', 'KDL'))


def test_an_arm_that_is_not_there_is_wrong_usage() -> None:
    result = run('gp9')

    assert result.returncode == 2
    assert "there is no arm 'gp9'" in result.stderr
