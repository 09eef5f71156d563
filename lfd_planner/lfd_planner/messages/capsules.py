"""Capsules, which ROS does not know: sent as a mesh (or, on request, as a cylinder and two balls), and known again.

All capsules have the same triangles; only their vertices differ, and from those radius and height can be read off
exactly. So a mesh that is vertex for vertex the one that some capsule is sent as is that capsule, whoever sends it.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lfd_description.meshes import shape_mesh
from lfd_description.shapes import Capsule, Cylinder, Sphere
from lfd_planner.scene import Part, Pose, TriangleMesh

_NEARLY = 1e-12


class CapsuleAs(StrEnum):
    """What a capsule becomes in a message."""

    MESH = 'mesh'
    COMPOUND = 'compound'
    """A cylinder and two balls: exact, and three shapes."""


@lru_cache(maxsize=1024)
def capsule_mesh(capsule: Capsule) -> TriangleMesh:
    """The triangles that a capsule is sent as."""
    ball, side, triangles = _unit_capsule()
    vertices = capsule.radius * ball
    vertices[:, 2] += side * (0.5 * capsule.height - capsule.radius)
    poles = np.abs(ball[:, 2]) == 1.0
    vertices[poles, 2] = 0.5 * capsule.height * side[poles]  # so that the height is read off exactly
    return TriangleMesh(vertices, triangles)


def as_capsule(mesh: TriangleMesh) -> Capsule | None:
    """The capsule that is sent as this very mesh; none if no capsule is."""
    ball, _, triangles = _unit_capsule()
    if mesh.vertices.shape != ball.shape or not np.array_equal(mesh.triangles, triangles):
        return None
    radius, top = float(mesh.vertices[:, 0].max()), float(mesh.vertices[:, 2].max())
    if not 0.0 < radius <= top:
        return None
    capsule = Capsule(radius, 2.0 * top)
    return capsule if capsule_mesh(capsule) == mesh else None


def compound(capsule: Capsule) -> tuple[Part, ...]:
    """A cylinder and two balls that fill the same space as the capsule; parts in the capsule's own frame."""
    straight = capsule.height - 2.0 * capsule.radius
    if straight <= 0.0:
        return (Part(Sphere(capsule.radius)),)
    ends = tuple(Part(Sphere(capsule.radius), Pose((0.0, 0.0, z))) for z in (-0.5 * straight, 0.5 * straight))
    return (Part(Cylinder(capsule.radius, straight)), *ends)


@lru_cache(maxsize=1)
def _unit_capsule() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.uint32]]:
    """For each vertex where it is on a ball of radius 1 and on which half (-1 below, 1 above); the triangles."""
    mesh = shape_mesh(Capsule(1.0, 4.0))
    vertices = np.asarray(mesh.vertices)
    side = np.sign(vertices[:, 2])
    ball = vertices - np.outer(side, (0.0, 0.0, 1.0))
    for value in (-1.0, 0.0, 1.0):
        ball[np.abs(ball - value) < _NEARLY] = value
    return ball, side, np.asarray(mesh.faces, dtype=np.uint32)
