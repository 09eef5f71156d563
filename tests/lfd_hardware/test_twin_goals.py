"""A twin's process and a real side in the test's own node, which refuses, hangs, falls silent and lies."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import rclpy
from action_msgs.msg import GoalStatus
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from rclpy.action import ActionClient
from rclpy.task import Future
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from support.process import Process
from support.twin_cell import (
    ACTION,
    REAL,
    VALVE,
    FakeReal,
    FakeStates,
    TwinClient,
    trajectory_goal,
    twin_parameters,
    twin_process,
)
from trajectory_msgs.msg import JointTrajectory

from lfd_bringup.domain import claim_free
from lfd_hardware.nodes.twin import REFUSALS, Twin

GRIPPER = 'gripper_controller/gripper_cmd'
QUIET = f"No joint states of 'cell_shoulder' come on '{REAL}/joint_states'."


class Cell:
    """A twin with a gripper, its client, and who plays the real side."""

    def __init__(self, domain: int) -> None:
        # The states come while the test spins its node, so silences of a second may be the test's own.
        self.twin: Process = twin_process(
            domain, 'gripper_controller:=gripper_controller', 'moving_timeout:=1.0', 'idle_timeout:=1.5'
        )
        self.client = TwinClient('twin_test', domain)
        self.states = FakeStates(self.client)
        self.arm = FakeReal(self.client, FollowJointTrajectory, ACTION)

    def start(self) -> object:
        """Send a goal, and return its handle when it runs at the real side."""
        count = len(self.arm.handles)
        self.client.position()
        handle = self.client.send(trajectory_goal(5, 0.5, 0.5))
        assert handle.accepted
        self.client.eventually(lambda: len(self.arm.handles) > count, 'the goal at the real side')
        return handle

    def told(self, text: str) -> int:
        """How often the twin's log says something."""
        return self.twin.output.count(text)

    def says(self, text: str, times: int = 1) -> None:
        """Wait until the twin's log has said something, and no more often than it should."""
        self.client.eventually(lambda: self.told(text) >= times, text)
        assert self.told(text) == times

    def close(self) -> None:
        self.twin.stop()
        self.arm.destroy()
        self.states.destroy()
        self.client.close()


@pytest.fixture(scope='module')
def cell() -> Iterator[Cell]:
    with claim_free() as domain:
        cell = Cell(domain.number)
        yield cell
        cell.close()


def test_a_rejection_is_a_rejection(cell: Cell):
    cell.client.position()
    cell.arm.is_accepting = False
    assert not cell.client.send(trajectory_goal(1, 0.5, 0.5)).accepted
    cell.arm.is_accepting = True
    cell.says(f"'{REAL}/{ACTION}' refused a goal: its own log says why.")
    assert list(cell.arm.requests[-1].trajectory.joint_names) == ['cell_shoulder', 'cell_elbow']


def test_a_cancel_that_the_real_side_refuses_is_refused(cell: Cell):
    handle = cell.start()
    cell.arm.is_cancelling = False
    assert not cell.client.result(handle.cancel_goal_async()).goals_canceling
    cell.arm.is_cancelling = True
    cell.arm.end('succeed', FollowJointTrajectory.Result(error_string='Well done.'))
    answer = cell.client.result(handle.get_result_async())
    assert (answer.status, answer.result.error_string) == (GoalStatus.STATUS_SUCCEEDED, 'Well done.')


