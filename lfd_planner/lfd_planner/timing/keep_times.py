"""A motion through positions at given times, as they were shown; slower where the arm cannot be so quick."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from lfd_planner.timing.cubics import Matrix, Numbers, greatest_demand
from lfd_planner.timing.trajectory import Trajectory


def keep_times(
    path: npt.ArrayLike, times: npt.ArrayLike, velocity_limits: npt.ArrayLike, acceleration_limits: npt.ArrayLike
) -> Trajectory:
    """A motion from rest to rest that is at each position at its time, or at all of them later by the same factor.

    Args:
        path: positions, (N, dof) [rad or m], N > 1.
        times: when to be there, (N,) [s], rising from 0.
        velocity_limits: (dof,) [rad/s or m/s].
        acceleration_limits: (dof,) [rad/s2 or m/s2].

    Raises:
        ValueError: shapes do not fit, or the times do not rise from 0.
    """
    q: Matrix = np.array(path, dtype=np.float64, order='C')
    when: Numbers = np.array(times, dtype=np.float64, order='C')
    wished = Trajectory(when, q, np.zeros_like(q))
    v = _velocities(wished.times, wished.q)
    speed, push = greatest_demand(
        when,
        q,
        v,
        np.ascontiguousarray(velocity_limits, dtype=np.float64),
        np.ascontiguousarray(acceleration_limits, dtype=np.float64),
    )
    slower = max(1.0, speed, math.sqrt(push))
    return Trajectory(when * slower, q, v / slower)


def _velocities(times: Numbers, q: Matrix) -> Matrix:
    """The velocities at the points, (N, dof): those of the parabola through three, and none where a joint turns back.

    A cubic that starts and ends no faster than that does not swing beyond its ends.
    """
    spans = np.diff(times)[:, np.newaxis]
    slopes = np.diff(q, axis=0) / spans
    v = np.zeros_like(q)
    before, after = slopes[:-1], slopes[1:]
    mean = (spans[1:] * before + spans[:-1] * after) / (spans[1:] + spans[:-1])
    least = 3.0 * np.minimum(np.abs(before), np.abs(after))
    v[1:-1] = np.where(before * after > 0.0, np.clip(mean, -least, least), 0.0)
    return v
