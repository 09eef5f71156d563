"""Shapes made ready for compiled checks: corners, neighbours, hierarchies, and balls and boxes around them.

That is the expensive part, done once for each shape and kept by content.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product

import numpy as np
import trimesh
from scipy.spatial import ConvexHull, QhullError

from lfd_description.convex_meshes import checked_mesh
from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.scene import SceneShape, TriangleMesh, triangles_of

from .hierarchies import build
from .rows import (
    BALL,
    BALL_RADIUS,
    BOX,
    CENTRE,
    CONE,
    COUNT,
    CYLINDER,
    GRAPH,
    HALF,
    HULL,
    KIND,
    MESH,
    NODE,
    NODE_WIDTH,
    PLANE,
    POINT,
    RADIUS,
    SEGMENT,
    SIZE,
    TRIANGLES,
    WIDTH,
    Numbers,
)
from .supports import GUIDES, guide

_FEW_CORNERS = 24
"""Up to so many, looking at all of them is as fast as going from neighbour to neighbour."""
_FARTHEST = 1e6  # [m]: beyond, the checks' rounding errors would be visible


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape for compiled checks; all numbers of rows and nodes count from its own first one."""

    row: Numbers
    """Its columns of `rows`, without a place in a world, (WIDTH,)."""
    corners: Numbers = field(default_factory=lambda: np.empty((0, 3)))
    """Of its hull, (n, 3) [m]."""
    graph: Numbers = field(default_factory=lambda: np.empty(0))
    """Guides, then for each corner where its neighbours begin, and where the last ones end; then the neighbours."""
    triangles: Numbers = field(default_factory=lambda: np.empty((0, 3)))
    """The corners of its triangles, three rows each, in the order of the hierarchy [m]."""
    nodes: Numbers = field(default_factory=lambda: np.empty((0, NODE_WIDTH)))


def solid_of(shape: SceneShape, scale: float = 1.0) -> Solid:
    """A shape, times `scale`, ready to be checked.

    A mesh is scaled about the mean of its vertices, all others about their own frame, as MoveIt does.

    Raises:
        MeshError: the shape is a mesh that cannot be used.
    """
    return _solid(triangles_of(shape) if isinstance(shape, MeshFile) else shape, scale)


@lru_cache(maxsize=4096)
def _solid(shape: SceneShape, scale: float) -> Solid:
    match shape:
        case Box((x, y, z)):
            return _primitive(BOX, (x, y, z), scale)
        case Sphere(radius):
            return _primitive(POINT, (0.0, 0.0, 0.0), scale, radius)
        case Capsule(radius, height):
            return _primitive(SEGMENT, (0.0, 0.0, max(height - 2.0 * radius, 0.0)), scale, radius)
        case Cylinder(radius, height):
            return _primitive(CYLINDER, (2.0 * radius, 2.0 * radius, height), scale)
        case Cone(radius, height):
            return _primitive(CONE, (2.0 * radius, 2.0 * radius, height), scale)
        case Plane():
            return _plane()
        case TriangleMesh():
            return _mesh(shape, scale)
        case MeshFile():
            return _solid(triangles_of(shape), scale)


def _primitive(kind: int, size: tuple[float, float, float], scale: float, radius: float = 0.0) -> Solid:
    """A core with edges of the box around it [m], and a radius around the core [m]."""
    half = 0.5 * scale * np.array(size)
    row = _row(kind)
    row[RADIUS] = scale * radius
    row[SIZE : SIZE + 3] = half
    row[HALF : HALF + 3] = half + scale * radius
    corner = np.hypot(half[0], half[2]) if kind in (CYLINDER, CONE) else np.linalg.norm(half)
    row[BALL_RADIUS] = corner + scale * radius
    if kind == CONE:
        row[BALL + 2], row[BALL_RADIUS] = _ball_of_cone(half[0], half[2])
    return Solid(row)


def _ball_of_cone(radius: float, half: float) -> tuple[float, float]:
    """Height of the middle and radius of the smallest ball around a cone [m]: through its tip, if it is slender."""
    if 2.0 * half <= radius:
        return -half, radius
    ball = (radius**2 + 4.0 * half**2) / (4.0 * half)
    return half - ball, ball


def _plane() -> Solid:
    row = _row(PLANE)
    row[BALL_RADIUS] = row[HALF : HALF + 3] = np.inf
    return Solid(row)


