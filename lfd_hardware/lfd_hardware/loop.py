"""A fixed-rate loop in a thread of its own, on the monotonic clock, that measures itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

REMEMBERED = 8192  # cycles over which times are told
MISSED_SHARE = 0.01  # of the cycles of a stretch; more is worth a warning


@dataclass(frozen=True)
class Spread:
    """How a time [s] was spread over the last cycles."""

    p50: float = 0.0
    p99: float = 0.0
    max: float = 0.0

    @classmethod
    def of(cls, times: NDArray[np.float64]) -> Spread:
        """The spread of some times; zeros when there are none."""
        if len(times) == 0:
            return cls()
        p50, p99 = np.percentile(times, (50.0, 99.0))
        return cls(float(p50), float(p99), float(times.max()))


@dataclass(frozen=True)
class Stretch:
    """The cycles of some time."""

    ran: int
    missed: int

    @property
    def due(self) -> int:
        """How many there should have been."""
        return self.ran + self.missed

    @property
    def misses_much(self) -> bool:
        """Whether so many were left out that somebody should know."""
        return self.missed > MISSED_SHARE * self.due


@dataclass(frozen=True)
class LoopStatistics:
    """What the loop did since it started; the spreads are of the last REMEMBERED cycles."""

    cycles: int  # cycles that ran
    missed: int  # cycles that were left out because an earlier one came too late or took too long
    overruns: int = 0  # cycles that took longer than the period
    period: Spread = Spread()  # [s] from the start of one cycle to that of the next
    duration: Spread = Spread()  # [s] of a cycle

    def since(self, before: LoopStatistics) -> Stretch:
        """The cycles after some earlier figures."""
        return Stretch(self.cycles - before.cycles, self.missed - before.missed)


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
        self._overruns = 0
        self._periods = np.zeros(REMEMBERED)
        self._durations = np.zeros(REMEMBERED)

    @property
    def cycles(self) -> int:
        """How many cycles ran."""
        return self._cycles

    @property
    def statistics(self) -> LoopStatistics:
        """The figures up to now; may be asked for from any thread."""
        cycles = self._cycles
        remembered = min(cycles, REMEMBERED)
        periods = self._periods[1:remembered] if cycles <= REMEMBERED else self._periods  # the first has none before it
        return LoopStatistics(
            cycles, self._missed, self._overruns, Spread.of(periods), Spread.of(self._durations[:remembered])
        )

    def start(self) -> None:
        """Begin to cycle."""
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> bool:
        """End after the present cycle; wait for that, at most ``timeout`` seconds, and return whether it ended."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        due = before = time.monotonic()
        while not self._stop.is_set():
            begin = time.monotonic()
            try:
                self._cycle()
            except Exception as error:  # the loop must outlive any controller
                self._on_error(error)
            end = time.monotonic()
            slot = self._cycles % REMEMBERED
            self._periods[slot] = begin - before
            self._durations[slot] = end - begin
            before = begin
            self._overruns += end - begin > self.period
            self._cycles += 1
            due += self.period
            remaining = due - time.monotonic()
            if remaining > 0.0:
                time.sleep(remaining)
            else:
                missed = int(-remaining / self.period)
                self._missed += missed
                due += missed * self.period
