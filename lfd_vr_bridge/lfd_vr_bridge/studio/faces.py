"""The flat sides of a body, on which it can stand or be stood on: unit normals that look outwards, in its frame."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere
from lfd_planner.scene import Body, Part, triangles_of

Numbers = npt.NDArray[np.float64]

LEAST_SHARE = 0.03  # of a hull's surface that is a side to stand on
ALIKE = 1e-3  # difference of unit normals of one side
_Z = np.array([0.0, 0.0, 1.0])


@lru_cache(maxsize=1024)
def flat_sides(body: Body) -> Numbers:
    """The normals of all flat sides of the hull of a body, (N, 3); of what is round about z, those of its ends."""
    if len(body.parts) == 1:
        known = _of_shape(body.parts[0])
        if known is not None:
            return known
    return _of_hull(body)


@lru_cache(maxsize=1024)
def rolling_axes(body: Body) -> Numbers:
    """The axes about which a body is round, (N, 3): it can lie with one of them parallel to what it lies on."""
    if len(body.parts) == 1 and isinstance(body.parts[0].shape, Cylinder | Capsule):
        return np.array([body.parts[0].pose.matrix[:3, :3] @ _Z])
    return np.empty((0, 3))


def _of_shape(part: Part) -> Numbers | None:
    """The sides of what has a formula; None of meshes."""
    turn = part.pose.matrix[:3, :3]
    match part.shape:
        case Box():
            return np.concatenate([np.eye(3), -np.eye(3)]) @ turn.T
        case Cylinder():
            return np.array([_Z, -_Z]) @ turn.T
        case Cone():
            return np.array([-_Z]) @ turn.T
        case Plane():
            return np.array([_Z]) @ turn.T
        case Sphere() | Capsule():
            return np.empty((0, 3))
        case _:
            return None


def _of_hull(body: Body) -> Numbers:
    """The large sides of the hull of all parts."""
    corners = [_corners(part) for part in body.parts if not isinstance(part.shape, Plane)]
    if not corners:
        return np.array([part.pose.matrix[:3, 2] for part in body.parts])
    try:
        hull = ConvexHull(np.concatenate(corners))
    except (QhullError, ValueError):  # flat, or a line
        return np.empty((0, 3))
    points = hull.points[hull.simplices]
    areas = 0.5 * np.linalg.norm(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), axis=1)
    normals = hull.equations[:, :3]
    found: list[Numbers] = []
    for normal in normals[np.argsort(-areas)]:
        alike = np.linalg.norm(normals - normal, axis=1) < ALIKE
        new = all(np.linalg.norm(normal - known) >= ALIKE for known in found)
        if new and areas[alike].sum() >= LEAST_SHARE * areas.sum():
            found.append(normal)
    return np.array(found).reshape(-1, 3)


def _corners(part: Part) -> Numbers:
    pose = part.pose.matrix
    return np.asarray(triangles_of(part.shape).vertices @ pose[:3, :3].T + pose[:3, 3])
