"""Where upright lines meet surfaces: what stands on what, and whether a suction cup has a face below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import trimesh

from lfd_description.shapes import Plane, Vector
from lfd_description.urdf import Matrix
from lfd_planner.scene import Body, triangles_of

from .solids import Numbers

INSIDE = -1e-9  # the share of a triangle by which a line may miss it: what rounding does
MOST_AT_ONCE = 2_000_000  # lines times triangles, so that memory stays small
PLANE_SIZE = 100.0  # [m], of the square that stands for a plane


class Mass(NamedTuple):
    """A body's volume [m3], which stands for its mass, and its centre [m] in the object's frame."""

    amount: float
    centre: Vector


def triangles(body: Body) -> Matrix:
    """The surface of a body as triangles in the object's frame, (M, 3, 3) [m]."""
    found = []
    for part in body.parts:
        pose = part.pose.matrix
        if isinstance(part.shape, Plane):
            corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * (0.5 * PLANE_SIZE)
            corner = corners[[[0, 1, 2], [0, 2, 3]]]
        else:
            surface = triangles_of(part.shape)
            corner = surface.vertices[surface.triangles]
        found.append(corner @ pose[:3, :3].T + pose[:3, 3])
    return np.concatenate(found)


def mass(body: Body) -> Mass:
    """The mass of a body of even density; a mesh with holes counts as its hull."""
    amounts, centres = [], []
    for part in body.parts:
        surface = triangles_of(part.shape)
        mesh = trimesh.Trimesh(surface.vertices, surface.triangles, process=True)
        if not mesh.is_volume:
            mesh = mesh.convex_hull
        amounts.append(abs(float(mesh.volume)))
        centres.append(part.pose.matrix[:3, :3] @ np.asarray(mesh.center_mass) + part.pose.matrix[:3, 3])
    total = sum(amounts)
    x, y, z = (np.average(centres, axis=0, weights=amounts) if total > 0.0 else np.mean(centres, axis=0)).tolist()
    return Mass(total, (x, y, z))


def moved(corners: Matrix, pose: Matrix) -> Matrix:
    """Triangles, (M, 3, 3), after a 4x4 transform."""
    found: Matrix = corners @ pose[:3, :3].T + pose[:3, 3]
    return found


def heights(corners: Matrix, lines: Matrix) -> Matrix:
    """Where upright lines through points x, y, (K, 2), meet triangles, (M, 3, 3): z, (K, M) [m], nan where not."""
    low, high = lines.min(axis=0), lines.max(axis=0)
    near = ((corners[:, :, :2].max(axis=1) >= low) & (corners[:, :, :2].min(axis=1) <= high)).all(axis=1)
    corners = corners[near]
    if not len(corners):
        return np.full((len(lines), 1), np.nan)
    step = max(1, MOST_AT_ONCE // len(corners))
    return np.concatenate([_heights(corners, lines[at : at + step]) for at in range(0, len(lines), step)])


def _heights(corners: Matrix, lines: Matrix) -> Matrix:
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    ab, ac = b - a, c - a
    area = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0]
    px, py = lines[:, :1] - a[:, 0], lines[:, 1:] - a[:, 1]
    with np.errstate(divide='ignore', invalid='ignore'):
        u = (px * ac[:, 1] - py * ac[:, 0]) / area
        v = (py * ab[:, 0] - px * ab[:, 1]) / area
        hit = (u >= INSIDE) & (v >= INSIDE) & (u + v <= 1.0 - INSIDE)
        z = a[:, 2] + u * ab[:, 2] + v * ac[:, 2]
    found: Matrix = np.where(hit & np.isfinite(z), z, np.nan)
    return found


def hull(points: Matrix) -> Matrix:
    """The corners of the smallest convex polygon around points, (K, 2), counter-clockwise."""
    ordered = sorted(set(map(tuple, points.tolist())))
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    return np.array(_half_hull(ordered)[:-1] + _half_hull(ordered[::-1])[:-1])


def _half_hull(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for x, y in points:
        while len(found) > 1:
            (ax, ay), (bx, by) = found[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            found.pop()
        found.append((x, y))
    return found


def depth_inside(polygon: Matrix, point: Numbers) -> tuple[float, Numbers]:
    """How far a point is inside of a convex polygon, (K, 2), below zero outside; and the nearest point of that."""
    ends = np.roll(polygon, -1, axis=0)
    along = ends - polygon
    lengths = np.maximum((along * along).sum(axis=1), 1e-30)
    share = np.clip(((point - polygon) * along).sum(axis=1) / lengths, 0.0, 1.0)
    nearest = polygon + share[:, np.newaxis] * along
    away = np.linalg.norm(nearest - point, axis=1)
    row = int(np.argmin(away))
    left = along[:, 0] * (point - polygon)[:, 1] - along[:, 1] * (point - polygon)[:, 0]
    if len(polygon) > 2 and (left >= 0.0).all():
        return float(away[row]), point
    return -float(away[row]), nearest[row]
