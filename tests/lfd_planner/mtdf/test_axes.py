import math

import numpy as np
import pytest

from lfd_planner.mtdf import GraspHint, Pose
from lfd_planner.mtdf.axes import (
    ros_pose_from_unity,
    ros_position_from_unity,
    ros_task_from_unity,
    unity_pose_from_ros,
    unity_task_from_ros,
)

# Unity's right, up and forward in ROS axes.
CHANGE = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ('unity', 'ros'),
    [((1, 0, 0), (0, -1, 0)), ((0, 1, 0), (0, 0, 1)), ((0, 0, 1), (1, 0, 0))],
    ids=['right', 'up', 'forward'],
)
def test_directions(unity, ros):
    assert ros_position_from_unity(unity) == ros


@pytest.mark.parametrize('seed', range(20))
def test_turns_are_the_same_turn_seen_from_the_other_axes(seed: int):
    """The rotation matrix of Unity's quaternion, with its basis changed, is that of ours."""
    draw = np.random.default_rng(seed).normal(size=4)
    x, y, z, w = (draw / np.linalg.norm(draw)).tolist()
    unity = Pose((0.1, 0.2, 0.3), (x, y, z, w))
    ros = ros_pose_from_unity(unity)
    assert np.allclose(ros.matrix[:3, :3], CHANGE @ unity.matrix[:3, :3] @ CHANGE.T, atol=1e-14)
    assert np.allclose(ros.position, CHANGE @ unity.position)
    assert unity_pose_from_ros(ros) == unity


def test_a_turn_to_the_right_in_unity_is_one_to_the_right_in_ros():
    """Unity's angles about up are clockwise seen from above, ours counter-clockwise."""
    half = math.radians(30) / 2
    turn = ros_pose_from_unity(Pose(orientation=(0.0, math.sin(half), 0.0, math.cos(half)))).matrix
    assert math.degrees(math.atan2(turn[1, 0], turn[0, 0])) == pytest.approx(-30.0)


@pytest.mark.parametrize('seed', range(50))
def test_a_task_comes_back_from_the_other_axes(seed: int, random_task):
    task = random_task(seed)
    assert ros_task_from_unity(unity_task_from_ros(task)) == task
    assert unity_task_from_ros(ros_task_from_unity(task)) == task


def test_grasp_as_the_frame_of_our_grippers():
    """The hand's x, along the fingers, is the z of tcp; y, the way the fingers close, stays."""
    hand = Pose((0.0, 0.0, 0.1), (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)))  # fingers down
    tcp = GraspHint(hand).tcp.matrix
    assert np.allclose(tcp[:3, 2], [0, 0, -1])
    assert np.allclose(tcp[:3, 1], [0, 1, 0])
    assert np.allclose(tcp[:3, 3], [0, 0, 0.1])
