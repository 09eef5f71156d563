"""The demo's motion: from pose to pose, at rest in each, within a share of the joints' velocity limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PERIOD = 0.05  # [s] between points
REST = 0.3  # [s] in each pose
_PEAK_OF_QUINTIC = 1.875  # highest speed of the minimum-jerk profile, as a multiple of its mean

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """Joint positions [rad] and velocities [rad/s] over time [s] from the start; one row per point."""

    times: Array
    positions: Array
    velocities: Array

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.times[-1])

    def at(self, times: Array) -> Array:
        """Positions at some times: cubic between points, at rest before and after."""
        clipped = np.clip(times, 0.0, self.duration)
        index = np.clip(np.searchsorted(self.times, clipped, side='right') - 1, 0, len(self.times) - 2)
        span = np.diff(self.times)[index][:, None]
        u = (clipped - self.times[index])[:, None] / span
        start, end = self.positions[index], self.positions[index + 1]
        start_slope, end_slope = self.velocities[index] * span, self.velocities[index + 1] * span
        result: Array = (
            start * (1 + 2 * u) * (1 - u) ** 2
            + start_slope * u * (1 - u) ** 2
            + end * (3 - 2 * u) * u**2
            + end_slope * (u - 1) * u**2
        )
        return result


def motion_through(poses: Sequence[Sequence[float]], velocity_limits: Sequence[float], speed: float) -> Motion:
    """A motion through poses [rad] that nowhere exceeds `speed` (0 to 1) times the velocity limits [rad/s]."""
    limits = speed * np.asarray(velocity_limits)
    times, positions, velocities = [0.0], [np.asarray(poses[0], dtype=float)], [np.zeros(len(poses[0]))]
    for start, end in zip(np.asarray(poses[:-1]), np.asarray(poses[1:]), strict=True):
        step = end - start
        duration = max(float(np.max(np.abs(step) / limits)) * _PEAK_OF_QUINTIC, PERIOD)
        count = max(int(np.ceil(duration / PERIOD)), 2)
        for u in np.linspace(0.0, 1.0, count + 1)[1:]:
            times.append(times[-1] + duration / count)
            positions.append(start + u**3 * (10 - 15 * u + 6 * u**2) * step)
            velocities.append(30 * u**2 * (1 - u) ** 2 / duration * step)
        times.append(times[-1] + REST)
        positions.append(end)
        velocities.append(np.zeros(len(end)))
    return Motion(np.array(times), np.array(positions), np.array(velocities))
