"""Solids of links and objects for coal: their geometry, where they sit in their owner, and signed distances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import coal
import numpy as np
import numpy.typing as npt

from lfd_description.bodies import Body as LinkBody
from lfd_description.collision_geometry import Geometry
from lfd_description.shapes import Plane
from lfd_description.urdf import Matrix
from lfd_planner.scene import Body, SceneShape, collision_geometry

Numbers = npt.NDArray[np.float64]
FAR = 0.05  # [m], beyond which the distance to a mesh's hull is as good as that to the mesh
TOUCH = 1e-6  # [m], less deep than which two only touch: no better are decimal numbers and coal


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape of a link or an object."""

    owner: str
    """The link's or the object's name."""
    shape: SceneShape
    geometry: Geometry
    origin: Matrix
    """The 4x4 transform owner -> shape [m]."""
    centre: Numbers
    """Of a ball around it, in the shape's frame, (3,) [m]."""
    radius: float
    """Of that ball [m]; infinite for a plane."""


class Place(NamedTuple):
    """Where a solid is at one moment, in the scene's frame."""

    turn: Matrix
    """(3, 3)"""
    shift: Numbers
    """(3,) [m]"""

    @staticmethod
    def of(pose: Matrix) -> Place:
        """The place of a 4x4 transform [m]."""
        return Place(np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))


class Nearest(NamedTuple):
    """How far two solids are from each other."""

    distance: float
    """[m]; below zero: how deep they are in each other."""
    normal: Numbers
    """The unit direction from the first to the second, (3,), in the scene's frame."""


def link_solids(bodies: Iterable[LinkBody]) -> tuple[Solid, ...]:
    """The solids of a robot's links."""
    return tuple(_solid(body.link, body.shape, body.origin) for body in bodies)


def object_solids(name: str, body: Body) -> tuple[Solid, ...]:
    """The solids of an object.

    Raises:
        MeshError: a mesh file cannot be used.
    """
    return tuple(_solid(name, part.shape, part.pose.matrix) for part in body.parts)


def _solid(owner: str, shape: SceneShape, origin: Matrix) -> Solid:
    geometry = _geometry(shape)
    if isinstance(shape, Plane):
        return Solid(owner, shape, geometry, origin, np.zeros(3), np.inf)
    geometry.exact.computeLocalAABB()
    centre = np.array(geometry.exact.aabb_center, dtype=np.float64).reshape(3)
    return Solid(owner, shape, geometry, origin, centre, float(geometry.exact.aabb_radius))


@lru_cache(maxsize=512)
def _geometry(shape: SceneShape) -> Geometry:
    return collision_geometry(shape)


def steps(turns: Matrix, centres: Matrix, radius: float) -> Numbers:
    """How far any point of a ball can move from one sample to the next, (N - 1,) [m].

    Of its rotations, (N, 3, 3), and centres, (N, 3) [m], at the samples.
    """
    # A turn by an angle w moves a point at radius r by 2 r sin(w/2), and the norm of the difference of two rotation
    # matrices is 2 sqrt(2) sin(w/2).
    swing = np.linalg.norm(np.diff(turns, axis=0), axis=(1, 2)) * (radius / np.sqrt(2.0))
    found: Numbers = np.linalg.norm(np.diff(centres, axis=0), axis=1) + swing
    return found


def distance(a: Solid, at_a: Place, b: Solid, at_b: Place) -> float:
    """The distance of two solids [m]; below zero: how deep they are in each other."""
    return nearest(a, at_a, b, at_b).distance


def nearest(a: Solid, at_a: Place, b: Solid, at_b: Place) -> Nearest:
    """The distance of two solids and its direction; that of a mesh is at least its hull's, which is told where far.

    How deep something is in a hierarchy of triangles is not known; it is told to be a little more than touching.
    """
    here, there = coal.Transform3s(*at_a), coal.Transform3s(*at_b)
    if a.geometry.hull is not None or b.geometry.hull is not None:
        apart = _measured(a.geometry.hull or a.geometry.exact, here, b.geometry.hull or b.geometry.exact, there)
        if apart.distance > FAR:
            return apart
        found = _measured(a.geometry.exact, here, b.geometry.exact, there)
        return found if found.distance > 0.0 else Nearest(min(found.distance, -2.0 * TOUCH), apart.normal)
    return _measured(a.geometry.exact, here, b.geometry.exact, there)


def _measured(
    a: coal.CollisionGeometry, at_a: coal.Transform3s, b: coal.CollisionGeometry, at_b: coal.Transform3s
) -> Nearest:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    # A guess kept from an earlier pair lets coal miss contacts.
    request.gjk_initial_guess = coal.GJKInitialGuess.DefaultGuess
    apart = float(coal.distance(a, at_a, b, at_b, request, result))
    return Nearest(apart, np.array(result.normal, dtype=np.float64).reshape(3))
