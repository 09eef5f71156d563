"""Whether somebody is still there: when the demonstrator last did something."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..studio.recorder import angle
from ..studio.values import Hands, HandState

STILL = 0.01  # [m] that what lies on a table seems to move
STILL_TURN = math.radians(3.0)  # [rad]
STILL_GRIP = 0.05  # of 0..1


class Signs:
    """The last sign of the demonstrator; `now` is a clock [s]."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._last = now()
        self._hands = Hands()

    def seen(self) -> None:
        """The demonstrator did something, or another has become it."""
        self._last = self._now()

    def hands(self, hands: Hands) -> None:
        """Hands and head are somewhere; that they only lie there is no sign."""
        parts = zip(*((each.left, each.right, each.head) for each in (self._hands, hands)), strict=True)
        if any(_moved(before, after) for before, after in parts):
            self._hands = hands
            self.seen()

    @property
    def silence(self) -> float:
        """For how long there was no sign [s]."""
        return self._now() - self._last


def _moved(before: HandState | None, after: HandState | None) -> bool:
    if before is None or after is None:
        return before is not after
    return (
        math.dist(before.pose.position, after.pose.position) > STILL
        or angle(before.pose, after.pose) > STILL_TURN
        or abs(before.grip - after.grip) > STILL_GRIP
    )
