"""The last look at commands before they leave for a device: no limit is passed, and nothing jumps.

Controllers keep the limits by themselves. What is found here is a mistake of theirs, and is refused, never clamped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lfd_hardware.description import Component
from lfd_hardware.limits import POSITION_ROUNDING

JUMP_FACTOR = 1.1  # of what the velocity limit allows in one cycle: rounding, and a period that is not exact


class CommandRefused(ValueError):
    """A command that must not reach the hardware; the message is one sentence with joint, value and limit."""


@dataclass
class Bounds:
    """What one command interface takes; ``last`` is what it was told last, or else where it stands."""

    name: str
    lower: float  # [rad], [m], [rad/s], ...
    upper: float
    jump: float  # in one cycle
    last: float

    def check(self, value: float) -> None:
        """Raise CommandRefused when a finite value must not be sent; remember it otherwise."""
        last = self.last
        if not self.lower <= value <= self.upper:
            raise CommandRefused(
                f"The command for '{self.name}' is {value:.6g}, outside of its limits {self.lower:.6g} to "
                f'{self.upper:.6g}: it was not sent.'
            )
        if abs(value - last) > self.jump:  # false when nothing is known of the last one
            raise CommandRefused(
                f"The command for '{self.name}' jumps from {last:.6g} to {value:.6g}, more than {self.jump:.3g} in one "
                'cycle: it was not sent.'
            )
        self.last = value


def bounds_of(
    component: Component, states: Mapping[str, float], sent: Mapping[str, float], period: float
) -> dict[str, Bounds]:
    """The bounds of every command interface of a component, beginning at what it was ``sent`` last, or else its state.

    A joint that stands outside of its limits may stay there or come back: its bounds reach as far as it does.
    """
    bounds: dict[str, Bounds] = {}
    for part in component.parts:
        for interface in part.command_interfaces:
            name = f'{part.name}/{interface.name}'
            lower, upper, jump = interface.minimum, interface.maximum, math.inf
            if part.limit is not None and interface.name == 'position':
                lower, upper = part.limit.lower - POSITION_ROUNDING, part.limit.upper + POSITION_ROUNDING
                jump = part.limit.velocity * period * JUMP_FACTOR + POSITION_ROUNDING
            elif part.limit is not None and interface.name == 'velocity':
                upper = part.limit.velocity * JUMP_FACTOR
                lower = -upper
            stands = states.get(name, math.nan)
            if math.isfinite(stands):
                lower, upper = min(lower, stands), max(upper, stands)
            bounds[name] = Bounds(name, lower, upper, jump, sent.get(name, stands))
    return bounds
