"""When a mesh counts as a convex solid: the one rule for everything that checks meshes for collisions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import trimesh
from scipy.spatial import ConvexHull, QhullError

CONVEX_VOLUME_RATIO = 0.999  # a mesh that fills its hull to this share is checked as the hull: faster, and solid inside
MOST_CORNERS = 2000
MOST_TRIANGLES = 50_000
"""A mesh with more is checked as its convex hull: exact checks of so many would take minutes."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CheckedMesh:
    """What is checked for a mesh: its convex hull alone, or its triangles, which a hull may enclose."""

    corners: Floats | None
    """Of the convex hull, (n, 3) [m]; None of a flat mesh, which encloses nothing."""
    is_convex: bool
    """Whether the hull stands for the mesh."""
    vertices: Floats
    """(N, 3) [m], each once."""
    triangles: npt.NDArray[np.int64]
    """(M, 3): which vertices each triangle has."""


def checked_mesh(mesh: trimesh.Trimesh) -> CheckedMesh:
    """A mesh as its convex hull, if it is one or has too many triangles, or as its triangles."""
    solid = mesh.copy()
    solid.merge_vertices(merge_tex=True, merge_norm=True)  # STL repeats each corner, so that nothing seems closed
    vertices, triangles = np.asarray(solid.vertices, dtype=np.float64), np.asarray(solid.faces, dtype=np.int64)
    hull = _hull(vertices)
    if hull is None:
        return CheckedMesh(None, False, vertices, triangles)
    is_convex = solid.is_watertight and abs(solid.volume) >= CONVEX_VOLUME_RATIO * hull.volume
    return CheckedMesh(_corners(hull), bool(is_convex or len(triangles) > MOST_TRIANGLES), vertices, triangles)


def _corners(hull: ConvexHull) -> Floats:
    corners: Floats = hull.points[hull.vertices]
    if len(corners) > MOST_CORNERS:  # more than coal takes; what the farthest in so many directions leave out is tiny
        corners = corners[np.unique(np.argmax(directions(MOST_CORNERS) @ corners.T, axis=1))]
    return corners


def directions(count: int) -> Floats:
    """Unit vectors, spread evenly over the sphere along a spiral, (count, 3)."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    ring = np.sqrt(1.0 - height**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height])


def _hull(vertices: Floats) -> ConvexHull | None:
    """The convex hull; none of a flat mesh, which encloses nothing."""
    try:
        return ConvexHull(vertices)
    except (QhullError, ValueError):
        return None
