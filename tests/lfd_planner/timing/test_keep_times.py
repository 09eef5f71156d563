"""Motions that keep the times that were shown."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_planner.timing import keep_times
from lfd_planner.timing.cubics import greatest_demand

ROOMY = np.array([100.0, 100.0])
PATH = np.array([[0.0, 0.0], [0.2, 0.1], [0.3, 0.4], [0.3, 0.5]])


def test_every_position_has_its_time() -> None:
    times = [0.0, 1.0, 1.5, 4.0]
    found = keep_times(PATH, times, ROOMY, ROOMY)
    assert found.times == pytest.approx(times)
    assert np.array_equal(found.q, PATH)
    assert not found.v[[0, -1]].any()


def test_an_arm_that_is_too_slow_is_later_everywhere_alike() -> None:
    times, limits = np.array([0.0, 0.1, 0.15, 0.4]), np.array([1.0, 2.0])
    found = keep_times(PATH, times, limits, limits)
    factors = found.times[1:] / times[1:]
    assert factors[0] > 1.0
    assert factors == pytest.approx(np.full(3, factors[0]))
    speed, push = greatest_demand(found.times, found.q, found.v, limits, limits)
    assert max(speed, push) == pytest.approx(1.0)


def test_a_joint_does_not_swing_beyond_its_positions() -> None:
    rng = np.random.default_rng(7)
    path = np.cumsum(rng.uniform(-0.3, 0.5, (40, 3)), axis=0)
    found = keep_times(path, np.cumsum(rng.uniform(0.05, 1.0, 40)) * np.r_[0.0, np.ones(39)], *[np.full(3, 1e6)] * 2)
    for n in range(39):
        samples = found.sample(np.linspace(found.times[n], found.times[n + 1], 20)).q
        low, high = np.minimum(path[n], path[n + 1]), np.maximum(path[n], path[n + 1])
        assert (samples >= low - 1e-9).all()
        assert (samples <= high + 1e-9).all()


@pytest.mark.parametrize('times', [[0.0, 1.0, 1.0, 2.0], [0.5, 1.0, 1.5, 2.0]])
def test_times_that_do_not_rise_from_zero_are_refused(times: list[float]) -> None:
    with pytest.raises(ValueError, match='start at 0 and increase'):
        keep_times(PATH, times, ROOMY, ROOMY)
