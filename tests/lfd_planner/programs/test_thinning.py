"""Thinned motions stay on the checked path, keep its pace and its rests, and have fewer points."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_planner.programs.thinning import TIMING_TOLERANCE, thinned
from lfd_planner.timing import Trajectory, path_times, time_path


def motion(seed: int, waypoints: int) -> Trajectory:
    path = np.random.default_rng(seed).uniform(-2.0, 2.0, (waypoints, 6))
    return time_path(path, np.full(6, 3.0), np.full(6, 6.0))


@pytest.mark.parametrize('tolerance', [0.0001, 0.0005, 0.01])
@pytest.mark.parametrize('seed', range(5))
def test_lines_stay_near_the_motion(seed: int, tolerance: float) -> None:
    full = motion(seed, 2 + seed)
    thin = thinned(full, tolerance)
    times = path_times(full, tolerance)
    q = full.sample(times).q
    after = np.clip(np.searchsorted(thin.times, times), 1, len(thin.times) - 1)
    start, way = thin.q[after - 1], thin.q[after] - thin.q[after - 1]
    share = (times - thin.times[after - 1]) / (thin.times[after] - thin.times[after - 1])
    assert np.abs(q - start - share[:, np.newaxis] * way).max() <= TIMING_TOLERANCE * 1.05
    along = np.clip(((q - start) * way).sum(axis=1) / (way**2).sum(axis=1), 0.0, 1.0)
    assert np.abs(q - start - along[:, np.newaxis] * way).max() <= tolerance * 1.05
    assert (thin.times[0], thin.times[-1]) == (0.0, full.duration)


def test_rests_are_kept_and_looser_means_fewer() -> None:
    there, back = motion(1, 4), motion(2, 3)
    link = time_path(np.array([there.q[-1], back.q[0]]), np.full(6, 3.0), np.full(6, 6.0))
    full = Trajectory.joined([there, link, back])
    thin = thinned(full)
    assert there.duration in thin.times
    assert sum(np.abs(thin.v).max(axis=1) < 1e-6) == 4
    assert len(thinned(full, 0.01).times) < len(thin.times) < len(thinned(full, 0.0001).times)


def test_standing_still_is_two_points() -> None:
    still = Trajectory(np.array([0.0, 0.4, 0.5]), np.ones((3, 6)), np.zeros((3, 6)))
    assert len(thinned(still).times) == 3  # every point is a rest
    assert len(thinned(Trajectory.at(np.ones(6))).times) == 1
