"""The fastest speed along a path that keeps velocity and acceleration limits.

With x the square of the speed along the path and u its acceleration, the joints' accelerations are q' u + q'' x, so the
limits are straight lines in the (u, x) plane. One pass from the end finds at each node the highest x from which the
rest of the path can still be driven, a pass from the start then goes as fast as these allow. Within an interval u is
constant on bends, so that q' u + q'' x changes evenly from its start to its end: checked there, it holds all along.
On straight lines u may switch anywhere, and the optimum is the textbook's trapezoid.
"""

import math

import numpy as np

from lfd_description.compiled import compiled
from lfd_planner.timing.blended_path import BlendedPath, Flags
from lfd_planner.timing.cubics import Numbers

# Faster than any limit that matters [rad2/s2].
_FAST = 1e30
_STEPS = 100


@compiled
def speed_limit(direction: Numbers, limits: Numbers, margin: float) -> float:
    """The highest x at which q' of a node keeps the velocity limits times `margin`."""
    highest = _FAST
    for k in range(direction.shape[0]):
        if direction[k] != 0.0:
            highest = min(highest, (margin * limits[k] / direction[k]) ** 2)
    return highest


@compiled
def _widest_limit(path: BlendedPath, n: int, limits: Numbers, margin: float) -> float:
    """The highest x at which no q' of interval n breaks the velocity limits times `margin`."""
    return min(speed_limit(path.first[n], limits, margin), speed_limit(path.last[n], limits, margin))


@compiled
def push_limit(direction: Numbers, limits: Numbers) -> float:
    """The greatest u on a straight line along `direction`."""
    greatest = math.inf
    for k in range(direction.shape[0]):
        if direction[k] != 0.0:
            greatest = min(greatest, limits[k] / abs(direction[k]))
    return greatest


@compiled
def _bounds_of_push(
    path: BlendedPath, n: int, limits: Numbers, margin: float, then: float, x: float
) -> tuple[float, float, float, float, float]:
    """The least and the greatest u on bend n from x to at most `then`: as lines over x, with the slope of each.

    Gives low, its slope, high, its slope, and the highest x that joints allow which u does not move.
    """
    span = 2.0 * path.length[n]
    low, low_slope = -x / span, -1.0 / span
    high, high_slope = (then - x) / span, -1.0 / span
    highest = _FAST
    for k in range(limits.shape[0]):
        first, last = path.first[n, k], path.last[n, k]
        curvature, limit = (last - first) / path.length[n], margin * limits[k]
        for end in range(2):
            # At the end of the interval x has become x + 2 length u.
            factor = first if end == 0 else 3.0 * last - 2.0 * first
            if abs(factor) <= 1e-12:
                if curvature != 0.0:
                    highest = min(highest, limit / abs(curvature))
                continue
            slope = -curvature / factor
            half = limit / abs(factor)
            if slope * x + half < high:
                high, high_slope = slope * x + half, slope
            if slope * x - half > low:
                low, low_slope = slope * x - half, slope
    return low, low_slope, high, high_slope, highest


@compiled
def _fastest_entry(path: BlendedPath, n: int, limits: Numbers, margin: float, then: float, x: float) -> float:
    """The highest x, not above the given one, from which bend n can be driven to at most `then` at its end.

    The gap between the greatest and the least u is a concave function of x and not negative at zero, so steps along
    its tangents come down to its root without passing it.
    """
    for _ in range(_STEPS):
        low, low_slope, high, high_slope, highest = _bounds_of_push(path, n, limits, margin, then, x)
        if x > highest:
            x = highest
        elif low <= high or low_slope <= high_slope:
            break
        else:
            lower = x - (low - high) / (low_slope - high_slope)
            if lower >= x:
                break
            x = max(lower, 0.0)
    return x


@compiled
def squared_speeds(
    path: BlendedPath,
    velocity_limits: Numbers,
    acceleration_limits: Numbers,
    velocity_margin: Numbers,
    acceleration_margin: Numbers,
    wide: Flags,
) -> Numbers:
    """The fastest x at all nodes, (K + 1,); the margins, (K,) up to 1, tighten the limits of single intervals.

    Velocity limits count at the nodes, and all along the intervals that are `wide`, (K,). Where a bend turns round, q'
    passes zero: there a node alone would allow any speed, which the rest of the interval does not.
    """
    count = path.length.shape[0]
    x = np.zeros(count + 1)
    for n in range(count - 1, -1, -1):
        before = velocity_margin[n - 1] if n > 0 else 1.0
        highest = speed_limit(path.first[n], velocity_limits, min(velocity_margin[n], before))
        for m in range(max(n - 1, 0), n + 1):
            if wide[m]:
                highest = min(highest, _widest_limit(path, m, velocity_limits, velocity_margin[m]))
        if path.stops[n]:
            x[n] = 0.0
        elif path.bends[n]:
            x[n] = _fastest_entry(path, n, acceleration_limits, acceleration_margin[n], x[n + 1], highest)
        else:
            x[n] = min(highest, x[n + 1] + 2.0 * path.length[n] * push_limit(path.first[n], acceleration_limits))
    for n in range(count):
        if path.bends[n]:
            _, _, push, _, _ = _bounds_of_push(path, n, acceleration_limits, acceleration_margin[n], x[n + 1], x[n])
        else:
            push = push_limit(path.first[n], acceleration_limits)
        x[n + 1] = max(min(x[n + 1], x[n] + 2.0 * path.length[n] * push), 0.0)
    return x
