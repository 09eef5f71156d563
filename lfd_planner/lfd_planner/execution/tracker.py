"""Where on its way an arm is."""

from __future__ import annotations

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.timing import Trajectory, path_times

STEP = 0.01  # [rad or m] between two samples of the way
AHEAD = 1.0  # [rad or m] along the way, within which the arm is looked for


class Tracker:
    """Follows an arm along a trajectory; it only ever gets further."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._times = path_times(trajectory, STEP)
        self._q = trajectory.sample(self._times).q
        self._window = max(int(AHEAD / STEP), 1)
        self._here = 0

    @property
    def time(self) -> float:
        """Where it was last seen, in the time of the trajectory [s]."""
        return float(self._times[self._here])

    def see(self, q: Matrix) -> float:
        """Note where the arm is, (dof,) [rad or m]; returns the time of the trajectory [s]."""
        away = np.abs(self._q[self._here : self._here + self._window] - q).max(axis=1)
        self._here += int(np.argmin(away))
        return self.time

    def distance(self, q: Matrix) -> float:
        """How far the arm is from where it was last seen on its way, the joint that is furthest [rad or m]."""
        return float(np.abs(self._q[self._here] - q).max())
