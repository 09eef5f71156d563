"""The planning server without anybody who tells where the joints are, and with wrong parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MotionPlanRequest, MoveItErrorCodes
from moveit_msgs.srv import GetMotionPlan
from support.cell import Cell
from support.move_group_client import GROUP, HOME, MoveGroupClient, joint_goal
from support.process import node_process

from lfd_bringup.move_group import move_group_parameters
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot

ROBOT = find_robot('ur5e')
CODES = MoveItErrorCodes


@pytest.fixture
def client(ros_domain: int, tmp_path: Path) -> Iterator[MoveGroupClient]:
    cell = Cell('ur5e', ros_domain, tmp_path)
    cell.start('move_group')
    client = MoveGroupClient(ros_domain, with_joints=False)
    yield client
    client.peer.close()
    cell.stop()


def test_nothing_is_planned_or_moved_from_a_state_that_nobody_knows(client):
    asked = MotionPlanRequest(group_name=GROUP, goal_constraints=[joint_goal(ROBOT.joints, HOME)])
    response = client.call('plan_kinematic_path', GetMotionPlan.Request(motion_plan_request=asked)).motion_plan_response
    assert response.error_code.val == CODES.INVALID_ROBOT_STATE
    assert 'joint_states' in response.error_code.message
    asked.start_state.joint_state.name = list(ROBOT.joints)
    asked.start_state.joint_state.position = [0.5, *HOME[1:]]
    response = client.call('plan_kinematic_path', GetMotionPlan.Request(motion_plan_request=asked)).motion_plan_response
    assert response.error_code.val == CODES.SUCCESS
    handle = client.send(client.execute_trajectory, ExecuteTrajectory.Goal(trajectory=response.trajectory))
    ended = client.result(handle).result.error_code
    assert ended.val == CODES.CONTROL_FAILED
    assert 'joint_states' in ended.message


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'robot_description': ''}, 'robot_description is empty'),
        ({'robot_description': '<robot name="x"><link name="a"/><link name="b"/></robot>'}, 'no parent'),
        ({'robot_description_semantic': '<robot name="x"><group/></robot>'}, 'no name'),
        ({'publish_planning_scene_hz': 0.0}, 'publish_planning_scene_hz'),
        (
            {
                'robot_description_planning': {
                    'joint_limits': {'elbow_joint': {'has_velocity_limits': True, 'max_velocity': -1.0}}
                }
            },
            'max_velocity',
        ),
        ({'trajectory_execution': {'allowed_start_tolerance': 'much'}}, 'allowed_start_tolerance'),
        ({'moveit_simple_controller_manager': {'controller_names': ['a'], 'a': {'type': 'Magic'}}}, 'Magic'),
    ],
)
def test_wrong_parameters_end_it_at_once_with_a_sentence(ros_domain, tmp_path, change, words):
    parameters = {**move_group_parameters(build_model(ROBOT)), **change}
    file = tmp_path / 'parameters.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
    process = node_process(ros_domain, 'lfd_planner', 'move_group', '--ros-args', '--params-file', str(file))
    assert process.wait() == 2, process.output
    assert words in process.output
    assert 'Traceback' not in process.output
