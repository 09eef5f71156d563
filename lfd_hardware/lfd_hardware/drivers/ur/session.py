"""One run of the program that follows: where the arm is sent next, and whether the program still listens.

Positions are in rad, times in s on the monotonic clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence

from lfd_hardware.description import JointLimit
from lfd_hardware.drivers.driver import DriverError
from lfd_hardware.drivers.ur.script import Phase
from lfd_hardware.drivers.ur.state import RobotState

STEP_MARGIN = 1.1  # set-points may be this much faster than the joints' limits before they count as a jump
LONGEST_GAP = 0.04  # [s] between two set-points that still belong to one motion
COUNTS = 2**31  # counts are 31 bits wide
ROUNDING = 1e-6  # [rad]


class Session:
    """Begins at rest where the arm stands."""

    def __init__(self, number: int, limits: Sequence[JointLimit], state: RobotState, period: float, now: float) -> None:
        self.number = number
        self.goal = state.positions  # [rad]
        self.count = 0
        self._limits = limits
        self._joints = {f'{limit.joint}/position': joint for joint, limit in enumerate(limits)}
        # An arm that stands outside of its limits may stay there and come back, but go no further.
        self._ranges = [
            (min(limit.lower, at) - ROUNDING, max(limit.upper, at) + ROUNDING)
            for limit, at in zip(limits, state.positions, strict=True)
        ]
        self._has_moved = False
        self._period = self._loop_period = period  # [s] of the controller, of the update loop
        self._last_read = self._read_before = now
        self._unheard: deque[tuple[int, float]] = deque()  # counts that the program has not repeated, and when sent
        self._heard, self._heard_at = state.count, now  # the count that it repeated last, and when that was new

    def note_read(self, period: float, now: float) -> None:
        """A cycle of the update loop begins; ``period`` [s] is the loop's."""
        self._read_before, self._last_read = self._last_read, now
        self._loop_period = max(period, self._period)

    def aim(self, commands: Mapping[str, float], now: float) -> None:
        """Take commands as the next goal; raises DriverError, and takes none, if the arm would have to jump."""
        if commands:
            # A set-point is made after the read of its cycle: no more time than this lies between two of them.
            gap = min(now - self._read_before, LONGEST_GAP) if self._has_moved else 0.0
            goal = list(self.goal)
            for name, value in commands.items():
                joint = self._joints.get(name)
                if joint is None:
                    raise DriverError(
                        f"This driver of a UR arm cannot follow '{name}': claim {', '.join(self._joints)}."
                    )
                self._check(joint, value, max(gap, self._loop_period))
                goal[joint] = value
            self.goal, self._has_moved = tuple(goal), True
        self.count = (self.count + 1) % COUNTS
        self._unheard.append((self.count, now))

    def note_state(self, state: RobotState, now: float) -> None:
        """Note which set-points the program has repeated; call it with every state."""
        if state.count != self._heard or state.phase == Phase.WAITING:
            self._heard, self._heard_at = state.count, now
        if state.phase == Phase.WAITING:  # its count is one of an earlier program
            self._unheard.clear()
        while self._unheard and (state.count - self._unheard[0][0]) % COUNTS < COUNTS // 2:
            self._unheard.popleft()

    def unheard(self, now: float) -> float:
        """For how long the oldest set-point that the program has not repeated is under way [s]."""
        return now - self._unheard[0][1] if self._unheard else 0.0

    def is_deaf(self, now: float, patience: float) -> bool:
        """Whether the program has repeated nothing new for ``patience`` [s] although set-points were sent."""
        return self.unheard(now) > patience and now - self._heard_at > patience

    def lagging(self, state: RobotState, most: float) -> str | None:
        """The joint that is more than ``most`` seconds of its greatest speed behind the goal, if any."""
        for limit, goal, at in zip(self._limits, self.goal, state.positions, strict=True):
            if abs(goal - at) > limit.velocity * most:
                return limit.joint
        return None

    def _check(self, joint: int, value: float, time: float) -> None:
        """Refuse a command that cannot be reached within ``time`` [s] or at all."""
        limit, (lower, upper), last = self._limits[joint], self._ranges[joint], self.goal[joint]
        if not math.isfinite(value):
            raise DriverError(f"The command for '{limit.joint}' is {value}: only finite commands may reach the arm.")
        if not lower <= value <= upper:
            raise DriverError(
                f"The command for '{limit.joint}' is {value:.4f} rad, outside of its limits {limit.lower:.4f} to "
                f'{limit.upper:.4f}: the arm was stopped; plan within the limits.'
            )
        most = limit.velocity * time * STEP_MARGIN + ROUNDING
        if abs(value - last) > most:
            raise DriverError(
                f"The command for '{limit.joint}' jumps from {last:.4f} to {value:.4f} rad, where {most:.4f} rad is "
                f'the most within {time:.4f} s: the arm was stopped; begin motions where it stands.'
            )
