"""The distance of two solids of any kind: convex ones by GJK, meshes triangle by triangle, planes by one support point.

`near` and `far` say how exact an answer has to be: distances up to `near` and above `far` [m] may be given as any
bound that proves which of the two they are. So `near = far = margin` asks only whether two come closer than a margin.
"""

import math

import numpy as np

from lfd_description.compiled import compiled

from .gjk import core_distance
from .hierarchies import STACK
from .rows import (
    CENTRE,
    CHILD,
    COUNT,
    ENTRIES,
    FIRST,
    GRAPH,
    HALF,
    HIGH,
    HULL,
    KIND,
    LOW,
    MESH,
    NODE,
    NODE_WIDTH,
    PLANE,
    RADIUS,
    TRIANGLE,
    TRIANGLES,
    WIDTH,
    Numbers,
    Transform,
)
from .supports import core, support

# A desk is what a distance query writes on while it runs, (ROWS, WIDTH): rows 0 to 5 are the simplex of GJK.
ONE = 6  # the row of the triangle of the first mesh that is looked at
OTHER = 7  # of the second one
FOUND = 8  # in its first columns: where the triangles that came nearest begin; -1 if there are none
_STACK = 9  # from here on, in the first columns: nodes that wait
ROWS = _STACK + STACK

Box = tuple[float, float, float, float, float, float]
"""Middle and half edges [m]."""


@compiled
def make_desk() -> Numbers:
    """Memory for distance queries; one for each thread."""
    desk = np.zeros((ROWS, WIDTH))
    for row in (ONE, OTHER):
        desk[row, KIND], desk[row, COUNT], desk[row, GRAPH], desk[row, NODE] = HULL, 3.0, -1.0, -1.0
    return desk


@compiled
def solid_distance(
    solids: Numbers, a: int, b: int, move: Transform, shapes: Numbers, near: float, far: float, desk: Numbers
) -> float:
    """The distance of two solids [m], 0 or less if they touch; `move` is the transform a -> b [m].

    The order counts: a plane is b, and if only one is a mesh, it is a. `in_order` tells whether to swap.
    """
    desk[FOUND, 0] = desk[FOUND, 1] = -1.0
    if solids[b, KIND] == PLANE:
        return _to_plane(solids, a, move, shapes)
    if solids[a, KIND] == MESH:
        return _mesh_distance(solids, a, b, move, shapes, near, far, desk)
    around: float = solids[a, RADIUS] + solids[b, RADIUS]
    return core_distance(core(solids, a), core(solids, b), move, shapes, near + around, far + around, desk) - around


@compiled
def in_order(kind: float, other: float) -> bool:
    """Whether solids of two kinds may be given to `solid_distance` in this order."""
    return other == PLANE or (kind != PLANE and (kind == MESH or other != MESH))


@compiled
def _to_plane(solids: Numbers, a: int, move: Transform, shapes: Numbers) -> float:
    """How far the solid's lowest point is above the plane."""
    x, y, z = move[2], move[6], move[10]  # the plane's normal in the solid's frame
    height = -(x * move[3] + y * move[7] + z * move[11])
    if solids[a, KIND] == PLANE:  # two half spaces meet, but where they face each other
        return height if z <= -1.0 else 0.0
    if solids[a, KIND] == MESH and solids[a, COUNT] == 0.0:
        lowest = math.inf
        first = int(solids[a, TRIANGLE])
        for at in range(first, first + 9 * int(solids[a, TRIANGLES]), 3):
            lowest = min(lowest, shapes[at] * x + shapes[at + 1] * y + shapes[at + 2] * z)
        return lowest + height
    px, py, pz, _ = support(core(solids, a), shapes, -x, -y, -z, 0)
    lowest_point: float = px * x + py * y + pz * z - solids[a, RADIUS]
    return lowest_point + height


@compiled
def _mesh_distance(
    solids: Numbers, a: int, b: int, move: Transform, shapes: Numbers, near: float, far: float, desk: Numbers
) -> float:
    is_mesh = solids[b, KIND] == MESH
    around: float = solids[b, RADIUS]
    if solids[a, COUNT] > 0.0 and (solids[b, COUNT] > 0.0 or not is_mesh):  # the hulls tell soon that two are apart
        reach = far + around
        bound = core_distance(core(solids, a), core(solids, b), move, shapes, reach, reach, desk) - around
        if bound > far:
            return bound
    if is_mesh:
        return _mesh_to_mesh(solids, a, b, move, shapes, near, far, desk)
    return _mesh_to_convex(solids, a, b, move, shapes, near + around, far + around, desk) - around


@compiled
def _mesh_to_convex(
    solids: Numbers, a: int, b: int, move: Transform, shapes: Numbers, near: float, far: float, desk: Numbers
) -> float:
    """The distance of a mesh to a core [m]."""
    half = (solids[b, HALF], solids[b, HALF + 1], solids[b, HALF + 2])
    convex = core(solids, b)
    box = _moved_box(move, (convex[7], convex[8], convex[9]), half)
    first, left, best = int(solids[a, TRIANGLE]), 1, math.inf
    desk[_STACK, 0] = solids[a, NODE]
    while left > 0:
        left -= 1
        node = int(desk[_STACK + left, 0])
        if _gap(shapes, node, box) > min(far, best):
            continue
        child, entries = int(shapes[node + CHILD]), int(shapes[node + ENTRIES])
        if entries == 0:
            desk[_STACK + left, 0], desk[_STACK + left + 1, 0] = child, child + NODE_WIDTH
            left += 2
            continue
        for at in range(first + 9 * child, first + 9 * (child + entries), 9):
            lay_triangle(shapes, at, desk, ONE)
            distance = core_distance(core(desk, ONE), convex, move, shapes, near, min(far, best), desk)
            if distance < best:
                best = distance
                desk[FOUND, 0] = at
            if best <= near:
                return best
    return best


