"""Quaternions of a file: whether they are turns, and what a print may have taken from them."""

import math
from itertools import combinations

from lfd_description.scenes.values import UNIT_ENOUGH, UNIT_TOLERANCE
from lfd_description.transforms import Quaternion

LOST_EXPONENT = 'e-05'
"""What is put back. Numbers below 1e-4 are printed with an exponent, so that e-05 is the largest that can be lost; a
smaller one changes the turn by less than 0.02 degrees."""


def unit(quaternion: Quaternion) -> Quaternion | None:
    """The quaternion with length 1, if it nearly has that; one that has it is left as it is."""
    length = math.hypot(*quaternion)
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        return None
    if abs(length - 1.0) <= UNIT_ENOUGH:
        return quaternion
    x, y, z, w = quaternion
    return x / length, y / length, z / length, w / length


def lost_exponents(quaternion: Quaternion) -> tuple[int, ...]:
    """Which of x, y, z, w (0..3) must have lost an exponent for the quaternion to be a turn; none if that is unclear.

    Only mantissas (1 to 10) can have lost one, and only if it is the one way to a unit quaternion.
    """
    if unit(quaternion) is not None:
        return ()
    mantissas = [n for n, part in enumerate(quaternion) if 1.0 <= abs(part) < 10.0]
    choices = (choice for count in range(1, 5) for choice in combinations(mantissas, count))
    ways = [choice for choice in choices if unit(_restored(quaternion, choice)) is not None]
    return ways[0] if len(ways) == 1 else ()


def _restored(quaternion: Quaternion, lost: tuple[int, ...]) -> Quaternion:
    x, y, z, w = (float(f'{part!r}{LOST_EXPONENT}') if n in lost else part for n, part in enumerate(quaternion))
    return x, y, z, w
