"""The way of a held object, with no more poses than it needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_planner.pose import Pose

TOLERANCE = 0.002  # [m] that a straight line may leave the way
TURN_TOLERANCE = np.radians(1.0)  # [rad]
MOST_POSES = 200

Numbers = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """Where an object was at a time."""

    time: float
    """[s]"""
    pose: Pose


def thinned(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Some of the samples: lines and even turns between them explain the others; times are those of the samples."""
    if len(samples) < 3:
        return tuple(samples)
    positions = np.array([sample.pose.position for sample in samples])
    turns = _continuous(np.array([sample.pose.orientation for sample in samples]))
    tolerance = 1.0
    while True:
        kept = _split(positions, turns, tolerance)
        if len(kept) <= MOST_POSES:
            return tuple(samples[number] for number in kept)
        tolerance *= 1.5


def _split(positions: Numbers, turns: Numbers, tolerance: float) -> list[int]:
    """The samples to keep: where the line between two is too far off, the worst one between joins them."""
    found, lines = {0, len(positions) - 1}, [(0, len(positions) - 1)]
    while lines:
        first, last = lines.pop()
        if last - first < 2:
            continue
        excess = _excess(positions[first : last + 1], turns[first : last + 1])
        worst = int(np.argmax(excess))
        if excess[worst] > tolerance:
            middle = first + 1 + worst
            found.add(middle)
            lines += [(first, middle), (middle, last)]
    return sorted(found)


def _excess(positions: Numbers, turns: Numbers) -> Numbers:
    """How far the inner samples are from the line and the turn between the ends, in tolerances."""
    way, inner = positions[-1] - positions[0], positions[1:-1] - positions[0]
    length = float(way @ way)
    share = np.clip(inner @ way / length, 0.0, 1.0) if length > 1e-12 else np.linspace(0.0, 1.0, len(positions))[1:-1]
    off = np.linalg.norm(inner - share[:, np.newaxis] * way, axis=1)
    even = _slerp(turns[0], turns[-1], share)
    sines = np.linalg.norm(turns[1:-1] - even, axis=1) / 2.0  # of a quarter of the angle between two unit quaternions
    angles = 4.0 * np.arcsin(np.clip(sines, 0.0, 1.0))
    return np.asarray(np.maximum(off / TOLERANCE, angles / TURN_TOLERANCE))


def _slerp(a: Numbers, b: Numbers, share: Numbers) -> Numbers:
    """Even turns from one unit quaternion to another, (N, 4)."""
    angle = float(np.arccos(np.clip(a @ b, -1.0, 1.0)))
    if angle < 1e-6:
        found = a + share[:, np.newaxis] * (b - a)
    else:
        found = np.sin((1.0 - share) * angle)[:, np.newaxis] * a + np.sin(share * angle)[:, np.newaxis] * b
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _continuous(turns: Numbers) -> Numbers:
    """Unit quaternions, (N, 4), each on the side of the one before."""
    flips = np.where(np.einsum('ij,ij->i', turns[1:], turns[:-1]) < 0.0, -1.0, 1.0)
    turns = turns.copy()
    turns[1:] *= np.cumprod(flips)[:, np.newaxis]
    return turns
