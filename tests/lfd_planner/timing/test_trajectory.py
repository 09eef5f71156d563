"""The suite's trajectory value: sampled, resampled and joined as executed."""

import itertools
import math

import numpy as np
import pytest

from lfd_planner.timing import Trajectory, path_samples, path_times, time_path

VELOCITY, ACCELERATION = np.array([1.0, 2.0, 0.5]), np.array([3.0, 4.0, 2.0])


@pytest.fixture
def trajectory() -> Trajectory:
    path = np.cumsum(np.random.default_rng(21).normal(size=(6, 3)), axis=0)
    return time_path(path, VELOCITY, ACCELERATION)


def test_samples_at_the_points_are_the_points(trajectory: Trajectory) -> None:
    found = trajectory.sample(trajectory.times)

    np.testing.assert_array_equal(found.q, trajectory.q)
    np.testing.assert_allclose(found.v, trajectory.v, atol=1e-12)
    np.testing.assert_array_equal(found.a, trajectory.a)


def test_velocities_and_accelerations_are_derivatives(trajectory: Trajectory) -> None:
    step = 1e-6
    times = trajectory.times[:-1] + 0.37 * np.diff(trajectory.times)
    before, at, after = (trajectory.sample(times + shift) for shift in (-step, 0.0, step))

    np.testing.assert_allclose((after.q - before.q) / (2 * step), at.v, atol=1e-7)
    np.testing.assert_allclose((after.v - before.v) / (2 * step), at.a, atol=1e-5)


def test_one_time_gives_plain_rows(trajectory: Trajectory) -> None:
    q, v, a = trajectory.sample(0.5 * trajectory.duration)

    assert q.shape == v.shape == a.shape == (3,)


def test_outside_of_its_time_the_joints_stand(trajectory: Trajectory) -> None:
    found = trajectory.sample([-1.0, trajectory.duration + 1.0, math.inf])

    np.testing.assert_array_equal(found.q, trajectory.q[[0, -1, -1]])
    assert not found.v.any()
    assert not found.a.any()
    with pytest.raises(ValueError, match='one number or a row'):
        trajectory.sample(math.nan)


def test_no_motion_can_be_sampled_too() -> None:
    still = Trajectory.at([1.0, 2.0])

    assert still.duration == 0.0
    np.testing.assert_array_equal(still.sample([0.0, 1.0]).q, [[1.0, 2.0]] * 2)
    np.testing.assert_array_equal(still.resampled(0.1).q, [[1.0, 2.0]])
    np.testing.assert_array_equal(path_samples(still, 0.1), [[1.0, 2.0]])


def test_resampled_points_are_evenly_spaced_and_on_the_motion(trajectory: Trajectory) -> None:
    even = trajectory.resampled(0.01)

    np.testing.assert_allclose(np.diff(even.times)[:-1], 0.01)
    assert even.duration == trajectory.duration
    np.testing.assert_allclose(even.q, trajectory.sample(even.times).q)
    times = np.linspace(0.0, trajectory.duration, 2000)
    np.testing.assert_allclose(even.sample(times).q, trajectory.sample(times).q, atol=1e-4)
    with pytest.raises(ValueError, match='period'):
        trajectory.resampled(0.0)


def test_a_duration_of_whole_periods_has_no_extra_point() -> None:
    even = Trajectory([0.0, 0.3], np.zeros((2, 1)), np.zeros((2, 1))).resampled(0.1)

    np.testing.assert_allclose(even.times, [0.0, 0.1, 0.2, 0.3])


@pytest.mark.parametrize('step', [0.001, 0.01, 0.3, 100.0])
def test_path_samples_are_close_together_but_not_closer_than_asked(trajectory: Trajectory, step: float) -> None:
    samples = path_samples(trajectory, step)

    steps = np.abs(np.diff(samples, axis=0)).max(axis=1)
    assert steps.max() <= step * (1.0 + 1e-9)
    np.testing.assert_array_equal(samples[0], trajectory.q[0])
    np.testing.assert_array_equal(samples[-1], trajectory.q[-1])
    fine = np.abs(np.diff(path_samples(trajectory, 1e-3), axis=0)).max(axis=1).sum()
    assert len(samples) <= 1.7 * fine / step + 2
    # Between two samples no joint strays either.
    times = path_times(trajectory, step)
    for start, end in itertools.pairwise(times):
        between = trajectory.sample(np.linspace(start, end, 9)).q
        assert np.ptp(between, axis=0).max() <= step * (1.0 + 1e-9)


def test_samples_need_a_positive_step(trajectory: Trajectory) -> None:
    for step in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match='step'):
            path_samples(trajectory, step)


def test_joined_motions_follow_each_other(trajectory: Trajectory) -> None:
    onward = time_path([trajectory.q[-1], trajectory.q[0]], VELOCITY, ACCELERATION)
    whole = Trajectory.joined([trajectory, Trajectory.at(trajectory.q[-1]), onward])

    assert whole.duration == pytest.approx(trajectory.duration + onward.duration)
    np.testing.assert_allclose(whole.sample(trajectory.duration + 0.1).q, onward.sample(0.1).q)
    np.testing.assert_allclose(whole.sample(0.3).q, trajectory.sample(0.3).q)
    still = Trajectory.joined([Trajectory.at([1.0]), Trajectory.at([1.0])])
    assert still.duration == 0.0


def test_what_does_not_meet_at_rest_is_not_joined(trajectory: Trajectory) -> None:
    with pytest.raises(ValueError, match='rad or m away'):
        Trajectory.joined([trajectory, trajectory])
    rolling = Trajectory([0.0, 1.0], [[0.0], [1.0]], [[0.0], [1.0]])
    with pytest.raises(ValueError, match='must meet at rest'):
        Trajectory.joined([rolling, Trajectory.at([1.0])])
    with pytest.raises(ValueError, match='move 1 and 2 joints'):
        Trajectory.joined([rolling, Trajectory.at([1.0, 1.0])])
    with pytest.raises(ValueError, match='at least one'):
        Trajectory.joined([])


@pytest.mark.parametrize(
    ('times', 'q', 'words'),
    [
        ([], np.zeros((0, 2)), 'M > 0'),
        ([0.0, 1.0], np.zeros((3, 2)), 'not \\(2,\\), \\(3, 2\\)'),
        ([0.0, 0.0], np.zeros((2, 2)), 'point 1 is not later'),
        ([0.1, 0.2], np.zeros((2, 2)), 'the first is not 0'),
        ([0.0, 1.0], np.full((2, 2), math.nan), 'q \\[rad or m\\] of a trajectory must be finite'),
    ],
)
def test_no_trajectory_is_made_of_wrong_numbers(times: list[float], q: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Trajectory(np.array(times), q, np.zeros_like(q))


def test_a_trajectory_cannot_be_changed(trajectory: Trajectory) -> None:
    with pytest.raises(ValueError, match='read-only'):
        trajectory.q[0] = 1.0


def test_only_the_same_numbers_are_the_same_motion() -> None:
    one = Trajectory([0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]])
    assert one.same_as(Trajectory([0.0, 1.0], [[0.0], [1.0]], [[0.0], [0.0]]))
    assert not one.same_as(Trajectory([0.0, 1.1], [[0.0], [1.0]], [[0.0], [0.0]]))
    assert not one.same_as(Trajectory.at([0.0]))
