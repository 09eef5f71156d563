"""Timed motions keep the limits as the controller executes them, and are as fast as the limits allow."""

import itertools
import math
import sys

import numpy as np
import pytest

from lfd_hardware.spline import Spline
from lfd_hardware.trajectory import Waypoints
from lfd_planner.timing import Trajectory, path_samples, requested_scaling, time_path

VELOCITY = np.array([7.94, 6.75, 9.08, 9.6, 9.6, 17.5])
ACCELERATION = np.array([19.9, 16.9, 22.7, 24.0, 24.0, 43.7])


def executed(trajectory: Trajectory) -> Spline:
    """The motion that the controller makes of the points when they arrive in a message, with times in nanoseconds."""
    points = len(trajectory.times)
    return Spline.through(
        Waypoints(
            np.round(trajectory.times * 1e9) / 1e9,
            trajectory.q,
            trajectory.v,
            np.zeros_like(trajectory.q),
            np.ones(points, dtype=bool),
            np.zeros(points, dtype=bool),
            np.zeros(trajectory.q.shape[1], dtype=bool),
        )
    )


def dense_times(trajectory: Trajectory, each: int = 7) -> np.ndarray:
    """Times in all intervals, including just before and just after each point."""
    share = np.linspace(1e-9, 1.0 - 1e-9, each)
    spans = np.diff(trajectory.times)
    return (trajectory.times[:-1, None] + spans[:, None] * share).ravel()


def demand(trajectory: Trajectory, velocity: np.ndarray, acceleration: np.ndarray) -> tuple[float, float]:
    """The greatest shares of the limits that are used as executed."""
    found = executed(trajectory).sample(dense_times(trajectory))
    return (
        float((np.abs(found.velocities) / velocity).max()),
        float((np.abs(found.accelerations) / acceleration).max()),
    )


def distance_to_polyline(points: np.ndarray, path: np.ndarray) -> float:
    """How far the worst of the points is from the polyline, as the largest difference of a joint."""
    worst = 0.0
    for point in points:
        nearest = math.inf
        for a, b in itertools.pairwise(path):
            along = np.linspace(0.0, 1.0, 400)[:, None]
            nearest = min(nearest, float(np.abs(a + along * (b - a) - point).max(axis=1).min()))
        worst = max(worst, nearest)
    return worst


def random_path(rng: np.random.Generator, scale: float = 1.0) -> np.ndarray:
    """A walk whose steps are of very different lengths; some joints rest, some steps go straight back."""
    number = int(rng.integers(2, 13))
    steps = rng.normal(size=(number, 6)) * 10.0 ** rng.uniform(-5.0, 0.3, (number, 1))
    steps *= rng.random((number, 6)) < 0.8
    back = rng.random(number) < 0.1
    steps[1:][back[1:]] = -steps[:-1][back[1:]]
    return scale * np.cumsum(steps, axis=0)


