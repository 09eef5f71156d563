"""Groups whose base is moved by joints that are not theirs."""

from __future__ import annotations

import numpy as np
from support.urdfs import ball, serial_arm

from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.robot.planning_robot import PlanningRobot

SRDF = (
    '<robot name="arm">'
    '<group name="upper"><chain base_link="link_2" tip_link="tool0"/></group>'
    '<group name="whole"><chain base_link="base_link" tip_link="tool0"/></group>'
    '</robot>'
)


def test_poses_are_in_the_scenes_frame_wherever_the_base_of_the_group_is():
    robot = PlanningRobot.of(serial_arm(joints=5, body=ball(0.01)), SRDF)
    backend = EmbeddedBackend(robot)
    group = robot.group('upper')
    assert len(group.joints) == 3
    q = np.array([0.3, 0.4, -0.5])
    for lower in (0.0, 0.7, -0.4):
        scene = robot.empty_scene().with_joints({'joint_1': lower, 'joint_2': -lower, **group.by_name(q)})
        pose = robot.frames.link_poses(scene.joints)['tool0']
        found = backend.ik(scene, group, 'tool0', pose, q, avoid_collisions=False)
        assert np.abs(found - q).max(axis=1).min() < 1e-4
        line = backend.plan_linear(scene, group, q, 'tool0', pose[np.newaxis])
        assert line.fraction == 1.0
