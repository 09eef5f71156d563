"""Where and how deep solids touch, and how far the nearest two are apart: for explanations, not for searches.

The depth of an overlap is the shortest shift that was found to part the two: exact for boxes, balls and capsules, and
else at most a little more than the true one, for it is searched among directions. A mesh that is not convex has the
depth of one of the triangles that are touched.
"""

import math

import numpy as np

from lfd_description.compiled import compiled

from .distances import FOUND, in_order, lay_triangle
from .distances import ONE as DESK_ONE
from .distances import OTHER as DESK_OTHER
from .gjk import NEAREST, core_distance, point_of_a
from .rows import BALL_RADIUS, KIND, OWNER, PLANE, RADIUS, Numbers, Transform
from .supports import Core, core, support
from .world import SPOT, Room, World, ball_gap, pair_distance, place, relation

# Columns of a contact.
ONE, OTHER = 0, 1  # the solids
POSITION = 2  # three columns [m], scene frame
NORMAL = 5  # three columns: unit vector from the one to the other, scene frame
DEPTH = 8  # [m]
CONTACT_WIDTH = 9

Radii = tuple[float, float]
"""Around the cores of two solids [m]."""

_CANDIDATES = 79  # directions that are tried, and their reverses
_STARTS = 8  # the best of them, from which to go on
_SAME = 1e-12  # [m], by which a shift must be better
_ROUNDS = 24
_ANGLE = 0.2  # [rad], of the first round


@compiled
def find_contacts(world: World, q: Numbers, found: Numbers, described: int, room: Room) -> int:
    """Fill rows with the contacts at joint positions q, as many as there is room for; gives how many there are.

    All but the first `described` rows say who touches and not where, which takes the most time.
    """
    place(world.joints, world.solids, world.moving, q, room.places)
    count = 0
    for n in range(world.pairs.shape[0]):
        i, j = world.pairs[n, 0], world.pairs[n, 1]
        if not _apart(world, i, j, room) > world.self_margin:
            count = _look(world, i, j, world.self_margin, found, described, count, room)
    for n in range(world.outer.shape[0]):
        i, margin = int(world.outer[n, 0]), world.outer[n, 1]
        for j in range(world.moving, world.solids.shape[0]):
            if not _apart_from_scene(world, i, j, room) > margin:
                count = _look(world, i, j, margin, found, described, count, room)
    return count


@compiled
def find_nearest(world: World, q: Numbers, room: Room) -> tuple[float, int, int]:
    """The smallest distance of solids that must not touch [m], 0 if two touch, and which two; -1 if there are none."""
    place(world.joints, world.solids, world.moving, q, room.places)
    best, one, other = math.inf, -1, -1
    for n in range(world.pairs.shape[0]):
        i, j = world.pairs[n, 0], world.pairs[n, 1]
        if not _apart(world, i, j, room) > best:
            distance = max(_distance(world, i, j, 0.0, best, room), 0.0)
            if distance < best:
                best, one, other = distance, i, j
    for n in range(world.outer.shape[0]):
        i = int(world.outer[n, 0])
        for j in range(world.moving, world.solids.shape[0]):
            if not _apart_from_scene(world, i, j, room) > best:
                distance = max(_distance(world, i, j, 0.0, best, room), 0.0)
                if distance < best:
                    best, one, other = distance, i, j
    return best, one, other


@compiled
def _distance(world: World, i: int, j: int, near: float, far: float, room: Room) -> float:
    return pair_distance(world.solids, i, j, world.shapes, near, far, room.places, room.desk)


@compiled
def _apart(world: World, i: int, j: int, room: Room) -> float:
    """A lower bound of the distance of two of the robot's solids [m]."""
    x = room.places[i, SPOT] - room.places[j, SPOT]
    y = room.places[i, SPOT + 1] - room.places[j, SPOT + 1]
    z = room.places[i, SPOT + 2] - room.places[j, SPOT + 2]
    apart: float = math.sqrt(x * x + y * y + z * z) - world.solids[i, BALL_RADIUS] - world.solids[j, BALL_RADIUS]
    return apart


@compiled
def _apart_from_scene(world: World, i: int, j: int, room: Room) -> float:
    """A lower bound of the distance of a solid of the robot to one of the scene [m]; endless, if they may touch."""
    if world.may_touch[int(world.solids[i, OWNER]), int(world.solids[j, OWNER])]:
        return math.inf
    places = room.places
    gap = ball_gap(world.solids, j, places, places[i, SPOT], places[i, SPOT + 1], places[i, SPOT + 2])
    apart: float = gap - world.solids[i, BALL_RADIUS]
    return apart


