"""The surface of an object as a cloud of points with normals, dense enough to see what fingers would meet.

A cloud costs the same for every shape. Between its points a surface may bulge by the square of their distance, which
is hundredths of a millimetre on what a gripper can hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.scene import Part, SceneShape, TriangleMesh, triangles_of

from .grasp import Floats, Integers
from .groups import alike
from .pauses import pause

MOST_POINTS = 20_000  # about
FINEST = 0.001  # [m] between points
_DAMAGED = 1e-15  # [m^3], the volume below which a mesh is no solid


@dataclass(frozen=True, eq=False)
class Surface:
    """Points on the surface of an object, in the object's frame."""

    points: Floats
    """(N, 3) [m]"""
    normals: Floats
    """(N, 3), out of the object"""
    spacing: float
    """[m], the greatest distance of neighbouring points"""
    centre: Floats
    """(3,) [m], the centre of mass"""
    radius: float
    """[m], of the ball about `centre` that holds all points"""


@lru_cache(maxsize=128)
def surface_of(parts: tuple[Part, ...]) -> Surface:
    """The surface of an object of parts; planes, which have none, are left out."""
    pause()
    clouds = [_cloud(part) for part in parts if not isinstance(part.shape, Plane)]
    points = np.concatenate([cloud[0] for cloud in clouds])
    normals = np.concatenate([cloud[1] for cloud in clouds])
    middle = centre_of(parts)
    radius = float(np.linalg.norm(points - middle, axis=1).max())
    return Surface(
        np.ascontiguousarray(points), np.ascontiguousarray(normals), max(cloud[2] for cloud in clouds), middle, radius
    )


def has_surface(mesh: TriangleMesh) -> bool:
    """Whether a mesh has a triangle that is not just a line."""
    a, b, c = (mesh.vertices[mesh.triangles[:, corner]] for corner in range(3))
    return bool(np.cross(b - a, c - a).any())


def centre_of(parts: tuple[Part, ...]) -> Floats:
    """The centre of mass of an object that is equally dense everywhere, (3,) [m]."""
    total, moment = 0.0, np.zeros(3)
    for part in parts:
        volume, x, y, z = _mass(part.shape)
        total += volume
        moment += volume * (part.pose.matrix @ (x, y, z, 1.0))[:3]
    return moment / total if total > 0.0 else np.zeros(3)


def size_of(parts: tuple[Part, ...]) -> float:
    """About how far an object extends from its centre [m]."""
    return max(float(np.linalg.norm(part.pose.position)) + _radius(part.shape) for part in parts)


def _radius(shape: SceneShape) -> float:
    match shape:
        case Box(size):
            return 0.5 * math.hypot(*size)
        case Sphere(radius):
            return radius
        case Cylinder(radius, height) | Capsule(radius, height) | Cone(radius, height):
            return math.hypot(radius, 0.5 * height)
        case Plane():
            return 1.0
        case TriangleMesh() | MeshFile():
            return float(np.linalg.norm(triangles_of(shape).vertices, axis=1).max(initial=0.0))


def _mass(shape: SceneShape) -> tuple[float, float, float, float]:
    """Volume [m^3] and centre [m]."""
    match shape:
        case Box(size):
            return math.prod(size), 0.0, 0.0, 0.0
        case Sphere(radius):
            return 4.0 / 3.0 * math.pi * radius**3, 0.0, 0.0, 0.0
        case Cylinder(radius, height):
            return math.pi * radius**2 * height, 0.0, 0.0, 0.0
        case Capsule(radius, height):
            return math.pi * radius**2 * (height - 2.0 / 3.0 * radius), 0.0, 0.0, 0.0
        case Cone(radius, height):
            return math.pi * radius**2 * height / 3.0, 0.0, 0.0, -0.25 * height
        case Plane():
            return 0.0, 0.0, 0.0, 0.0
        case TriangleMesh() | MeshFile():
            return _mesh_mass(triangles_of(shape))


