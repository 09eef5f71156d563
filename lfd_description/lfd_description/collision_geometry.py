"""Shapes as coal's collision geometries: exact for primitives, convex or a triangle hierarchy for meshes."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import coal
import numpy as np
import numpy.typing as npt
import trimesh

from .convex_meshes import checked_mesh
from .meshes import MeshError, load_mesh
from .shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere


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
    checked = checked_mesh(mesh)
    hull = None if checked.corners is None else _convex(checked.corners)
    if hull is not None and checked.is_convex:
        return Geometry(hull)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(checked.triangles), len(checked.vertices))
    model.addVertices(checked.vertices)
    model.addTriangles(checked.triangles)
    model.endModel()
    return Geometry(model, hull)


def _convex(corners: npt.NDArray[np.float64]) -> coal.CollisionGeometry:
    points = coal.StdVec_Vec3s()
    points.extend(list(corners))
    return coal.Convex.convexHull(points, True, 'Qt')
