"""Shorter paths: waypoints that are not needed go, and pieces between random places become straight.

Along path constraints a piece is replaced by a walk that is projected onto them. Every straight piece of the result was
checked as a whole, and the result is never longer than what came in.
"""

import math
from typing import NamedTuple

import numpy as np

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import Numbers

from .motion import FREE, MOST_HOPS, MotionRoom, Problem, copy, edge_state, go, make_motion_room, squared_distance, walk
from .patience import Patience
from .projection import Integers, is_constrained, keeps
from .random_numbers import RandomState, random_state, uniform

_GAIN = 1e-3
"""A piece is replaced if that makes it shorter by at least this share."""
_VAIN = 16
"""So many pieces in a row that could not be shortened are enough."""


class Waypoints(NamedTuple):
    """A path with room to grow: rows (capacity, dof), of which the first `used[0]` are in use."""

    rows: Matrix
    used: Integers
    """How many rows are in use, and how many pieces in a row could not be shortened."""
    spare: Matrix
    """As large as `rows`, for the path that is being made."""


def shorten(problem: Problem, path: Matrix, *, hop: float, seed: int, attempts: int, patience: Patience) -> Matrix:
    """A path, (N, dof), that is as long as another or shorter, with the same ends.

    Args:
        problem: what the path has to respect, and does so already.
        path: joint positions [rad or m].
        hop: the longest straight piece along constraints, weighted [rad or m].
        seed: another number tries other pieces.
        attempts: how many pieces are tried.
        patience: ends it early, with what was gained until then.
    """
    # A path that is there has its turns; pieces of it go straight from row to row.
    straight = problem._replace(endless=np.zeros_like(problem.endless))
    points, random = _waypoints(path), random_state(seed)
    _remove_needless(straight, points)
    done = 0
    for amount in patience.slices():
        if points.used[0] <= 2 or points.used[1] >= _VAIN or done >= attempts:
            break
        _shorten(straight, points, hop, random, min(amount, attempts - done))
        done += amount
    _remove_needless(straight, points)
    return points.rows[: points.used[0]].copy()


def path_length(path: Matrix, weights: Numbers | None = None) -> float:
    """The weighted length of a path (N, dof) [rad or m]."""
    scaled = np.diff(path, axis=0) * (1.0 if weights is None else weights)
    return float(np.linalg.norm(scaled, axis=1).sum())


def _waypoints(path: Matrix) -> Waypoints:
    rows = np.empty((2 * len(path) + MOST_HOPS, path.shape[1]))
    rows[: len(path)] = path
    return Waypoints(rows, np.array([len(path), 0], dtype=np.int64), np.empty_like(rows))


# Compiled ------------------------------------------------------------------------------------------------------------


@compiled
def _remove_needless(problem: Problem, points: Waypoints) -> None:
    """From each waypoint go straight to the last of the following ones that can be reached so."""
    rows, room = points.rows, make_motion_room(problem)
    kept, here, count = 0, 0, points.used[0]
    while here < count - 1:
        there = here + 1
        while there + 1 < count and edge_state(problem, rows[here], rows[there + 1], room) == FREE:
            there += 1
        kept += 1
        copy(rows[there], rows[kept])
        here = there
    points.used[0] = kept + 1


@compiled
def _length(problem: Problem, rows: Matrix, first: int, last: int) -> float:
    total = 0.0
    for n in range(first, last):
        total += math.sqrt(squared_distance(problem, rows[n], rows[n + 1]))
    return total


@compiled
def _locate(problem: Problem, points: Waypoints, length: float, out: Numbers) -> int:
    """The place after some length of the path, and the waypoint before it."""
    last = int(points.used[0]) - 2
    for n in range(last + 1):
        piece = math.sqrt(squared_distance(problem, points.rows[n], points.rows[n + 1]))
        if length < piece or n == last:
            go(problem, points.rows[n], points.rows[n + 1], min(1.0, length / max(piece, 1e-300)), out)
            return n
        length -= piece
    return last


@compiled
def _splice(points: Waypoints, i: int, j: int, a: Numbers, hops: int, room: MotionRoom) -> None:
    """Put a place and a walk from it between waypoints i and j; what was there goes."""
    rows, spare, rest = points.rows, points.spare, points.used[0] - j
    count = i + 2 + hops + rest
    if count > rows.shape[0]:
        return
    for n in range(rest):
        copy(rows[j + n], spare[n])
    copy(a, rows[i + 1])
    for n in range(hops):
        copy(room.way[n], rows[i + 2 + n])
    for n in range(rest):
        copy(spare[n], rows[i + 2 + hops + n])
    points.used[0] = count


@compiled
def _choose(problem: Problem, points: Waypoints, random: RandomState, room: MotionRoom) -> tuple[int, int, float]:
    """Two random places of the path, into `room.sample` and the first spare row.

    Gives the waypoint before the first and the one after the second, and how short a way between them is worth having;
    -1 if no way can be.
    """
    first, second = uniform(random), uniform(random)
    whole = _length(problem, points.rows, 0, points.used[0] - 1)
    a, b = room.sample, points.spare[0]
    i = _locate(problem, points, min(first, second) * whole, a)
    j = _locate(problem, points, max(first, second) * whole, b)
    enough = (1.0 - _GAIN) * abs(second - first) * whole
    good = i < j and squared_distance(problem, a, b) <= enough * enough
    # A place between two that were looked at may be a hair outside.
    good = good and keeps(a, problem.constraints, room.projection) and keeps(b, problem.constraints, room.projection)
    return i, j + 1, enough if good else -1.0


@compiled
def _shorten(problem: Problem, points: Waypoints, hop: float, random: RandomState, attempts: int) -> None:
    """Walk between random places of the path where the way is free and shorter."""
    room = make_motion_room(problem)
    rows, a, b = points.rows, room.sample, points.spare[0]
    reach = hop if is_constrained(problem.constraints) else math.inf
    for _ in range(attempts):
        if points.used[1] >= _VAIN:
            return
        points.used[1] += 1
        i, j, enough = _choose(problem, points, random, room)
        if enough < 0.0:
            continue
        hops, arrived = walk(problem, a, b, reach, room)
        if not arrived or hops == 0:
            continue
        length = math.sqrt(squared_distance(problem, a, room.way[0])) + _length(problem, room.way, 0, hops - 1)
        # The rests of the two pieces are checked again, for they are now sampled at other places.
        if (
            length <= enough
            and edge_state(problem, rows[i], a, room) == FREE
            and edge_state(problem, b, rows[j], room) == FREE
        ):
            _splice(points, i, j, a, hops, room)
            points.used[1] = 0
