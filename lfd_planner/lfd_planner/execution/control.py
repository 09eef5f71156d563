"""How others take part in an execution: they pause it, let it go on, or stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code

PAUSED = Failure(Code.PREEMPTED, 'Execution was paused.')
CANCELLED = Failure(Code.PREEMPTED, 'The goal was cancelled.')
STOPPED = Failure(Code.PREEMPTED, 'Execution was stopped on request.')


class Control:
    """What is wanted of one execution; safe to use from any thread."""

    def __init__(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        self._is_cancelled = is_cancelled
        self._lock = threading.Condition()
        self._paused = False
        self._stop: Failure | None = None

    @property
    def paused(self) -> bool:
        """Whether it is to stand still until it may go on."""
        return self._paused

    @property
    def stopped(self) -> Failure | None:
        """Why it is to end."""
        return self._stop or (CANCELLED if self._is_cancelled() else None)

    def pause(self) -> None:
        """Come to rest and wait."""
        with self._lock:
            self._paused = True
            self._lock.notify_all()

    def resume(self) -> None:
        """Go on from where it stands."""
        with self._lock:
            self._paused = False
            self._lock.notify_all()

    def stop(self, reason: Failure = STOPPED) -> None:
        """Come to rest and end; the first reason counts."""
        with self._lock:
            self._stop = self._stop or reason
            self._lock.notify_all()

    def wanted(self) -> Failure | None:
        """Why a motion is to stop now, for good or for a while."""
        return self.stopped or (PAUSED if self._paused else None)

    def wait(self, timeout: float) -> None:
        """Wait [s], or until somebody wants something."""
        with self._lock:
            self._lock.wait(timeout)
