"""A robot and its scene as plain arrays, and the compiled checks against them.

For each state: the moving frames by forward kinematics, the balls around the solids, and only for those that come close
the solids themselves. What stands in the scene lies in a hierarchy of boxes, so that a thousand objects cost little
more than ten. Pairs that no joint of the group moves against each other are looked at once, when the world is made.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled

from .distances import in_order, make_desk, solid_distance
from .gjk import NEAREST, core_distance, is_apart
from .hierarchies import STACK
from .rows import (
    BALL,
    BALL_RADIUS,
    CENTRE,
    CHILD,
    ENTRIES,
    FRAME,
    HALF,
    HIGH,
    KIND,
    LOW,
    MESH,
    OWNER,
    PLANE,
    POSE,
    RADIUS,
    Integers,
    Numbers,
    Transform,
)
from .supports import core

# Columns of `World.joints`.
PARENT, COLUMN, MULTIPLIER, OFFSET, TURNS = range(5)
AXIS = 5  # three columns: a unit vector in the frame that moves
BEFORE = 8  # twelve columns: the transform parent -> frame at zero [m]
JOINT_WIDTH = 20


class World(NamedTuple):
    """An immutable snapshot of robot and scene, as compiled code takes it."""

    dof: int
    """How many numbers q has."""
    joints: Numbers
    """For each moving frame, parents first: what carries it and how; frame i + 1 is row i."""
    solids: Numbers
    """Rows of `rows`: those of the robot and of what is attached to it, then those of the objects in the scene."""
    moving: int
    """How many of the solids belong to the robot or to what is attached to it."""
    pairs: Integers
    """Two solids of the robot that must not touch, (n, 2); those that move against each other first."""
    moving_pairs: int
    self_margin: float
    """[m]"""
    outer: Numbers
    """A solid of the robot and its margin towards the scene [m], (n, 2); those that move first."""
    moving_outer: int
    may_touch: npt.NDArray[np.bool_]
    """Whether an owner (row) may touch an object in the scene (column)."""
    tree: Numbers
    """A hierarchy over the solids of the scene that have an end."""
    leaves: Integers
    """The solids that the entries of the tree's leaves are, then those without end."""
    planes: int
    """How many have no end."""
    shapes: Numbers
    """Corners, triangles and hierarchies of all shapes."""
    stuck: bool
    """Whether something touches that no joint of the group can part."""


class Room(NamedTuple):
    """What a check writes while it runs; one for each thread, and for one world."""

    places: Numbers
    """For each solid, then for each moving frame: the transform from the scene, and what follows, (n, PLACE_WIDTH).

    Then, in the first columns, unit vectors that proved two solids to be apart: `SCENE_PROOFS` for those of the scene,
    several of which may share one, and one for each pair of the robot's.
    """
    desk: Numbers
    q: Numbers
    stack: Integers


# Columns of `Room.places`, after the transform's twelve.
SPOT = 12  # three columns [m]: the middle of the ball around a solid of the robot, in the scene's frame
KNOWN = 15  # whether the transform is that of the present state, 1 or 0; of solids of the robot
PLACE_WIDTH = 16

SCENE_PROOFS = 256  # a power of two
_SPREAD = 37


@compiled
def make_room(world: World) -> Room:
    """Scratch memory for checks against this world, for compiled code."""
    return Room(_make_places(world), make_desk(), np.empty(world.dof), np.empty(STACK, dtype=np.int64))


def room_for(world: World) -> Room:
    """The same, several times as fast, for code that is not compiled."""
    return Room(_make_places(world), make_desk(), np.empty(world.dof), np.empty(STACK, dtype=np.int64))


@compiled
def _make_places(world: World) -> Numbers:
    count = world.solids.shape[0]
    places = np.zeros((count + world.joints.shape[0] + 1 + SCENE_PROOFS + world.pairs.shape[0], PLACE_WIDTH))
    for i in range(count):
        for k in range(12):
            places[i, k] = world.solids[i, POSE + k]
        places[i, KNOWN] = 1.0
    places[count, 0] = places[count, 5] = places[count, 10] = 1.0
    return places


@compiled
def collides(world: World, q: Numbers, room: Room) -> bool:
    """Whether anything touches that may not, at joint positions q, (dof,) [rad or m]."""
    if world.stuck:
        return True
    place(world.joints, world.solids, world.moving, q, room.places)
    if _pairs_touch(world, 0, world.moving_pairs, room):
        return True
    return _scene_is_touched(world, 0, world.moving_outer, room)


