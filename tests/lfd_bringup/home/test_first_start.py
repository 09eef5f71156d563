"""The first start on a fresh machine: killed at every step, in a folder with spaces, and still it ends well.

This makes a second home with everything in it, so it takes minutes; it is the promise that everything stands on.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest
from support.peer import eventually
from support.process import Process

SEED = 20261116
TIMEOUT = 900.0  # [s] for the whole set-up on a slow machine


@pytest.fixture(scope='module')
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp('a usér') / 'my lfd'


def test_a_first_start_killed_at_every_step_ends_well(checkout, user_environment, home, lfd):
    dice = random.Random(SEED)
    for step, longest in (
        ('Make a Python environment', 1.0),
        ('Install', 10.0),
        ('Install', 10.0),
        ('Build', 5.0),
        ('Build', 10.0),
    ):
        process = Process([str(checkout / 'lfd'), 'setup'], {**user_environment, 'LFD_HOME': str(home)})
        eventually(
            lambda process=process, step=step: f'] {step}' in process.output or not process.is_running,
            f'the step {step!r} has begun',
            timeout=TIMEOUT,
        )
        time.sleep(dice.uniform(0.0, longest))  # any moment will do: this is the fault, not a wait for a condition
        assert process.is_running, f'too late to interrupt {step!r}: {process.output}'
        process.end(dice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        assert 'Traceback' not in process.output
    last = lfd('setup', timeout=TIMEOUT, LFD_HOME=str(home))
    assert last.returncode == 0, last.stderr
    assert 'lfd is set up in' in last.stdout


def test_the_new_home_works(home: Path, lfd):
    result = lfd('doctor', LFD_HOME=str(home))
    assert result.returncode == 0, result.stdout + result.stderr
    assert f'interfaces in {home}' in result.stdout
    assert lfd('setup', LFD_HOME=str(home)).stderr == '', 'the second start has nothing left to do'


def test_a_graph_runs_in_the_new_home(home: Path, lfd, tmp_path: Path):
    result = lfd('demo', '--robot', 'gp8', '--headless', '--out', tmp_path / 'out', LFD_HOME=str(home))
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_missing_build_is_noticed_and_made_again(home: Path, lfd):
    manifest = home / '.lfd' / 'install' / 'share' / 'tf2_msgs' / 'package.xml'
    manifest.unlink()
    again = lfd('setup', timeout=TIMEOUT, LFD_HOME=str(home))
    assert again.returncode == 0, again.stderr
    assert 'Build tf2_msgs' in again.stderr
    assert manifest.exists()


def test_clean_removes_all_of_it(home: Path, lfd):
    assert lfd('clean', LFD_HOME=str(home)).returncode == 0
    assert [path.relative_to(home).as_posix() for path in home.rglob('*')] == ['.lfd', '.lfd/lock']
