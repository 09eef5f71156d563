"""What two parallel faces leave of a body: an outline in the plane across the way the fingers close.

A hand at an angle of that plane sees the outline with u towards the palm and v across the fingers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_LEVEL = 1e-12  # of a sine or cosine


@dataclass(frozen=True)
class Rectangle:
    """|a| <= half_a, |b| <= half_b [m]."""

    half_a: float
    half_b: float

    @property
    def angles(self) -> tuple[float, ...]:
        """At which a hand looks straight at a side [rad]."""
        return tuple(0.5 * math.pi * quarter for quarter in range(4))

    def is_straight(self, angle: float) -> bool:
        """Whether a hand at an angle [rad] looks straight at a side."""
        return abs(math.sin(2.0 * angle)) < 1e-9

    def is_level(self, angle: float) -> bool:
        """Whether the side that looks at a hand at an angle [rad] is as high everywhere."""
        return self.is_straight(angle)

    def across(self, angle: float) -> float:
        """How far it extends across the fingers [m]."""
        return 2.0 * (self.half_a * abs(math.sin(angle)) + self.half_b * abs(math.cos(angle)))

    def corner(self, angle: float) -> float:
        """Where across the fingers its point nearest to the palm is [m]; 0 of a straight side."""
        if self.is_straight(angle):
            return 0.0
        cos, sin = math.cos(angle), math.sin(angle)
        return math.copysign(self.half_a, cos) * sin - math.copysign(self.half_b, sin) * cos

    def span(self, angle: float, v: float) -> tuple[float, float] | None:
        """Its lowest and highest u at a place across the fingers [m]; None where it is not."""
        low, high = -math.inf, math.inf
        cos, sin = math.cos(angle), math.sin(angle)
        for half, slope, offset in ((self.half_a, cos, v * sin), (self.half_b, sin, -v * cos)):
            if abs(slope) < _LEVEL:
                if abs(offset) > half:
                    return None
                continue
            ends = sorted(((-half - offset) / slope, (half - offset) / slope))
            low, high = max(low, ends[0]), min(high, ends[1])
        return (low, high) if low <= high else None


@dataclass(frozen=True)
class Disc:
    """A disc about the origin."""

    radius: float
    """[m]"""

    @property
    def angles(self) -> tuple[float, ...]:
        """At which a hand looks straight at a side [rad]: at any."""
        return (0.0,)

    def is_straight(self, angle: float) -> bool:
        """Whether a hand at an angle [rad] looks straight at a side: always."""
        return True

    def is_level(self, angle: float) -> bool:
        """Whether the side that looks at a hand at an angle [rad] is as high everywhere: never."""
        return False

    def across(self, angle: float) -> float:
        """How far it extends across the fingers [m]."""
        return 2.0 * self.radius

    def corner(self, angle: float) -> float:
        """Where across the fingers its point nearest to the palm is [m]."""
        return 0.0

    def span(self, angle: float, v: float) -> tuple[float, float] | None:
        """Its lowest and highest u at a place across the fingers [m]; None where it is not."""
        square = self.radius * self.radius - v * v
        return None if square < 0.0 else (-math.sqrt(square), math.sqrt(square))


Outline = Rectangle | Disc
