"""The task planner over ROS: a recorded task in, a motion or the reason why there is none out."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Pose
from lfd_msgs.action import PlanTask
from lfd_msgs.srv import TaskPlanning
from moveit_msgs.msg import MoveItErrorCodes
from rclpy.action import ActionClient
from support.cell import Cell, running_cell
from support.peer import Peer
from support.process import node_process

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene, save_scene
from lfd_planner.messages import trajectory_from_message
from lfd_planner.mtdf.library import task_file

CODES = MoveItErrorCodes
JOINTS = find_robot('ur5e').joints


@pytest.fixture(scope='module')
def scene_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp('scene') / 'cell.yaml'
    save_scene(find_scene('seed_cell'), file)
    return file


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory, scene_file: Path) -> Iterator[Cell]:
    with running_cell('ur5e', tmp_path_factory.mktemp('cell'), str(scene_file)) as cell:
        yield cell


class Client:
    def __init__(self, domain: int) -> None:
        self.peer = Peer('client', domain)
        self.service = self.peer.node.create_client(TaskPlanning, 'compute_motion_plan_from_task')
        self.action = ActionClient(self.peer.node, PlanTask, 'plan_task')
        self.peer.eventually(self.service.service_is_ready, 'the service')
        self.peer.eventually(self.action.server_is_ready, 'the action')

    def plan(self, text: str, origin: Pose | None = None) -> TaskPlanning.Response:
        request = TaskPlanning.Request(task_description=text, task_origin=origin or Pose())
        return self.peer.result(self.service.call_async(request))


@pytest.fixture
def client(cell: Cell) -> Iterator[Client]:
    client = Client(cell.domain)
    yield client
    client.peer.close()


@pytest.fixture(scope='module')
def text() -> str:
    return task_file('stack_boxes').read_text()


def test_the_recorded_task_becomes_a_motion_from_where_the_arm_is(client, text):
    answer = client.plan(text)
    assert answer.error_code.val == CODES.SUCCESS, answer.message
    assert list(answer.trajectory.joint_names) == list(JOINTS)
    assert len(answer.trajectory.points) > 50


def test_the_action_tells_its_stages_and_its_segments(client, text):
    stages: list[tuple[int, str]] = []
    goal = PlanTask.Goal(task_description=text, seed=3)
    handle = client.peer.result(
        client.action.send_goal_async(
            goal, feedback_callback=lambda message: stages.append((message.feedback.keyframe, message.feedback.stage))
        )
    )
    answer = client.peer.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    (solution,) = answer.result.solutions
    assert {keyframe for keyframe, _ in stages} >= set(range(0, 8, 2))
    model = build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))
    assert solution.robot == 'ur5e'
    names = [segment.name for segment in solution.segments]
    assert names.count('close') == names.count('lift') == names.count('lower') == 4
    moves = trajectory_from_message(solution.trajectory, model.group.joints)
    assert moves.duration > 1.0
    limits = np.array([model.limits[name].velocity for name in JOINTS])
    assert (np.abs(moves.v) <= limits + 1e-6).all()


def test_a_task_that_cannot_be_done_is_explained(client, text):
    far = Pose()
    far.position.x, far.orientation.w = 3.0, 1.0
    answer = client.plan(text, far)
    assert answer.error_code.val != CODES.SUCCESS
    assert 'keyframes[1]' in answer.message
    assert not answer.trajectory.points
    goal = PlanTask.Goal(task_description=text, task_origin=far)
    handle = client.peer.result(client.action.send_goal_async(goal))
    result = client.peer.result(handle.get_result_async())
    assert result.status == GoalStatus.STATUS_ABORTED
    assert result.result.failure.keyframe == 1
    assert result.result.failure.rejections


@pytest.mark.parametrize('wrong', ['', 'hello', 'keyframes: [', 'keyframes: [{type: pick, object_descriptor: moon}]'])
def test_a_text_that_is_no_task_is_refused(client, wrong):
    answer = client.plan(wrong)
    assert answer.error_code.val == CODES.FAILURE
    assert answer.message


def test_the_twins_newest_objects_are_planned_with(client, text, scene_file):
    """The scene file changes, and nobody says so: planning brings it into the planning scene first."""
    scene = find_scene('seed_cell')
    moved = [
        dataclasses.replace(thing, position=(3.0, 0.0, 0.0)) if thing.name == 'red_box' else thing
        for thing in scene.objects
    ]
    try:
        save_scene(dataclasses.replace(scene, objects=tuple(moved)), scene_file)
        os.utime(scene_file)
        answer = client.plan(text)
        assert answer.error_code.val != CODES.SUCCESS
        assert 'red_box' in answer.message
    finally:
        save_scene(scene, scene_file)
    assert client.plan(text).error_code.val == CODES.SUCCESS


def test_wrong_parameters_end_it_at_once_with_a_sentence(ros_domain):
    process = node_process(ros_domain, 'lfd_planner', 'task_planner', '--ros-args', '-p', 'robot:=ur6')
    assert process.wait() == 2
    assert 'gripper' in process.output
    process = node_process(
        ros_domain, 'lfd_planner', 'task_planner', '--ros-args', '-p', 'robot:=ur6', '-p', 'gripper:=two_finger'
    )
    assert process.wait() == 2
    assert "'ur6'" in process.output
