"""Fewer points for controllers that draw straight lines between them, close to the motion that was checked.

A native move goes straight in joint space and at an even speed. The points are chosen such that these lines stay within
a tolerance of the planned path, and that the arm is near to where the plan has it at every time.
"""

from __future__ import annotations

import itertools

import numpy as np

from lfd_planner.timing import Trajectory, path_times
from lfd_planner.timing.cubics import Matrix, Numbers
from lfd_planner.timing.trajectory import AT_REST

TOLERANCE = 0.0005
"""How far the lines leave the path by default [rad]: half a millimetre at a metre from the axis."""
TIMING_TOLERANCE = 0.02
"""How far the arm is from where the plan has it at any time, if it moves evenly along the lines [rad]."""
_PERIOD = 0.004  # [s], between samples that are compared


def thinned(motion: Trajectory, tolerance: float = TOLERANCE, timing_tolerance: float = TIMING_TOLERANCE) -> Trajectory:
    """Some points on the motion: its ends, where it rests, and what the tolerances [rad] need between these."""
    times = _samples(motion, tolerance)
    q = motion.sample(times).q
    at_rest = motion.times[np.abs(motion.v).max(axis=1) <= AT_REST]
    kept = {0, len(times) - 1, *np.searchsorted(times, at_rest).tolist()}
    return _at(motion, times[_split(times, q, sorted(kept), tolerance, timing_tolerance)])


def _samples(motion: Trajectory, tolerance: float) -> Numbers:
    even = np.arange(0.0, motion.duration, _PERIOD)
    return np.unique(np.concatenate([path_times(motion, 4.0 * tolerance), motion.times, even]))


def _at(motion: Trajectory, times: Numbers) -> Trajectory:
    found = motion.sample(times)
    return Trajectory(times, found.q, found.v)


def _split(times: Numbers, q: Matrix, kept: list[int], tolerance: float, timing_tolerance: float) -> list[int]:
    """The samples to keep: wherever a line between two of them is too far off, the worst sample between joins them."""
    lines = list(itertools.pairwise(kept))
    found = set(kept)
    while lines:
        first, last = lines.pop()
        if last - first < 2:
            continue
        worst, excess = _worst(times[first : last + 1], q[first : last + 1], tolerance, timing_tolerance)
        if excess > 1.0:
            found.add(first + worst)
            lines += [(first, first + worst), (first + worst, last)]
    return sorted(found)


def _worst(times: Numbers, q: Matrix, tolerance: float, timing_tolerance: float) -> tuple[int, float]:
    """The inner sample that is furthest from the line between the ends, and how far, in tolerances."""
    way, inner = q[-1] - q[0], q[1:-1] - q[0]
    length = float(way @ way)
    along = np.clip(inner @ way / length, 0.0, 1.0) if length > 0.0 else np.zeros(len(inner))
    evenly = (times[1:-1] - times[0]) / (times[-1] - times[0])
    aside = np.abs(inner - along[:, np.newaxis] * way).max(axis=1) / tolerance
    late = np.abs(inner - evenly[:, np.newaxis] * way).max(axis=1) / timing_tolerance
    excess = np.maximum(aside, late)
    worst = int(np.argmax(excess))
    return worst + 1, float(excess[worst])
