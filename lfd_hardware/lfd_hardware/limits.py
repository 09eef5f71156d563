"""Refuse motions that leave the limits of the joints, and say how hard a joint may brake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfd_hardware.description import JointLimit
from lfd_hardware.spline import Spline, first_excess
from lfd_hardware.trajectory import ErrorCode, TrajectoryRefused

POSITION_ROUNDING = 1e-6  # [rad or m] what two programs may disagree on without meaning it
VELOCITY_ROUNDING = 1e-4  # the same for velocities, as a part of the limit
STOP_WITHIN = 0.4  # [s] in which a joint of unknown acceleration comes to rest from its full speed
STOP_ACCELERATION = 5.0  # [rad/s2 or m/s2] of a joint whose speed has no limit either


def braking(limit: JointLimit) -> float:
    """The largest acceleration of a stop [rad/s2 or m/s2]: the joint's own, else full speed in STOP_WITHIN."""
    if np.isfinite(limit.acceleration):
        return limit.acceleration
    return limit.velocity / STOP_WITHIN if np.isfinite(limit.velocity) else STOP_ACCELERATION


def check_limits(spline: Spline, limits: Sequence[JointLimit], starts_at: float = 0.0) -> None:
    """Raise TrajectoryRefused naming joint, value, limit and time when any instant of the motion leaves a limit.

    ``starts_at`` [s] is the time of the spline's zero in the trajectory, for the message.
    """
    lower = np.array([limit.lower for limit in limits]) - POSITION_ROUNDING
    upper = np.array([limit.upper for limit in limits]) + POSITION_ROUNDING
    excess = first_excess(spline.control, lower, upper)
    if excess is not None:
        segment, joint = excess
        limit = limits[joint]
        time, value = _worst(spline, segment, joint, 'positions', (limit.lower + limit.upper) / 2.0)
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL,
            f"Joint '{limit.joint}' would be at {value:.4f} at {time + starts_at:.3f} s, outside of its limits "
            f'{limit.lower:.4f} to {limit.upper:.4f}: plan within the limits of the URDF.',
        )
    fastest = np.array([limit.velocity for limit in limits]) * (1.0 + VELOCITY_ROUNDING)
    excess = first_excess(spline.velocity_control(), -fastest, fastest)
    if excess is not None:
        segment, joint = excess
        limit = limits[joint]
        time, value = _worst(spline, segment, joint, 'velocities', 0.0)
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL,
            f"Joint '{limit.joint}' would move at {value:.4f} rad/s (or m/s) at {time + starts_at:.3f} s, "
            f'above its limit of {limit.velocity:.4f}: '
            f'make the trajectory {abs(value) / limit.velocity:.3g} times slower.',
        )


def _worst(spline: Spline, segment: int, joint: int, what: str, middle: float) -> tuple[float, float]:
    """Time and value where a segment is farthest from ``middle``, for the message."""
    times = np.linspace(spline.times[segment], spline.times[segment + 1], 201)
    values = getattr(spline.sample(times), what)[:, joint]
    worst = int(np.argmax(np.abs(values - (middle if np.isfinite(middle) else 0.0))))
    return float(times[worst]), float(values[worst])
