"""A timed joint motion, the value that planning hands to execution.

It holds points with times, positions and velocities. Between two points every joint moves on the cubic that these
determine, which is how joint_trajectory_controller and its kin execute such points: what this value says is what the
arm does. Accelerations follow from the cubics and may jump at the points. Do not send them along: a controller that is
given accelerations moves on quintics instead, which smear the jumps and break the limits.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_planner.timing.cubics import Matrix, Numbers, sample_motion, times_of_steps

AT_REST = 1e-6
"""A speed up to this [rad/s or m/s] is none, and positions up to this [rad or m] apart are the same."""


class Sample(NamedTuple):
    """Where the joints are: one row for each time asked for, or plain (dof,) arrays if one time was asked for."""

    q: Matrix
    """Positions [rad or m]."""
    v: Matrix
    """Velocities [rad/s or m/s]."""
    a: Matrix
    """Accelerations [rad/s2 or m/s2]; where they jump, those that follow."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A joint motion over time; the columns of q and v are the joints, in the order of the planning group.

    The arrays are copied, checked and closed for writing. A single point is a motion of no duration.

    Raises:
        ValueError: the shapes do not fit, a number is not finite, or the times do not start at 0 and increase.
    """

    times: Numbers
    """(M,) [s] from the start."""
    q: Matrix
    """Positions, (M, dof) [rad or m]."""
    v: Matrix
    """Velocities, (M, dof) [rad/s or m/s]."""

    def __post_init__(self) -> None:
        for name in ('times', 'q', 'v'):
            copy = np.array(getattr(self, name), dtype=np.float64, order='C')
            copy.flags.writeable = False
            object.__setattr__(self, name, copy)
        points = len(self.times) if self.times.ndim == 1 else 0
        if points == 0 or self.q.ndim != 2 or len(self.q) != points or self.v.shape != self.q.shape:
            raise ValueError(
                f'A trajectory needs times (M,), positions (M, dof) and velocities (M, dof) with M > 0, '
                f'not {self.times.shape}, {self.q.shape} and {self.v.shape}.'
            )
        for name, unit in (('times', 's'), ('q', 'rad or m'), ('v', 'rad/s or m/s')):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f'The {name} [{unit}] of a trajectory must be finite; check where they were computed.')
        late = np.flatnonzero(np.diff(self.times) <= 0.0)
        if self.times[0] != 0.0 or len(late):
            place = f'point {late[0] + 1} is not later than the one before' if len(late) else 'the first is not 0'
            raise ValueError(f'The times of a trajectory must start at 0 and increase: {place}.')

    def same_as(self, other: Trajectory) -> bool:
        """Whether it is the same motion, number by number."""
        mine, others = (self.times, self.q, self.v), (other.times, other.q, other.v)
        return all(np.array_equal(one, two) for one, two in zip(mine, others, strict=True))

    @classmethod
    def at(cls, q: npt.ArrayLike) -> Trajectory:
        """No motion: standing at q, (dof,) [rad or m], for no time."""
        row = np.asarray(q, dtype=np.float64)[np.newaxis]
        return cls(np.zeros(1), row, np.zeros_like(row))

    @classmethod
    def joined(cls, parts: Sequence[Trajectory]) -> Trajectory:
        """One motion after the other; each starts at rest where the one before came to rest.

        Raises:
            ValueError: there are no parts, or two of them do not meet at rest.
        """
        if not parts:
            raise ValueError('There must be at least one trajectory to join.')
        for number, (before, after) in enumerate(itertools.pairwise(parts)):
            _check_meeting(number, before, after)
        moving = [part for part in parts if len(part.times) > 1] or [parts[0]]
        starts = np.cumsum([0.0] + [part.duration for part in moving])
        first = moving[0]
        return cls(
            np.concatenate([first.times] + [p.times[1:] + t for p, t in zip(moving[1:], starts[1:-1], strict=True)]),
            np.concatenate([first.q] + [part.q[1:] for part in moving[1:]]),
            np.concatenate([first.v] + [part.v[1:] for part in moving[1:]]),
        )

    def part(self, first: int, last: int) -> Trajectory:
        """The motion from one of its points to another, both included, from 0 s on."""
        rows = slice(first, last + 1)
        return Trajectory(self.times[rows] - self.times[first], self.q[rows], self.v[rows])

    @property
    def duration(self) -> float:
        """From the first point to the last [s]."""
        return float(self.times[-1])

    @property
    def dof(self) -> int:
        """How many joints move."""
        return int(self.q.shape[1])

    @property
    def a(self) -> Matrix:
        """Accelerations just after each point (before the last one), (M, dof) [rad/s2 or m/s2]."""
        return self.sample(self.times).a

    def sample(self, time: npt.ArrayLike) -> Sample:
        """Positions, velocities and accelerations at one time or at times (N,) [s] from the start.

        Before the start and after the end the joints stand still.

        Raises:
            ValueError: a time is not a number.
        """
        asked = np.asarray(time, dtype=np.float64)
        if np.isnan(asked).any() or asked.ndim > 1:
            raise ValueError('The times to sample a trajectory at must be one number or a row of numbers [s].')
        row = np.array(np.atleast_1d(asked), order='C')
        q, v, a = (np.empty((len(row), self.dof)) for _ in range(3))
        sample_motion(self.times, self.q, self.v, row, q, v, a)
        return Sample(q, v, a) if asked.ndim else Sample(q[0], v[0], a[0])

    def resampled(self, period: float) -> Trajectory:
        """Points every `period` [s], and at the end.

        This is for controllers that want evenly spaced points. They miss the times at which accelerations jump, so
        what is executed keeps the speed limits closely, the acceleration limits only on average.

        Raises:
            ValueError: the period is not positive.
        """
        if not 0.0 < period < np.inf:
            raise ValueError(f'The period of a trajectory must be a positive number of seconds, not {period}.')
        count = int(np.ceil(self.duration / period * (1.0 - 1e-12)))
        times = np.append(np.arange(count) * period, self.duration) if count else np.zeros(1)
        found = self.sample(times)
        return Trajectory(times, found.q, found.v)


def path_times(trajectory: Trajectory, step: float) -> Numbers:
    """Times (K,) [s] from the first to the last point, between which no joint moves by more than `step` [rad or m].

    Raises:
        ValueError: the step is not positive.
    """
    if not 0.0 < step < np.inf:
        raise ValueError(f'The step between samples of a trajectory must be a positive number, not {step}.')
    if len(trajectory.times) == 1:
        return np.zeros(1)
    return times_of_steps(trajectory.times, trajectory.q, trajectory.v, float(step))


def path_samples(trajectory: Trajectory, step: float) -> Matrix:
    """Positions (K, dof) along the motion as executed, no joint further than `step` [rad or m] from one to the next.

    Raises:
        ValueError: the step is not positive.
    """
    return trajectory.sample(path_times(trajectory, step)).q


def _check_meeting(number: int, before: Trajectory, after: Trajectory) -> None:
    if before.dof != after.dof:
        raise ValueError(f'Trajectories {number} and {number + 1} move {before.dof} and {after.dof} joints.')
    apart = float(np.abs(before.q[-1] - after.q[0]).max(initial=0.0))
    if apart > AT_REST:
        raise ValueError(
            f'Trajectory {number + 1} starts {apart:.3g} rad or m away from where trajectory {number} ends; '
            'plan it from there.'
        )
    speed = max(float(np.abs(before.v[-1]).max(initial=0.0)), float(np.abs(after.v[0]).max(initial=0.0)))
    if speed > AT_REST:
        raise ValueError(
            f'Trajectories {number} and {number + 1} meet at {speed:.3g} rad/s or m/s; they must meet at rest.'
        )