@compiled
def edge_free(world: World, q0: Numbers, q1: Numbers, step: float, room: Room) -> bool:
    """Whether no sample of the straight way from q0 to q1 collides.

    Samples lie so close that no joint moves more than `step` [rad or m] between them; both ends are among them, and
    are looked at first, then the middles between samples. That finds what is in the way sooner than going along.
    """
    count = _samples(q0, q1, step)
    if _collides_at(world, q0, q1, 1.0, room) or _collides_at(world, q0, q1, 0.0, room):
        return False
    stride = 1
    while stride < count:
        stride *= 2
    while stride > 1:
        for n in range(stride // 2, count, stride):
            if _collides_at(world, q0, q1, n / count, room):
                return False
        stride //= 2
    return True


@compiled
def collide_many(world: World, q: Numbers, found: npt.NDArray[np.bool_], room: Room) -> None:
    """For each row of q, (N, dof), whether it collides."""
    for n in range(q.shape[0]):
        for k in range(q.shape[1]):
            room.q[k] = q[n, k]
        found[n] = collides(world, room.q, room)


@compiled
def _samples(q0: Numbers, q1: Numbers, step: float) -> int:
    farthest = 0.0
    for k in range(q0.shape[0]):
        farthest = max(farthest, abs(q1[k] - q0[k]))
    return max(math.ceil(farthest / step - 1e-9), 1)


@compiled
def _collides_at(world: World, q0: Numbers, q1: Numbers, share: float, room: Room) -> bool:
    for k in range(q0.shape[0]):
        room.q[k] = q1[k] if share == 1.0 else q0[k] + share * (q1[k] - q0[k])
    return collides(world, room.q, room)


@compiled
def place(joints: Numbers, solids: Numbers, moving: int, q: Numbers, places: Numbers) -> None:
    """Put the frames and the balls of the robot where they are at joint positions q."""
    start = solids.shape[0]
    for n in range(joints.shape[0]):
        frame = start + n + 1
        position = joints[n, MULTIPLIER] * q[int(joints[n, COLUMN])] + joints[n, OFFSET]
        _multiply(places, start + int(joints[n, PARENT]), joints, n, BEFORE, frame)
        _move(places, frame, joints[n, AXIS], joints[n, AXIS + 1], joints[n, AXIS + 2], joints[n, TURNS], position)
    for i in range(moving):
        n = start + int(solids[i, FRAME])
        x, y, z = solids[i, BALL], solids[i, BALL + 1], solids[i, BALL + 2]
        places[i, SPOT] = places[n, 0] * x + places[n, 1] * y + places[n, 2] * z + places[n, 3]
        places[i, SPOT + 1] = places[n, 4] * x + places[n, 5] * y + places[n, 6] * z + places[n, 7]
        places[i, SPOT + 2] = places[n, 8] * x + places[n, 9] * y + places[n, 10] * z + places[n, 11]
        places[i, KNOWN] = 0.0


@compiled
def _move(places: Numbers, n: int, x: float, y: float, z: float, turns: float, position: float) -> None:
    """Turn a frame about, or slide it along, an axis of its own."""
    if turns == 0.0:
        for row in range(0, 12, 4):
            along = places[n, row] * x + places[n, row + 1] * y + places[n, row + 2] * z
            places[n, row + 3] += position * along
        return
    c, s = math.cos(position), math.sin(position)
    t = 1.0 - c
    for row in range(0, 12, 4):
        a, b, d = places[n, row], places[n, row + 1], places[n, row + 2]
        places[n, row] = a * (t * x * x + c) + b * (t * x * y + s * z) + d * (t * x * z - s * y)
        places[n, row + 1] = a * (t * x * y - s * z) + b * (t * y * y + c) + d * (t * y * z + s * x)
        places[n, row + 2] = a * (t * x * z + s * y) + b * (t * y * z - s * x) + d * (t * z * z + c)


@compiled
def _multiply(places: Numbers, i: int, rows: Numbers, j: int, at: int, n: int) -> None:
    """Make place n the product of place i and the transform in row j, from column `at` on."""
    b0, b1, b2, b3 = rows[j, at], rows[j, at + 1], rows[j, at + 2], rows[j, at + 3]
    b4, b5, b6, b7 = rows[j, at + 4], rows[j, at + 5], rows[j, at + 6], rows[j, at + 7]
    b8, b9, b10, b11 = rows[j, at + 8], rows[j, at + 9], rows[j, at + 10], rows[j, at + 11]
    for row in range(0, 12, 4):
        a0, a1, a2 = places[i, row], places[i, row + 1], places[i, row + 2]
        places[n, row] = a0 * b0 + a1 * b4 + a2 * b8
        places[n, row + 1] = a0 * b1 + a1 * b5 + a2 * b9
        places[n, row + 2] = a0 * b2 + a1 * b6 + a2 * b10
        places[n, row + 3] = a0 * b3 + a1 * b7 + a2 * b11 + places[i, row + 3]


@compiled
def _relation(poses: Numbers, i: int, j: int) -> Transform:
    """The transform from solid i to solid j [m]."""
    x, y, z = poses[j, 3] - poses[i, 3], poses[j, 7] - poses[i, 7], poses[j, 11] - poses[i, 11]
    a0, a1, a2 = poses[i, 0], poses[i, 4], poses[i, 8]
    b0, b1, b2 = poses[i, 1], poses[i, 5], poses[i, 9]
    c0, c1, c2 = poses[i, 2], poses[i, 6], poses[i, 10]
    u0, u1, u2 = poses[j, 0], poses[j, 4], poses[j, 8]
    v0, v1, v2 = poses[j, 1], poses[j, 5], poses[j, 9]
    w0, w1, w2 = poses[j, 2], poses[j, 6], poses[j, 10]
    return (
        a0 * u0 + a1 * u1 + a2 * u2,
        a0 * v0 + a1 * v1 + a2 * v2,
        a0 * w0 + a1 * w1 + a2 * w2,
        a0 * x + a1 * y + a2 * z,
        b0 * u0 + b1 * u1 + b2 * u2,
        b0 * v0 + b1 * v1 + b2 * v2,
        b0 * w0 + b1 * w1 + b2 * w2,
        b0 * x + b1 * y + b2 * z,
        c0 * u0 + c1 * u1 + c2 * u2,
        c0 * v0 + c1 * v1 + c2 * v2,
        c0 * w0 + c1 * w1 + c2 * w2,
        c0 * x + c1 * y + c2 * z,
    )


@compiled
def relation(solids: Numbers, i: int, j: int, places: Numbers) -> Transform:
    """The transform from solid i to solid j [m]."""
    _know(solids, i, places)
    _know(solids, j, places)
    return _relation(places, i, j)


@compiled
def _know(solids: Numbers, n: int, places: Numbers) -> None:
    """See to it that the place of a solid is known."""
    if places[n, KNOWN] == 0.0:
        _multiply(places, solids.shape[0] + int(solids[n, FRAME]), solids, n, POSE, n)
        places[n, KNOWN] = 1.0


@compiled
def pair_distance(
    solids: Numbers, i: int, j: int, shapes: Numbers, near: float, far: float, places: Numbers, desk: Numbers
) -> float:
    """The distance of two solids of the world [m], 0 or less if they touch, exact between `near` and `far`."""
    if not in_order(solids[i, KIND], solids[j, KIND]):
        i, j = j, i
    return solid_distance(solids, i, j, relation(solids, i, j, places), shapes, near, far, desk)


@compiled
def _is_touched(
    solids: Numbers, i: int, j: int, shapes: Numbers, margin: float, places: Numbers, desk: Numbers, slot: int
) -> bool:
    """Whether two solids of the world come closer than a margin [m]; what proves that not is kept in a place."""
    if not in_order(solids[i, KIND], solids[j, KIND]):
        i, j = j, i
    move = relation(solids, i, j, places)
    if solids[j, KIND] >= MESH or solids[i, KIND] >= MESH:
        return not solid_distance(solids, i, j, move, shapes, margin, margin, desk) > margin
    a, b = core(solids, i), core(solids, j)
    reach = margin + solids[i, RADIUS] + solids[j, RADIUS]
    x, y, z = places[slot, 0], places[slot, 1], places[slot, 2]
    if is_apart(a, b, move, shapes, reach, x, y, z):
        return False
    if not core_distance(a, b, move, shapes, reach, reach, desk) > reach:
        return True
    for k in range(3):
        places[slot, k] = desk[NEAREST, 3 + k]
    return False


@compiled
def _pairs_touch(world: World, first: int, end: int, room: Room) -> bool:
    """Whether, of these pairs of the robot's solids, two come closer than the margin."""
    solids, pairs, margin = world.solids, world.pairs, world.self_margin
    places, proofs = room.places, solids.shape[0] + world.joints.shape[0] + 1 + SCENE_PROOFS
    for n in range(first, end):
        i, j = pairs[n, 0], pairs[n, 1]
        x = places[i, SPOT] - places[j, SPOT]
        y = places[i, SPOT + 1] - places[j, SPOT + 1]
        z = places[i, SPOT + 2] - places[j, SPOT + 2]
        reach = solids[i, BALL_RADIUS] + solids[j, BALL_RADIUS] + margin
        if x * x + y * y + z * z > reach * reach or _ball_misses_box(solids, i, j, margin, places):
            continue
        if _is_touched(solids, i, j, world.shapes, margin, places, room.desk, proofs + n):
            return True
    return False


@compiled
def _ball_misses_box(solids: Numbers, i: int, j: int, margin: float, places: Numbers) -> bool:
    """Whether the ball around the smaller of two solids stays away from the box around the other."""
    if solids[i, BALL_RADIUS] > solids[j, BALL_RADIUS]:
        i, j = j, i
    _know(solids, j, places)
    gap = ball_gap(solids, j, places, places[i, SPOT], places[i, SPOT + 1], places[i, SPOT + 2])
    misses: bool = gap > solids[i, BALL_RADIUS] + margin
    return misses


@compiled
def _scene_is_touched(world: World, first: int, end: int, room: Room) -> bool:
    """Whether, of these solids of the robot, one comes closer to the scene than its margin."""
    solids, leaves, outer, tree, may_touch = world.solids, world.leaves, world.outer, world.tree, world.may_touch
    places, stack = room.places, room.stack
    ended, proofs = leaves.shape[0] - world.planes, solids.shape[0] + world.joints.shape[0] + 1
    for n in range(first, end):
        i, margin = int(outer[n, 0]), outer[n, 1]
        x, y, z = places[i, SPOT], places[i, SPOT + 1], places[i, SPOT + 2]
        reach, owner = solids[i, BALL_RADIUS] + margin, int(solids[i, OWNER])
        left = 1 if ended > 0 else 0
        stack[0] = 0
        # Planes are in no node: they are the leaves of a last one, -1.
        while left >= 0:
            left -= 1
            entry, entries = ended, world.planes
            if left >= 0:
                node = stack[left]
                if _box_gap(tree, node, x, y, z) > reach * reach:
                    continue
                entry, entries = int(tree[node, CHILD]), int(tree[node, ENTRIES])
                if entries == 0:
                    stack[left], stack[left + 1] = entry, entry + 1
                    left += 2
                    continue
            for leaf in range(entry, entry + entries):
                j = leaves[leaf]
                if ball_gap(solids, j, places, x, y, z) > reach or may_touch[owner, int(solids[j, OWNER])]:
                    continue
                proof = proofs + ((_SPREAD * i + j) & (SCENE_PROOFS - 1))
                if _is_touched(solids, i, j, world.shapes, margin, places, room.desk, proof):
                    return True
    return False


@compiled
def _box_gap(nodes: Numbers, node: int, x: float, y: float, z: float) -> float:
    """The squared distance of a point to a node's box [m^2]."""
    a = max(nodes[node, LOW] - x, x - nodes[node, HIGH], 0.0)
    b = max(nodes[node, LOW + 1] - y, y - nodes[node, HIGH + 1], 0.0)
    c = max(nodes[node, LOW + 2] - z, z - nodes[node, HIGH + 2], 0.0)
    square: float = a * a + b * b + c * c
    return square


@compiled
def ball_gap(solids: Numbers, j: int, places: Numbers, px: float, py: float, pz: float) -> float:
    """A lower bound of the distance [m] of a point to a solid whose place is known: to its box, or to the plane."""
    x, y, z = px - places[j, 3], py - places[j, 7], pz - places[j, 11]
    if solids[j, KIND] == PLANE:
        height: float = x * places[j, 2] + y * places[j, 6] + z * places[j, 10]
        return height
    total = 0.0
    for k in range(3):
        along = x * places[j, k] + y * places[j, 4 + k] + z * places[j, 8 + k]
        apart = max(abs(along - solids[j, CENTRE + k]) - solids[j, HALF + k], 0.0)
        total += apart * apart
    return math.sqrt(total)


@compiled
def is_stuck(world: World, room: Room) -> bool:
    """Whether something touches that may not, among what no joint of the group moves against each other."""
    place(world.joints, world.solids, world.moving, np.zeros(world.dof), room.places)
    if _pairs_touch(world, world.moving_pairs, world.pairs.shape[0], room):
        return True
    return _scene_is_touched(world, world.moving_outer, world.outer.shape[0], room)
