"""How fast time runs along a path, so that a stop, a pause or a change of speed keeps to the path.

The pace is the path's time per second: 1 as planned, 0 at rest. It changes as quickly as the joints' accelerations
allow, counted as the hardware feels them: as differences of the commands of three cycles in a row. A change asks no
joint for more than its limit, or than the trajectory itself has at that place: at a corner, where its velocity jumps,
the pace waits. The path is never left, because it is what was checked for collisions.
"""

from __future__ import annotations

import numpy as np

from lfd_hardware.plan import Path, at_rest
from lfd_hardware.spline import JointSample
from lfd_hardware.trajectory import Array

PICK_UP_WITHIN = 0.4  # [s] from rest to the full pace, if the accelerations allow that
SLACK = 1.02  # by which three commands may exceed the limit that the path keeps in between
SHARES = (1.0, 0.9, 0.7, 0.4, 0.15)  # of the largest change, which is an estimate: the first that fits is taken
ROUNDING = 1e-12  # [rad or m]
TINY = 1e-12  # [rad/s or m/s]


class Pace:
    """The pace along paths, one change per cycle of ``period`` seconds; ``acceleration`` is each joint's limit."""

    def __init__(self, acceleration: Array, period: float) -> None:
        self._acceleration = acceleration  # [rad/s2] or [m/s2]
        self._period = period
        self.value = 1.0

    def advance(self, path: Path, time: float, moved: Array, wanted: float) -> float:
        """The path's time [s] of the next cycle, with the pace on its way to ``wanted``.

        ``time`` is that of this cycle, ``moved`` [rad or m] what the command moved in it.
        """
        step, goal = self.value * self._period, wanted * self._period
        before, here, ahead = path.at(time - step), path.at(time), path.at(time + step)
        own = np.maximum(np.maximum(np.abs(before.accelerations), np.abs(ahead.accelerations)), abs(here.accelerations))
        allowed = np.maximum(self._acceleration, own * self.value**2) * self._period**2
        bend = ahead.positions - here.positions - moved
        for changed in self._steps(step, goal, here.velocities, bend, allowed):
            turn = np.abs(path.at(time + changed).positions - here.positions - moved)
            if (turn <= allowed * SLACK + ROUNDING).all():
                self.value = changed / self._period
                return time + changed
        return time + step

    def _steps(self, step: float, goal: float, velocities: Array, bend: Array, allowed: Array) -> list[float]:
        """Steps of the path's time [s] to try, from the one nearest to ``goal`` to the present one."""
        direction = 1.0 if goal > step else -1.0
        room = np.maximum(allowed - direction * np.sign(velocities) * bend, 0.0)
        change = min(float(np.min(room / np.maximum(np.abs(velocities), TINY))), abs(goal - step))
        if goal > step:
            change = min(change, self._period**2 / PICK_UP_WITHIN)
        elif change >= step - goal:  # exactly there, so that a stop has an end
            return [goal, *(step - share * change for share in SHARES[1:])]
        return [step + direction * share * change for share in SHARES]


class Brake:
    """The stop after a trajectory that ends in motion: all joints slow down evenly, for the same time, straight on.

    A joint that would leave its limits stops sooner: its position counts more than its acceleration.
    """

    def __init__(
        self, now: Array, moved: Array, acceleration: Array, lower: Array, upper: Array, period: float
    ) -> None:
        """``now`` [rad or m] is the last command, ``moved`` what it moved in its cycle of ``period`` seconds."""
        self._now, self._moved, self._period = now, moved, period
        cycles = max(1.0, float(np.ceil(np.max(np.abs(moved) / (acceleration * period**2)))))
        room = np.where(moved > 0.0, upper - now, now - lower)
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            until_limit = np.floor(2.0 * room / np.abs(moved)) + 1.0  # of cycles that take that way to rest
        fits = np.isfinite(until_limit)
        self._cycles = np.where(fits, np.clip(np.where(fits, until_limit, 1.0), 1.0, cycles), cycles)
        self._cycle = 0

    @property
    def done(self) -> bool:
        """Whether all joints stand still."""
        return bool(self._cycle >= self._cycles.max())

    def advance(self) -> JointSample:
        """The command of the next cycle."""
        self._cycle += 1
        step = self._moved * np.maximum(0.0, 1.0 - self._cycle / self._cycles)
        self._now = self._now + step
        if self.done:
            return at_rest(self._now)
        slowing = np.where(self._cycle < self._cycles, -self._moved / self._cycles, 0.0)
        return JointSample(self._now, step / self._period, slowing / self._period**2)