@pytest.mark.parametrize('seed', range(4))
def test_limits_are_kept_at_every_instant_of_random_paths(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(750):
        path = random_path(rng)
        trajectory = time_path(path, VELOCITY, ACCELERATION, blend=float(10.0 ** rng.uniform(-4.0, -0.3)))
        if trajectory.duration == 0.0:
            continue
        velocity, acceleration = demand(trajectory, VELOCITY, ACCELERATION)
        assert velocity <= 1.0 + 1e-6
        assert acceleration <= 1.0 + 1e-6
        np.testing.assert_array_equal(trajectory.q[0], path[0])
        np.testing.assert_array_equal(trajectory.q[-1], path[-1])
        assert not trajectory.v[[0, -1]].any()


def test_every_instant_uses_some_limit_fully() -> None:
    """The mark of a time-optimal motion; corners may miss a little of it."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        path = np.cumsum(rng.normal(size=(6, 6)), axis=0)
        trajectory = time_path(path, VELOCITY, ACCELERATION, blend=0.1)
        times = np.linspace(0.0, trajectory.duration, 4000)
        found = trajectory.sample(times)
        used = np.maximum(np.abs(found.v) / VELOCITY, np.abs(found.a) / ACCELERATION).max(axis=1)
        assert (used > 0.8).mean() > 0.95


@pytest.mark.parametrize('length', [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e4])
def test_a_single_segment_is_the_textbook_trapezoid(length: float) -> None:
    direction = np.array([1.0, -0.5, 0.0, 0.2, 0.9, -0.7])
    trajectory = time_path([np.zeros(6), length * direction], VELOCITY, ACCELERATION)
    moving = direction != 0.0
    speed = (VELOCITY[moving] / np.abs(direction[moving])).min()
    push = (ACCELERATION[moving] / np.abs(direction[moving])).min()
    triangle = 2.0 * math.sqrt(length / push)
    best = triangle if push * triangle / 2.0 <= speed else length / speed + speed / push

    assert trajectory.duration == pytest.approx(best, rel=1e-6, abs=2e-9)


def test_waypoints_on_a_line_cost_nothing() -> None:
    ends = np.array([[0.0] * 6, [1.0, 2.0, -1.0, 0.5, 0.3, 0.2]])
    whole = time_path(ends, VELOCITY, ACCELERATION)
    share = np.sort(np.random.default_rng(8).random(40))[:, None]
    parts = time_path(np.concatenate((ends[:1], share * ends[1], ends[1:])), VELOCITY, ACCELERATION)

    assert parts.duration == pytest.approx(whole.duration, rel=1e-6)


@pytest.mark.parametrize('blend', [0.0, 0.002, 0.05, 0.3])
def test_blends_stay_within_their_bound(blend: float) -> None:
    rng = np.random.default_rng(9)
    for _ in range(10):
        path = np.cumsum(rng.normal(size=(6, 3)), axis=0)
        trajectory = time_path(path, VELOCITY[:3], ACCELERATION[:3], blend=blend)
        # The polyline is compared at points a little apart.
        assert distance_to_polyline(path_samples(trajectory, 0.05), path) <= blend + 0.01


def test_each_joint_can_have_its_own_blend() -> None:
    path = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    tight = time_path(path, [1.0, 1.0], [5.0, 5.0], blend=[0.3, 0.001])
    off = np.abs(path_samples(tight, 0.001) - [1.0, 0.0]).min(axis=0)

    assert tight.duration > time_path(path, [1.0, 1.0], [5.0, 5.0], blend=0.3).duration
    assert off[1] <= 0.001
    assert distance_to_polyline(path_samples(tight, 0.01), path) <= 0.005


def test_without_blend_the_motion_stops_at_every_corner() -> None:
    path = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.5]])
    trajectory = time_path(path, [1.0, 1.0], [5.0, 5.0], blend=0.0)
    parts = [time_path(path[n : n + 2], [1.0, 1.0], [5.0, 5.0]) for n in range(3)]

    assert trajectory.duration == pytest.approx(sum(part.duration for part in parts), abs=1e-7)
    for waypoint in path:
        at = np.abs(trajectory.q - waypoint).max(axis=1).argmin()
        np.testing.assert_allclose(trajectory.q[at], waypoint, atol=1e-9)
        np.testing.assert_allclose(trajectory.v[at], 0.0, atol=1e-8)


def test_blends_make_a_motion_faster_the_larger_they_are() -> None:
    path = np.cumsum(np.random.default_rng(10).normal(size=(8, 6)), axis=0)
    durations = [time_path(path, VELOCITY, ACCELERATION, blend=b).duration for b in (0.0, 0.01, 0.05, 0.2)]

    assert durations == sorted(durations, reverse=True)
    assert durations[-1] < 0.95 * durations[0]


@pytest.mark.parametrize('blend', [0.0, 0.01, 0.5])
def test_a_hairpin_turns_round(blend: float) -> None:
    there = np.array([1.0, 0.5, 0.0, 0.0, 0.2, 0.0])
    trajectory = time_path([np.zeros(6), there, np.zeros(6), there], VELOCITY, ACCELERATION, blend=blend)

    velocity, acceleration = demand(trajectory, VELOCITY, ACCELERATION)
    assert max(velocity, acceleration) <= 1.0 + 1e-6
    assert trajectory.q[:, 0].max() <= 1.0 + 1e-12
    assert np.abs(trajectory.q - there).max(axis=1).min() <= blend + 1e-9


def test_sliding_and_turning_joints_mix() -> None:
    """A rail of 3 m with slow limits under a fast wrist."""
    velocity, acceleration = np.array([0.5, 10.0]), np.array([0.25, 200.0])
    rng = np.random.default_rng(11)
    for _ in range(100):
        path = rng.uniform([0.0, -3.0], [3.0, 3.0], (6, 2))
        trajectory = time_path(path, velocity, acceleration, blend=[0.01, 0.1])
        assert max(demand(trajectory, velocity, acceleration)) <= 1.0 + 1e-6


def test_tiny_and_huge_segments_in_one_path() -> None:
    path = np.zeros((5, 6))
    path[1:, 0] = [1e-7, 1e3, 1e3, 1e3]
    path[3:, 1] = [1e-8, 1e-3]
    trajectory = time_path(path, VELOCITY, ACCELERATION)

    assert max(demand(trajectory, VELOCITY, ACCELERATION)) <= 1.0 + 1e-6
    assert trajectory.duration == pytest.approx(1e3 / VELOCITY[0] + VELOCITY[0] / ACCELERATION[0], rel=0.01)


def test_near_duplicates_do_not_slow_the_motion_down() -> None:
    rng = np.random.default_rng(12)
    path = np.cumsum(rng.normal(size=(6, 6)), axis=0)
    clean = time_path(path, VELOCITY, ACCELERATION)
    noisy = np.repeat(path, 4, axis=0)
    noisy[1:-1] += rng.uniform(-1e-4, 1e-4, (len(noisy) - 2, 6))

    assert time_path(np.repeat(path, 3, axis=0), VELOCITY, ACCELERATION).duration == clean.duration
    assert time_path(noisy, VELOCITY, ACCELERATION).duration == pytest.approx(clean.duration, rel=0.01)


@pytest.mark.parametrize('path', [[[0.1, 0.2]], [[0.1, 0.2]] * 5])
def test_one_place_is_no_motion(path: list[list[float]]) -> None:
    trajectory = time_path(path, [1.0, 1.0], [1.0, 1.0])

    assert trajectory.duration == 0.0
    np.testing.assert_array_equal(trajectory.q, [[0.1, 0.2]])


def test_half_the_speed_limits_take_twice_as_long_where_speed_rules() -> None:
    path = np.array([[0.0] * 6, [20.0] * 6])
    full = time_path(path, VELOCITY, ACCELERATION)
    half = time_path(path, VELOCITY, ACCELERATION, velocity_scaling=0.5)
    slow = time_path(path, VELOCITY, ACCELERATION, velocity_scaling=0.5, acceleration_scaling=0.25)

    np.testing.assert_allclose(np.abs(half.v).max(axis=0), np.abs(full.v).max(axis=0) / 2.0, rtol=1e-6)
    # Half the speed with a quarter of the acceleration is the same motion in twice the time.
    assert slow.duration == pytest.approx(2.0 * full.duration, rel=1e-6)
    assert max(demand(half, 0.5 * VELOCITY, ACCELERATION)) <= 1.0 + 1e-6


def test_times_are_whole_nanoseconds() -> None:
    path = np.cumsum(np.random.default_rng(13).normal(size=(8, 6)), axis=0)
    times = time_path(path, VELOCITY, ACCELERATION).times

    np.testing.assert_allclose(times * 1e9, np.round(times * 1e9), atol=1e-5)
    assert np.diff(times).min() > 1e-4


def test_the_same_path_gives_the_same_motion() -> None:
    path = np.cumsum(np.random.default_rng(14).normal(size=(8, 6)), axis=0)
    one, other = (time_path(path, VELOCITY, ACCELERATION) for _ in range(2))

    np.testing.assert_array_equal(one.times, other.times)
    np.testing.assert_array_equal(one.q, other.q)
    np.testing.assert_array_equal(one.v, other.v)


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'path': np.zeros((0, 2))}, 'one waypoint at least'),
        ({'path': np.zeros(2)}, 'one waypoint at least'),
        ({'path': [[0.0, 0.0], [math.nan, 0.0]]}, 'Waypoint 1'),
        ({'path': [[0.0, 0.0], [1e9, 0.0]]}, 'Waypoint 1'),
        ({'velocity_limits': [1.0]}, 'one velocity limit for each of the 2 joints'),
        ({'velocity_limits': [1.0, 0.0]}, 'velocity limit of joint 1'),
        ({'acceleration_limits': [math.inf, 1.0]}, 'acceleration limit of joint 0'),
        ({'velocity_scaling': 0.0}, 'velocity_scaling must be above 0'),
        ({'velocity_scaling': 1.1}, 'velocity_scaling must be above 0'),
        ({'acceleration_scaling': math.nan}, 'acceleration_scaling must be above 0'),
        ({'blend': -0.1}, 'blend'),
        ({'blend': [0.1, 0.1, 0.1]}, 'blend'),
    ],
)
def test_wrong_arguments_are_named(change: dict[str, object], words: str) -> None:
    good = {'path': [[0.0, 0.0], [1.0, 1.0]], 'velocity_limits': [1.0, 1.0], 'acceleration_limits': [1.0, 1.0]}
    with pytest.raises(ValueError, match=words):
        time_path(**(good | change))


def test_a_scaling_left_out_of_a_request_is_full_speed_with_a_warning() -> None:
    assert requested_scaling(0.3, 'max_velocity_scaling_factor').factor == 0.3
    assert requested_scaling(0.3, 'max_velocity_scaling_factor').warning == ''
    left_out = requested_scaling(0.0, 'max_velocity_scaling_factor')
    assert left_out.factor == 1.0
    assert 'max_velocity_scaling_factor is 0' in left_out.warning
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match='max_velocity_scaling_factor must be above 0'):
            requested_scaling(wrong, 'max_velocity_scaling_factor')


UR5E_VELOCITY = np.full(6, math.pi)
UR5E_ACCELERATION = np.full(6, 7.85)
SCALINGS = [*np.geomspace(1.0, 1e-6, 25).tolist(), 5e-4, 3e-4, 2e-4]


@pytest.mark.parametrize('acceleration_scaling', [1.0, 1e-3, 1e-6])
def test_a_low_scaling_makes_a_slow_motion(acceleration_scaling: float) -> None:
    """At the lowest ones top speed is reached in less time than points may be apart."""
    path = np.array([[0.0] * 6, [0.9, -0.3, 0.1, 0.0, 0.2, 0.4]])
    for scaling in SCALINGS:
        trajectory = time_path(
            path,
            UR5E_VELOCITY,
            UR5E_ACCELERATION,
            velocity_scaling=scaling,
            acceleration_scaling=acceleration_scaling,
        )
        speed, push = scaling * math.pi, acceleration_scaling * 7.85
        best = 2.0 * math.sqrt(0.9 / push) if push * 0.9 <= speed**2 else 0.9 / speed + speed / push
        assert trajectory.duration == pytest.approx(best, rel=1e-6, abs=1e-3)
        velocity, acceleration = demand(trajectory, scaling * UR5E_VELOCITY, acceleration_scaling * UR5E_ACCELERATION)
        # Motions of days are sampled at times with fewer digits.
        assert max(velocity, acceleration) <= 1.0 + 1e-5


@pytest.mark.parametrize('blend', [0.0, 0.05])
def test_a_low_scaling_keeps_the_limits_around_corners(blend: float) -> None:
    rng = np.random.default_rng(15)
    for scaling in SCALINGS:
        for _ in range(8):
            path = random_path(rng)
            trajectory = time_path(path, VELOCITY, ACCELERATION, velocity_scaling=scaling, blend=blend)
            if trajectory.duration == 0.0:
                continue
            assert max(demand(trajectory, scaling * VELOCITY, ACCELERATION)) <= 1.0 + 1e-5
            least = np.abs(np.diff(path, axis=0)).max(axis=0) / (scaling * VELOCITY)
            assert trajectory.duration >= (1.0 - 1e-6) * (least.max() - 4.0 * blend / (scaling * VELOCITY).min())
            np.testing.assert_array_equal(trajectory.q[-1], path[-1])


@pytest.mark.parametrize('blend', [0.01, 0.1, 0.5])
def test_a_hairpin_is_slow_only_by_its_scaling(blend: float) -> None:
    """In the middle of its bend no joint moves along the path, so that its nodes alone allow any speed there."""
    path = np.array([[0.0] * 6, [1.0, 0.5, 0.0, 0.0, 0.2, 0.0], [0.0] * 6])
    for scaling in SCALINGS:
        trajectory, stopping = (
            time_path(path, VELOCITY, ACCELERATION, velocity_scaling=scaling, blend=cut) for cut in (blend, 0.0)
        )
        assert trajectory.duration <= stopping.duration
        assert max(demand(trajectory, scaling * VELOCITY, ACCELERATION)) <= 1.0 + 1e-5


def test_a_motion_that_breaks_a_limit_is_not_let_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = np.array([[0.0], [1.0]])
    module = sys.modules[time_path.__module__]
    monkeypatch.setattr(module, 'timed_points', lambda *_: (np.array([0.0, 0.1]), ends, np.zeros((2, 1))))
    with pytest.raises(ArithmeticError, match='15 times the velocity limits'):
        time_path(ends, [1.0], [1.0])


def test_a_motion_shorter_than_points_may_be_apart() -> None:
    for length in np.geomspace(1e-8, 1e-3, 30):
        trajectory = time_path([[0.0, 0.0], [length, 0.3 * length]], [1.0, 1.0], [20.0, 20.0])
        best = 2.0 * math.sqrt(length / 20.0)
        assert max(demand(trajectory, np.ones(2), np.full(2, 20.0))) <= 1.0 + 1e-6
        assert best <= trajectory.duration * (1.0 + 1e-6) <= best + 1e-3


def test_a_motion_longer_than_a_message_can_tell_is_refused() -> None:
    with pytest.raises(ValueError, match='raise the scaling'):
        time_path([[0.0], [1e6]], [1.0], [1.0], velocity_scaling=1e-6)
    with pytest.raises(ValueError, match='raise the scaling'):
        time_path([[0.0], [1e6]], [1e-200], [1e-200])
    assert time_path([[0.0], [2e3]], [1.0], [1.0], velocity_scaling=1e-6).duration == pytest.approx(2e9, rel=0.01)
