"""Motion between waypoints, as joint_trajectory_controller makes it.

Between two points with positions only the motion is linear, with velocities cubic, with accelerations too quintic.
Every segment is kept as a Bezier curve of degree five, because a Bezier curve lies within the hull of its control
points: limits can be proved for all times, not just for samples.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfd_hardware.trajectory import Array, Waypoints

DEGREE = 5


def _elevation(degree: int) -> Array:
    """The matrix that writes a Bezier curve of a lower degree as one of DEGREE."""
    extra = DEGREE - degree
    matrix = np.zeros((DEGREE + 1, degree + 1))
    for i in range(DEGREE + 1):
        for j in range(max(0, i - extra), min(degree, i) + 1):
            matrix[i, j] = comb(degree, j) * comb(extra, i - j) / comb(DEGREE, i)
    return matrix


_FROM_LINE = _elevation(1)
_FROM_CUBIC = _elevation(3)


@dataclass(frozen=True)
class JointSample:
    """Where the joints are, one row per time asked for (no row dimension when a single time was asked for)."""

    positions: Array  # [rad] or [m]
    velocities: Array  # [rad/s] or [m/s]
    accelerations: Array  # [rad/s2] or [m/s2]


@dataclass(frozen=True)
class Spline:
    """Joint motion over time: ``control`` holds (segments, 6, joints) Bezier points of the positions [rad] or [m]."""

    times: Array  # (segments + 1,) [s]
    control: Array

    @classmethod
    def through(cls, waypoints: Waypoints) -> Spline:
        """The motion through all waypoints; a single one gives a spline without segments."""
        return cls(waypoints.times, _segments(waypoints))

    @property
    def duration(self) -> float:
        """Time of the last knot [s]."""
        return float(self.times[-1])

    @cached_property
    def knots(self) -> list[float]:
        """The times [s] as plain numbers, which are quicker to search."""
        return [float(time) for time in self.times]

    def at(self, time: float) -> JointSample:
        """``sample`` of a single time [s], for the update loop: the same values up to rounding, many times quicker."""
        knots = self.knots
        segment = min(max(bisect_right(knots, time) - 1, 0), len(self.control) - 1)
        span = knots[segment + 1] - knots[segment]
        progress = min(max((time - knots[segment]) / span, 0.0), 1.0)
        outside = time < knots[0] or time > knots[-1]
        values = _weights(progress, 0.0 if outside else 1.0 / span) @ self.control[segment]
        return JointSample(values[0], values[1], values[2])

    def sample(self, time: ArrayLike) -> JointSample:
        """Position, velocity and acceleration at one time or an array of times [s].

        Before the first knot and after the last one the joints stand still.
        """
        asked = np.asarray(time, dtype=float)
        times = np.atleast_1d(asked)
        segment = np.clip(np.searchsorted(self.times, times, side='right') - 1, 0, len(self.control) - 1)
        span = self.times[segment + 1] - self.times[segment]
        progress = np.clip((times - self.times[segment]) / span, 0.0, 1.0)
        control = self.control[segment]  # (times, 6, joints)
        outside = (times < self.times[0]) | (times > self.times[-1])
        speed = np.where(outside, 0.0, DEGREE / span)[:, None, None] * np.diff(control, axis=1)
        push = ((DEGREE - 1) / span)[:, None, None] * np.diff(speed, axis=1)
        rows = JointSample(_bezier(control, progress), _bezier(speed, progress), _bezier(push, progress))
        if asked.ndim:
            return rows
        return JointSample(rows.positions[0], rows.velocities[0], rows.accelerations[0])

    def velocity_control(self) -> Array:
        """Bezier points of the velocities: (segments, 5, joints) [rad/s] or [m/s]."""
        span = np.diff(self.times)
        speeds: Array = (DEGREE / span)[:, None, None] * np.diff(self.control, axis=1)
        return speeds


def _segments(waypoints: Waypoints) -> Array:
    span = np.diff(waypoints.times)[:, None]  # (segments, 1)
    first, last = waypoints.positions[:-1], waypoints.positions[1:]
    v0, v1 = waypoints.velocities[:-1] * span, waypoints.velocities[1:] * span
    a0, a1 = waypoints.accelerations[:-1] * span**2, waypoints.accelerations[1:] * span**2
    line = np.einsum('ij,jsk->sik', _FROM_LINE, np.stack((first, last)))
    cubic = np.einsum('ij,jsk->sik', _FROM_CUBIC, np.stack((first, first + v0 / 3, last - v1 / 3, last)))
    quintic = np.stack(
        (first, first + v0 / 5, first + v0 * 2 / 5 + a0 / 20, last - v1 * 2 / 5 + a1 / 20, last - v1 / 5, last), axis=1
    )
    with_velocity = waypoints.has_velocity[:-1] & waypoints.has_velocity[1:]
    with_acceleration = with_velocity & waypoints.has_acceleration[:-1] & waypoints.has_acceleration[1:]
    curves: Array = np.where(
        with_acceleration[:, None, None], quintic, np.where(with_velocity[:, None, None], cubic, line)
    )
    return curves


def _weights(u: float, rate: float) -> Array:
    """Weights (3, 6) of a segment's control points in its position, velocity and acceleration at ``u`` from 0 to 1.

    ``rate`` [1/s] is how fast u runs.
    """
    w = 1.0 - u
    u2, w2 = u * u, w * w
    u3, w3 = u2 * u, w2 * w
    u4, w4 = u2 * u2, w2 * w2
    b0, b1, b2, b3, b4 = w4, 4.0 * u * w3, 6.0 * u2 * w2, 4.0 * u3 * w, u4
    c0, c1, c2, c3 = w3, 3.0 * u * w2, 3.0 * u2 * w, u3
    v, a = DEGREE * rate, DEGREE * (DEGREE - 1) * rate * rate
    return np.array(
        (
            (w4 * w, 5.0 * u * w4, 10.0 * u2 * w3, 10.0 * u3 * w2, 5.0 * u4 * w, u4 * u),
            (-v * b0, v * (b0 - b1), v * (b1 - b2), v * (b2 - b3), v * (b3 - b4), v * b4),
            (
                a * c0,
                a * (c1 - 2.0 * c0),
                a * (c2 - 2.0 * c1 + c0),
                a * (c3 - 2.0 * c2 + c1),
                a * (c2 - 2.0 * c3),
                a * c3,
            ),
        )
    )


def _bezier(control: Array, progress: Array) -> Array:
    """Values of Bezier curves (rows, points, joints) at ``progress`` (rows,) from 0 to 1."""
    degree = control.shape[1] - 1
    power = np.arange(degree + 1)
    binomial = np.array([comb(degree, i) for i in range(degree + 1)])
    weights = binomial * progress[:, None] ** power * (1.0 - progress[:, None]) ** (degree - power)
    values: Array = np.einsum('ti,tij->tj', weights, control)
    return values


def first_excess(control: Array, lower: Array, upper: Array) -> tuple[int, int] | None:
    """The first (segment, joint) whose Bezier curve leaves ``lower`` to ``upper``, proved for all times.

    A curve whose control points are inside is inside. One whose hull sticks out is halved until its hull is inside or a
    point of the curve itself is outside; what is still open after 24 halvings is a rounding error away from inside.
    NaN is outside.
    """
    segments, points, joints = control.shape
    pieces = np.moveaxis(control, 1, 2).reshape(segments * joints, points)
    names = np.arange(segments * joints)
    lower, upper = np.tile(lower, segments), np.tile(upper, segments)
    for _ in range(24):
        open_ = ~_between(pieces, lower[names], upper[names])
        pieces, names = pieces[open_], names[open_]
        if len(names) == 0:
            return None
        out = ~_between(pieces[:, [0, -1]], lower[names], upper[names])
        if out.any():
            worst = int(names[out].min())
            return worst // joints, worst % joints
        pieces, names = _halves(pieces), np.concatenate((names, names))
    return None


def _between(values: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Whether all values of a row are between its bounds."""
    between: NDArray[np.bool_] = (values.min(axis=1) >= lower) & (values.max(axis=1) <= upper)
    return between


def _halves(pieces: Array) -> Array:
    """De Casteljau's construction at one half: all left halves, then all right halves."""
    left, right = [pieces[:, 0]], [pieces[:, -1]]
    while pieces.shape[1] > 1:
        pieces = (pieces[:, :-1] + pieces[:, 1:]) / 2.0
        left.append(pieces[:, 0])
        right.append(pieces[:, -1])
    halves: NDArray[np.float64] = np.concatenate((np.stack(left, axis=1), np.stack(right[::-1], axis=1)))
    return halves
