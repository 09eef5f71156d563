"""What MotoROS2 checks before it runs a goal, without ROS: the simulated controller and tests of goals use it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

START_TOLERANCE = 4e-4  # [rad] about 30 pulses
MOST_POINTS = 200


@dataclass(frozen=True)
class Point:
    """One point of a goal as it comes in the message."""

    nanoseconds: int
    positions: Sequence[float]  # [rad]
    velocities: Sequence[float]  # [rad/s]


def refusal(
    names: Sequence[str], points: Sequence[Point], commanded: Mapping[str, float], fastest: Mapping[str, float]
) -> int:
    """The code with which the controller aborts a goal; 0 if it runs it.

    ``commanded`` [rad] is where all its joints are, ``fastest`` [rad/s] is how fast they may be.
    """
    if len(points) > MOST_POINTS:
        return 202
    if len(points) < 2:
        return 201
    if len(names) != len(commanded):
        return 207
    if any(len(point.positions) != len(names) for point in points):
        return 211
    if any(len(point.velocities) != len(names) for point in points):
        return 212
    if len(set(names)) != len(names):
        return 215
    if any(name not in commanded for name in names):
        return 206
    return _timing(points) or _motion(names, points, commanded, fastest)


def _timing(points: Sequence[Point]) -> int:
    times = [point.nanoseconds // 1_000_000 for point in points]  # it knows whole milliseconds only
    if min(times) < 0 or 0 in times[1:]:
        return 208
    return 210 if any(b <= a for a, b in itertools.pairwise(times)) else 0


def _motion(
    names: Sequence[str], points: Sequence[Point], commanded: Mapping[str, float], fastest: Mapping[str, float]
) -> int:
    here = np.array([commanded[name] for name in names])
    limits = np.array([fastest[name] for name in names])
    if any(points[-1].velocities):
        return 213
    if np.abs(np.array(points[0].positions) - here).max() > START_TOLERANCE:
        return 204
    return 205 if any((np.abs(point.velocities) > limits).any() for point in points) else 0


def position(points: Sequence[Point], time: float) -> np.ndarray:
    """Where the controller is at a time [s] of a goal [rad]: on cubics through the points."""
    times = np.array([point.nanoseconds // 1_000_000 / 1000.0 for point in points])
    if time >= times[-1]:
        return np.array(points[-1].positions)
    index = max(1, int(np.searchsorted(times, time, side='right')))
    first, last = points[index - 1], points[index]
    span = times[index] - times[index - 1]
    u = max(0.0, (time - times[index - 1]) / span)
    return (
        (2 * u**3 - 3 * u**2 + 1) * np.array(first.positions)
        + (u**3 - 2 * u**2 + u) * span * np.array(first.velocities)
        + (3 * u**2 - 2 * u**3) * np.array(last.positions)
        + (u**3 - u**2) * span * np.array(last.velocities)
    )