@compiled
def _look(world: World, i: int, j: int, margin: float, found: Numbers, described: int, count: int, room: Room) -> int:
    """Add the contact of two solids, if they come closer than a margin [m]; gives the new count."""
    if _distance(world, i, j, margin, margin, room) > margin:
        return count
    if count < min(described, found.shape[0]):
        _describe(world, i, j, room, found[count])
    elif count < found.shape[0]:
        found[count, ONE], found[count, OTHER] = i, j
    return count + 1


@compiled
def _describe(world: World, i: int, j: int, room: Room, contact: Numbers) -> None:
    """Fill a row with the contact of two solids, right after `pair_distance` found it."""
    contact[ONE], contact[OTHER] = i, j
    sign = 1.0
    if not in_order(world.solids[i, KIND], world.solids[j, KIND]):
        i, j, sign = j, i, -1.0
    move, desk, shapes = relation(world.solids, i, j, room.places), room.desk, world.shapes
    a, b = core(world.solids, i), core(world.solids, j)
    if desk[FOUND, 0] >= 0.0:
        lay_triangle(shapes, int(desk[FOUND, 0]), desk, DESK_ONE)
        a = core(desk, DESK_ONE)
    if desk[FOUND, 1] >= 0.0:
        lay_triangle(shapes, int(desk[FOUND, 1]), desk, DESK_OTHER)
        b = core(desk, DESK_OTHER)
    around = (world.solids[i, RADIUS], world.solids[j, RADIUS])
    x, y, z, nx, ny, nz, depth = _contact(a, b, around, move, shapes, desk)
    for k in range(3):
        p = room.places[i]
        contact[POSITION + k] = p[4 * k] * x + p[4 * k + 1] * y + p[4 * k + 2] * z + p[4 * k + 3]
        contact[NORMAL + k] = sign * (p[4 * k] * nx + p[4 * k + 1] * ny + p[4 * k + 2] * nz)
    contact[DEPTH] = depth


@compiled
def _contact(
    a: Core, b: Core, around: Radii, move: Transform, shapes: Numbers, simplex: Numbers
) -> tuple[float, float, float, float, float, float, float]:
    """Position [m], normal from a to b and depth [m] of the contact of two solids, in the frame of a."""
    if b[0] == PLANE:
        return _on_plane(a, around, move, shapes)
    distance = core_distance(a, b, move, shapes, 0.0, math.inf, simplex)
    x, y, z = point_of_a(simplex, 4)
    if distance > 0.0:
        nx, ny, nz = -simplex[NEAREST, 0] / distance, -simplex[NEAREST, 1] / distance, -simplex[NEAREST, 2] / distance
        middle = 0.5 * (distance + around[0] - around[1])
        depth = max(around[0] + around[1] - distance, 0.0)
        return x + middle * nx, y + middle * ny, z + middle * nz, nx, ny, nz, depth
    nx, ny, nz, depth = _shortest_shift(a, b, around, move, shapes)
    return x, y, z, nx, ny, nz, depth


@compiled
def _on_plane(
    a: Core, around: Radii, move: Transform, shapes: Numbers
) -> tuple[float, float, float, float, float, float, float]:
    x, y, z = move[2], move[6], move[10]
    if a[0] == PLANE:
        return 0.0, 0.0, 0.0, -x, -y, -z, 0.0
    px, py, pz, _ = support(a, shapes, -x, -y, -z, 0)
    height = (px - move[3]) * x + (py - move[7]) * y + (pz - move[11]) * z - around[0]
    down = around[0] + 0.5 * height
    return px - down * x, py - down * y, pz - down * z, -x, -y, -z, max(-height, 0.0)


@compiled
def _shift(a: Core, b: Core, around: Radii, move: Transform, shapes: Numbers, x: float, y: float, z: float) -> float:
    """How far b has to go along a unit vector to be clear of a [m]."""
    ax, ay, az, _ = support(a, shapes, x, y, z, 0)
    bx, by, bz, _ = support(
        b,
        shapes,
        -(move[0] * x + move[4] * y + move[8] * z),
        -(move[1] * x + move[5] * y + move[9] * z),
        -(move[2] * x + move[6] * y + move[10] * z),
        0,
    )
    wx = ax - (move[0] * bx + move[1] * by + move[2] * bz + move[3])
    wy = ay - (move[4] * bx + move[5] * by + move[6] * bz + move[7])
    wz = az - (move[8] * bx + move[9] * by + move[10] * bz + move[11])
    return wx * x + wy * y + wz * z + around[0] + around[1]


