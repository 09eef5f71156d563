"""From a path and its speeds to the timed points that a controller interpolates by cubics.

On straight lines the cubics are the motion itself. On bends they differ from it by the square of the change of speed
in an interval; where that breaks a limit, the interval's limits are tightened and the speeds found anew. Times are
whole nanoseconds, as messages carry them, with positions and velocities of exactly these times.
"""

import math

import numpy as np

from lfd_description.compiled import compiled
from lfd_planner.timing.blended_path import BlendedPath, Flags, blended
from lfd_planner.timing.cubics import (
    Matrix,
    Numbers,
    first_acceleration,
    greatest_demand,
    greatest_speed,
    last_acceleration,
)
from lfd_planner.timing.speed_profile import push_limit, speed_limit, squared_speeds

# Points are not closer than this [s]: no controller resolves it, and differences of positions lose their digits.
_SHORTEST = 2e-4
# No change of speed takes less [s]: its end is then a point, whatever is rounded.
_RAMP = 1.01 * _SHORTEST
# Speeds this share apart are one.
_SAME_SPEED = 1e-7
# How often limits of single intervals are tightened before all is slowed down.
_ROUNDS = 4
# A bend that breaks velocity limits by more than this factor does so between its ends, which keep them.
_MUCH = 1.05
# Limits are kept to this share.
_EXACT = 1e-9
_NANOSECOND = 1e-9


@compiled
def _tighten(
    path: BlendedPath,
    x: Numbers,
    velocity_limits: Numbers,
    acceleration_limits: Numbers,
    velocity_margin: Numbers,
    acceleration_margin: Numbers,
    wide: Flags,
) -> bool:
    """Lower the margins of bends whose cubics break a limit, or make them wide; whether any did."""
    count, broken = path.length.shape[0], False
    for n in range(count):
        if not path.bends[n]:
            continue
        s0, s1 = math.sqrt(x[n]), math.sqrt(x[n + 1])
        span = 2.0 * path.length[n] / max(s0 + s1, 1e-300)
        speed, push = 0.0, 0.0
        for k in range(velocity_limits.shape[0]):
            v0, v1 = path.first[n, k] * s0, path.last[n, k] * s1
            way = 0.5 * path.length[n] * (path.first[n, k] + path.last[n, k])
            a0, a1 = first_acceleration(span, way, v0, v1), last_acceleration(span, way, v0, v1)
            speed = max(speed, greatest_speed(span, v0, v1, a0, a1) / velocity_limits[k])
            push = max(push, max(abs(a0), abs(a1)) / acceleration_limits[k])
        if speed > _MUCH and not wide[n]:
            wide[n] = broken = True
            continue
        if speed > 1.0 + _EXACT:
            velocity_margin[n] /= speed
            broken = True
        if push > 1.0 + _EXACT:
            acceleration_margin[n] /= push
            broken = True
    return broken


@compiled
def _ramp(slow: float, top: float, push: float) -> float:
    """How long [s] the speed along a line takes from `slow` to `top`: no shorter than points may be apart."""
    if top - slow <= _SAME_SPEED * top:
        return 0.0
    return max((top - slow) / push, _RAMP)


@compiled
def _straight_pieces(length: float, x0: float, x1: float, highest: float, push: float) -> tuple[float, float, float]:
    """The fastest way along a straight line from x0 to x1: the peak of x, and where it starts and ends, as lengths.

    Ramps too short to have points of their own are made longer with less push; where there is no room for that, the
    peak is lower, but never so low that it would take more than a few such ramps to cover the length.
    """
    s0, s1 = math.sqrt(x0), math.sqrt(x1)
    top = max(math.sqrt(min(highest, 0.5 * (x0 + x1) + push * length)), s0, s1)
    up, down = _ramp(s0, top, push), _ramp(s1, top, push)
    if 0.5 * (up * (s0 + top) + down * (top + s1)) > length * (1.0 + _EXACT):
        top = max((2.0 * length - up * s0 - down * s1) / (up + down), s0, s1)
        up, down = _ramp(s0, top, push), _ramp(s1, top, push)
    rise, fall = 0.5 * up * (s0 + top), 0.5 * down * (top + s1)
    if length - rise - fall < top * _SHORTEST:
        # Slightly less push meets the peak without any cruise.
        share = (rise + fall) / length if rise + fall > 0.0 else 1.0
        rise, fall = rise / share, fall / share
        if rise + fall <= 0.0:
            rise = length
    return top * top, rise, length - fall


