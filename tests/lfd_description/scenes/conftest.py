"""Scenes checked by a collision library: what overlaps, and what stands on what."""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations

import coal
import numpy as np
import pytest

from lfd_description.collision_geometry import collision_geometry
from lfd_description.meshes import shape_mesh
from lfd_description.scenes import Scene, SceneObject
from lfd_description.shapes import MeshFile, Plane, Shape

EXACT = 2e-6  # [m], of the library's distances between primitives
LIFT = 2e-5  # [m], by which a mesh that stands on something must be lifted to be free


@lru_cache
def geometry(shape: Shape) -> coal.CollisionGeometry:
    return collision_geometry(shape).exact


def pose(thing: SceneObject, lift: float = 0.0) -> coal.Transform3s:
    matrix = thing.pose
    return coal.Transform3s(matrix[:3, :3], matrix[:3, 3] + (0.0, 0.0, lift))


def collide(a: SceneObject, b: SceneObject, lift: float) -> bool:
    """Whether `a`, lifted by that much [m], collides with `b`."""
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    return bool(coal.collide(geometry(a.shape), pose(a, lift), geometry(b.shape), pose(b), request, result))


def distance(a: SceneObject, b: SceneObject) -> float:
    """[m], below zero as deep as they overlap; of primitives."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    return float(coal.distance(geometry(a.shape), pose(a), geometry(b.shape), pose(b), request, result))


def overlap(a: SceneObject, b: SceneObject) -> bool:
    if isinstance(b.shape, MeshFile):
        a, b = b, a
    if isinstance(a.shape, MeshFile):
        return collide(a, b, LIFT)
    return distance(a, b) < -EXACT


def rests_on(thing: SceneObject, support: SceneObject) -> bool:
    """Whether it touches the support from above."""
    if support.name == thing.name or thing.position[2] < support.position[2]:
        return False
    if isinstance(thing.shape, MeshFile):
        return collide(thing, support, -LIFT) and not collide(thing, support, LIFT)
    return abs(distance(thing, support)) < EXACT


@pytest.fixture
def overlaps() -> Callable[[Scene], list[tuple[str, str]]]:
    """The pairs of objects of a scene that are inside one another; planes may touch one another."""

    def find(scene: Scene) -> list[tuple[str, str]]:
        solid = [thing for thing in scene.objects if not isinstance(thing.shape, Plane)]
        planes = [thing for thing in scene.objects if isinstance(thing.shape, Plane)]
        pairs = [*combinations(solid, 2), *((thing, plane) for thing in solid for plane in planes)]
        return [(a.name, b.name) for a, b in pairs if overlap(a, b)]

    return find


@pytest.fixture
def floating() -> Callable[[Scene], list[str]]:
    """The movable objects of a scene that stand on no support."""

    def find(scene: Scene) -> list[str]:
        supports = scene.tagged('support')
        movable = [thing for thing in scene.objects if thing.movable]
        return [thing.name for thing in movable if not any(rests_on(thing, support) for support in supports)]

    return find


@pytest.fixture
def vertices() -> Callable[[SceneObject], np.ndarray]:
    """The corners of an object's mesh in the scene's frame, (N, 3) [m]."""

    def corners(thing: SceneObject) -> np.ndarray:
        return np.asarray(shape_mesh(thing.shape).vertices) @ thing.pose[:3, :3].T + thing.position

    return corners
