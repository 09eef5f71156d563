"""From a position command per cycle to the few points that a Motoman controller interpolates between. No sockets here.

The controller plays points one after the other, as cubics, for as long as there are any: a point's time is how long the
way to it takes, not when it happens. So the stream decides how far behind the commands the arm is::

    commands   ──────s0────┬────┬────┬────┬─►  s0: the arm begins to move
    points           hold ─┴────┴────┴────┴─►  every point_period, as soon as the commands around it are known
    played           s0 + lead ┬────┬────┬──►  the hold keeps the arm where it is until then

The delay from a command to its execution is ``lead`` and stays that, because points go out as commands come in. What
``lead`` is longer than ``point_period`` plus the window of the velocities (0.01 s) is how late a point may be before
the controller runs dry and the arm halts. Nothing is ever extrapolated: without new commands the stream ends at the
last one, at rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

WINDOW = 0.01  # [s] velocities are differences over this much to either side
SLIP = 0.05  # how much of a period the commands' clock may be corrected by in one cycle
SHORTEST_STEP = 4  # [ms] the controller's own period of interpolation
STALE = 0.3  # [s] after this much rest the next motion is a new trajectory, whose start the controller checks
NEARLY_DRY = 0.015  # [s]


@dataclass(frozen=True)
class StreamPoint:
    """A point to be sent; number 0 stands where the arm is and begins a new trajectory."""

    sequence: int
    time: int  # [ms] since the trajectory's start
    step: int  # [ms] since the point before
    positions: Array  # [rad] or [m]
    velocities: Array  # [rad/s] or [m/s]


@dataclass(frozen=True)
class _Sample:
    stamp: float  # [s] monotonic
    positions: Array  # [rad] or [m]


class CommandClock:
    """Times for commands that are meant to be one period apart but arrive with the jitter of a computer.

    The trajectory controller counts in cycles; with the times of arrival, a late cycle would be a dent in the speed of
    the arm. These times are one period apart and drift to the real ones slowly. After a pause they start anew.
    """

    def __init__(self, longest_lag: float) -> None:
        self._longest_lag = longest_lag  # [s]
        self._stamp: float | None = None

    def stamp(self, now: float, period: float) -> float:
        """The time of a command that arrived ``now`` [s]."""
        if self._stamp is None:
            self._stamp = now
            return now
        expected = self._stamp + period
        lag = now - expected
        if abs(lag) > max(self._longest_lag, period):
            self._stamp = max(now, self._stamp + period / 2.0)
        else:
            self._stamp = expected + float(np.clip(lag, -SLIP * period, SLIP * period))
        return self._stamp


class PointStream:
    """Takes a command per cycle and says which point to send next. Not thread-safe."""

    def __init__(self, positions: Array, fastest: Array, point_period: float, lead: float) -> None:
        """Begin at rest at ``positions`` [rad or m]; ``fastest`` [rad/s or m/s] bounds the velocities of points."""
        self.lead = lead  # [s]
        self.starved = 0  # how often the controller ran dry on the way
        self.delay = lead  # [s] from the newest point's command to its execution
        self._step = round(1000.0 * point_period)  # [ms]
        self._fastest = fastest
        self._clock = CommandClock(point_period / 2.0)
        self._period = 0.0  # [s]
        self._samples: deque[_Sample] = deque()
        self._arrival = 0.0  # [s] of the newest command
        self._resting = True
        self._stamp = 0.0  # [s] of the newest point, while moving
        self._plays_until = -np.inf  # [s] when the controller will have played all that was sent
        self._last = StreamPoint(-1, 0, 0, positions, np.zeros_like(positions))
        self._ready: deque[StreamPoint] = deque()
        self._rolling = False  # the newest point that the controller took has a velocity

    @property
    def target(self) -> Array:
        """The newest command, or where the stream began [rad or m]."""
        return self._samples[-1].positions if self._samples else self._last.positions

    @property
    def plays_until(self) -> float:
        """When the controller will have played all that was sent [s, monotonic]."""
        return float(self._plays_until)

    @property
    def at_rest(self) -> bool:
        """Whether all commands were sent and the last point is a rest."""
        return self._resting and not self._ready and np.array_equal(self.target, self._last.positions)

    def add(self, now: float, positions: Array, period: float) -> None:
        """A command [rad or m] that arrived ``now`` [s]; ``period`` is the time between two of them [s]."""
        self._period = period
        self._arrival = now
        self._samples.append(_Sample(self._clock.stamp(now, period), positions))
        if self._resting and not self._ready and np.array_equal(positions, self._last.positions):
            while len(self._samples) > 1:
                self._samples.popleft()

    def due(self, now: float) -> StreamPoint | None:
        """The next point if it can be sent ``now`` [s]; the same one until ``sent`` is called."""
        if not self._ready:
            if self._resting:
                self._begin(now)
            if not self._resting and not self._ready:
                self._advance(now)
        return self._ready[0] if self._ready else None

    def sent(self, now: float) -> None:
        """The controller took the point that is due."""
        point = self._ready.popleft()
        if point.sequence == 0:
            return
        if self._rolling and now > self._plays_until:
            self.starved += 1
        self._rolling = bool(np.any(point.velocities != 0.0))
        self._plays_until = max(self._plays_until, now) + point.step / 1000.0
        if not self._resting and not self._ready:
            self.delay = float(self._plays_until - self._stamp)

    def _begin(self, now: float) -> None:
        """Leave the rest if a command asks for it."""
        while self._samples and np.array_equal(self._samples[0].positions, self._last.positions):
            if len(self._samples) == 1:
                return
            self._samples.popleft()
        if not self._samples:
            return
        self._stamp = self._samples[0].stamp - self._period
        self._samples.appendleft(_Sample(self._stamp, self._last.positions))
        self._resting = False
        if now > self._plays_until + STALE:
            self._last = StreamPoint(0, 0, 0, self._last.positions, np.zeros_like(self._last.positions))
            self._ready.append(self._last)
        hold = round(1000.0 * (self._stamp + self.lead - max(now, self._plays_until)))
        if hold >= SHORTEST_STEP:
            self._append(hold, self._last.positions, np.zeros_like(self._last.positions))

    def _advance(self, now: float) -> None:
        """Make the next point on the way, if the commands for it are there."""
        window = max(WINDOW, 1.01 * self._period)
        newest = self._samples[-1]
        step = self._step / 1000.0
        settled = self._settled_since()
        if newest.stamp - settled >= window and settled <= self._stamp + step:
            self._end(settled)
        elif newest.stamp >= self._stamp + step + window:
            self._stamp += step
            self._append(self._step, self._at(self._stamp), self._velocities(self._stamp, window))
            while len(self._samples) > 2 and self._samples[1].stamp < self._stamp - window:
                self._samples.popleft()
        elif self._plays_until - now < NEARLY_DRY and now - self._arrival > NEARLY_DRY + 2.0 * self._period:
            self._end(newest.stamp)

    def _end(self, settled: float) -> None:
        """Come to rest at the newest command, which was reached at ``settled`` [s], without going beyond it."""
        way = self.target - self._last.positions
        speed = self._last.velocities
        moving = np.abs(speed) > 1e-9
        softest = self._step
        if moving.any():
            # A cubic that ends at rest stays between its ends as long as its first velocity takes it at most three
            # times as far as it has to go.
            ahead = 3.0 * np.maximum(way[moving] * np.sign(speed[moving]), 0.0) / np.abs(speed[moving])
            softest = round(1000.0 * float(ahead.min()))
        needed = max(SHORTEST_STEP, round(1000.0 * (settled - self._stamp)))
        newest = self._samples[-1]
        self._append(int(np.clip(softest, needed, max(needed, self._step))), newest.positions, np.zeros_like(way))
        self._resting = True
        self._samples.clear()
        self._samples.append(newest)

    def _append(self, step: int, positions: Array, velocities: Array) -> None:
        last = self._last
        self._last = StreamPoint(last.sequence + 1, last.time + step, step, positions, velocities)
        self._ready.append(self._last)

    def _settled_since(self) -> float:
        """The time of the first of the newest commands that are all equal [s]."""
        settled = self._samples[-1]
        for sample in reversed(self._samples):
            if not np.array_equal(sample.positions, settled.positions):
                break
            settled = sample
        return settled.stamp

    def _at(self, stamp: float) -> Array:
        """The commanded positions at a time, linear between commands [rad or m]."""
        before = after = self._samples[0]
        for after in self._samples:
            if after.stamp >= stamp:
                break
            before = after
        span = after.stamp - before.stamp
        part = 0.0 if span <= 0.0 else min(max((stamp - before.stamp) / span, 0.0), 1.0)
        between: Array = before.positions + part * (after.positions - before.positions)
        return between

    def _velocities(self, stamp: float, window: float) -> Array:
        """The commanded velocities at a time [rad/s or m/s]."""
        slope = (self._at(stamp + window) - self._at(stamp - window)) / (2.0 * window)
        bounded: Array = np.clip(slope, -self._fastest, self._fastest)
        return bounded
