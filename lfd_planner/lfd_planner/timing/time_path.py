"""When to be where: the fastest motion along a joint path within velocity and acceleration limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_planner.timing.blended_path import distinct
from lfd_planner.timing.cubics import Matrix, Numbers, greatest_demand
from lfd_planner.timing.timed_points import timed_points
from lfd_planner.timing.trajectory import Trajectory, path_samples

BLEND = 0.05
"""How far the corners of a path may be cut [rad or m] unless told otherwise."""
LONGEST = 2.0**31 - 1.0
"""The longest motion [s]: messages count seconds in 32 bits."""
_LARGEST = 1e6  # [rad or m]
# Limits are kept to this share; more is a mistake made here.
_EXACT = 1e-6


@dataclass(frozen=True)
class Scaling:
    """A speed or acceleration scaling as a request means it."""

    factor: float
    """Above 0, at most 1."""
    warning: str
    """What was made of the request, if it did not say so itself; else empty."""


def requested_scaling(value: float, name: str) -> Scaling:
    """The scaling that a MoveIt request with this field asks for: 0, which is a field left out, means 1.

    Raises:
        ValueError: the value is negative, above 1 or no number.
    """
    if value == 0.0:
        return Scaling(1.0, f'{name} is 0, which is taken as 1 (full speed); set it to a number above 0, at most 1.')
    return Scaling(_scaling(value, name), '')


def time_path(
    path: npt.ArrayLike,
    velocity_limits: npt.ArrayLike,
    acceleration_limits: npt.ArrayLike,
    *,
    velocity_scaling: float = 1.0,
    acceleration_scaling: float = 1.0,
    blend: npt.ArrayLike = BLEND,
) -> Trajectory:
    """The fastest motion along a joint path, from rest to rest, within limits at every instant as executed.

    Corners are cut so that no joint is further than `blend` from the straight lines between the waypoints; with 0 the
    motion stops at every corner. What is between the waypoints is therefore not the polyline: check the motion with
    `path_samples`. The same arguments always give the same motion.

    Args:
        path: waypoints, (N, dof) [rad or m]; duplicates and near-duplicates count once.
        velocity_limits: (dof,) [rad/s or m/s].
        acceleration_limits: (dof,) [rad/s2 or m/s2].
        velocity_scaling: the share of the velocity limits to use, above 0, at most 1.
        acceleration_scaling: the same for the acceleration limits.
        blend: [rad or m], for all joints or for each, (dof,).

    Raises:
        ValueError: an argument has the wrong shape or is out of its range, or the motion would take over LONGEST.
        ArithmeticError: the motion that was computed breaks a limit; it is not to be executed.
    """
    waypoints = _waypoints(path)
    dof = waypoints.shape[1]
    velocities = _limits(velocity_limits, dof, 'velocity') * _scaling(velocity_scaling, 'velocity_scaling')
    accelerations = _limits(acceleration_limits, dof, 'acceleration') * _scaling(
        acceleration_scaling, 'acceleration_scaling'
    )
    cut = _blend(blend, dof)
    waypoints = distinct(waypoints, cut)
    if len(waypoints) == 1:
        return Trajectory.at(waypoints[0])
    times, q, v = timed_points(waypoints, velocities, accelerations, cut)
    _check(times, q, v, velocities, accelerations)
    return Trajectory(times, q, v)


def warm_up() -> None:
    """Compile what timing needs, or load it if that was done before."""
    trajectory = time_path([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [1.0, 1.0], [1.0, 1.0])
    path_samples(trajectory, 0.1)


def _check(times: Numbers, q: Matrix, v: Matrix, velocities: Numbers, accelerations: Numbers) -> None:
    """Let nothing out that is longer than can be told or faster than was asked for."""
    if not times[-1] < LONGEST:
        raise ValueError(
            f'The motion would take {times[-1]:.3g} s, more than {LONGEST:.0f} s; raise the scaling or the limits.'
        )
    speed, push = greatest_demand(times, q, v, velocities, accelerations)
    if not (speed <= 1.0 + _EXACT and push <= 1.0 + _EXACT):
        raise ArithmeticError(
            f'The motion was computed with {speed:.6g} times the velocity limits and {push:.6g} times the '
            f'acceleration limits; do not execute it, and report its waypoints and limits.'
        )


def _scaling(value: float, name: str) -> float:
    if not 0.0 < value <= 1.0:
        raise ValueError(f'{name} must be above 0 and at most 1, not {value}.')
    return float(value)


def _waypoints(path: npt.ArrayLike) -> Matrix:
    waypoints: Matrix = np.array(path, dtype=np.float64, order='C')
    if waypoints.ndim != 2 or 0 in waypoints.shape:
        raise ValueError(
            f'A path must have the shape (waypoints, joints) with one waypoint at least, not {waypoints.shape}.'
        )
    wrong = np.flatnonzero(~(np.abs(waypoints) <= _LARGEST).all(axis=1))
    if len(wrong):
        raise ValueError(f'Waypoint {wrong[0]} of the path must be finite numbers of at most {_LARGEST:g} rad or m.')
    return waypoints


def _limits(limits: npt.ArrayLike, dof: int, kind: str) -> Numbers:
    numbers: Numbers = np.ascontiguousarray(limits, dtype=np.float64)
    if numbers.shape != (dof,):
        raise ValueError(f'There must be one {kind} limit for each of the {dof} joints, not the shape {numbers.shape}.')
    wrong = np.flatnonzero(~((numbers > 0.0) & (numbers < math.inf)))
    if len(wrong):
        raise ValueError(f'The {kind} limit of joint {wrong[0]} must be a positive number, not {numbers[wrong[0]]}.')
    return numbers


def _blend(blend: npt.ArrayLike, dof: int) -> Numbers:
    given = np.asarray(blend, dtype=np.float64)
    if given.shape not in ((), (dof,)) or not ((given >= 0.0) & (given < math.inf)).all():
        raise ValueError(f'The blend must be one number from 0 [rad or m], or one for each of the {dof} joints.')
    return np.array(np.broadcast_to(given, (dof,)), order='C')
