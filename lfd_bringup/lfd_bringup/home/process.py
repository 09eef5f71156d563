"""Runs the programs of the set-up: logged, watched, and ended together with the set-up however that ends."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TICK = 0.1  # [s] how often progress is asked for
STOP_GRACE = 5.0  # [s] between asking a program to stop and ending it
KEPT_LINES = 400  # of a program's output, to explain a failure
MARK = 'LFD_SETUP_OF'  # in the environment of every program of a set-up: names its home


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    home: Path,
    log: Path,
    on_tick: Callable[[list[str]], None],
) -> tuple[int, str]:
    """Run a program to its end; return its exit code and the last part of its output.

    on_tick gets the new lines of output several times a second.
    The program has a session of its own, so that Ctrl-C reaches this process first and ends all of its children.
    """
    tail: deque[str] = deque(maxlen=KEPT_LINES)
    with (
        _Log(log) as logged,
        subprocess.Popen(
            command,
            env={**env, MARK: str(home)},
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        logged.write(f'\n$ {" ".join(command)}\n'.encode())
        try:
            _pump(process, logged, tail, on_tick)
        except BaseException:
            _end(process)
            raise
    return process.returncode, '\n'.join(tail)


def _pump(
    process: subprocess.Popen[bytes], logged: _Log, tail: deque[str], on_tick: Callable[[list[str]], None]
) -> None:
    assert process.stdout is not None
    rest = b''
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            new: list[str] = []
            if selector.select(TICK):
                data = os.read(process.stdout.fileno(), 65536)
                if not data:
                    break
                logged.write(data)
                *lines, rest = (rest + data).split(b'\n')
                new = [line.decode(errors='replace') for line in lines]
                tail.extend(new)
            elif process.poll() is not None:
                break  # a grandchild holds the pipe open; what we waited for has ended
            on_tick(new)
    if rest:
        tail.append(rest.decode(errors='replace'))
    process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all its children: ask first, insist later."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE)


class _Log:
    """The set-up's log; a full disk silences it, because the program's own failure tells the better story."""

    def __init__(self, path: Path) -> None:
        self._file = path.open('ab', buffering=0)

    def __enter__(self) -> _Log:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self._file.write(data)


def end_leftovers(home: Path, timeout: float = 10.0) -> int:
    """End the programs that a killed set-up of this home left running; return how many there were.

    Only call this while holding the home's lock: nobody else is setting it up then.
    """
    mark = f'{MARK}={home}'.encode()
    count = 0
    deadline = time.monotonic() + timeout
    while leftovers := [pid for pid in _other_processes() if mark in _environment_of(pid)]:
        count = max(count, len(leftovers))
        for pid in leftovers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.05)
    return count


def _other_processes() -> list[int]:
    return [int(entry.name) for entry in Path('/proc').glob('[0-9]*') if int(entry.name) != os.getpid()]


def _environment_of(pid: int) -> list[bytes]:
    try:
        return Path(f'/proc/{pid}/environ').read_bytes().split(b'\0')
    except OSError:
        return []