@compiled
def _mesh_to_mesh(
    solids: Numbers, a: int, b: int, move: Transform, shapes: Numbers, near: float, far: float, desk: Numbers
) -> float:
    first, second = int(solids[a, TRIANGLE]), int(solids[b, TRIANGLE])
    left, best = 1, math.inf
    desk[_STACK, 0], desk[_STACK, 1] = solids[a, NODE], solids[b, NODE]
    while left > 0:
        left -= 1
        here, there = int(desk[_STACK + left, 0]), int(desk[_STACK + left, 1])
        if _gap(shapes, here, _moved_node(move, shapes, there)) > min(far, best):
            continue
        entries, others = int(shapes[here + ENTRIES]), int(shapes[there + ENTRIES])
        one, other = int(shapes[here + CHILD]), int(shapes[there + CHILD])
        if entries > 0 and others > 0:
            spans = (first + 9 * one, first + 9 * (one + entries), second + 9 * other, second + 9 * (other + others))
            best = _triangles_distance(spans, move, shapes, near, far, best, desk)
            if best <= near:
                return best
        elif others > 0 or (entries == 0 and _extent(shapes, here) > _extent(shapes, there)):
            _wait(desk, left, one, there)
            _wait(desk, left + 1, one + NODE_WIDTH, there)
            left += 2
        else:
            _wait(desk, left, here, other)
            _wait(desk, left + 1, here, other + NODE_WIDTH)
            left += 2
    return best


@compiled
def _wait(desk: Numbers, at: int, here: int, there: int) -> None:
    desk[_STACK + at, 0], desk[_STACK + at, 1] = here, there


@compiled
def _triangles_distance(
    spans: tuple[int, int, int, int],
    move: Transform,
    shapes: Numbers,
    near: float,
    far: float,
    best: float,
    desk: Numbers,
) -> float:
    """The better of `best` and the smallest distance of two triangles, one from each span of `shapes` [m]."""
    for here in range(spans[0], spans[1], 9):
        lay_triangle(shapes, here, desk, ONE)
        for there in range(spans[2], spans[3], 9):
            lay_triangle(shapes, there, desk, OTHER)
            far = min(far, best)
            distance = core_distance(core(desk, ONE), core(desk, OTHER), move, shapes, near, far, desk)
            if distance < best:
                best = distance
                desk[FOUND, 0], desk[FOUND, 1] = here, there
    return best


@compiled
def lay_triangle(shapes: Numbers, at: int, desk: Numbers, row: int) -> None:
    """Make a row of the desk the triangle that begins somewhere."""
    desk[row, FIRST] = at
    for k in range(3):
        desk[row, CENTRE + k] = (shapes[at + k] + shapes[at + 3 + k] + shapes[at + 6 + k]) / 3.0


@compiled
def _moved_box(move: Transform, centre: tuple[float, float, float], half: tuple[float, float, float]) -> Box:
    """The axis-aligned box around a moved one."""
    (m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11) = move
    x, y, z = centre
    a, b, c = half
    return (
        m0 * x + m1 * y + m2 * z + m3,
        m4 * x + m5 * y + m6 * z + m7,
        m8 * x + m9 * y + m10 * z + m11,
        abs(m0) * a + abs(m1) * b + abs(m2) * c,
        abs(m4) * a + abs(m5) * b + abs(m6) * c,
        abs(m8) * a + abs(m9) * b + abs(m10) * c,
    )


@compiled
def _moved_node(move: Transform, shapes: Numbers, node: int) -> Box:
    """The axis-aligned box around the moved box of a node."""
    a, b, c = shapes[node + LOW], shapes[node + LOW + 1], shapes[node + LOW + 2]
    x, y, z = shapes[node + HIGH], shapes[node + HIGH + 1], shapes[node + HIGH + 2]
    centre, half = (0.5 * (a + x), 0.5 * (b + y), 0.5 * (c + z)), (0.5 * (x - a), 0.5 * (y - b), 0.5 * (z - c))
    return _moved_box(move, centre, half)


@compiled
def _gap(shapes: Numbers, node: int, box: Box) -> float:
    """A lower bound of the distance of a node's box to another one [m]."""
    x, y, z, a, b, c = box
    dx = max(shapes[node + LOW] - x - a, x - a - shapes[node + HIGH], 0.0)
    dy = max(shapes[node + LOW + 1] - y - b, y - b - shapes[node + HIGH + 1], 0.0)
    dz = max(shapes[node + LOW + 2] - z - c, z - c - shapes[node + HIGH + 2], 0.0)
    return math.sqrt(dx * dx + dy * dy + dz * dz) - 1e-12 * (1.0 + abs(x) + abs(y) + abs(z))


@compiled
def _extent(shapes: Numbers, node: int) -> float:
    extent = 0.0
    for k in range(3):
        extent += shapes[node + HIGH + k] - shapes[node + LOW + k]
    return extent
