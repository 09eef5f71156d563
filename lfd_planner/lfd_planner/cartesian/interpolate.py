"""Poses along straight lines: positions on the line, rotations turning evenly about one axis."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix, axis_rotations
from lfd_planner.pose import Pose
from lfd_planner.robot.ik.solver import is_rigid

# Rotations closer than this [rad] are one: their axis has no digits left.
_SAME_TURN = 1e-9
MOST_WAYPOINTS = 20_000
MOST_POSES = 200_000
"""How many poses a way may have; every one of them costs inverse kinematics and a collision check."""


def interpolate(
    start: npt.ArrayLike,
    waypoints: Sequence[npt.ArrayLike] | Matrix,
    max_step: float,
    max_rotation_step: float = math.inf,
    *,
    fewest: int = 1,
) -> Matrix:
    """Poses from `start` along straight lines through all waypoints, (N, 4, 4), the start and all waypoints included.

    Start, waypoints and result are poses of the moved link in one and the same frame [m].

    Args:
        start: where the link is, (4, 4).
        waypoints: where it goes, (M, 4, 4).
        max_step: the longest way between two poses [m].
        max_rotation_step: the largest turn between two poses [rad].
        fewest: the least number of steps to each waypoint; relative jump thresholds need 10 to mean something.

    Raises:
        ValueError: a pose is no rigid transform, a step is not positive, or there would be too many poses.
    """
    if not max_step > 0.0 or not max_rotation_step > 0.0 or fewest < 1:
        raise ValueError(
            f'The largest steps between poses must be positive, not {max_step} m and {max_rotation_step} rad '
            f'with at least {fewest} steps.'
        )
    if len(waypoints) > MOST_WAYPOINTS:
        raise ValueError(f'There are {len(waypoints)} waypoints, more than {MOST_WAYPOINTS}; send fewer.')
    stations = [_pose(start, 'The start')]
    stations += [_pose(waypoint, f'Waypoint {number}') for number, waypoint in enumerate(waypoints)]
    parts = [stations[0][np.newaxis]]
    left = MOST_POSES - 1
    for number, (a, b) in enumerate(itertools.pairwise(stations)):
        way, turn = distance(a, b)
        if way == 0.0 and turn <= _SAME_TURN:
            continue
        # A way of three steps and a rounding error takes three.
        steps = max(way / max_step, turn / max_rotation_step, fewest) * (1.0 - 1e-9)
        if not steps <= left:
            raise ValueError(
                f'The way to waypoint {number} takes more than {MOST_POSES} poses with steps of at most '
                f'{max_step:g} m and {max_rotation_step:g} rad; make the largest step longer, or send fewer waypoints.'
            )
        count = math.ceil(steps)
        left -= count
        parts.append(between(a, b, np.arange(1, count + 1) / count))
    return np.ascontiguousarray(np.concatenate(parts))


def between(a: Matrix, b: Matrix, shares: npt.NDArray[np.float64]) -> Matrix:
    """The poses at the given shares, (N,) from 0 to 1, of the straight way from pose a to pose b, (N, 4, 4)."""
    axis, angle = _turn(a, b)
    poses = np.tile(np.eye(4), (len(shares), 1, 1))
    poses[:, :3, 3] = a[:3, 3] + shares[:, None] * (b[:3, 3] - a[:3, 3])
    poses[:, :3, :3] = axis_rotations(axis, shares * angle) @ a[:3, :3]
    # The ends are the given poses, not a rounding error away.
    poses[shares == 0.0] = a
    poses[shares == 1.0] = b
    return poses


def distance(a: Matrix, b: Matrix) -> tuple[float, float]:
    """The way [m] and the turn [rad] between two poses."""
    return float(np.linalg.norm(b[:3, 3] - a[:3, 3])), _turn(a, b)[1]


def _pose(pose: npt.ArrayLike, name: str) -> Matrix:
    matrix: Matrix = np.array(pose, dtype=np.float64, order='C')
    if matrix.shape != (4, 4) or not is_rigid(matrix):
        raise ValueError(f'{name} must be a rigid 4x4 transform; check its rotation and its last row.')
    return matrix


def _turn(a: Matrix, b: Matrix) -> tuple[npt.NDArray[np.float64], float]:
    """The axis (frame of the poses) and the angle [rad], 0 to pi, of the turn from a to b."""
    relative = np.eye(4)
    relative[:3, :3] = b[:3, :3] @ a[:3, :3].T
    x, y, z, w = Pose.of(relative).orientation
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    sine = math.sqrt(x * x + y * y + z * z)
    if sine <= 0.5 * _SAME_TURN:
        return np.array([0.0, 0.0, 1.0]), 0.0
    return np.array([x, y, z]) / sine, 2.0 * math.atan2(sine, w)
