"""Motion between timed points as a joint trajectory controller makes it: one cubic per interval and joint.

A cubic follows from the positions and velocities at both ends of its interval. Its acceleration is a straight line
over time, so what it demands at most is known exactly: accelerations at the ends, speeds at the ends or where the
acceleration is zero.

Arrays: `times` (M,) [s], `q` and `v` (M, dof) [rad or m, and per second].
"""

import math

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled

Numbers = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


@compiled
def first_acceleration(span: float, way: float, v0: float, v1: float) -> float:
    """Acceleration at the start of a cubic that takes `span` [s] for `way` [rad or m] from speed v0 to v1."""
    return (6.0 * way / span - 4.0 * v0 - 2.0 * v1) / span


@compiled
def last_acceleration(span: float, way: float, v0: float, v1: float) -> float:
    """Acceleration at the end of that cubic."""
    return (2.0 * v0 + 4.0 * v1 - 6.0 * way / span) / span


@compiled
def greatest_speed(span: float, v0: float, v1: float, a0: float, a1: float) -> float:
    """The greatest speed within a cubic, from its speeds and accelerations at both ends."""
    speed = max(abs(v0), abs(v1))
    if a0 * a1 < 0.0:
        speed = max(speed, abs(v0 + 0.5 * a0 * a0 / (a0 - a1) * span))
    return speed


@compiled
def greatest_demand(
    times: Numbers, q: Matrix, v: Matrix, velocity_limits: Numbers, acceleration_limits: Numbers
) -> tuple[float, float]:
    """The greatest shares of the velocity and of the acceleration limits that the motion uses at any time."""
    velocity, acceleration = 0.0, 0.0
    for n in range(times.shape[0] - 1):
        span = times[n + 1] - times[n]
        for k in range(q.shape[1]):
            v0, v1, way = v[n, k], v[n + 1, k], q[n + 1, k] - q[n, k]
            a0, a1 = first_acceleration(span, way, v0, v1), last_acceleration(span, way, v0, v1)
            velocity = max(velocity, greatest_speed(span, v0, v1, a0, a1) / velocity_limits[k])
            acceleration = max(acceleration, max(abs(a0), abs(a1)) / acceleration_limits[k])
    return velocity, acceleration


@compiled
def sample_motion(
    times: Numbers, q: Matrix, v: Matrix, asked: Numbers, position: Matrix, velocity: Matrix, acceleration: Matrix
) -> None:
    """Fill the rows of the last three, (N, dof), for the times asked, (N,); outside of `times` the joints stand."""
    last = times.shape[0] - 1
    for m in range(asked.shape[0]):
        n = min(max(np.searchsorted(times, asked[m], side='right') - 1, 0), max(last - 1, 0))
        span = times[n + 1] - times[n] if last > 0 else 1.0
        moves = last > 0 and times[0] <= asked[m] <= times[last]
        t = min(max(asked[m] - times[n], 0.0), span)
        for k in range(q.shape[1]):
            if last == 0:
                position[m, k], velocity[m, k], acceleration[m, k] = q[0, k], 0.0, 0.0
                continue
            v0, v1, way = v[n, k], v[n + 1, k], q[n + 1, k] - q[n, k]
            a0, a1 = first_acceleration(span, way, v0, v1), last_acceleration(span, way, v0, v1)
            jerk = (a1 - a0) / span
            # The end of an interval is exactly the given point, not a rounding error away.
            if t == span:
                position[m, k] = q[n + 1, k]
            else:
                position[m, k] = q[n, k] + t * (v0 + t * (0.5 * a0 + t * jerk / 6.0))
            velocity[m, k] = v0 + t * (a0 + 0.5 * t * jerk) if moves else 0.0
            acceleration[m, k] = a0 + t * jerk if moves else 0.0


@compiled
def _demands(times: Numbers, q: Matrix, v: Matrix) -> Numbers:
    """For each interval the greatest acceleration among all joints, (M - 1,) [rad/s2 or m/s2]."""
    greatest = np.zeros(times.shape[0] - 1)
    for n in range(times.shape[0] - 1):
        span = times[n + 1] - times[n]
        for k in range(q.shape[1]):
            way = q[n + 1, k] - q[n, k]
            a0 = first_acceleration(span, way, v[n, k], v[n + 1, k])
            a1 = last_acceleration(span, way, v[n, k], v[n + 1, k])
            greatest[n] = max(greatest[n], abs(a0), abs(a1))
    return greatest


@compiled
def _speed_at(times: Numbers, q: Matrix, v: Matrix, n: int, t: float) -> float:
    """The greatest speed among all joints, t [s] after the start of interval n."""
    span, speed = times[n + 1] - times[n], 0.0
    for k in range(q.shape[1]):
        way = q[n + 1, k] - q[n, k]
        a0 = first_acceleration(span, way, v[n, k], v[n + 1, k])
        a1 = last_acceleration(span, way, v[n, k], v[n + 1, k])
        speed = max(speed, abs(v[n, k] + t * (a0 + 0.5 * t * (a1 - a0) / span)))
    return speed


@compiled
def times_of_steps(times: Numbers, q: Matrix, v: Matrix, step: float) -> Numbers:
    """Times from the first to the last, between which no joint moves further than `step` [rad or m]."""
    greatest = _demands(times, q, v)
    found = [times[0]]
    left = step
    for n in range(times.shape[0] - 1):
        span, t = times[n + 1] - times[n], 0.0
        while True:
            speed, push = _speed_at(times, q, v, n, t), greatest[n]
            # However the joints accelerate, none moves further than `left` in this time.
            bold = 2.0 * left / (speed + math.sqrt(speed * speed + 2.0 * push * left) + 1e-300)
            if t + bold >= span:
                rest = span - t
                left -= rest * (speed + 0.5 * push * rest)
                break
            t += bold
            found.append(times[n] + t)
            left = step
        left = max(left, 1e-3 * step)
    if times[-1] > found[-1]:
        found.append(times[-1])
    return np.array(found)
