"""Motions as goals of MotoROS2: the controller takes every goal of any motion, and the way is the planned one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.spatial import KDTree
from support.motoros2_controller import Point, position, refusal

from lfd_planner.execution import GoalRefused
from lfd_planner.execution.motoros2 import (
    MOST_POINTS,
    MotoRos2Rules,
    explain,
    explain_reason,
    native_code,
    stopped_on_the_way,
    thinned,
)
from lfd_planner.timing import Trajectory

JOINTS = ('s', 'l', 'u', 'r', 'b', 't')


def rest_to_rest(seed: int, points: int, harmonics: int = 3, spacing: float = 0.008) -> Trajectory:
    """A random smooth stretch without a rest inside: a monotone time law on a wavy path."""
    chance = np.random.default_rng(seed)
    duration = (points - 1) * spacing
    u = np.linspace(0.0, 1.0, points)
    law, pace = 10 * u**3 - 15 * u**4 + 6 * u**5, (30 * u**2 - 60 * u**3 + 30 * u**4) / duration
    start, way = chance.uniform(-1.0, 1.0, 6), chance.uniform(-1.0, 1.0, 6)
    size = chance.uniform(-0.2, 0.2, (harmonics, 6)) / np.arange(1, harmonics + 1)[:, None]
    turns = np.arange(1, harmonics + 1) * np.pi
    q = start + law[:, None] * way + np.sin(law[:, None] * turns) @ size
    v = pace[:, None] * (way + (np.cos(law[:, None] * turns) * turns) @ size)
    v[0] = v[-1] = 0.0
    return Trajectory(u * duration, q, v)


def goes_on(motion: Trajectory, seed: int, points: int, **options: int) -> Trajectory:
    """A motion followed by another one."""
    more = rest_to_rest(seed, points, **options)
    return Trajectory.joined([motion, Trajectory(more.times, more.q - more.q[0] + motion.q[-1], more.v)])


def points_of(goal: Trajectory) -> list[Point]:
    """As a message carries them."""
    return [Point(round(t * 1e9), list(q), list(v)) for t, q, v in zip(goal.times, goal.q, goal.v, strict=True)]


def check_goals(goals: Sequence[Trajectory], motion: Trajectory, joints=JOINTS) -> None:
    """Every goal is taken by the controller, from where the one before ended, and the last ends where it should."""
    here = dict(zip(joints, goals[0].q[0], strict=True))
    fastest = dict.fromkeys(joints, 1.001 * float(np.abs(motion.v).max()) + 1e-6)
    for goal in goals:
        assert refusal(joints, points_of(goal), here, fastest) == 0
        here = dict(zip(joints, goal.q[-1], strict=True))
    assert list(goals[-1].q[-1][: motion.dof]) == pytest.approx(list(motion.q[-1]))


def distance_from_path(goal: Trajectory, motion: Trajectory) -> float:
    """The largest distance of the goal as it is played from the nearest place of the path [rad], not below 0.0005."""
    middles = (motion.times[1:] + motion.times[:-1]) / 2.0
    fastest = max(np.abs(motion.v).max(), np.abs(motion.sample(middles).v).max())
    fine = max(2, int(fastest * motion.duration / 0.001))
    way = KDTree(motion.sample(np.linspace(0.0, motion.duration, fine)).q)
    played = points_of(goal)
    places = np.array([position(played, time) for time in np.linspace(0.0, goal.duration, 400)])
    return float(way.query(places, p=np.inf)[0].max())


def goals_of(motion: Trajectory, **options: object) -> tuple[Trajectory, ...]:
    return MotoRos2Rules(**options).goals(motion)


def test_a_short_motion_is_one_goal_as_it_is():
    motion = rest_to_rest(1, 100)
    [goal] = goals_of(motion)
    assert np.allclose(goal.times, motion.times, atol=1e-9)
    assert np.allclose(goal.q, motion.q, atol=1e-9)
    assert np.allclose(goal.v, motion.v, atol=1e-9)
    check_goals([goal], motion)


def test_a_long_motion_is_cut_at_rests_only_and_at_as_few_as_there_must_be():
    motion = rest_to_rest(0, 90)
    for seed in range(1, 8):
        motion = goes_on(motion, seed, 90)
    goals = goals_of(motion)
    assert len(goals) == 4
    check_goals(goals, motion)
    assert sum(goal.duration for goal in goals) == pytest.approx(motion.duration, abs=0.001 * 8)
    ends = {tuple(np.round(goal.q[-1], 9)) for goal in goals}
    resting = {tuple(np.round(q, 9)) for q, v in zip(motion.q, motion.v, strict=True) if not v.any()}
    assert ends <= resting


def test_a_stretch_of_too_many_points_is_thinned_within_the_tolerance():
    motion = rest_to_rest(3, 900)
    [goal] = goals_of(motion)
    check_goals([goal], motion)
    assert len(goal.times) <= MOST_POINTS
    times = np.linspace(0.0, motion.duration, 5000)
    played = np.array([position(points_of(goal), time) for time in times])
    assert np.abs(played - motion.sample(times).q).max() <= 0.001 + 1e-4


def test_no_more_is_thinned_than_there_must_be():
    motion = rest_to_rest(3, 230)
    [goal] = goals_of(motion)
    times = np.linspace(0.0, motion.duration, 5000)
    played = np.array([position(points_of(goal), time) for time in times])
    assert np.abs(played - motion.sample(times).q).max() <= 0.001 / 64 + 1e-5


def test_where_thinning_is_not_enough_the_arm_stops_on_the_way_and_stays_on_its_path():
    motion = rest_to_rest(4, 2001, harmonics=80, spacing=0.02)
    goals = goals_of(motion, tolerance=1e-5)
    assert len(goals) > 1
    check_goals(goals, motion)
    longer = sum(goal.duration for goal in goals) - motion.duration
    assert 0.0 < longer < 1.5 * (len(goals) - 1)
    strongest = np.abs(motion.sample(np.linspace(0.0, motion.duration, 40000)).a).max(axis=0)
    for goal in goals[:3]:
        assert distance_from_path(goal, motion) <= 0.002
        fast = goal.sample(np.linspace(0.0, goal.duration, 20000))
        assert (np.abs(fast.v) <= 1.05 * np.abs(motion.v).max(axis=0)).all()
        assert (np.abs(fast.a) <= 1.25 * strongest).all()


@pytest.mark.parametrize('seed', range(25))
def test_the_controller_takes_every_goal_of_any_motion(seed):
    chance = np.random.default_rng(1000 + seed)
    motion = rest_to_rest(seed, int(chance.integers(30, 60)), spacing=float(chance.uniform(0.0041, 0.05)))
    for number in range(int(chance.integers(0, 6))):
        points = int(chance.choice([2, 3, 50, 201, 450]))
        motion = goes_on(
            motion,
            100 * seed + number,
            points,
            harmonics=int(chance.integers(1, 12)),
            spacing=float(chance.uniform(0.01, 0.05) if points > 3 else chance.uniform(0.5, 1.0)),
        )
    most = int(chance.choice([60, 200]))
    slow = Trajectory(motion.times * 4.0, motion.q, motion.v / 4.0)
    goals = goals_of(slow, most_points=most, tolerance=float(chance.choice([1e-4, 1e-3])))
    check_goals(goals, slow)
    assert all(2 <= len(goal.times) <= most for goal in goals)
    for goal in goals[:4]:
        assert goal.times[0] == 0.0
        assert not goal.v[[0, -1]].any()
        assert distance_from_path(goal, slow) <= 0.002
    for before, after in itertools.pairwise(goals):
        assert np.allclose(before.q[-1], after.q[0], atol=1e-9)


@pytest.mark.parametrize('points', [12, 50, 180])
def test_a_goal_begins_where_the_arm_is_and_does_not_jerk(points):
    motion = rest_to_rest(6, points)
    rules = MotoRos2Rules()
    [planned] = rules.goals(motion)
    off = np.array([0.005, -0.009, 0.0, 0.002, 0.001, -0.005])
    here = dict(zip(JOINTS, planned.q[0] + off, strict=True))
    goal = rules.starting_at(planned, JOINTS, here)
    fastest = dict(zip(JOINTS, np.abs(planned.v).max(axis=0), strict=True))
    assert refusal(JOINTS, points_of(planned), here, fastest) == 204
    assert refusal(JOINTS, points_of(goal), here, fastest) == 0
    assert list(goal.q[0]) == list(here.values())
    assert np.array_equal(goal.q[-1], planned.q[-1])
    assert not goal.v[[0, -1]].any()
    assert np.abs(goal.q - planned.q).max() <= np.abs(off).max() + 1e-12
    times = np.linspace(0.0, planned.duration, 2000)
    faster = np.abs(goal.sample(times).v - planned.sample(times).v).max()
    assert faster <= 1.6 * np.abs(off).max() / min(planned.duration, 0.5)


def test_a_goal_that_begins_elsewhere_is_refused_in_a_sentence():
    rules = MotoRos2Rules()
    [planned] = rules.goals(rest_to_rest(6, 50))
    far = dict(zip(JOINTS, planned.q[0] + 0.1, strict=True))
    with pytest.raises(GoalRefused, match=r"Joint '.' is at .*plan from where the arm is"):
        rules.starting_at(planned, JOINTS, far)
    for unknown in ({'s': 0.0}, {**far, 'l': float('nan')}):
        with pytest.raises(GoalRefused, match=r"where the joint 'l' is"):
            rules.starting_at(planned, JOINTS, unknown)


def test_a_motion_of_no_time_has_no_goals():
    assert goals_of(Trajectory.at(np.zeros(6))) == ()


def test_it_is_a_rule_of_execution():
    motion = goes_on(rest_to_rest(0, 150), 1, 150)
    goals = MotoRos2Rules().goals(motion)
    assert [len(goal.times) for goal in goals] == [150, 150]


@pytest.mark.parametrize(('row', 'complaint'), [(0, 'does not begin at rest'), (-1, 'does not end at rest')])
def test_a_motion_that_is_not_from_rest_to_rest_is_refused_in_a_sentence(row, complaint):
    motion = rest_to_rest(7, 50)
    v = motion.v.copy()
    v[row, 2] += 0.1
    with pytest.raises(GoalRefused, match=complaint):
        MotoRos2Rules().goals(Trajectory(motion.times, motion.q, v))


@pytest.mark.parametrize('seed', range(10))
def test_thinning_keeps_ends_and_tolerance(seed):
    motion = rest_to_rest(seed, 300, harmonics=6)
    for tolerance in (1e-6, 1e-4, 1e-2):
        thin = thinned(motion, tolerance)
        assert (thin.times[[0, -1]] == motion.times[[0, -1]]).all()
        times = np.linspace(0.0, motion.duration, 3000)
        assert np.abs(thin.sample(times).q - motion.sample(times).q).max() <= 1.2 * tolerance


@pytest.mark.parametrize('seed', range(10))
def test_a_stop_on_the_way_meets_at_rest(seed):
    motion = rest_to_rest(seed, 400, harmonics=5)
    before, after = stopped_on_the_way(motion)
    joined = Trajectory.joined([before, after])
    assert joined.duration > motion.duration
    assert np.allclose(joined.q[[0, -1]], motion.q[[0, -1]])
    strongest = np.abs(motion.sample(np.linspace(0.0, motion.duration, 20000)).a).max(axis=0)
    assert (np.abs(joined.sample(np.linspace(0.0, joined.duration, 20000)).a) <= 1.2 * strongest).all()


def test_error_codes_are_sentences():
    assert explain(0) == 'The goal was reached.'
    assert explain(-4) == 'The arm left the path.'
    assert native_code(-100101) == 101
    assert explain(-100101) == (
        'The goal is invalid (-100101): the controller has an active alarm: remove its cause and call reset_error.'
    )
    assert explain(-500301).startswith('The arm did not reach the goal (-500301): the arm did not end where')
    codes = [*range(100, 110), *range(111, 119), *range(200, 216), *range(300, 304)]
    assert len({explain(-100000 - code) for code in codes}) == len(codes)
    for odd in (7, -6, -99, -100999, -912345, 2**31 - 1, -(2**31)):
        assert 'unknown' in explain(odd)
    assert explain_reason(1) == 'the controller is ready'
    assert 'start_traj_mode' in explain_reason(108)