@compiled
def _shortest_shift(
    a: Core, b: Core, around: Radii, move: Transform, shapes: Numbers
) -> tuple[float, float, float, float]:
    """The direction, from a to b, in which b gets clear of a soonest, and how far that is [m]."""
    starts = np.full((_STARTS, 4), math.inf)
    for n in range(2 * _CANDIDATES):
        x, y, z = _candidate(move, n // 2)
        length = math.sqrt(x * x + y * y + z * z)
        if length > 1e-6:
            length = length if n % 2 == 0 else -length
            shift = _shift(a, b, around, move, shapes, x / length, y / length, z / length)
            _keep(starts, shift, x / length, y / length, z / length)
    best, nx, ny, nz = math.inf, 1.0, 0.0, 0.0
    for n in range(_STARTS):
        if starts[n, 0] < math.inf:
            x, y, z, shift = _refined(a, b, around, move, shapes, starts[n, 1], starts[n, 2], starts[n, 3])
            if shift < best - _SAME:
                best, nx, ny, nz = shift, x, y, z
    return nx, ny, nz, max(best, 0.0)


@compiled
def _keep(starts: Numbers, shift: float, x: float, y: float, z: float) -> None:
    """Put a direction among the best ones, in the place of the worst, if it is better."""
    worst = 0
    for n in range(1, _STARTS):
        if starts[n, 0] > starts[worst, 0]:
            worst = n
    if shift < starts[worst, 0] - _SAME:
        starts[worst, 0], starts[worst, 1], starts[worst, 2], starts[worst, 3] = shift, x, y, z


@compiled
def _refined(
    a: Core, b: Core, around: Radii, move: Transform, shapes: Numbers, nx: float, ny: float, nz: float
) -> tuple[float, float, float, float]:
    """A better direction near one, by smaller and smaller turns, and its shift [m]."""
    best, angle = _shift(a, b, around, move, shapes, nx, ny, nz), _ANGLE
    for _ in range(_ROUNDS):
        ux, uy, uz = _across(nx, ny, nz)
        vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
        better, mx, my, mz = best, nx, ny, nz
        for n in range(8):
            c, s = math.tan(angle) * math.cos(n * math.pi / 4.0), math.tan(angle) * math.sin(n * math.pi / 4.0)
            x, y, z = nx + c * ux + s * vx, ny + c * uy + s * vy, nz + c * uz + s * vz
            length = math.sqrt(x * x + y * y + z * z)
            shift = _shift(a, b, around, move, shapes, x / length, y / length, z / length)
            if shift < better - _SAME:
                better, mx, my, mz = shift, x / length, y / length, z / length
        if better < best:
            best, nx, ny, nz = better, mx, my, mz
        else:
            angle *= 0.5
    return nx, ny, nz, best


@compiled
def _candidate(move: Transform, n: int) -> tuple[float, float, float]:
    """The axes of a, those of b, the vectors that are across one of each, and some all over a half sphere."""
    if n < 3:
        return 1.0 if n == 0 else 0.0, 1.0 if n == 1 else 0.0, 1.0 if n == 2 else 0.0
    k = n % 3
    x, y, z = move[k], move[4 + k], move[8 + k]
    if n < 6:
        return x, y, z
    if n < 9:
        return 0.0, -z, y
    if n < 15:
        return (z, 0.0, -x) if n < 12 else (-y, x, 0.0)
    angle, height = 2.4 * n, (n - 14.5) / (_CANDIDATES - 15.0)
    ring = math.sqrt(1.0 - height * height)
    return ring * math.cos(angle), ring * math.sin(angle), height


@compiled
def _across(x: float, y: float, z: float) -> tuple[float, float, float]:
    """A unit vector across another."""
    if abs(x) < 0.6:
        length = math.sqrt(y * y + z * z)
        return 0.0, -z / length, y / length
    length = math.sqrt(x * x + y * y)
    return -y / length, x / length, 0.0
