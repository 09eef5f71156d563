"""The geometry of a joint path: straight lines between waypoints, rounded at the corners by parabolas.

A path runs over a parameter s, the Euclidean length [rad or m] of the polyline. It is cut into intervals. On a
straight one q'(s) is constant, on a bend it changes evenly from one line's direction to the next one's; so q' is
continuous, q'' constant in every interval, and a motion along it has an acceleration everywhere.

A corner that is rounded from `reach` before the waypoint to `reach` after it passes the waypoint at the distance
reach / 4 * |change of direction|, joint by joint: that is how the blends are bounded.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_planner.timing.cubics import Matrix, Numbers

Flags = npt.NDArray[np.bool_]

# Directions closer than this are one line.
_SAME_DIRECTION = 1e-9
# A corner that must be rounded more tightly than this [rad or m] is a stop.
_LEAST_REACH = 1e-9
# A bend gets this many intervals for each unit by which a direction changes, and these at least and at most.
_PER_CHANGE, _FEWEST, _MOST = 16.0, 2, 24
# Waypoints this share of the blend apart are one; the corners of what is left are rounded by what this leaves.
_NEAR, _ROUNDED = 0.05, 0.9
# Waypoints this close [rad or m] are always one.
_SAME = 1e-9


class BlendedPath(NamedTuple):
    """K intervals of a path; interval k runs from node k to node k + 1."""

    start: Matrix
    """Positions at the first K nodes, (K, dof) [rad or m]."""
    end: Numbers
    """The position at the last node, (dof,)."""
    first: Matrix
    """q'(s) at the start of each interval, (K, dof)."""
    last: Matrix
    """q'(s) at its end."""
    length: Numbers
    """Of each interval, in s, (K,)."""
    bends: Flags
    """Whether q' changes in it, (K,)."""
    stops: Flags
    """Whether the motion must stand at a node, (K + 1,)."""


@compiled
def _near(a: Numbers, b: Numbers, apart: Numbers) -> bool:
    far = 0
    for k in range(a.shape[0]):
        far += abs(a[k] - b[k]) > apart[k]
    return far == 0


@compiled
def distinct(waypoints: Matrix, blend: Numbers) -> Matrix:
    """The waypoints without near-duplicates; the first and the last stay. At least one is left, (N, dof)."""
    count, dof = waypoints.shape
    apart = np.empty(dof)
    for k in range(dof):
        apart[k] = max(_NEAR * blend[k], _SAME)
    kept = np.empty((count, dof))
    kept[0] = waypoints[0]
    number = 1
    for n in range(1, count):
        if not _near(waypoints[n], kept[number - 1], apart):
            kept[number] = waypoints[n]
            number += 1
    if number > 1:
        kept[number - 1] = waypoints[count - 1]
    elif not _near(waypoints[count - 1], kept[0], np.full(dof, _SAME)):
        kept[1] = waypoints[count - 1]
        number = 2
    return kept[:number].copy()


@compiled
def _reaches(length: Numbers, direction: Matrix, blend: Numbers) -> Numbers:
    """How far before and after each waypoint its corner is rounded, (N,); 0 where there is none, -1 for a stop."""
    number = length.shape[0] + 1
    wanted, reach = np.zeros(number), np.zeros(number)
    for n in range(1, number - 1):
        wanted[n] = math.inf
        change = 0.0
        for k in range(direction.shape[1]):
            turn = abs(direction[n, k] - direction[n - 1, k])
            change = max(change, turn)
            if turn > 0.0:
                wanted[n] = min(wanted[n], 4.0 * _ROUNDED * blend[k] / turn)
        if change <= _SAME_DIRECTION:
            wanted[n] = 0.0
        elif wanted[n] < _LEAST_REACH:
            wanted[n] = -1.0
    for n in range(1, number - 1):
        # Two corners share the line between them, but neither leaves unused what the other does not want.
        before = max(0.5 * length[n - 1], length[n - 1] - max(wanted[n - 1], 0.0))
        after = max(0.5 * length[n], length[n] - max(wanted[n + 1], 0.0))
        reach[n] = min(wanted[n], before, after)
        if wanted[n] > 0.0 and reach[n] < _LEAST_REACH:
            reach[n] = -1.0
    return reach


@compiled
def _intervals_of_bend(before: Numbers, after: Numbers) -> int:
    change = 0.0
    for k in range(before.shape[0]):
        change = max(change, abs(after[k] - before[k]))
    return min(max(math.ceil(_PER_CHANGE * change), _FEWEST), _MOST)


@compiled
def _lines(waypoints: Matrix) -> tuple[Numbers, Matrix]:
    """The lengths, (N - 1,), and the unit directions, (N - 1, dof), of the lines between the waypoints."""
    number, dof = waypoints.shape
    length, direction = np.empty(number - 1), np.empty((number - 1, dof))
    for n in range(number - 1):
        squared = 0.0
        for k in range(dof):
            squared += (waypoints[n + 1, k] - waypoints[n, k]) ** 2
        length[n] = math.sqrt(squared)
        for k in range(dof):
            direction[n, k] = (waypoints[n + 1, k] - waypoints[n, k]) / length[n]
    return length, direction


@compiled
def blended(waypoints: Matrix, blend: Numbers) -> BlendedPath:
    """The path along distinct waypoints, (N, dof) with N > 1, that leaves no joint further off than `blend`, (dof,)."""
    number, dof = waypoints.shape
    length, direction = _lines(waypoints)
    reach = _reaches(length, direction, blend)

    most = number * (_MOST + 1)
    start, first, last = np.empty((most, dof)), np.empty((most, dof)), np.empty((most, dof))
    size, bends, stops = np.empty(most), np.zeros(most, dtype=np.bool_), np.zeros(most + 1, dtype=np.bool_)
    stops[0] = True
    count = 0
    for n in range(number - 1):
        left, right = max(reach[n], 0.0), max(reach[n + 1], 0.0)
        straight = length[n] - left - right
        if straight > 1e-14 * length[n]:
            for k in range(dof):
                start[count, k] = waypoints[n, k] + left * direction[n, k]
            first[count] = direction[n]
            last[count] = direction[n]
            size[count] = straight
            count += 1
        if n < number - 2 and reach[n + 1] < 0.0:
            stops[count] = True
        elif n < number - 2 and right > 0.0:
            pieces = _intervals_of_bend(direction[n], direction[n + 1])
            for piece in range(pieces):
                share, then = piece / pieces, (piece + 1) / pieces
                for k in range(dof):
                    turn = direction[n + 1, k] - direction[n, k]
                    s = 2.0 * right * share
                    begin = waypoints[n + 1, k] - right * direction[n, k]
                    start[count, k] = begin + s * (direction[n, k] + 0.5 * share * turn)
                    first[count, k] = direction[n, k] + share * turn
                    last[count, k] = direction[n, k] + then * turn
                size[count] = 2.0 * right / pieces
                bends[count] = True
                count += 1
    stops[count] = True
    start[0] = waypoints[0]
    return BlendedPath(
        start[:count],
        waypoints[number - 1].copy(),
        first[:count],
        last[:count],
        size[:count],
        bends[:count],
        stops[: count + 1],
    )
