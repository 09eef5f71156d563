"""Prefers what was shown: the demonstrated hand, moved to where this gripper can hold the object."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lfd_description.grasp_data import FingerGraspData
from lfd_planner.mtdf.task import GraspHint

from .fit import fit
from .frames import flipped, frames
from .grasp import SOURCES, Batch, Floats, GraspSet, Integers, Reason, Source, Tally, millimetres
from .limits import FingerLimits
from .surface import Surface

FARTHEST = 0.025
"""[m], the most that a demonstrated hand is moved; a tracked hand is not known much better."""
MOST_TURN = math.radians(30.0)
"""[rad], the most that it is turned."""
_DRAWS = 0.0025 * np.arange(-8, 9)  # [m], along the fingers
_FACING = 0.85  # the least cosine between a side and the way to close on it
_STRAIGHTENINGS = 3
_LIKING = 0.3
"""How much a grasp is liked less that is as far from the hint as the farthest."""


def with_hint(found: GraspSet, surface: Surface, hint: GraspHint) -> GraspSet:
    """The grasps with the one that is nearest to the hint first, in both ways to swap fingers."""
    wanted = hint.tcp.matrix
    farness = _farness(found.batch, hint)
    tries = _tries(found, surface, wanted, found.tcp_matrices[int(np.argmin(farness))])
    tried_shift, tried_turn = _distances(tries.tcp, wanted)
    best = int(np.argmin(_farness(tries, hint)))
    moved, turned = float(tried_shift[best]), float(tried_turn[best])
    liked = (found.batch.penalty + _LIKING * np.minimum(farness, 4.0)).round(9)
    order = np.argsort(liked, kind='stable')
    rest = replace(found.batch, penalty=liked)[order]
    told = f'{millimetres(moved)} and {math.degrees(turned):.0f} degrees'
    if moved > FARTHEST or turned > MOST_TURN:
        tally = Tally()
        tally.add(Reason.HINT_TOO_FAR, f'the demonstrated hand is {told} from the nearest grasp', moved)
        return replace(found, batch=rest, rejections=(*found.rejections, *tally.rejections()))
    first = _first(found, tries[np.array([best])])
    is_new = ~(np.abs(rest.tcp[:, None] - first.tcp).max(axis=(2, 3)) < 1e-9).any(axis=1)
    note = 'as it was shown' if moved < 5e-4 and turned < 0.01 else f'as it was shown, moved by {told}'
    notes = {index: note + (', fingers swapped' if index else '') for index in range(len(first))}
    return replace(found, batch=Batch.join([first, rest[is_new]]), notes=notes)


def _first(found: GraspSet, best: Batch) -> Batch:
    """The best try and, of fingers, the same with them swapped; liked more than any other."""
    codes: Integers = np.full(1, SOURCES.index(Source.HINT), dtype=np.int64)
    one = replace(best, source=codes, penalty=np.zeros(1))
    if not isinstance(found.data, FingerGraspData):
        return one
    return Batch.join([one, replace(one, tcp=flipped(one.tcp), penalty=np.full(1, 1e-3))])


def _tries(found: GraspSet, surface: Surface, wanted: Floats, nearest: Floats) -> Batch:
    """Grasps near the hint: closing straight on what is there, turned like the nearest grasp, and that one itself."""
    own = found.batch[np.flatnonzero((found.tcp_matrices == nearest).all(axis=(1, 2)))[:1]]
    if not isinstance(found.data, FingerGraspData):
        return own
    limits = FingerLimits.of(found.data)
    turns = [
        _closing_along(wanted, y)
        for y in (_straight(wanted, surface, limits), nearest[:3, 1])
        if y is not None and abs(y @ wanted[:3, 2]) < 0.8
    ]
    turns.append(frames(nearest[:3, 1], nearest[:3, 2], wanted[:3, 3])[0])
    tcp = np.repeat(np.array(turns), len(_DRAWS), axis=0)
    tcp[:, :3, 3] += np.tile(_DRAWS, len(turns))[:, None] * tcp[:, :3, 2]
    return Batch.join([own, fit(tcp, surface, limits, 'object', Tally())])


def _closing_along(tcp: Floats, y: Floats) -> Floats:
    """A pose turned as little as can be so that it closes along a unit vector y."""
    z = tcp[:3, 2] - (tcp[:3, 2] @ y) * y
    return np.asarray(frames(y, z / np.linalg.norm(z), tcp[:3, 3])[0])


def _straight(tcp: Floats, surface: Surface, limits: FingerLimits) -> Floats | None:
    """The way to close on which both pads lie flat on what is between them; None without two opposite sides."""
    y = tcp[:3, 1]
    local = (surface.points - tcp[:3, 3]) @ tcp[:3, :3]
    around = np.abs(local) <= (2.0 * limits.finger, 2.0 * limits.palm, limits.reach)
    normals = surface.normals[around.all(axis=1)]
    for _ in range(_STRAIGHTENINGS):
        along = normals @ y
        sides = [normals[sign * along > _FACING] for sign in (1.0, -1.0)]
        if any(len(side) == 0 for side in sides):
            return None
        y = sides[0].mean(axis=0) - sides[1].mean(axis=0)
        y = y / np.linalg.norm(y)
    return y


def _distances(tcp: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """How far [m] and by how much turned [rad] poses are from another, (N,) each."""
    shift = np.linalg.norm(tcp[:, :3, 3] - wanted[:3, 3], axis=1)
    trace = np.einsum('nij,ij->n', tcp[:, :3, :3], wanted[:3, :3])
    return shift, np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0))


def _farness(grasps: Batch, hint: GraspHint) -> Floats:
    """How unlike the hint grasps are, (N,): moved, turned, and fingers that are farther apart, or less far."""
    shift, turn = _distances(grasps.tcp, hint.tcp.matrix)
    apart = np.zeros(len(grasps)) if hint.width is None else np.nan_to_num(np.abs(grasps.width - hint.width))
    return shift / FARTHEST + turn / MOST_TURN + apart / FARTHEST
