"""Solutions on their way out: turned into the joint limits near a seed, each kept once, the nearest first."""

import math

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix

Numbers = npt.NDArray[np.float64]

_TURN = 2.0 * math.pi
# A joint that stands at its limit is found a rounding error, or at a double root its square root, beyond it.
BEYOND = 1e-7  # [rad or m]


# Rows of `limits`, (4, dof): what the columns of q may be [rad or m], and whether a full turn changes nothing.
LOWER, UPPER, MIDDLE, PERIODIC = range(4)


@compiled
def nearest_turn(value: float, lower: float, upper: float, near: float, beyond: float) -> float:
    """The angle, turned fully as often as brings it within the limits (and `beyond`) and nearest to another."""
    if abs(value - near) > math.pi:
        value -= _TURN * math.floor((value - near) / _TURN + 0.5)
    if value == near - math.pi:
        value = near + math.pi
    if value > upper + beyond:
        value -= _TURN * math.ceil((value - upper - beyond) / _TURN)
    elif value < lower - beyond:
        value += _TURN * math.ceil((lower - beyond - value) / _TURN)
    return value


@compiled
def placed(value: float, k: int, limits: Matrix, seed: Numbers, beyond: float) -> float:
    """The position of joint k that is within its limits and nearest to the seed; NaN if there is none."""
    lower, upper = float(limits[LOWER, k]), float(limits[UPPER, k])
    if limits[PERIODIC, k] != 0.0:
        value = nearest_turn(value, lower, upper, seed[k], beyond)
    if lower - beyond <= value <= upper + beyond:
        return min(max(value, lower), upper)
    return math.nan


@compiled
def place(q: Numbers, limits: Matrix, seed: Numbers, beyond: float) -> bool:
    """Turn the joints, in place, to where they are within limits and nearest to the seed; false if they cannot.

    A joint that is beyond a limit by no more than `beyond` is put on it.
    """
    for k in range(q.shape[0]):
        q[k] = placed(q[k], k, limits, seed, beyond)
        if math.isnan(q[k]):
            return False
    return True


@compiled
def same(q: Numbers, kept: Matrix, n: int, limits: Matrix, apart: float) -> bool:
    """Whether no joint of q differs from row n by more than `apart` [rad or m], full turns aside."""
    for k in range(q.shape[0]):
        difference = q[k] - kept[n, k]
        if limits[PERIODIC, k] != 0.0 and abs(difference) > math.pi:
            difference -= _TURN * math.floor(difference / _TURN + 0.5)
        if abs(difference) > apart:
            return False
    return True


@compiled
def keep(q: Numbers, seed: Numbers, limits: Matrix, apart: float, kept: Matrix, distance: Numbers, count: int) -> int:
    """Insert a solution into the sorted rows of `kept` unless it is there; gives the new count."""
    for n in range(count):
        if same(q, kept, n, limits, apart):
            return count
    squared = 0.0
    for k in range(q.shape[0]):
        squared += (q[k] - seed[k]) ** 2
    n = count
    while n > 0 and distance[n - 1] > squared:
        distance[n] = distance[n - 1]
        for k in range(q.shape[0]):
            kept[n, k] = kept[n - 1, k]
        n -= 1
    distance[n] = squared
    for k in range(q.shape[0]):
        kept[n, k] = q[k]
    return count + 1
