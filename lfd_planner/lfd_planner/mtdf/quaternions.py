"""Quaternions of a file: whether they are turns, and what a print may have taken from them."""

import math
import re
from collections.abc import Sequence
from itertools import combinations

from lfd_description.scenes.values import UNIT_ENOUGH, UNIT_TOLERANCE
from lfd_description.transforms import Quaternion

LOST_EXPONENT = 'e-05'
"""What is put back. Numbers below 1e-4 are printed with an exponent, so that e-05 is the largest that can be lost; a
smaller one changes the turn by less than 0.02 degrees."""


_MANTISSA = re.compile(r'[-+]?[1-9]\.[0-9]{3,}')  # as numbers with an exponent are printed: one digit, many behind


def unit(quaternion: Quaternion) -> Quaternion | None:
    """The quaternion with length 1, if it nearly has that; one that has it is left as it is."""
    length = math.hypot(*quaternion)
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        return None
    if abs(length - 1.0) <= UNIT_ENOUGH:
        return quaternion
    x, y, z, w = quaternion
    return x / length, y / length, z / length, w / length


def lost_exponents(written: Sequence[str]) -> tuple[int, ...]:
    """Which of x, y, z, w (0..3) must have lost an exponent for the quaternion to be a turn; none if that is unclear.

    Only what looks like a printed mantissa (1.4756) can have lost one, and only if it is the one way to a unit
    quaternion. `written` are four numbers as they stand in a text.
    """
    if unit(_restored(written, ())) is not None:
        return ()
    mantissas = [n for n, part in enumerate(written) if _MANTISSA.fullmatch(part)]
    choices = (choice for count in range(1, 5) for choice in combinations(mantissas, count))
    ways = [choice for choice in choices if unit(_restored(written, choice)) is not None]
    return ways[0] if len(ways) == 1 else ()


def _restored(written: Sequence[str], lost: tuple[int, ...]) -> Quaternion:
    x, y, z, w = (float(f'{part}{LOST_EXPONENT}' if n in lost else part) for n, part in enumerate(written))
    return x, y, z, w