@lru_cache(maxsize=128)
def _mesh_mass(mesh: TriangleMesh) -> tuple[float, float, float, float]:
    a, b, c = (mesh.vertices[mesh.triangles[:, corner]] for corner in range(3))
    volumes = np.einsum('ij,ij->i', a, np.cross(b, c)) / 6.0
    total = float(volumes.sum())
    if total > _DAMAGED:
        x, y, z = (volumes @ (a + b + c) / (4.0 * total)).tolist()
        return total, x, y, z
    # Not closed, or inside out: the mass is in the surface.
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    x, y, z = (areas @ (a + b + c) / (3.0 * max(float(areas.sum()), _DAMAGED))).tolist()
    return _DAMAGED, x, y, z


def _cloud(part: Part) -> tuple[Floats, Floats, float]:
    """Points, normals and spacing [m] of a part, in the object's frame."""
    points, normals, spacing = _shape_cloud(triangles_of(part.shape))
    if part.pose.is_identity:
        return points, normals, spacing
    turn, shift = part.pose.matrix[:3, :3], part.pose.matrix[:3, 3]
    return points @ turn.T + shift, normals @ turn.T, spacing


@lru_cache(maxsize=128)
def _shape_cloud(mesh: TriangleMesh) -> tuple[Floats, Floats, float]:
    corners = mesh.vertices[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(normal, axis=1)
    corners, normal, double = corners[double > 0.0], normal[double > 0.0], double[double > 0.0]
    normal = normal / double[:, None]
    spacing = max(FINEST, math.sqrt(0.5 * float(double.sum()) / MOST_POINTS))
    longest = _sides(corners).max(axis=1)
    while True:
        pause()
        small = longest <= spacing
        along, beside = _steps(corners[~small], spacing)
        if int((along * beside).sum()) <= MOST_POINTS:
            break
        spacing *= 1.2
    points, normals = _grid(corners[~small], normal[~small], along, beside)
    pause()
    few, looks = _thinned(corners[small].reshape(-1, 3), np.repeat(normal[small], 3, axis=0), 0.5 * spacing)
    return np.concatenate([points, few]), np.concatenate([normals, looks]), spacing


def _thinned(points: Floats, normals: Floats, cell: float) -> tuple[Floats, Floats]:
    """Points, (N, 3) [m], and their normals; of too many one of those in a cell that look about the same way."""
    if len(points) <= MOST_POINTS:
        return points, normals
    key = np.concatenate([np.floor(points / cell), np.round(normals)], axis=1)
    _, first = np.unique(alike(key), return_index=True)
    return points[np.sort(first)], normals[np.sort(first)]


def _sides(corners: Floats) -> Floats:
    """The lengths of the sides of triangles, (N, 3) [m]."""
    return np.asarray(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2))


def _steps(corners: Floats, spacing: float) -> tuple[Integers, Integers]:
    """How many points triangles get along their long sides and along their shortest."""
    sides = _sides(corners)
    along = np.ceil(sides.max(axis=1) / spacing).astype(np.int64) + 1
    beside = np.ceil(sides.min(axis=1) / spacing).astype(np.int64) + 1
    return along, beside


def _grid(corners: Floats, normal: Floats, along: Integers, beside: Integers) -> tuple[Floats, Floats]:
    """Points in rows from the tip of each triangle to its shortest side, and their normals."""
    sides = _sides(corners)
    tip = (np.argmin(sides, axis=1) + 2) % 3
    every = np.arange(len(corners))
    a, b, c = (corners[every, (tip + turn) % 3] for turn in range(3))
    counts = along * beside
    owner = np.repeat(every, counts)
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    s = (number // beside[owner] / (along[owner] - 1))[:, None]
    t = (number % beside[owner] / (beside[owner] - 1))[:, None]
    points = a[owner] + s * ((1.0 - t) * (b - a)[owner] + t * (c - a)[owner])
    return points, normal[owner]