@compiled
def _points(
    path: BlendedPath, x: Numbers, velocity_limits: Numbers, acceleration_limits: Numbers
) -> tuple[Numbers, Matrix, Matrix]:
    """Times, positions and velocities of the motion."""
    count, dof = path.start.shape
    times, q, v = np.zeros(3 * count + 1), np.empty((3 * count + 1, dof)), np.zeros((3 * count + 1, dof))
    q[0] = path.start[0]
    m, t, kept = 0, 0.0, 0.0
    for n in range(count):
        peak, rise, fall = 0.0, path.length[n], path.length[n]
        if not path.bends[n]:
            highest = speed_limit(path.first[n], velocity_limits, 1.0)
            push = push_limit(path.first[n], acceleration_limits)
            peak, rise, fall = _straight_pieces(path.length[n], x[n], x[n + 1], highest, push)
        s, speed = 0.0, math.sqrt(x[n])
        for piece in range(3):
            goal = rise if piece == 0 else fall if piece == 1 else path.length[n]
            if goal <= s:
                continue
            then = math.sqrt(x[n + 1]) if goal >= path.length[n] else math.sqrt(peak)
            t += 2.0 * (goal - s) / max(speed + then, 1e-300)
            s, speed = goal, then
            ends = s >= path.length[n]
            final = ends and n == count - 1
            if t - kept < _SHORTEST and not final:
                continue
            # The last point must be kept: if it is too close to the one before, that one goes.
            if not (final and t - kept < _SHORTEST and m > 0):
                m += 1
            kept = t
            times[m] = t
            for k in range(dof):
                v[m, k] = path.last[n, k] * speed if ends else path.first[n, k] * speed
                if not ends:
                    q[m, k] = path.start[n, k] + s * path.first[n, k]
                elif final:
                    q[m, k] = path.end[k]
                else:
                    q[m, k] = path.start[n + 1, k]
    return times[: m + 1], q[: m + 1], v[: m + 1]


@compiled
def _in_nanoseconds(times: Numbers, q: Matrix, v: Matrix, slower: float) -> tuple[Numbers, Matrix, Matrix]:
    """The same motion, `slower` times as long, with its points moved along it to the nearest whole nanoseconds."""
    number, dof = q.shape
    # Of numpy, since these stay floats: a motion of centuries has more nanoseconds than an integer holds.
    total = max(np.ceil(times[-1] * slower / _NANOSECOND), np.ceil(_SHORTEST / _NANOSECOND))
    slower = total * _NANOSECOND / times[-1]
    moved, to, speed = np.empty(number), q.copy(), v / slower
    for n in range(number):
        exact = times[n] * slower
        moved[n] = np.rint(exact / _NANOSECOND) / 1e9
        shift = moved[n] - exact
        if 0 < n < number - 1:
            span, last = (times[n + 1] - times[n]) * slower, n + 1
            for k in range(dof):
                v0, v1 = v[n, k] / slower, v[last, k] / slower
                push = first_acceleration(span, q[last, k] - q[n, k], v0, v1)
                to[n, k] += shift * v0
                speed[n, k] = v0 + shift * push
    moved[0] = 0.0
    return moved, to, speed


@compiled
def timed_points(
    waypoints: Matrix, velocity_limits: Numbers, acceleration_limits: Numbers, blend: Numbers
) -> tuple[Numbers, Matrix, Matrix]:
    """Times (M,), positions and velocities (M, dof) of the fastest motion along distinct waypoints, (N, dof), N > 1."""
    path = blended(waypoints, blend)
    count = path.length.shape[0]
    velocity_margin, acceleration_margin, wide = np.ones(count), np.ones(count), np.zeros(count, dtype=np.bool_)
    x = squared_speeds(path, velocity_limits, acceleration_limits, velocity_margin, acceleration_margin, wide)
    for _ in range(_ROUNDS):
        if not _tighten(path, x, velocity_limits, acceleration_limits, velocity_margin, acceleration_margin, wide):
            break
        x = squared_speeds(path, velocity_limits, acceleration_limits, velocity_margin, acceleration_margin, wide)
    times, q, v = _points(path, x, velocity_limits, acceleration_limits)
    slower = 1.0
    moved, to, at = _in_nanoseconds(times, q, v, slower)
    for attempt in range(2 * _ROUNDS):
        speed, push = greatest_demand(moved, to, at, velocity_limits, acceleration_limits)
        excess = max(speed, math.sqrt(push))
        if excess <= 1.0 + _EXACT:
            break
        # Points on whole nanoseconds follow small changes in jumps only: what was too little is doubled.
        slower *= 1.0 + (excess * (1.0 + _EXACT) - 1.0) * 2.0**attempt
        moved, to, at = _in_nanoseconds(times, q, v, slower)
    return moved, to, at
