"""Colours and moveit_msgs/ObjectColor, whose numbers have only seven digits on the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from moveit_msgs.msg import ObjectColor
from std_msgs.msg import ColorRGBA

from lfd_description.bodies import Colour
from lfd_planner.scene.faults import quoted

from .checks import Report

_SHORT = 4  # decimals that a person writes


def colours_to_message(colours: Mapping[str, Colour]) -> list[ObjectColor]:
    """Colours by object as messages."""
    return [
        ObjectColor(id=id, color=ColorRGBA(r=red, g=green, b=blue, a=opacity))
        for id, (red, green, blue, opacity) in colours.items()
    ]


def colours_from_message(
    messages: Iterable[ObjectColor], known: Mapping[str, Colour] | None = None
) -> dict[str, Colour]:
    """The colours by object; a known one that looks like this on the wire is kept with all its digits.

    Raises:
        SceneFault: a colour has no object, or a part of it is not within 0 to 1.
    """
    report = Report('Object colours')
    colours: dict[str, Colour] = {}
    for message in messages:
        parts = (message.color.r, message.color.g, message.color.b, message.color.a)
        report.name(message.id, 'object')
        if not all(0.0 <= part <= 1.0 for part in parts):
            report.problem(f'the colour of {quoted(message.id)} has a part that is not within 0 to 1; divide by 255.')
            continue
        before = (known or {}).get(message.id)
        if before is not None and all(np.float32(a) == np.float32(b) for a, b in zip(before, parts, strict=True)):
            colours[message.id] = before
            continue
        red, green, blue, opacity = map(widened, parts)
        colours[message.id] = (red, green, blue, opacity)
    report.finish()
    return colours


def widened(number: float) -> float:
    """The number that was meant by one of seven digits: the short decimal, or a 255th, that has the same seven."""
    single = np.float32(number)
    if float(single) != number:  # it never was on the wire
        return number
    for meant in (round(number, _SHORT), round(number * 255.0) / 255.0):
        if np.float32(meant) == single:
            return meant
    return float(str(single))
