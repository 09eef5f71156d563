"""The trajectory controller's values as messages, and messages as values."""

from __future__ import annotations

from array import array
from typing import Any

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.duration import Duration
from trajectory_msgs.msg import JointTrajectoryPoint

from lfd_hardware.follower import Progress
from lfd_hardware.spline import JointSample
from lfd_hardware.trajectory import Array, RawPoint


def raw_points(message: Any) -> list[RawPoint]:
    """The points of a trajectory_msgs/JointTrajectory as they came."""
    return [
        RawPoint(seconds(p.time_from_start), p.positions, p.velocities, p.accelerations, p.effort)
        for p in message.points
    ]


def three_points(progress: Progress, positions: Array, velocities: Array | None) -> tuple[Any, Any, Any]:
    """Desired, actual and error."""
    actual = JointTrajectoryPoint(positions=doubles(positions))
    error = JointTrajectoryPoint(positions=doubles(progress.position_error))
    if velocities is not None and progress.velocity_error is not None:
        actual.velocities = doubles(velocities)
        error.velocities = doubles(progress.velocity_error)
    return point(progress.desired), actual, error


def controller_state(
    joints: tuple[str, ...], progress: Progress, positions: Array, velocities: Array | None, scaling: float
) -> Any:
    """What ``~/controller_state`` tells."""
    desired, actual, error = three_points(progress, positions, velocities)
    return JointTrajectoryControllerState(
        joint_names=list(joints),
        reference=desired,
        feedback=actual,
        error=error,
        output=desired,
        speed_scaling_factor=scaling,
    )


def point(sample: JointSample) -> Any:
    """A state of the joints."""
    return JointTrajectoryPoint(
        positions=doubles(sample.positions),
        velocities=doubles(sample.velocities),
        accelerations=doubles(sample.accelerations),
    )


def seconds(duration: Any) -> float:
    """A builtin_interfaces/Duration in s."""
    return float(Duration.from_msg(duration).nanoseconds * 1e-9)


def doubles(values: Array) -> array[float]:
    """The form of numbers that messages take without a copy of every element."""
    return array('d', values.tobytes())
