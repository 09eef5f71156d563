"""Fits grasps to a surface: the hand is centred on what is between its fingers, and what cannot be held is rejected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .grasp import Batch, Floats, Reason, Source, Tally, millimetres
from .limits import EXACT, FRICTION, FingerLimits
from .probe import BACK, FRONT, LEFT, LEFT_LEAN, RIGHT, RIGHT_LEAN, STRIP_TOP, TOP, probe
from .surface import Surface

Flags = npt.NDArray[np.bool_]
CLOUD = 0.0002
"""[m], within which a cloud of points tells where a surface is."""
_PALM_MISS = 'object reaches {} between the fingers, there is room for {}'


def look(tcp: Floats, surface: Surface, limits: FingerLimits) -> Floats:
    """What is between the fingers at each pose: the columns of `probe`."""
    half = 0.5 * limits.finger
    return probe(tcp, surface.points, surface.normals, half, limits.depths[0], limits.palm, surface.spacing)


def centred(tcp: Floats, found: Floats) -> Floats:
    """The poses moved along y so that the fingers are equally far from what is between them."""
    moved = tcp.copy()
    moved[:, :3, 3] += (0.5 * (found[:, LEFT] + found[:, RIGHT]))[:, None] * tcp[:, :3, 1]
    return moved


def fit(tcp: Floats, surface: Surface, limits: FingerLimits, what: str, tally: Tally) -> Batch:
    """Grasps near given poses (N, 4, 4) that hold the object."""
    found = look(tcp, surface, limits)
    there = np.isfinite(found[:, [LEFT, RIGHT, BACK, FRONT]]).all(axis=1)
    tcp, found = centred(tcp[there], found[there]), found[there]
    width = found[:, RIGHT] - found[:, LEFT]
    lean = np.maximum(found[:, LEFT_LEAN], found[:, RIGHT_LEAN])
    half = 0.5 * limits.finger - CLOUD
    kept = np.ones(len(tcp), dtype=np.bool_)
    kept &= _counted(kept, lean <= FRICTION, Reason.SLIPS, f'{what} has no two opposite sides there', tally)
    kept &= width_kept(kept, width, limits, what, tally)
    covered = (found[:, BACK] <= -half) & (found[:, FRONT] >= half)
    thin = f'{what} is narrower than a finger there, {millimetres(limits.finger)}'
    kept &= _counted(kept, covered, Reason.TOO_THIN_FOR_FINGER, thin, tally)
    kept &= _palm_kept(kept, -found[:, TOP], limits, tally)
    depth = np.minimum(-found[:, STRIP_TOP], limits.depths[0])
    kept &= _depth_kept(kept, depth, limits, what, tally)
    width = np.clip(width, limits.narrowest, limits.widest)
    batch = Batch.of(tcp[kept], width[kept], depth[kept], Source.ANTIPODAL)
    return replace(batch, penalty=0.5 * lean[kept])


def clear_of_parts(batch: Batch, surface: Surface, limits: FingerLimits, tally: Tally) -> Batch:
    """The grasps of one part whose fingers and palm are clear of the whole object."""
    if not len(batch):
        return batch
    found = look(batch.tcp, surface, limits)
    outside = np.maximum(-found[:, LEFT], found[:, RIGHT]) - 0.5 * batch.width
    kept = outside <= CLOUD
    if not kept.all():
        miss = float(outside[~kept].min())
        detail = f'another part of the object is {millimetres(miss)} in the way of a finger'
        tally.add(Reason.FINGER_HITS_OBJECT, detail, miss, int((~kept).sum()))
    kept &= _palm_kept(kept, -found[:, TOP], limits, tally)
    return batch[kept]


def clear_of_palm(batch: Batch, surface: Surface, limits: FingerLimits, tally: Tally) -> Batch:
    """The grasps whose palm is clear of the object."""
    top = look(batch.tcp, surface, limits)[:, TOP]
    return batch[_palm_kept(np.ones(len(batch), dtype=np.bool_), -top, limits, tally)]


def width_kept(kept: Flags, width: Floats, limits: FingerLimits, what: str, tally: Tally) -> Flags:
    """Which widths [m] the pads open and close to; those that they do not are counted as rejected."""
    wide, narrow = width > limits.widest + CLOUD, width < limits.narrowest - CLOUD
    for wrong, nearest in ((kept & wide, np.min), (kept & narrow, np.max)):
        if wrong.any():
            limits.accepts_width(float(nearest(width[wrong])), what, tally, int(wrong.sum()))
    return np.asarray(~wide & ~narrow)


def _palm_kept(kept: Flags, reached: Floats, limits: FingerLimits, tally: Tally) -> Flags:
    fine = np.asarray(reached <= limits.reach + CLOUD)
    if (kept & ~fine).any():
        nearest = float(reached[kept & ~fine].min())
        detail = _PALM_MISS.format(millimetres(nearest), millimetres(limits.reach))
        tally.add(Reason.PALM_HITS_OBJECT, detail, nearest - limits.reach, int((kept & ~fine).sum()))
    return fine


def _depth_kept(kept: Flags, depth: Floats, limits: FingerLimits, what: str, tally: Tally) -> Flags:
    fine = np.asarray(depth >= limits.least_depth - EXACT)
    if (kept & ~fine).any():
        limits.depths_within(float(depth[kept & ~fine].max()), 0.0, what, tally, int((kept & ~fine).sum()))
    return fine


def _counted(kept: Flags, fine: Flags, reason: Reason, detail: str, tally: Tally) -> Flags:
    tally.add(reason, detail, count=int((kept & ~fine).sum()))
    return fine
