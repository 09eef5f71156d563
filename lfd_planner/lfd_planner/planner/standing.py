"""How a body stands: boxes and cylinders on what they have, all others on the flat faces of their convex hull."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from lfd_description.shapes import Box, Cylinder, Plane
from lfd_description.urdf import Matrix
from lfd_planner.grasps.surface import centre_of
from lfd_planner.scene import Part, triangles_of

MOST_FACES = 6  # of a hull, that a body is put on
QUARTERS = 4  # turns about the vertical, for each face
SAFE = 0.003  # [m] that the centre of mass is inside the border of what the body stands on
SAME = 1e-3  # of a normal, within which the triangles of a hull lie in one face


@dataclass(frozen=True, eq=False)
class Stand:
    """A way in which a body stands."""

    rotation: Matrix
    """Of the body in the scene's frame, (3, 3)."""
    height: float
    """Of the body's origin above the ground [m]."""


def stands(parts: tuple[Part, ...], rotation: Matrix) -> list[Stand]:
    """Other ways in which a body can stand that is turned like this, (3, 3), those first that tip it over."""
    shape = parts[0].shape
    if len(parts) == 1 and parts[0].pose.is_identity and isinstance(shape, Box | Cylinder):
        turned = [turn @ rotation for turn in _turns() if not np.allclose(turn, np.eye(3))]
        return [Stand(turn, _half_height(shape, turn)) for turn in turned]
    found = [turn @ rotation for face in _faces(parts) for turn in _onto(rotation @ face)]
    others = [turn for turn in found if not np.allclose(turn, rotation, atol=1e-6)]
    up = rotation[:, 2]
    return [Stand(turn, below(parts, turn)) for turn in sorted(others, key=lambda turn: float(turn[:, 2] @ up) ** 2)]


def below(parts: tuple[Part, ...], rotation: Matrix) -> float:
    """How far a body that is turned like this, (3, 3), reaches below its origin [m]."""
    shape = parts[0].shape
    if len(parts) == 1 and parts[0].pose.is_identity and isinstance(shape, Box | Cylinder):
        return _half_height(shape, rotation)
    return -float((_corners(parts) @ rotation[2]).min(initial=0.0))


@lru_cache(maxsize=128)
def _corners(parts: tuple[Part, ...]) -> Matrix:
    """The corners of a body's hull, (N, 3) [m] in its frame; none if it has no hull."""
    solid = [part for part in parts if not isinstance(part.shape, Plane)]
    clouds = [triangles_of(part.shape).vertices @ part.pose.matrix[:3, :3].T + part.pose.position for part in solid]
    points: Matrix = np.concatenate([np.zeros((0, 3)), *clouds])
    try:
        return np.ascontiguousarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return np.zeros((0, 3))


@lru_cache(maxsize=128)
def _faces(parts: tuple[Part, ...]) -> tuple[Matrix, ...]:
    """How the faces of a body's hull look on which it does not tip over, (3,) in its frame; the largest first."""
    corners = _corners(parts)
    if not len(corners):
        return ()
    hull = ConvexHull(corners)
    centre = centre_of(parts)
    triangles = corners[hull.simplices]
    areas = 0.5 * np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    found: list[tuple[float, Matrix]] = []
    left = np.ones(len(areas), dtype=np.bool_)
    for number in np.argsort(-areas, kind='stable'):
        if not left[number]:
            continue
        plane = hull.equations[number]
        face = left & (np.abs(hull.equations[:, :3] - plane[:3]).max(axis=1) < SAME)
        left &= ~face
        if _carries(corners[np.unique(hull.simplices[face])], plane[:3], centre):
            found.append((float(areas[face].sum()), plane[:3]))
    found.sort(key=lambda each: -each[0])
    return tuple(normal for _, normal in found[:MOST_FACES])


def _carries(corners: Matrix, normal: Matrix, centre: Matrix) -> bool:
    """Whether the centre of mass is well above a face with these corners, (N, 3) [m]."""
    side = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    side /= np.linalg.norm(side)
    flat = np.column_stack([(corners - centre) @ side, (corners - centre) @ np.cross(normal, side)])
    try:
        return bool((ConvexHull(flat).equations[:, 2] <= -SAFE).all())
    except QhullError:
        return False


def _onto(direction: Matrix) -> list[Matrix]:
    """Turns, (3, 3), that bring a direction straight down: the shortest, and that with turns about the vertical."""
    down = np.array([0.0, 0.0, -1.0])
    axis, cosine = np.cross(direction, down), float(direction @ down)
    if cosine < -1.0 + 1e-9:
        shortest = np.diag([1.0, -1.0, -1.0])
    else:
        cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
        shortest = np.eye(3) + cross + cross @ cross / (1.0 + cosine)
    angles = (2.0 * math.pi * quarter / QUARTERS for quarter in range(QUARTERS))
    return [_about_vertical(angle) @ shortest for angle in angles]


def _about_vertical(angle: float) -> Matrix:
    sine, cosine = math.sin(angle), math.cos(angle)
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _turns() -> list[Matrix]:
    """The 24 turns that bring a cube's axes to axes, those about level axes first."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[list(order), range(3)] = signs
            if np.linalg.det(turn) > 0.0:
                found.append(turn)
    return sorted(found, key=lambda turn: float(turn[2, 2]) ** 2)


def _half_height(shape: Box | Cylinder, rotation: Matrix) -> float:
    """Half of how tall a shape is when it is turned like this [m]."""
    if isinstance(shape, Box):
        return 0.5 * float(np.abs(rotation[2]) @ np.array(shape.size))
    up = abs(float(rotation[2, 2]))
    return 0.5 * up * shape.height + math.sqrt(max(0.0, 1.0 - up * up)) * shape.radius
