"""Short motions in joint space, compiled: what the search and the shortening of paths are made of.

Distances are Euclidean over weighted joint positions; a weight of 1 counts a metre like a radian. An endless joint
takes the shorter way round, so that a place that is reached may differ from the one asked for by full turns of it.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.collision.world import Room, World, edge_free, make_room
from lfd_planner.robot.ik.solutions import Numbers

from .projection import Constraints, ProjectionRoom, is_constrained, keeps, make_projection_room, project

Flags = npt.NDArray[np.bool_]

FREE, BREAKS_CONSTRAINTS, IN_COLLISION = range(3)
MOST_HOPS = 256
"""No walk has more."""
_TURN = 2.0 * math.pi
_ARRIVED = 1e-12
# Along constraints: the shortest hop as a share of the full one, the least progress and the widest detour of a hop.
_SHORTEST, _PROGRESS, _DETOUR = 0.1, 0.05, 2.0


class Problem(NamedTuple):
    """What a motion has to respect."""

    world: World
    limits: Matrix
    """Lower and upper, (2, dof) [rad or m]; infinite for endless joints."""
    weights: Numbers
    """Of the joints in distances, (dof,)."""
    endless: Flags
    """Joints that a full turn leaves as they are, (dof,)."""
    constraints: Constraints
    step: float
    """Between two states that are checked, no joint moves more than this [rad or m]."""


class MotionRoom(NamedTuple):
    """What motions write while they are tried; one for each thread."""

    collision: Room
    projection: ProjectionRoom
    here: Numbers
    ahead: Numbers
    sample: Numbers
    way: Matrix
    """The places of a walk, (MOST_HOPS, dof)."""


@compiled
def make_motion_room(problem: Problem) -> MotionRoom:
    """Room for motions of this problem."""
    dof = problem.weights.shape[0]
    return MotionRoom(
        make_room(problem.world),
        make_projection_room(problem.constraints, dof),
        np.empty(dof),
        np.empty(dof),
        np.empty(dof),
        np.empty((MOST_HOPS, dof)),
    )


@compiled
def way_of(problem: Problem, a: Numbers, b: Numbers, k: int) -> float:
    """How far joint k goes from a to b [rad or m]."""
    way = b[k] - a[k]
    if problem.endless[k] and abs(way) > math.pi:
        way -= _TURN * math.floor(way / _TURN + 0.5)
    return float(way)


@compiled
def copy(place: Numbers, out: Numbers) -> None:
    """Copy a place."""
    for k in range(place.shape[0]):
        out[k] = place[k]


@compiled
def squared_distance(problem: Problem, a: Numbers, b: Numbers) -> float:
    """Between two places, weighted."""
    total = 0.0
    for k in range(a.shape[0]):
        way = problem.weights[k] * way_of(problem, a, b, k)
        total += way * way
    return total


@compiled
def go(problem: Problem, a: Numbers, b: Numbers, share: float, out: Numbers) -> None:
    """The place at a share of the way from a to b; `out` may be b, to turn b next to a."""
    for k in range(a.shape[0]):
        way = way_of(problem, a, b, k)
        # Arriving is exact, but for full turns.
        out[k] = b[k] if share == 1.0 and way == b[k] - a[k] else a[k] + share * way


@compiled
def keeps_between(problem: Problem, a: Numbers, b: Numbers, room: MotionRoom) -> bool:
    """Whether all places between a and b keep the constraints, looked at twice as often as collisions."""
    longest = 0.0
    for k in range(a.shape[0]):
        longest = max(longest, abs(b[k] - a[k]))
    pieces = math.ceil(2.0 * longest / problem.step)
    place = room.projection.tried
    for n in range(1, pieces):
        share = n / pieces
        for k in range(a.shape[0]):
            place[k] = a[k] + share * (b[k] - a[k])
        if not keeps(place, problem.constraints, room.projection):
            return False
    return True


@compiled
def edge_state(problem: Problem, a: Numbers, b: Numbers, room: MotionRoom) -> int:
    """Whether the straight way from a to b, two places that keep the constraints, is FREE, or why it is not."""
    if is_constrained(problem.constraints) and not keeps_between(problem, a, b, room):
        return BREAKS_CONSTRAINTS
    return FREE if edge_free(problem.world, a, b, problem.step, room.collision) else IN_COLLISION


@compiled
def first_fault(problem: Problem, path: Matrix) -> int:
    """The first straight piece of a path, (N, dof), that is not free, or -1."""
    room = make_motion_room(problem)
    for n in range(path.shape[0] - 1):
        if edge_state(problem, path[n], path[n + 1], room) != FREE:
            return n
    return -1


@compiled
def walk(problem: Problem, start: Numbers, target: Numbers, hop: float, room: MotionRoom) -> tuple[int, bool]:
    """Hop from a place towards another until something is in the way; the places go to `room.way`.

    No straight hop is longer than the distance `hop`; along constraints every one is projected back onto them. Gives
    the number of hops, at most MOST_HOPS, and whether they arrived.
    """
    here, ahead = room.here, room.ahead
    copy(start, here)
    left = math.sqrt(squared_distance(problem, here, target))
    constrained = is_constrained(problem.constraints)
    can_arrive = not constrained or keeps(target, problem.constraints, room.projection)
    count = 0
    while left > _ARRIVED:
        if count == MOST_HOPS:
            return count, False
        length, state = hop, BREAKS_CONSTRAINTS
        # Where constraints bend sharply, straight hops keep to them only if they are short.
        while state == BREAKS_CONSTRAINTS and length >= _SHORTEST * hop:
            share = min(1.0, length / left)
            go(problem, here, target, share, ahead)
            if (share == 1.0 and can_arrive) or not constrained or _gets_on(problem, target, left, length, room):
                state = edge_state(problem, here, ahead, room)
            length *= 0.5
        if state != FREE:
            return count, False
        copy(ahead, here)
        copy(ahead, room.way[count])
        count += 1
        left = math.sqrt(squared_distance(problem, here, target))
    return count, True


@compiled
def _gets_on(problem: Problem, target: Numbers, left: float, length: float, room: MotionRoom) -> bool:
    """Project a hop, and say whether it still leads on to the target without a detour."""
    if not project(room.ahead, problem.constraints, problem.limits, room.projection):
        return False
    detour, gain = _DETOUR * length, left - _PROGRESS * length
    return bool(
        squared_distance(problem, room.here, room.ahead) <= detour * detour
        and squared_distance(problem, room.ahead, target) <= gain * gain
        and gain > 0.0
    )
