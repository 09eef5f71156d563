"""Whatever fails while a task is executed: the arm stands, a sentence says why, and the rest is done later."""

from __future__ import annotations

import signal

import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from lfd_msgs.msg import SignalValue
from moveit_msgs.msg import CollisionObject, MoveItErrorCodes
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from support.gripper_server import GripperServer
from support.task_cells import box, planner, seed_origin
from support.task_executor_client import ARM, PATIENT, carry, with_test_gripper
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.messages import object_to_message
from lfd_planner.mtdf import AwaitInput, Place, parse_task

CODES = MoveItErrorCodes


def finish(client, text: str, first: int) -> None:
    """What is left is planned from where everything is, and done."""
    result = client.run(text, first_keyframe=first)
    assert result.error_code.val == CODES.SUCCESS, result.message
    task, scene = parse_task(text), client.scene()
    assert not scene.attached
    for place in task.keyframes:
        if isinstance(place, Place):
            wanted = (seed_origin() @ place.pose).position
            assert scene.objects[place.object].pose.position == pytest.approx(wanted, abs=0.003)


def test_an_awaited_input_that_does_not_come_times_out_and_the_box_stays_in_the_hand(client):
    text = carry(client, 'blue_box', AwaitInput('door', True, 0.3))
    result = client.run(text)
    assert result.error_code.val == CODES.TIMED_OUT
    assert "'door'" in result.message
    assert result.next_keyframe == 1
    assert 'blue_box' in client.scene().attached
    client.inputs.publish(SignalValue(signal='door', is_digital=True, value=1.0))
    finish(client, text, 1)


def test_a_thing_that_comes_into_the_way_stops_the_arm(client, text):
    solution = client.plan(text)
    joints = list(solution.trajectory.joint_names)
    lower = next(segment for segment in solution.segments if segment.name == 'lower')
    at = dict(zip(joints, solution.trajectory.points[lower.last].positions, strict=True))
    tcp = planner().backend.robot.frames.link_poses(at)['tcp'][:3, 3]
    wall = box('wall', (0.06, 0.06, 0.06), (float(tcp[0]), float(tcp[1]), float(tcp[2]) + 0.06), movable=False)
    scene = SceneMessage(is_diff=True)
    scene.robot_state.is_diff = True
    scene.world.collision_objects = [object_to_message(wall, 'base_link')]
    running = client.send(text, solution=solution, speed=0.3)
    client.reach(running, 'transit', 'approach')
    client.apply(scene)
    result = client.result(running).result
    assert result.error_code.val == CODES.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE, result.message
    assert "'wall' changed meanwhile" in result.message
    scene.world.collision_objects[0].operation = CollisionObject.REMOVE
    client.apply(scene)
    finish(client, text, result.next_keyframe)


def test_fingers_that_stall_are_opened_again_and_the_pick_is_done_later(robot, client, text):
    joints = planner().model.group.joints
    gripper = GripperServer(robot.cell.domain)
    try:
        gripper.behaviour.stall_at = 0.03
        robot.start_executor(*PATIENT, *with_test_gripper(joints))
        client.reconnect()
        result = client.run(text)
    finally:
        gripper.close()
        robot.start_executor()
    assert result.error_code.val == CODES.CONTROL_FAILED, result.message
    assert 'stalled at 0.0300' in result.message
    assert 'The hand was opened again.' in result.message
    assert "Keyframe 0, segment 'close'" in result.message
    assert result.next_keyframe == 0
    client.reconnect()
    finish(client, text, 0)


def test_a_dead_controller_manager_is_noticed_and_the_rest_is_done_when_it_is_back(robot, client, text):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transit', 'approach')
    robot.cell.processes['controller_manager'].end(signal.SIGKILL)
    result = client.result(running).result
    robot.cell.start('controller_manager', 'spawner')
    client.reconnect()
    assert result.error_code.val == CODES.UNABLE_TO_AQUIRE_SENSOR_DATA, result.message
    assert 'joint_states' in result.message
    assert result.next_keyframe == 0
    finish(client, text, result.next_keyframe)


def test_a_dead_planning_server_is_told_what_it_missed_when_it_is_back(robot, client, text):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transfer')
    robot.cell.processes['move_group'].end(signal.SIGKILL)
    result = client.result(running).result
    robot.cell.start('move_group')
    client.reconnect()
    assert result.error_code.val == CODES.FAILURE, result.message
    assert 'start move_group' in result.message
    assert result.next_keyframe == 2
    finish(client, text, result.next_keyframe)


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGKILL])
def test_an_executor_that_ended_on_its_way_leaves_an_arm_that_stands_and_another_one_goes_on(
    robot, client, text, number
):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transfer')
    robot.executor.end(number)
    if number == signal.SIGTERM:
        answer = client.result(running)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.error_code.val == CODES.PREEMPTED
        assert answer.result.next_keyframe == 1
        assert 'Traceback' not in robot.executor.output
    robot.start_executor()
    client.reconnect()
    assert 'blue_box' in client.scene().attached
    finish(client, text, 1)


def test_a_second_client_of_the_controller_ends_the_task_and_the_rest_is_done_later(client, text):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transfer')
    other = ActionClient(client.peer.node, FollowJointTrajectory, f'{ARM}/follow_joint_trajectory')
    try:
        client.peer.eventually(other.server_is_ready, 'the controller')
        joints, here = planner().model.group.joints, client.joints
        stay = JointTrajectoryPoint(positions=[here[name] for name in joints], time_from_start=Duration(sec=2))
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(joints), points=[stay]))
        handle = client.peer.result(other.send_goal_async(goal))
        assert handle.accepted
        result = client.result(running).result
        assert result.error_code.val == CODES.CONTROL_FAILED, result.message
        assert "Controller 'ur5e_controller'" in result.message
        assert 'emergency stop' not in result.message
        assert result.next_keyframe == 1
        client.peer.result(handle.get_result_async())
    finally:
        other.destroy()
    assert 'blue_box' in client.scene().attached
    finish(client, text, 1)


def test_a_clock_that_jumps_disturbs_no_execution(robot, client, text):
    """Times are kept by a steady clock, whatever /clock says."""
    try:
        robot.start_executor(*PATIENT, 'use_sim_time:=true')
        client.reconnect()
        clock = client.peer.node.create_publisher(Clock, 'clock', 10)
        running = client.send(text, speed=0.3)
        for seconds in (1000, 5, 100000):
            client.reach(running, 'transit', 'approach')
            clock.publish(Clock(clock=Time(sec=seconds)))
            heard = len(running.feedback)
            client.peer.eventually(lambda heard=heard: len(running.feedback) > heard, 'feedback after the jump')
        result = client.result(running).result
        assert result.error_code.val == CODES.SUCCESS, result.message
    finally:
        robot.start_executor()
        client.reconnect()


def test_without_a_task_planner_nothing_is_planned_anew(robot, client, text):
    robot.cell.processes['task_planner'].end()
    try:
        result = client.run(text)
        assert result.error_code.val == CODES.FAILURE
        assert "Nobody serves 'plan_task'; start task_planner." in result.message
    finally:
        robot.cell.start('task_planner')
