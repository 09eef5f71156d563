"""Motions from request to trajectory, without ROS: which goals are understood, and what is said when there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.planning import ur5e_in_seed_cell

from lfd_description.shapes import Box, Sphere
from lfd_planner.backends import Failure, SearchOptions
from lfd_planner.error_codes import Code
from lfd_planner.scene import Body, Pose, WorldObject
from lfd_planner.search import (
    JointConstraint,
    OrientationConstraint,
    PathConstraints,
    PositionConstraint,
    Region,
)
from lfd_planner.server.motion_planner import Motion, MotionRequest, plan_motion

HAIR = 1e-4


@pytest.fixture(scope='module')
def cell():
    return ur5e_in_seed_cell()


@pytest.fixture
def plan(cell):
    backend, scene, group, _ = cell

    def plan(*goals: PathConstraints, scene=scene, **options: object) -> Motion | Failure:
        return plan_motion(backend, scene, MotionRequest(group, goals, options=SearchOptions(**options)))

    return plan


def joints(cell, state: str, names: tuple[str, ...] = ()) -> PathConstraints:
    _, _, group, states = cell
    pairs = zip(group.joints, states[state], strict=True)
    return PathConstraints(
        joints=tuple(JointConstraint(name, value, HAIR, HAIR) for name, value in pairs if not names or name in names)
    )


def pose_of(cell, state: str, link: str = 'tool0') -> Pose:
    backend, scene, group, states = cell
    positions = {**scene.joints, **group.by_name(np.array(states[state]))}
    return Pose.of(backend.robot.frames.link_poses(positions)[link])


def at(point: tuple[float, float, float], radius: float = 1e-3, link: str = 'tool0') -> PathConstraints:
    return PathConstraints(positions=(PositionConstraint(link, (Region(Sphere(radius), Pose(point)),)),))


def reached(cell, motion: Motion, link: str = 'tool0') -> Pose:
    backend, scene, group, _ = cell
    positions = {**scene.joints, **group.by_name(motion.trajectory.q[-1])}
    return Pose.of(backend.robot.frames.link_poses(positions)[link])


def test_it_starts_where_the_robot_is_and_ends_at_rest_at_its_goal(cell, plan):
    _, _, _, states = cell
    motion = plan(joints(cell, 'left'))
    assert isinstance(motion, Motion)
    np.testing.assert_allclose(motion.trajectory.q[0], states['home'], atol=1e-9)
    np.testing.assert_allclose(motion.trajectory.q[-1], states['left'], atol=HAIR)
    assert not motion.trajectory.v[-1].any()


def test_the_same_seed_gives_the_same_motion(cell, plan):
    one, other = (plan(at((0.4, 0.3, 0.3)), seed=7) for _ in range(2))
    np.testing.assert_array_equal(one.trajectory.q, other.trajectory.q)


def test_joints_that_the_goal_does_not_name_stay(cell, plan):
    _, _, group, states = cell
    motion = plan(joints(cell, 'left', (group.joints[0],)))
    end = motion.trajectory.q[-1]
    assert end[0] == pytest.approx(states['left'][0], abs=HAIR)
    np.testing.assert_allclose(end[1:], states['home'][1:], atol=1e-9)


def test_a_position_without_an_orientation(cell, plan):
    wanted = (0.45, 0.2, 0.25)
    motion = plan(at(wanted))
    assert isinstance(motion, Motion), motion
    assert math.dist(reached(cell, motion).position, wanted) <= 1.1e-3


def test_an_orientation_without_a_position(cell, plan):
    wanted = pose_of(cell, 'left').orientation
    goal = PathConstraints(orientations=(OrientationConstraint('tool0', wanted, (0.01, 0.01, 0.01)),))
    motion = plan(goal)
    assert isinstance(motion, Motion), motion
    dot = abs(sum(a * b for a, b in zip(reached(cell, motion).orientation, wanted, strict=True)))
    assert 2.0 * math.acos(min(dot, 1.0)) < 0.02


def test_anywhere_in_a_region_is_good_enough(cell, plan):
    """The middle of the region is inside the table; its upper half is free."""
    region = Region(Box((0.05, 0.05, 0.5)), Pose((0.45, 0.25, -0.15)))
    down = pose_of(cell, 'home').orientation
    goal = PathConstraints(
        positions=(PositionConstraint('tool0', (region,)),),
        orientations=(OrientationConstraint('tool0', down, (0.05, 0.05, math.pi)),),
    )
    motion = plan(goal)
    assert isinstance(motion, Motion), motion
    assert -0.15 < reached(cell, motion).position[2] <= 0.1


def test_the_pose_of_a_point_on_the_link(cell, plan):
    wanted = pose_of(cell, 'left')
    goal = PathConstraints(
        positions=(
            PositionConstraint('tool0', (Region(Sphere(1e-3), wanted @ Pose((0.0, 0.0, 0.1))),), (0.0, 0.0, 0.1)),
        ),
        orientations=(OrientationConstraint('tool0', wanted.orientation, (1e-3, 1e-3, 1e-3)),),
    )
    motion = plan(goal)
    assert isinstance(motion, Motion), motion
    assert math.dist(reached(cell, motion).position, wanted.position) < 2e-3


def test_any_of_several_goals_will_do(cell, plan):
    motion = plan(at((3.0, 0.0, 0.0)), joints(cell, 'left'))
    assert isinstance(motion, Motion)


def failed(outcome: Motion | Failure, code: Code, *words: str) -> None:
    assert isinstance(outcome, Failure)
    assert outcome.code == code, outcome
    assert all(word in outcome.message for word in words), outcome.message
    assert '\n' not in outcome.message


def test_a_goal_out_of_reach(plan):
    failed(plan(at((3.0, 0.0, 0.0))), Code.NO_IK_SOLUTION, 'out of reach')


def test_a_goal_in_collision_names_what_is_touched(plan):
    failed(plan(at((0.45, 0.0, -0.17))), Code.GOAL_IN_COLLISION, 'touches')


def test_a_joint_beyond_its_limit(cell, plan):
    goal = PathConstraints(joints=(JointConstraint('elbow_joint', 4.0, HAIR, HAIR),))
    failed(plan(goal), Code.INVALID_GOAL_CONSTRAINTS, 'elbow_joint', '3.14')


def test_a_link_that_nobody_can_lead(plan):
    failed(plan(at((0.3, 0.0, 0.5), link='forearm_link')), Code.INVALID_GOAL_CONSTRAINTS, 'forearm_link', 'tool0')


def test_a_start_in_collision(cell, plan):
    _, scene, _, _ = cell
    here = pose_of(cell, 'home', 'wrist_3_link')
    blocked = scene.add(WorldObject('block', Body.of(Box((0.1, 0.1, 0.1))), here))
    failed(plan(joints(cell, 'left'), scene=blocked), Code.START_STATE_IN_COLLISION, "'block'")


def test_a_start_beyond_its_limits(cell, plan):
    _, scene, _, _ = cell
    outside = scene.with_joints({'elbow_joint': 3.5})
    failed(plan(joints(cell, 'left'), scene=outside), Code.START_STATE_INVALID, 'elbow_joint')
    hardly = scene.with_joints({'elbow_joint': math.pi + 0.005})
    outcome = plan(joints(cell, 'left'), scene=hardly)
    assert isinstance(outcome, Motion) or outcome.code != Code.START_STATE_INVALID


def test_a_start_and_a_goal_that_break_the_path_constraints(cell, plan):
    keep = PathConstraints(joints=(JointConstraint('elbow_joint', 0.0, 0.1, 0.1),))
    failed(plan(joints(cell, 'left'), constraints=keep), Code.START_STATE_VIOLATES_PATH_CONSTRAINTS, 'elbow_joint')
    near = PathConstraints(joints=(JointConstraint('shoulder_pan_joint', 0.0, 0.1, 0.1),))
    failed(plan(joints(cell, 'left'), constraints=near), Code.GOAL_VIOLATES_PATH_CONSTRAINTS, 'shoulder_pan_joint')


@pytest.fixture
def walled(cell):
    """The cell with a wall across the straight way."""
    _, scene, _, _ = cell
    return scene.add(WorldObject('wall', Body.of(Box((0.6, 0.02, 1.6))), Pose((0.6, 0.25, 0.4))))


def test_a_way_around_a_wall(cell, plan, walled):
    backend, _, group, _ = cell
    motion = plan(joints(cell, 'left'), scene=walled)
    assert isinstance(motion, Motion), motion
    times = np.linspace(0.0, motion.trajectory.duration, 500)
    assert backend.free(walled, group, motion.trajectory.sample(times).q).all()


def test_a_search_that_is_stopped(cell, plan, walled):
    failed(plan(joints(cell, 'left'), scene=walled, should_stop=lambda: True), Code.PREEMPTED, 'stopped')


def test_a_search_that_runs_out_of_time(cell, plan, walled):
    failed(plan(joints(cell, 'left'), scene=walled, budget=1e-6), Code.TIMED_OUT)