def test_a_goal_that_succeeds_although_it_is_cancelled_has_succeeded(cell: Cell):
    handle = cell.start()
    assert cell.client.result(handle.cancel_goal_async()).goals_canceling
    cell.arm.end('succeed', FollowJointTrajectory.Result())
    assert cell.client.result(handle.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED


def test_a_cancel_by_somebody_else_is_told(cell: Cell):
    handle = cell.start()
    others = cell.client.node.create_client(CancelGoal, f'{REAL}/{ACTION}/_action/cancel_goal')
    cell.client.eventually(others.service_is_ready, 'the service')
    assert cell.client.result(others.call_async(CancelGoal.Request())).goals_canceling
    cell.arm.end('canceled', FollowJointTrajectory.Result())
    answer = cell.client.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_string == f"Somebody else cancelled it at '{REAL}/{ACTION}'."
    cell.client.node.destroy_client(others)


def test_two_goals_run_at_once_when_the_real_side_runs_both(cell: Cell):
    first, second = cell.start(), cell.start()
    one, two = cell.arm.ends[-2:]
    two.set_result(('succeed', FollowJointTrajectory.Result(error_string='second')))
    assert cell.client.result(second.get_result_async()).result.error_string == 'second'
    one.set_result(('abort', FollowJointTrajectory.Result(error_code=-4, error_string='first')))
    answer = cell.client.result(first.get_result_async())
    assert (answer.status, answer.result.error_code) == (GoalStatus.STATUS_ABORTED, -4)
    assert answer.result.error_string == 'first'


def test_a_goal_that_nobody_answers_is_refused_and_cancelled_when_it_is_taken_after_all(cell: Cell):
    cell.client.position()
    count = len(cell.arm.handles)
    cell.arm.held = Future()
    answer = cell.client.run(trajectory_goal(5, 0.5, 0.5))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_string == f"'{REAL}/{ACTION}' did not answer within 2 s: is the real side stuck?"
    cell.arm.held.set_result(None)
    cell.arm.held = None
    cell.client.eventually(lambda: len(cell.arm.handles) > count, 'the goal at the real side')
    cell.client.eventually(lambda: cell.arm.handles[-1].is_cancel_requested, 'its cancellation')
    cell.arm.end('canceled', FollowJointTrajectory.Result())


def test_running_goals_are_cancelled_when_the_joint_states_stop(cell: Cell):
    handle = cell.start()
    before = cell.told(f'{QUIET} Stopping what moves.')
    cell.states.pause()
    cell.client.eventually(lambda: cell.arm.handles[-1].is_cancel_requested, 'its cancellation')
    cell.arm.end('canceled', FollowJointTrajectory.Result(error_string='At rest.'))
    answer = cell.client.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    assert answer.result.error_string == f'{QUIET} The goal was cancelled. The real controller said: At rest.'
    cell.says(f'{QUIET} Stopping what moves.', before + 1)
    refused = cell.client.run(trajectory_goal(1, 0.5, 0.5))
    assert refused.result.error_string == f'{QUIET} Start the real robot.'
    cell.states.go_on()
    handle = cell.start()
    cell.arm.end('succeed', FollowJointTrajectory.Result())
    assert cell.client.result(handle.get_result_async()).status == GoalStatus.STATUS_SUCCEEDED


def test_stop_motion_cancels_goals_where_the_real_side_has_none(cell: Cell):
    handle = cell.start()
    stop = cell.client.node.create_client(Trigger, 'stop_motion')
    cell.client.eventually(stop.service_is_ready, 'stop_motion')
    answer = cell.client.result(stop.call_async(Trigger.Request()))
    assert not answer.success
    assert answer.message == (
        f"'{REAL}/stop_motion' is not there: cancelled the goals that were sent from here instead (1)."
    )
    cell.client.eventually(lambda: cell.arm.handles[-1].is_cancel_requested, 'its cancellation')
    cell.arm.end('canceled', FollowJointTrajectory.Result())
    assert cell.client.result(handle.get_result_async()).result.error_string == 'Stopped by stop_motion.'
    cell.client.node.destroy_client(stop)


def test_a_path_is_stopped_when_the_joint_states_stop(cell: Cell):
    node = cell.client.node
    heard: list[JointTrajectory] = []
    stops: list[Trigger.Request] = []

    def stop(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        stops.append(request)
        return response

    paths = node.create_publisher(JointTrajectory, 'joint_path_command', 10)
    service = node.create_service(Trigger, f'{REAL}/stop_motion', stop)
    cell.client.position()
    cell.client.eventually(paths.get_subscription_count, 'the twin listening')
    paths.publish(trajectory_goal(20, 0.5, 0.5).trajectory)
    cell.client.eventually(
        lambda: cell.told("Ignored a trajectory on joint_path_command: Nobody listens to '/real/joint_path_command'"),
        'a word about the missing listener',
    )
    listener = node.create_subscription(JointTrajectory, f'{REAL}/joint_path_command', heard.append, 10)
    cell.client.eventually(
        lambda: heard, 'the path', doing=lambda: paths.publish(trajectory_goal(20, 0.5, 0.5).trajectory)
    )
    assert list(heard[0].joint_names) == ['cell_shoulder', 'cell_elbow']
    cell.states.pause()
    cell.client.eventually(lambda: stops, 'stop_motion at the real side')
    cell.states.go_on()
    node.destroy_subscription(listener)
    node.destroy_service(service)
    node.destroy_publisher(paths)


def test_the_gripper_is_the_real_one(cell: Cell):
    client = ActionClient(cell.client.node, GripperCommand, GRIPPER)
    cell.client.position()
    cell.client.eventually(client.server_is_ready, "the twin's gripper")
    goal = GripperCommand.Goal()
    goal.command.position, goal.command.max_effort = 0.02, 40.0
    assert not cell.client.result(client.send_goal_async(goal)).accepted
    cell.says(f"Refused a goal: Nobody serves '{REAL}/{GRIPPER}': start the real robot's controller.")
    gripper = FakeReal(cell.client, GripperCommand, GRIPPER)
    others = ActionClient(cell.client.node, GripperCommand, f'{REAL}/{GRIPPER}')
    cell.client.eventually(others.server_is_ready, 'the real gripper')
    told: list[GripperCommand.Feedback] = []

    def accepted() -> object:
        handle = cell.client.result(client.send_goal_async(goal, lambda each: told.append(each.feedback)))
        return handle if handle.accepted else None

    handle = cell.client.eventually(accepted, 'the twin seeing the real gripper')
    cell.client.eventually(lambda: gripper.handles, 'the goal at the real side')
    assert (gripper.requests[-1].command.position, gripper.requests[-1].command.max_effort) == (0.02, 40.0)
    gripper.handles[-1].publish_feedback(GripperCommand.Feedback(position=0.03))
    cell.client.eventually(lambda: told, 'feedback')
    assert told[0].position == 0.03
    gripper.end('succeed', GripperCommand.Result(position=0.025, stalled=True))
    answer = cell.client.result(handle.get_result_async())
    assert (answer.status, answer.result.position) == (GoalStatus.STATUS_SUCCEEDED, 0.025)
    assert answer.result.stalled
    for each in (client, others, gripper):
        each.destroy()


def test_hostile_joint_states_are_told_once_and_never_mirrored(cell: Cell):
    bad = {
        "it has 'cell_elbow' twice": JointState(name=['cell_elbow'] * 2, position=[9.0, 9.0]),
        'it has 1 names and 3 positions': JointState(name=['cell_elbow'], position=[9.0] * 3),
        'it has 1 names and 2 values of velocity': JointState(name=['cell_elbow'], position=[9.0], velocity=[1.0, 1.0]),
        "the position of 'cell_elbow' is nan": JointState(name=['cell_elbow'], position=[float('nan')]),
        'it has 5000 names, more than 1000': JointState(name=['x'] * 5000, position=[9.0] * 5000),
    }
    cell.client.position()
    cell.client.twin_states.clear()
    cell.states.position = [0.25, 0.75]
    for _ in range(20):
        for message in bad.values():
            cell.states.publish(message)
            cell.client.spin_once()
    cell.states.publish(JointState(name=['nobody', 'elbow'], position=[9.0, 9.0]))
    cell.client.eventually(lambda: all(map(cell.told, bad)), 'a line about each')
    assert [cell.told(sentence) for sentence in bad] == [1] * len(bad)
    assert (
        cell.told(f"Ignored a message on '{REAL}/joint_states', and will any like it: it has 'cell_elbow' twice.") == 1
    )
    assert cell.client.position() == [0.25, 0.75]
    for state in cell.client.twin_states:
        assert list(state.name) == ['shoulder', 'elbow']
        assert state.position[1] in (0.0, 0.75)


def test_a_clock_that_is_set_back_is_followed_after_a_while(cell: Cell):
    cell.client.position()
    cell.states.offset = -1000
    cell.client.twin_states.clear()
    cell.client.eventually(
        lambda: any(state.header.stamp.sec < seconds_now(cell) - 900 for state in cell.client.twin_states),
        'states of the new clock',
    )
    cell.states.offset = 0


def test_a_clock_of_the_twin_that_is_set_back_does_not_disable_its_watch(ros_domain: int):
    """A timer by that clock would not fire again before the clock is where it was."""
    twin = twin_process(ros_domain, 'use_sim_time:=true', 'moving_timeout:=1.0', 'idle_timeout:=1.5')
    client = TwinClient('twin_test', ros_domain)
    states, arm = FakeStates(client), FakeReal(client, FollowJointTrajectory, ACTION)
    try:
        clock = client.node.create_publisher(Clock, '/clock', 10)
        client.eventually(clock.get_subscription_count, 'the twin listening to the clock')
        for seconds in (1000, 10):
            clock.publish(Clock(clock=Time(sec=seconds)))
        client.position()
        handle = client.send(trajectory_goal(20, 0.5, 0.5))
        client.eventually(lambda: arm.handles, 'the goal at the real side')
        states.pause()
        client.eventually(lambda: arm.handles[-1].is_cancel_requested, 'the cancel at the real side')
        arm.end('canceled', FollowJointTrajectory.Result())
        answer = client.result(handle.get_result_async())
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert answer.result.error_string == f'{QUIET} The goal was cancelled.'
    finally:
        twin.stop()
        arm.destroy()
        states.destroy()
        client.close()


def test_a_valve_that_nobody_switches_at_the_real_side_has_no_listener_here(cell: Cell):
    node = cell.client.node
    heard: list[Float64MultiArray] = []
    valve = node.create_publisher(Float64MultiArray, f'{VALVE}/commands', 10)
    cell.client.position()
    assert valve.get_subscription_count() == 0
    listener = node.create_subscription(Float64MultiArray, f'{REAL}/{VALVE}/commands', heard.append, 10)
    cell.client.eventually(valve.get_subscription_count, 'the twin listening')
    cell.client.eventually(lambda: heard, 'the command', doing=lambda: valve.publish(Float64MultiArray(data=[1.0])))
    assert list(heard[0].data) == [1.0]
    node.destroy_subscription(listener)
    cell.client.eventually(lambda: valve.get_subscription_count() == 0, 'the twin listening no more')
    node.destroy_publisher(valve)


def test_a_path_that_is_paused_is_still_watched(cell: Cell):
    """It has lasted longer than planned, and is stopped when nobody sees the arm any more."""
    node = cell.client.node
    stops: list[Trigger.Request] = []

    def stop(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        stops.append(request)
        return response

    service = node.create_service(Trigger, f'{REAL}/stop_motion', stop)
    listeners = [
        node.create_subscription(JointTrajectory, f'{REAL}/joint_path_command', lambda _: None, 10),
        node.create_subscription(SpeedScalingFactor, f'{REAL}/arm_controller/speed_scaling_input', lambda _: None, 1),
    ]
    paths = node.create_publisher(JointTrajectory, 'joint_path_command', 10)
    speed = node.create_publisher(SpeedScalingFactor, 'arm_controller/speed_scaling_input', 1)
    back = node.create_publisher(JointTrajectoryControllerState, f'{REAL}/arm_controller/controller_state', 10)
    mirrored: list[JointTrajectoryControllerState] = []
    listeners.append(
        node.create_subscription(JointTrajectoryControllerState, 'arm_controller/controller_state', mirrored.append, 10)
    )
    cell.client.eventually(
        lambda: paths.get_subscription_count() and speed.get_subscription_count(), 'the twin listening'
    )
    paused = JointTrajectoryControllerState(joint_names=['cell_shoulder', 'cell_elbow'], speed_scaling_factor=0.0)
    cell.client.eventually(lambda: mirrored, 'the pause', doing=lambda: back.publish(paused))
    assert list(mirrored[0].joint_names) == ['shoulder', 'elbow']
    cell.client.position()
    paths.publish(trajectory_goal(1, 0.5, 0.5).trajectory)
    begun = cell.client.node.get_clock().now()
    cell.client.eventually(lambda: (node.get_clock().now() - begun).nanoseconds > 2e9, 'longer than the path')
    cell.states.pause()
    cell.client.eventually(lambda: stops, 'stop_motion at the real side')
    cell.states.go_on()
    running = JointTrajectoryControllerState(joint_names=['cell_shoulder', 'cell_elbow'], speed_scaling_factor=1.0)
    mirrored.clear()
    cell.client.eventually(lambda: mirrored, 'the end of the pause', doing=lambda: back.publish(running))
    for each in listeners:
        node.destroy_subscription(each)
    for publisher in (paths, speed, back):
        node.destroy_publisher(publisher)
    node.destroy_service(service)


def test_best_effort_publishers_and_other_joints_are_heard(cell: Cell):
    cell.client.position()
    fingers = FakeStates(cell.client, is_reliable=False, names=['finger', 'elbow of another'])
    cell.client.eventually(
        lambda: any(list(state.name) == ['finger'] for state in cell.client.twin_states), 'the finger'
    )
    cell.client.eventually(lambda: list(cell.client.twin_states[-1].name) == ['shoulder', 'elbow'], 'the arm beside it')
    fingers.destroy()


def seconds_now(cell: Cell) -> int:
    return int(cell.client.node.get_clock().now().nanoseconds // 10**9)


def test_a_twin_without_a_real_side_is_one_sentence(ros_domain: int):
    twin = twin_process(ros_domain, "twin_of:=''")
    assert twin.wait() == 2, twin.output
    assert twin.output == (
        "twin: The parameter 'twin_of' of twin is empty: give the real robot's namespace, such as /real.\n"
    )


@pytest.mark.parametrize(
    ('parameter', 'sentence'),
    [
        ('twin_of:=/', "would share '/joint_states': give twin_of another namespace"),
        ('twin_of:=/not a name', 'Invalid topic name'),
        ('joints:=[elbow,elbow]', "'joints' of twin must name each joint of the robot once"),
        ('arm_joints:=[wrist]', "'arm_joints' of twin names 'wrist', which is not one of 'joints'"),
        ('trajectory_controller:=""', "'trajectory_controller' of twin is empty"),
        ('moving_timeout:=0.0', 'moving_timeout'),
    ],
)
def test_parameters_of_which_no_twin_can_be_made(ros_domain: int, parameter: str, sentence: str):
    rclpy.init(args=['--ros-args', *twin_parameters(parameter)], domain_id=ros_domain)
    try:
        with pytest.raises(REFUSALS, match=re.escape(sentence)):
            Twin()
    finally:
        rclpy.shutdown()
