"""Small jobs that are done again and again, in one thread of their own and on the monotonic clock.

A ROS timer would follow the system's clock, whose jumps hold it up, and cannot be taken back safely while several
threads serve it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

TICK = 0.05  # [s] between two looks at what is due


class Chores:
    """Calls jobs until it is stopped; a job that fails is reported and called again."""

    def __init__(self, on_error: Callable[[Exception], None]) -> None:
        self._on_error = on_error
        self._jobs: tuple[_Job, ...] = ()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='chores', daemon=True)
        self._thread.start()

    def every(self, seconds: float, do: Callable[[], None]) -> None:
        """Have something done, first after this time and then again and again."""
        self._jobs = (*self._jobs, _Job(seconds, do))

    def stop(self, timeout: float = 2.0) -> None:
        """Begin no more jobs, and wait for the one under way, at most that time [s]."""
        self._ending.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._ending.wait(TICK):
            for job in self._jobs:
                try:
                    job.do_if_due()
                except Exception as error:  # the others must be done all the same
                    self._on_error(error)


class _Job:
    def __init__(self, every: float, do: Callable[[], None]) -> None:
        self._every = every  # [s]
        self._do = do
        self._due = time.monotonic() + every

    def do_if_due(self) -> None:
        now = time.monotonic()
        if now >= self._due:
            self._due = max(self._due + self._every, now)
            self._do()