def _row(kind: int) -> Numbers:
    row = np.zeros(WIDTH)
    row[KIND], row[GRAPH], row[NODE] = kind, -1.0, -1.0
    return row


def _mesh(mesh: TriangleMesh, scale: float) -> Solid:
    _refuse_unusable(mesh)
    checked = checked_mesh(trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False))
    middle = checked.vertices.mean(axis=0)
    vertices = checked.vertices if scale == 1.0 else middle + scale * (checked.vertices - middle)
    corners = checked.corners
    if corners is not None and scale != 1.0:
        corners = middle + scale * (corners - middle)
    solid = _hull(HULL if checked.is_convex else MESH, vertices if corners is None else corners)
    if checked.is_convex:
        return solid
    if corners is None:
        solid = _without_hull(solid)
    return _with_triangles(solid, vertices[checked.triangles])


def _refuse_unusable(mesh: TriangleMesh) -> None:
    if len(mesh.triangles) == 0:
        raise MeshError(
            'A mesh in the scene has no triangles, so that nothing can touch it; give it some or remove it.'
        )
    if not np.abs(mesh.vertices).max() <= _FARTHEST:
        raise MeshError(f'A mesh in the scene has corners beyond {_FARTHEST:g} m; correct its scale.')


def _hull(kind: int, corners: Numbers) -> Solid:
    row = _row(kind)
    row[COUNT] = len(corners)
    low, high = corners.min(axis=0), corners.max(axis=0)
    row[CENTRE : CENTRE + 3], row[HALF : HALF + 3] = 0.5 * (low + high), 0.5 * (high - low)
    row[BALL : BALL + 3], row[BALL_RADIUS] = _ball_around(corners)
    graph = _neighbours(corners) if len(corners) > _FEW_CORNERS else None
    if graph is None:
        return Solid(row, np.ascontiguousarray(corners))
    row[GRAPH] = GUIDES
    return Solid(row, np.ascontiguousarray(corners), graph)


def _without_hull(solid: Solid) -> Solid:
    row = solid.row.copy()
    row[COUNT], row[GRAPH] = 0.0, -1.0
    return Solid(row)


def _with_triangles(solid: Solid, triangles: Numbers) -> Solid:
    """The solid with triangles, (n, 3, 3), sorted into a hierarchy."""
    boxes = np.ascontiguousarray(np.hstack([triangles.min(axis=1), triangles.max(axis=1)]))
    order = np.empty(len(boxes), dtype=np.int64)
    nodes = build(boxes, order)
    row = solid.row.copy()
    row[NODE], row[TRIANGLES] = 0.0, len(triangles)
    return replace(solid, row=row, triangles=np.ascontiguousarray(triangles[order].reshape(-1, 3)), nodes=nodes)


def _ball_around(points: Numbers) -> tuple[Numbers, float]:
    """Middle and radius of a ball around points that is nearly the smallest: it walks towards the farthest one."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    best, radius = middle, float(np.linalg.norm(points - middle, axis=1).max())
    for step in range(200):
        distance = np.linalg.norm(points - middle, axis=1)
        farthest = int(np.argmax(distance))
        if distance[farthest] < radius:
            best, radius = middle, float(distance[farthest])
        middle = middle + (points[farthest] - middle) / (step + 2.0)
    return best, radius * (1.0 + 1e-12)


def _neighbours(corners: Numbers) -> Numbers | None:
    """The hull's graph; None if the hull is too flat to tell."""
    try:
        hull = ConvexHull(corners)
    except QhullError:
        return None
    around: list[set[int]] = [set() for _ in corners]
    for i, j, k in hull.simplices.tolist():
        around[i] |= {j, k}
        around[j] |= {i, k}
        around[k] |= {i, j}
    if not all(around):  # a corner on the edge between others: from it there would be no way on
        return None
    counts = np.array([len(found) for found in around])
    starts = len(corners) + 1 + np.concatenate([[0], np.cumsum(counts)])
    return np.concatenate([_guides(corners), starts, *(sorted(found) for found in around)]).astype(np.float64)


def _guides(corners: Numbers) -> Numbers:
    """The farthest corner in each of the directions that `guide` knows."""
    farthest = np.zeros(GUIDES)
    for signs in product((-1.0, 1.0), repeat=3):
        for axis in range(3):
            direction = np.array(signs) * np.where(np.arange(3) == axis, 1.0, 0.5)
            farthest[guide(*direction)] = np.argmax(corners @ direction)
    return farthest
