"""Joint motions and trajectory_msgs/JointTrajectory, as moveit_msgs/RobotTrajectory carries them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from builtin_interfaces.msg import Duration
from moveit_msgs.msg import RobotTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.scene import Code, SceneFault
from lfd_planner.scene.faults import quoted
from lfd_planner.timing import LONGEST, Trajectory

from .checks import Report

MOST_POINTS = 1_000_000
NANOSECONDS = 1_000_000_000


def duration(seconds: float) -> Duration:
    """A time span [s] as a message, to the nearest nanosecond.

    Raises:
        SceneFault: it is longer than a message can tell, or no number.
    """
    if not abs(seconds) < LONGEST:
        raise SceneFault(
            Code.INVALID_MOTION_PLAN,
            f'A time of {seconds:g} s cannot be sent, since messages end at {LONGEST:.0f} s; make the motion faster.',
        )
    total = round(seconds * NANOSECONDS)
    return Duration(sec=total // NANOSECONDS, nanosec=total % NANOSECONDS)


def seconds(message: Duration) -> float:
    """A time span [s]."""
    return float(message.sec + message.nanosec / NANOSECONDS)


def trajectory_to_message(trajectory: Trajectory, joints: Sequence[str], frame: str) -> RobotTrajectory:
    """A motion as a message.

    It has no accelerations: controllers then go along the very cubics that the motion consists of.

    Raises:
        SceneFault: it takes longer than a message can tell.
    """
    message = JointTrajectory(joint_names=list(joints))
    message.header.frame_id = frame
    message.points = [
        JointTrajectoryPoint(positions=q, velocities=v, time_from_start=duration(time))
        for time, q, v in zip(trajectory.times.tolist(), trajectory.q.tolist(), trajectory.v.tolist(), strict=True)
    ]
    return RobotTrajectory(joint_trajectory=message)


def trajectory_from_message(message: JointTrajectory, known: Collection[str]) -> Trajectory:
    """The motion that a message asks for; velocities that it does not tell are taken from its positions.

    Raises:
        SceneFault: the message is no motion of joints among the `known` ones; there is a sentence for each fault.
    """
    report = Report('Trajectory')
    names, points = list(message.joint_names), list(message.points)
    if unknown := [name for name in names if name not in known]:
        report.problem(f'the robot has no joint {quoted(unknown[0])}; its joints are {", ".join(sorted(known))}.')
    if len(set(names)) != len(names) or not names:
        report.problem('there are no joint names, or one comes twice; name each joint once.')
    if not 0 < len(points) <= MOST_POINTS:
        report.problem(f'there are {len(points)} points; send one at least, and {MOST_POINTS} at most.')
    for number, point in enumerate(points):
        _check_point(number, point, len(names), report)
    report.finish(Code.INVALID_MOTION_PLAN)
    times = np.array([seconds(point.time_from_start) for point in points])
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if len(late) or times[0] < 0.0:
        place = f'point {late[0] + 1} is not later than the one before it' if len(late) else 'the first is before 0'
        raise SceneFault(Code.INVALID_MOTION_PLAN, f'Trajectory: times must increase, and {place}.')
    q = np.array([list(point.positions) for point in points])
    v = _velocities(times, q, [list(point.velocities) for point in points])
    if times[0] > 0.0:  # how it gets to its first point is left to the controller
        times, q, v = np.insert(times, 0, 0.0), np.insert(q, 0, q[0], axis=0), np.insert(v, 0, 0.0, axis=0)
    return Trajectory(times, q, v)


def _check_point(number: int, point: JointTrajectoryPoint, dof: int, report: Report) -> None:
    if len(point.positions) != dof or len(point.velocities) not in (0, dof):
        report.problem(f'point {number} has not one position (and velocity, if any) for each of {dof} joints.')
    elif not all(map(math.isfinite, (*point.positions, *point.velocities))):
        report.problem(f'point {number} has a number that is not finite; send radians or metres.')


def _velocities(times: np.ndarray, q: np.ndarray, told: list[list[float]]) -> np.ndarray:
    if all(told):
        return np.array(told)
    if len(times) == 1:
        return np.zeros_like(q)
    slopes = np.gradient(q, times, axis=0)
    slopes[0] = slopes[-1] = 0.0
    rows: np.ndarray = slopes
    return rows
