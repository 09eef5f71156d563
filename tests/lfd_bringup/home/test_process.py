from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.peer import eventually

from lfd_bringup.home import process


def run(code: str, tmp_path: Path, on_tick=lambda lines: None) -> tuple[int, str]:
    return process.run(
        [sys.executable, '-u', '-c', code],
        env=dict(os.environ),
        cwd=tmp_path,
        home=tmp_path,
        log=tmp_path / 'setup.log',
        on_tick=on_tick,
    )


def test_output_is_logged_and_shown_line_by_line(tmp_path: Path):
    seen: list[str] = []
    code, tail = run('print("one"); print("two"); raise SystemExit(3)', tmp_path, seen.extend)
    assert (code, tail) == (3, 'one\ntwo')
    assert seen == ['one', 'two']
    assert (tmp_path / 'setup.log').read_text().endswith('one\ntwo\n')


def test_an_interruption_ends_the_program_and_its_children(tmp_path: Path):
    """Ctrl-C arrives while the program and a child of it are at work."""
    program = 'import subprocess, time\nprint(subprocess.Popen(["sleep", "600"]).pid)\ntime.sleep(600)'
    pids: list[int] = []

    def interrupt(lines: list[str]) -> None:
        pids.extend(int(line) for line in lines)
        if pids:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(program, tmp_path, interrupt)
    eventually(lambda: not Path(f'/proc/{pids[0]}').exists(), 'the grandchild has ended')


def test_leftovers_of_this_home_are_ended_and_others_are_not(tmp_path: Path):
    sleep = [sys.executable, '-c', 'import time; time.sleep(600)']
    mine = subprocess.Popen(sleep, env={**os.environ, process.MARK: str(tmp_path)})
    other = subprocess.Popen(sleep, env={**os.environ, process.MARK: str(tmp_path / 'other')})
    try:
        assert process.end_leftovers(tmp_path, timeout=1.0) == 1
        assert mine.wait(10.0) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
