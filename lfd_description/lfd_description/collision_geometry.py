"""Shapes as coal's collision geometries: exact for primitives, convex or a triangle hierarchy for meshes."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import coal
import numpy as np
import numpy.typing as npt
import trimesh
from scipy.spatial import ConvexHull, QhullError

from .meshes import MeshError, load_mesh
from .shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere

CONVEX_VOLUME_RATIO = 0.999  # a mesh that fills its hull to this share is checked as the hull: faster, and solid inside
MOST_CORNERS = 2000
MOST_TRIANGLES = 50_000
"""A mesh with more is checked as its convex hull: exact checks of so many would take minutes."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """What coal checks for a shape."""

    exact: coal.CollisionGeometry
    hull: coal.CollisionGeometry | None = None
    """The convex hull of a hierarchy of triangles: quick to tell that something is apart from it."""


def collision_geometry(shape: Shape) -> Geometry:
    """The geometry that coal checks for a shape.

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    match shape:
        case Box(size):
            return Geometry(coal.Box(*size))
        case Sphere(radius):
            return Geometry(coal.Sphere(radius))
        case Cylinder(radius, height):
            return Geometry(coal.Cylinder(radius, height))
        case Capsule(radius, height):
            return Geometry(coal.Capsule(radius, height - 2.0 * radius))
        case Cone(radius, height):
            return Geometry(coal.Cone(radius, height))
        case Plane():
            return Geometry(coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0))
        case MeshFile():
            return _file_geometry(shape, _digest(shape))


@lru_cache(maxsize=512)
def _file_geometry(shape: MeshFile, _: str) -> Geometry:
    """Kept by the file's content: a robot with every gripper in turn has the same meshes again and again."""
    try:
        return mesh_geometry(load_mesh(shape.file, shape.scale))
    except (ValueError, RuntimeError) as error:
        if isinstance(error, MeshError):
            raise
        raise MeshError(f'{shape.file} has a shape that cannot be checked for collisions; export it again.') from None


def _digest(shape: MeshFile) -> str:
    try:
        return hashlib.sha256(shape.file.read_bytes()).hexdigest()
    except OSError:
        return ''  # load_mesh says what is wrong with it


def mesh_geometry(mesh: trimesh.Trimesh) -> Geometry:
    """A mesh as its convex hull, if it is one or has too many triangles, or as a hierarchy of its triangles."""
    solid = mesh.copy()
    solid.merge_vertices(merge_tex=True, merge_norm=True)  # STL repeats each corner, so that nothing seems closed
    hull = _hull(solid.vertices)
    if hull is not None:
        is_convex = solid.is_watertight and abs(solid.volume) >= CONVEX_VOLUME_RATIO * hull.volume
        if is_convex or len(solid.faces) > MOST_TRIANGLES:
            return Geometry(_convex(hull))
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(solid.faces), len(solid.vertices))
    model.addVertices(np.asarray(solid.vertices, dtype=np.float64))
    model.addTriangles(np.asarray(solid.faces, dtype=np.int64))
    model.endModel()
    return Geometry(model, None if hull is None else _convex(hull))


def _convex(hull: ConvexHull) -> coal.CollisionGeometry:
    vertices = hull.points[hull.vertices]
    if len(vertices) > MOST_CORNERS:  # more than coal takes; what the farthest in so many directions leave out is tiny
        vertices = vertices[np.unique(np.argmax(vertices @ _directions(MOST_CORNERS).T, axis=0))]
    points = coal.StdVec_Vec3s()
    points.extend([np.asarray(vertex, dtype=np.float64) for vertex in vertices])
    return coal.Convex.convexHull(points, True, 'Qt')


def _directions(count: int) -> npt.NDArray[np.float64]:
    """Unit vectors, spread evenly over the sphere along a spiral, (count, 3)."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    angle = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    ring = np.sqrt(1.0 - height**2)
    return np.column_stack([ring * np.cos(angle), ring * np.sin(angle), height])


def _hull(vertices: npt.NDArray[np.float64]) -> ConvexHull | None:
    """The convex hull; none of a flat mesh, which encloses nothing."""
    try:
        return ConvexHull(vertices)
    except (QhullError, ValueError):
        return None
