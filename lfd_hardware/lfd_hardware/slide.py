"""One joint on its way to a position, without ROS: never faster than its limits, and smooth at both ends."""

from __future__ import annotations

import math


class Slide:
    """Commands of a joint, one per cycle of ``period`` seconds: speeds up, keeps its speed, slows down, arrives."""

    def __init__(self, velocity: float, acceleration: float, period: float) -> None:
        self._step = velocity * period  # [rad or m] largest per cycle
        self._change = acceleration * period**2  # [rad or m] largest change of that
        self._period = period
        self.hold(0.0)

    @property
    def at_rest(self) -> bool:
        """Whether the command stands still, and will until it is told otherwise."""
        return self.position == self._target and self._moved == 0.0

    @property
    def velocity(self) -> float:
        """The command's velocity [rad/s or m/s]."""
        return self._moved / self._period

    def hold(self, position: float) -> None:
        """Command this position [rad or m] at once."""
        self.position = self._target = position
        self._moved = 0.0  # in the last cycle

    def go(self, target: float) -> None:
        """Move to a position [rad or m], from whatever motion there is."""
        self._target = target

    def stop(self) -> None:
        """Come to rest as soon as possible."""
        cycles = math.floor(abs(self._moved) / self._change)
        way = cycles * abs(self._moved) - self._change * cycles * (cycles + 1) / 2.0
        self._target = self.position + math.copysign(way, self._moved)

    def advance(self) -> float:
        """The command of the next cycle [rad or m]."""
        left = self._target - self.position
        if abs(left) <= self._change and abs(left - self._moved) <= self._change:
            self.position, self._moved = self._target, left
            return self.position
        # The step from which the steps that follow, each smaller by one change, end at the target.
        last = self._change * (math.sqrt(0.25 + 2.0 * abs(left) / self._change) - 0.5)
        wanted = math.copysign(min(last, self._step), left)
        self._moved += min(max(wanted - self._moved, -self._change), self._change)
        self.position += self._moved
        return self.position
