"""A fixed-rate loop in a thread of its own, on the monotonic clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class LoopStatistics:
    """What the loop did since it started."""

    cycles: int  # cycles that ran
    missed: int  # cycles that were left out because an earlier one came too late or took too long


class ControlLoop:
    """Calls ``cycle`` every ``period`` seconds until stopped.

    Cycles stand on a fixed grid of times, so a late one does not shift those that follow. When the loop is late by
    whole periods, those cycles are counted as missed and left out: there is never a burst of cycles to catch up,
    because a burst would be a jump for the hardware.
    """

    def __init__(self, period: float, cycle: Callable[[], None], on_error: Callable[[Exception], None]) -> None:
        self.period = period  # [s]
        self._cycle = cycle
        self._on_error = on_error
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name='control_loop', daemon=True)
        self._cycles = 0
        self._missed = 0

    @property
    def statistics(self) -> LoopStatistics:
        """The counts up to now."""
        return LoopStatistics(self._cycles, self._missed)

    def start(self) -> None:
        """Begin to cycle."""
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """End after the present cycle; wait for that, at most ``timeout`` seconds."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stop.is_set():
            try:
                self._cycle()
            except Exception as error:  # the loop must outlive any controller
                self._on_error(error)
            self._cycles += 1
            due += self.period
            remaining = due - time.monotonic()
            if remaining > 0.0:
                time.sleep(remaining)
            else:
                missed = int(-remaining / self.period)
                self._missed += missed
                due += missed * self.period
