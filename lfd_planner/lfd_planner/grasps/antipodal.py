"""Two-finger grasps of meshes: places on the surface, a finger on each, the other one where the object ends."""

from __future__ import annotations

import math

import numpy as np

from lfd_planner.scene import Part, TriangleMesh

from .facets import axes_of, facets_of
from .fit import CLOUD, fit, look, width_kept
from .frames import across, frames
from .grasp import Batch, Floats, Integers, Reason, Tally, beside
from .limits import FingerLimits
from .probe import STRIP_TOP, thickness
from .surface import Surface, surface_of

PLACES = 160  # on the surface where a finger is tried, besides those on flat faces
MOST_TURNS = 12  # of the hand about the way it closes
MOST_ALIKE = 200
"""Grasps of a mesh that are kept, all different by a few millimetres or degrees."""
_ALIKE = 0.008  # [m]
_ALIKE_TURN = 0.3  # of a unit vector


def antipodal_grasps(mesh: TriangleMesh, limits: FingerLimits, seed: int, tally: Tally) -> Batch:
    """Grasps of a mesh in its own frame; the same for the same seed."""
    surface = surface_of((Part(mesh),))
    places, normals = _places(mesh, surface.centre, seed)
    tcp = _approaches(places, normals, axes_of(mesh), limits)
    tcp = _closed(tcp, surface, limits, tally)
    top = look(tcp, surface, limits)[:, STRIP_TOP]
    # As deep as it is, and drawn back until the pads are just deep enough behind what looks at the palm.
    drawn = tcp.copy()
    drawn[:, :3, 3] += np.clip(top + limits.depths[0], -0.2, 0.0)[:, None] * tcp[:, :3, 2]
    batch = fit(np.concatenate([drawn, tcp]), surface, limits, 'mesh', tally)
    return batch[_different(batch, surface)]


def _closed(tcp: Floats, surface: Surface, limits: FingerLimits, tally: Tally) -> Floats:
    """The poses with one pad at y = 0 whose other pad can come to the opposite side, moved midway between both."""
    half, least = 0.5 * limits.finger, limits.narrowest - CLOUD
    width = thickness(tcp, surface.points, surface.normals, half, limits.depths[0], least)
    ends = np.isfinite(width)
    tally.add(Reason.SLIPS, 'the mesh has no side opposite to a finger', count=int((~ends).sum()))
    kept = ends & width_kept(ends, width, limits, 'mesh', tally)
    tcp = tcp[kept]
    tcp[:, :3, 3] -= 0.5 * width[kept][:, None] * tcp[:, :3, 1]
    return tcp


def _places(mesh: TriangleMesh, centre: Floats, seed: int) -> tuple[Floats, Floats]:
    """Where to try a finger, (N, 3) [m], with the normals there: at flat faces, and all over at random."""
    facets = facets_of(mesh)
    faces = [facet.middle for facet in facets]
    faces += [centre + ((facet.middle - centre) @ facet.normal) * facet.normal for facet in facets]
    looks = [facet.normal for facet in facets] * 2
    corners = mesh.vertices[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(normal, axis=1)
    random = np.random.default_rng(seed)
    chosen = random.choice(len(corners), PLACES, p=double / double.sum())
    u, v = random.random((2, PLACES, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    a, b, c = corners[chosen].transpose(1, 0, 2)
    points = np.concatenate([np.array(faces).reshape(-1, 3), a + u * (b - a) + v * (c - a)])
    return points, np.concatenate([np.array(looks).reshape(-1, 3), normal[chosen] / double[chosen, None]])


def _approaches(places: Floats, y: Floats, axes: Floats, limits: FingerLimits) -> Floats:
    """A finger at each place, with the hand at all angles about the way it closes, (N, 4, 4) [m]."""
    side = across(y, axes)
    up = np.cross(y, side)
    every = math.ceil(len(limits.angles) / MOST_TURNS)
    turns = [np.cos(angle) * side + np.sin(angle) * up for angle in limits.angles[::every]]
    depth = 0.5 * (limits.depths[0] + limits.least_depth)
    return np.concatenate([frames(y, z, places + depth * z) for z in turns])


def _different(batch: Batch, surface: Surface) -> Integers:
    """Which grasps to keep: those nearest to the centre of mass, without any that are alike."""
    if not len(batch):
        return np.zeros(0, dtype=np.int64)
    tcp = batch.tcp
    order = np.argsort(np.round(beside(tcp, surface.centre) + 0.02 * batch.penalty, 6), kind='stable')
    # A finger left or right makes no difference: each grasp is made in both ways later.
    sign = np.sign(tcp[:, :3, 1] @ np.array([1.0, 0.7, 0.3]))[:, None]
    key = np.column_stack(
        [tcp[:, :3, 3] / _ALIKE, tcp[:, :3, 2] / _ALIKE_TURN, sign * tcp[:, :3, 1] / _ALIKE_TURN]
    ).round()
    _, first = np.unique(key[order], axis=0, return_index=True)
    return np.asarray(order[np.sort(first)][:MOST_ALIKE])
