"""Shapes as coal's collision geometries: exact for primitives, convex or a triangle hierarchy for meshes."""

from typing import cast

import coal
import numpy as np
import numpy.typing as npt
import trimesh

from .meshes import load_mesh
from .shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere

CONVEX_VOLUME_RATIO = 0.999  # a mesh that fills its hull to this share is checked as the hull: faster, and solid inside


def collision_geometry(shape: Shape) -> coal.CollisionGeometry:
    """The geometry that coal checks for a shape.

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    match shape:
        case Box(size):
            return coal.Box(*size)
        case Sphere(radius):
            return coal.Sphere(radius)
        case Cylinder(radius, height):
            return coal.Cylinder(radius, height)
        case Capsule(radius, height):
            return coal.Capsule(radius, height - 2.0 * radius)
        case Cone(radius, height):
            return coal.Cone(radius, height)
        case Plane():
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        case MeshFile(file, scale):
            return mesh_geometry(load_mesh(file, scale))


def mesh_geometry(mesh: trimesh.Trimesh) -> coal.CollisionGeometry:
    """A mesh as its convex hull, if it is one, or as a hierarchy of its triangles."""
    hull = _hull(mesh)
    if hull is not None and mesh.is_watertight and mesh.volume >= CONVEX_VOLUME_RATIO * hull.volume:
        return _convex(hull.vertices)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(np.asarray(mesh.vertices, dtype=np.float64))
    model.addTriangles(np.asarray(mesh.faces, dtype=np.int64))
    model.endModel()
    return model


def convex_hull(model: coal.BVHModelBase) -> coal.CollisionGeometry | None:
    """The convex hull of a hierarchy of triangles; none of a flat one."""
    vertices = np.array(model.vertices())
    hull = _hull(trimesh.Trimesh(vertices, np.zeros((0, 3), dtype=np.int64), process=False))
    return None if hull is None else _convex(hull.vertices)


def _convex(vertices: npt.NDArray[np.float64]) -> coal.CollisionGeometry:
    points = coal.StdVec_Vec3s()
    points.extend([np.asarray(vertex, dtype=np.float64) for vertex in vertices])
    return coal.Convex.convexHull(points, True, 'Qt')


def _hull(mesh: trimesh.Trimesh) -> trimesh.Trimesh | None:
    """The convex hull; none of a flat mesh, which encloses nothing."""
    try:
        return cast('trimesh.Trimesh', mesh.convex_hull)
    except Exception:  # qhull's error type is not public
        return None
