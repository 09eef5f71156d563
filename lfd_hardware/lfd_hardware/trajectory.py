"""A trajectory as somebody sent it, checked and put into the controller's order of joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LARGEST = 1e6  # [rad, m, rad/s ...] what is beyond this is no joint's, and would overflow further on
STOPPED = 1e-6  # [rad/s or m/s] a final velocity up to this counts as zero


class ErrorCode(IntEnum):
    """The result codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class TrajectoryRefused(ValueError):
    """A trajectory that will not be executed; the message is one sentence, the code tells scripts the reason."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class RawPoint:
    """One point as received; empty means not given."""

    time: float  # [s] from the trajectory's start
    positions: Sequence[float]  # [rad] or [m]
    velocities: Sequence[float] = ()  # [rad/s] or [m/s]
    accelerations: Sequence[float] = ()  # [rad/s2] or [m/s2]
    effort: Sequence[float] = ()  # not supported


@dataclass(frozen=True)
class Waypoints:
    """Checked points, one row each, with the joints in the controller's order.

    Rows of ``velocities`` and ``accelerations`` count only where ``has_velocity`` and ``has_acceleration`` are true.
    """

    times: Array  # (points,) [s], increasing
    positions: Array  # (points, joints) [rad] or [m]
    velocities: Array  # (points, joints) [rad/s] or [m/s]
    accelerations: Array  # (points, joints) [rad/s2] or [m/s2]
    has_velocity: NDArray[np.bool_]  # (points,)
    has_acceleration: NDArray[np.bool_]  # (points,)
    held: NDArray[np.bool_]  # (joints,) not named by the trajectory: whatever their columns say, they stay put

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def row(self, index: int) -> Waypoints:
        """One point as waypoints of their own."""
        keep = slice(index, index + 1)
        return Waypoints(
            self.times[keep],
            self.positions[keep],
            self.velocities[keep],
            self.accelerations[keep],
            self.has_velocity[keep],
            self.has_acceleration[keep],
            self.held,
        )


def read_waypoints(
    joints: Sequence[str],
    names: Sequence[str],
    points: Sequence[RawPoint],
    allow_final_velocity: bool = False,
    allow_partial: bool = False,
) -> Waypoints:
    """Check a received trajectory against the controller's ``joints`` and reorder its columns to match them.

    With ``allow_partial`` it may leave joints out; their columns are zero and they are ``held``.
    """
    order = _column_order(joints, names, allow_partial)
    if not points:
        raise TrajectoryRefused(ErrorCode.INVALID_GOAL, 'The trajectory has no points: send at least one.')
    previous = -1.0
    for index, point in enumerate(points):
        _check_time(index, point.time, previous)
        _check_values(index, point, names)
        previous = point.time
    waypoints = Waypoints(
        times=np.array([point.time for point in points]),
        positions=_rows([point.positions for point in points], order),
        velocities=_rows([point.velocities for point in points], order),
        accelerations=_rows([point.accelerations for point in points], order),
        has_velocity=np.array([len(point.velocities) > 0 for point in points]),
        has_acceleration=np.array([len(point.accelerations) > 0 for point in points]),
        held=np.array([joint not in names for joint in joints]),
    )
    if not allow_final_velocity:
        _check_final_velocity(joints, waypoints)
    return waypoints


def _column_order(joints: Sequence[str], names: Sequence[str], allow_partial: bool) -> list[int]:
    """The column of every joint; that of a joint which may be left out, and is, comes after the last one."""
    known = set(names) <= set(joints) and len(set(names)) == len(names)
    if known and (len(names) == len(joints) or (allow_partial and names)):
        return [list(names).index(joint) if joint in names else len(names) for joint in joints]
    missing = [joint for joint in joints if joint not in names]
    unknown = [name for name in names if name not in joints]
    parts = [f'{", ".join(missing)} missing'] if missing else []
    parts += [f'{", ".join(unknown)} unknown'] if unknown else []
    parts = parts or ['some named twice']
    raise TrajectoryRefused(
        ErrorCode.INVALID_JOINTS,
        f'The joints of the trajectory are not those of the controller ({"; ".join(parts)}): '
        f'name each of {", ".join(joints)} once.',
    )


def _check_time(index: int, time: float, previous: float) -> None:
    if not np.isfinite(time) or time < 0.0:
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL, f'time_from_start of point {index} is {time:g} s: it must be zero or more.'
        )
    if time <= previous:
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL,
            f'time_from_start of point {index} is {time:g} s, not after the {previous:g} s of point {index - 1}: '
            'times must increase.',
        )


def _check_values(index: int, point: RawPoint, names: Sequence[str]) -> None:
    for field, values, needed in (
        ('positions', point.positions, True),
        ('velocities', point.velocities, False),
        ('accelerations', point.accelerations, False),
    ):
        if len(values) != len(names) and (needed or len(values) > 0):
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                f'Point {index} has {len(values)} {field} for {len(names)} joints: give one for each joint.',
            )
        for name, value in zip(names, values, strict=False):
            if not abs(value) <= LARGEST:  # so that NaN is refused
                raise TrajectoryRefused(
                    ErrorCode.INVALID_GOAL,
                    f"Joint '{name}' has the value {value} in the {field} of point {index}: use finite numbers up to "
                    f'{LARGEST:g}.',
                )
    if len(point.accelerations) > 0 and len(point.velocities) == 0:
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL, f'Point {index} has accelerations but no velocities: give both or none.'
        )
    if len(point.effort) > 0:
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL, f'Point {index} has efforts, which are not supported: leave them empty.'
        )


def _rows(rows: Sequence[Sequence[float]], order: list[int]) -> Array:
    """Rows in the controller's order; zeros where a row is empty, or has no such column."""
    width = max((len(row) for row in rows), default=0)
    table = np.zeros((len(rows), max(width, max(order)) + 1))
    for index, row in enumerate(rows):
        table[index, : len(row)] = row
    return table[:, order]


def _check_final_velocity(joints: Sequence[str], waypoints: Waypoints) -> None:
    for joint, velocity in zip(joints, waypoints.velocities[-1], strict=True):
        if abs(velocity) > STOPPED:
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                f"Joint '{joint}' still has {velocity:g} rad/s (or m/s) at the last point: end at rest, or set the "
                'parameter allow_nonzero_velocity_at_trajectory_end.',
            )
