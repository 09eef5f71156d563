"""Whether fingers hold what they were closed on.

A motion is planned with the fingers just at an object. Fingers of a real hand are told to close further, by a squeeze:
then they press, and those that get there have nothing between them. Positions are of the hand's leading joint [rad or
m], whichever way it closes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fingers:
    """Of a real hand: where its leading joint is when it is open, and when it is closed."""

    opened: float
    closed: float

    def squeezed(self, position: float, squeeze: float) -> float:
        """Where fingers are sent that are to press on an object at a position; not further than closed."""
        low, high = sorted((self.opened, self.closed))
        return min(max(position + self._way * squeeze, low), high)

    def past(self, planned: float, position: float) -> float:
        """By how much fingers are closed further than planned; negative: less far."""
        return self._way * (position - planned)

    @property
    def _way(self) -> float:
        return 1.0 if self.closed > self.opened else -1.0
