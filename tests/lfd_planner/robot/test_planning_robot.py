from __future__ import annotations

import numpy as np
import pytest

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model, mesh_finder
from lfd_description.robots import find_robot, robot_names
from lfd_planner.robot.planning_robot import LimitsOverride, NoKinematics, NoSuchGroup, PlanningRobot, planning_robot


@pytest.fixture(scope='module')
def model():
    return build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))


@pytest.fixture(scope='module')
def robot(model):
    return planning_robot(model)


@pytest.mark.parametrize('name', robot_names())
def test_what_the_model_knows_survives_the_way_through_urdf_and_srdf(name):
    model = build_model(find_robot(name))
    robot = planning_robot(model)
    group = robot.group(model.group.name)
    assert group.joints == model.group.joints
    assert dict(robot.limits) == {**robot.limits, **model.limits}
    for pair in model.collision_matrix.pairs:
        assert robot.allowed.allows(pair.link1, pair.link2) == (pair.reason is not None)
    for state, positions in model.poses.items():
        assert list(group.description.states[state].values()) == pytest.approx(positions, abs=1e-4)


def test_the_solver_serves_any_link_that_is_fixed_to_the_tip(robot):
    group = robot.group('manipulator')
    q = np.array([0.3, -1.5, 1.2, -1.0, -1.4, 0.7])
    poses = robot.frames.link_poses(group.by_name(q))
    for link in ('tool0', 'flange', 'wrist_3_link', 'hand_base', 'tcp'):
        ik = group.solver_for(link)
        base_to_link = np.linalg.inv(poses[group.base]) @ poses[link]
        found = ik.solver.solve(ik.to_tip(base_to_link), q)
        assert np.abs(found - q).max(axis=1).min() < 1e-6
    for link in ('forearm_link', 'left_finger'):
        with pytest.raises(NoKinematics, match='not fixed'):
            group.solver_for(link)
    with pytest.raises(NoKinematics, match='no chain'):
        robot.group('hand').solver_for('tcp')


def test_a_group_told_as_a_list_of_joints_has_inverse_kinematics(model, robot):
    arm = robot.group('manipulator')
    listed = ''.join(f'<joint name="{name}"/>' for name in reversed(arm.joints))
    text = f'<robot name="{robot.name}"><group name="listed">{listed}</group></robot>'
    group = PlanningRobot.of(model.urdf, text, meshes=mesh_finder(model.robot)).group('listed')
    assert group.joints == arm.joints
    q = np.array([0.3, -1.5, 1.2, -1.0, -1.4, 0.7])
    found = group.solver_for('tool0')
    poses = robot.frames.link_poses(arm.by_name(q))
    solved = found.solver.solve(found.to_tip(np.linalg.inv(poses[group.base]) @ poses['tool0']), q)
    assert np.abs(solved - q).max(axis=1).min() < 1e-6


def test_an_unknown_group_is_told_with_those_that_there_are(robot):
    with pytest.raises(NoSuchGroup, match='manipulator'):
        robot.group('manipulater')


def test_limits_are_narrowed_and_never_widened(model):
    tight = LimitsOverride(lower=-1.0, upper=9.0, velocity=0.5, acceleration=2.0)
    robot = PlanningRobot.of(model.urdf, planning_robot(model).srdf, {'elbow_joint': tight})
    limits = robot.limits['elbow_joint']
    assert (limits.lower, limits.upper) == (-1.0, model.limits['elbow_joint'].upper)
    assert (limits.velocity, limits.acceleration) == (0.5, 2.0)


def test_home_is_within_all_limits(robot):
    for name, position in robot.home.items():
        assert robot.limits[name].lower <= position <= robot.limits[name].upper


def test_joints_that_follow_another_are_computed_from_it(robot):
    follower = next(joint for joint in robot.tree.joints if joint.mimic is not None)
    leader = follower.mimic.joint
    found = robot.with_followers({'elbow_joint': 0.3, leader: 0.01, follower.name: 9.0})
    assert found[follower.name] == follower.mimic.position(0.01)
    assert (found['elbow_joint'], found[leader]) == (0.3, 0.01)
    assert robot.with_followers({'elbow_joint': 0.3, follower.name: 9.0}) == {'elbow_joint': 0.3}
    assert set(robot.with_followers(robot.home)) == set(robot.frames.joints)
