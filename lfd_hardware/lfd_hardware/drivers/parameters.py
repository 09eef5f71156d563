"""Numbers among the parameters of a ``<ros2_control>`` tag, checked."""

from __future__ import annotations

import math

from lfd_description.urdf import finite_number
from lfd_hardware.description import Component
from lfd_hardware.drivers.driver import DriverError


def number(
    component: Component, name: str, default: float, least: float = -math.inf, most: float = math.inf, rule: str = ''
) -> float:
    """A number within bounds, or DriverError; ``default`` where the tag has none, or an empty one.

    ``rule`` is what to write, for the error; else it is made of the bounds.
    """
    text = component.parameters.get(name, '')
    value = finite_number(text) if text else default
    if value is None or not least <= value <= most:
        raise DriverError(
            f"The parameter '{name}' of hardware '{component.name}' is '{text}': write "
            f'{rule or _rule("number", least, most)}.'
        )
    return value


def whole(component: Component, name: str, default: int, least: int = 0, most: float = math.inf) -> int:
    """The same for a whole number."""
    rule = _rule('whole number', least, most)
    value = number(component, name, default, least, most, rule)
    if value != int(value):
        raise DriverError(
            f"The parameter '{name}' of hardware '{component.name}' is '{component.parameters[name]}': write {rule}."
        )
    return int(value)


def _rule(kind: str, least: float, most: float) -> str:
    if math.isfinite(most):
        return f'a {kind} from {least:g} to {most:g}'
    return f'a {kind}, {least:g} or more' if math.isfinite(least) else f'a finite {kind}'
