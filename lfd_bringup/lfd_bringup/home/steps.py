"""Makes the embedded home, step by step.

`ensure` brings all of it up to date and costs a few file reads when it is. Each step is stamped with a digest of what
it was made of; a step that was killed is continued, and done anew if that fails.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterator

from . import interpreter, process
from .console import StepLine, say
from .faults import Fault, explain
from .layout import Layout
from .recipe import Step, check_own, missing_steps, remove
from .stamp import Stamp

MOST_ROUNDS = 3  # of one step in one start: a file may change while it is being built, but not for ever


def ensure(layout: Layout, *, with_tests: bool = False) -> None:
    """Bring the home up to date; raise Fault with cause and fix where that is not possible."""
    if not missing_steps(layout, Stamp(layout.stamp), with_tests):
        return
    interpreter.check_platform()
    interpreter.check_path(layout.checkout)
    interpreter.check_path(layout.home)
    interpreter.check_writable(layout.state)
    with _lock(layout):
        layout.log.mkdir(parents=True, exist_ok=True)
        _end_leftovers(layout)
        _make(layout, Stamp(layout.stamp), with_tests)


def clean(layout: Layout) -> None:
    """Remove all that lfd made in its home; the lock file stays, for it may be waited for."""
    if not layout.state.exists():
        return
    interpreter.check_writable(layout.state)
    with _lock(layout):
        _end_leftovers(layout)
        check_own(layout)
        remove(
            layout, layout.venv, *(path for path in layout.state.iterdir() if path not in (layout.lock, layout.trash))
        )


def _make(layout: Layout, stamp: Stamp, with_tests: bool) -> None:
    remove(layout)  # what an interrupted start had put aside
    missing = missing_steps(layout, stamp, with_tests)
    if not missing:
        return  # another lfd made it while we waited for the lock
    if 'environment' in missing[0].stamps:
        say(f'First start: lfd sets itself up in {layout.home} (a few minutes, log: {layout.setup_log}).')
        interpreter.check_space(layout.home)
    interpreter.check_compiler()
    total, rounds, is_anew = len(missing), Counter[str](), False
    while missing:
        step = missing[0]
        rounds[step.title] += 1
        if rounds[step.title] > MOST_ROUNDS:
            raise Fault(f'{step.title}: what it makes does not last.', f'read the log {layout.setup_log}')
        may_start_anew = step.was_begun(stamp) and not is_anew
        stamp.begin(*step.stamps)
        try:
            _do(layout, step, rounds.total(), max(total, rounds.total() + len(missing) - 1))
            stamp.finish(step.stamps)
        except Fault as fault:
            stamp.forget(*step.stamps)
            if fault.is_understood or not may_start_anew:
                raise
            say(f'What the interrupted set-up left could not be continued ({fault.cause}); starting anew.')
            step.clear()
            is_anew = True
        # Asked again: what a step is made of may include what the one before it made.
        missing = missing_steps(layout, stamp, with_tests)


def _do(layout: Layout, step: Step, number: int, total: int) -> None:
    line = StepLine(step.title, number, total)
    ok = False
    try:
        step.act(line)
        ok = True
    except OSError as error:
        raise explain(step.title, f'[Errno {error.errno}] {error}', 1, layout.setup_log) from error
    finally:
        line.end(ok)


def _end_leftovers(layout: Layout) -> None:
    if count := process.end_leftovers(layout.home):
        say(f'Ended {count} program(s) that an interrupted set-up had left running.')


@contextlib.contextmanager
def _lock(layout: Layout) -> Iterator[None]:
    """Hold the home's lock; the kernel releases it when this process ends, however it ends."""
    with layout.lock.open('a+') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            who = file.read().strip() or 'unknown'
            say(f'Another lfd (process {who}) is setting up {layout.home}: waiting for it.')
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
