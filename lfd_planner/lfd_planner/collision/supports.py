"""Support points: the point of a solid's core that lies farthest in a direction, all in the solid's frame [m]."""

import math

from lfd_description.compiled import compiled

from .rows import BOX, CENTRE, CONE, COUNT, CYLINDER, FIRST, GRAPH, KIND, POINT, SEGMENT, SIZE, Numbers

Core = tuple[int, float, float, float, int, int, int, float, float, float]
"""Columns of a row: `KIND`, `SIZE`, `FIRST`, `COUNT`, `GRAPH` and `CENTRE`."""


@compiled
def core(rows: Numbers, i: int) -> Core:
    """What the distance of cores depends on, of the solid in a row."""
    return (
        int(rows[i, KIND]),
        rows[i, SIZE],
        rows[i, SIZE + 1],
        rows[i, SIZE + 2],
        int(rows[i, FIRST]),
        int(rows[i, COUNT]),
        int(rows[i, GRAPH]),
        rows[i, CENTRE],
        rows[i, CENTRE + 1],
        rows[i, CENTRE + 2],
    )


@compiled
def support(solid: Core, shapes: Numbers, x: float, y: float, z: float, start: int) -> tuple[float, float, float, int]:
    """The farthest point in the direction x, y, z, which need not be a unit vector; of several, any one.

    `start` is where the search on a hull begins: what the last call for the same solid gave last, or 0.
    """
    kind, width, depth, height, first, count, graph, _, _, _ = solid
    if kind > CONE:
        climbs = graph >= 0
        best = _climb(shapes, first, graph, x, y, z, start) if climbs else _scan(shapes, first, count, x, y, z)
        at = first + 3 * best
        return shapes[at], shapes[at + 1], shapes[at + 2], best
    if kind == BOX:
        return math.copysign(width, x), math.copysign(depth, y), math.copysign(height, z), 0
    if kind == POINT:
        return 0.0, 0.0, 0.0, 0
    if kind == SEGMENT:
        return 0.0, 0.0, math.copysign(height, z), 0
    across = math.sqrt(x * x + y * y)
    outwards = width / across if across > 0.0 else 0.0
    if kind == CYLINDER:
        return outwards * x, outwards * y, math.copysign(height, z), 0
    if height * z >= width * across - height * z:
        return 0.0, 0.0, height, 0
    return outwards * x, outwards * y, -height, 0


@compiled
def first_corner(solid: Core, shapes: Numbers, x: float, y: float, z: float) -> int:
    """Where to begin to look for the farthest corner in a direction: it is known for a few directions all around."""
    graph = solid[6]
    if graph < 0:
        return 0
    return int(shapes[graph - GUIDES + guide(x, y, z)])


GUIDES = 24
"""How many directions there are for which a hull's farthest corner is known; they come before its graph."""


@compiled
def guide(x: float, y: float, z: float) -> int:
    """The number of the guide that is nearest to a direction: by its signs, and along which axis it goes farthest."""
    a, b, c = abs(x), abs(y), abs(z)
    axis = 0 if a >= b and a >= c else 1 if b >= c else 2
    return 3 * ((1 if x > 0.0 else 0) + (2 if y > 0.0 else 0) + (4 if z > 0.0 else 0)) + axis


@compiled
def _scan(shapes: Numbers, first: int, count: int, x: float, y: float, z: float) -> int:
    best, farthest = 0, -math.inf
    for i in range(count):
        at = first + 3 * i
        along = shapes[at] * x + shapes[at + 1] * y + shapes[at + 2] * z
        if along > farthest:
            best, farthest = i, along
    return best


@compiled
def _climb(shapes: Numbers, first: int, graph: int, x: float, y: float, z: float, start: int) -> int:
    """Go from corner to better neighbour until there is none: on a convex hull that is the best of all."""
    best, at = start, first + 3 * start
    farthest = shapes[at] * x + shapes[at + 1] * y + shapes[at + 2] * z
    while True:
        here = best
        for n in range(graph + int(shapes[graph + here]), graph + int(shapes[graph + here + 1])):
            corner = int(shapes[n])
            at = first + 3 * corner
            along = shapes[at] * x + shapes[at + 1] * y + shapes[at + 2] * z
            if along > farthest:
                best, farthest = corner, along
        if best == here:
            return best
