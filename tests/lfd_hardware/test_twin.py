"""A twin and a real arm, which is an embedded controller manager on mock hardware, as processes over DDS."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState, JointTolerance, JointTrajectoryControllerState, SpeedScalingFactor
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from support.process import Process
from support.twin_cell import PREFIX, REAL, START, VALVE, RealArm, TwinClient, trajectory_goal, twin_process
from trajectory_msgs.msg import JointTrajectory

from lfd_bringup.domain import claim_free

PATIENT = 'moving_timeout:=1.0'  # [s]: a busy machine must not look like a silent robot


@dataclass
class Cell:
    client: TwinClient
    real: RealArm
    twin: Process


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    with claim_free() as domain:
        client = TwinClient('twin_test', domain.number)
        twin = twin_process(domain.number, PATIENT)
        real = RealArm(client, tmp_path_factory.mktemp('real'))
        cell = Cell(client, real, twin)
        yield cell
        cell.twin.stop()
        real.process.stop()
        client.close()


def test_a_goal_moves_the_real_arm_and_the_twin_mirrors_it(cell: Cell):
    client = cell.client
    assert client.position() == pytest.approx(START)
    told = []
    handle = client.send(trajectory_goal(1, 0.6, 0.4), told.append)
    answer = client.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.error_code == FollowJointTrajectory.Result.SUCCESSFUL
    assert client.position() == pytest.approx([0.6, 0.4], abs=1e-3)
    assert list(told[0].feedback.joint_names) == ['shoulder', 'elbow']
    assert told[-1].feedback.desired.positions[0] > told[0].feedback.desired.positions[0]
    real = {(s.header.stamp.sec, s.header.stamp.nanosec): s for s in client.real_states}
    pairs = [
        (real[stamp], state)
        for state in client.twin_states
        if (stamp := (state.header.stamp.sec, state.header.stamp.nanosec)) in real
    ]
    assert len(pairs) > 10
    for theirs, ours in pairs:
        assert list(theirs.name) == [f'{PREFIX}{name}' for name in ours.name] == ['cell_shoulder', 'cell_elbow']
        assert theirs.position == ours.position
        assert theirs.velocity == ours.velocity


def test_a_cancel_goes_through(cell: Cell):
    client = cell.client
    start = client.position()[0]
    handle = client.send(trajectory_goal(20, start + 1.0, 0.0))
    client.eventually(lambda: client.position()[0] > start + 0.01, 'some motion')
    assert client.result(handle.cancel_goal_async()).goals_canceling
    answer = client.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert client.position()[0] < start + 0.9
    client.eventually(lambda: abs(client.twin_states[-1].velocity[0]) < 1e-6, 'rest')


def test_a_newer_goal_replaces_one_as_at_the_real_controller(cell: Cell):
    client = cell.client
    first = client.send(trajectory_goal(20, 1.0, 0.0))
    second = client.send(trajectory_goal(1, *START))
    replaced, done = client.result(first.get_result_async()), client.result(second.get_result_async())
    assert replaced.status == GoalStatus.STATUS_ABORTED
    assert replaced.result.error_string == 'Replaced by a newer trajectory.'
    assert done.status == GoalStatus.STATUS_SUCCEEDED


def test_the_real_controllers_refusal_is_told(cell: Cell):
    answer = cell.client.run(trajectory_goal(1, 0.0, 0.0, joints=('shoulder', 'wrist')))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == FollowJointTrajectory.Result.INVALID_JOINTS
    assert f'{PREFIX}wrist' in answer.result.error_string
    strange = trajectory_goal(1, *START)
    strange.path_tolerance = [JointTolerance(name='wrist', position=0.1)]
    assert f'{PREFIX}wrist' in cell.client.run(strange).result.error_string


def test_the_stamp_of_a_trajectory_is_kept(cell: Cell):
    goal = trajectory_goal(1, *START)
    goal.trajectory.header.stamp.sec = 1000
    answer = cell.client.run(goal)
    assert answer.result.error_code == FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP


def test_stop_motion_stops_the_real_arm(cell: Cell):
    client = cell.client
    stop = client.node.create_client(Trigger, 'stop_motion')
    handle = client.send(trajectory_goal(20, 1.0, 1.0))
    client.eventually(stop.service_is_ready, 'stop_motion')
    answer = client.result(stop.call_async(Trigger.Request()))
    assert answer.success
    assert 'arm_controller' in answer.message
    assert client.result(handle.get_result_async()).status == GoalStatus.STATUS_ABORTED
    client.node.destroy_client(stop)


def test_a_path_command_moves_the_real_arm(cell: Cell):
    client = cell.client
    paths = client.node.create_publisher(JointTrajectory, 'joint_path_command', 10)
    client.eventually(paths.get_subscription_count, 'the twin listening')
    paths.publish(trajectory_goal(1, 0.3, 0.3).trajectory)
    client.eventually(lambda: client.position() == pytest.approx([0.3, 0.3], abs=1e-3), 'the arm at its goal')
    client.node.destroy_publisher(paths)


def test_suction_goes_through(cell: Cell):
    """As the task executor switches it: by the topic of the twin's own vacuum_controller."""
    client = cell.client
    told: list[DynamicJointState] = []
    listener = client.node.create_subscription(
        DynamicJointState, f'{REAL}/dynamic_joint_states', told.append, qos_profile_sensor_data
    )
    valve = client.node.create_publisher(Float64MultiArray, f'{VALVE}/commands', 10)
    client.eventually(valve.get_subscription_count, 'the twin listening')

    def is_on() -> bool:
        values = [dict(zip(told[-1].joint_names, told[-1].interface_values, strict=True))] if told else []
        return bool(values) and list(values[0]['vacuum'].values) == [1.0]

    client.eventually(lambda: bool(told) and not is_on(), 'the real vacuum, off')
    valve.publish(Float64MultiArray(data=[1.0]))
    client.eventually(is_on, 'the real vacuum, on')
    valve.publish(Float64MultiArray(data=[0.0]))
    client.eventually(lambda: not is_on(), 'the real vacuum, off again')
    client.node.destroy_publisher(valve)
    client.node.destroy_subscription(listener)


def test_the_speed_goes_through_and_tracking_errors_come_back(cell: Cell):
    client = cell.client
    told: list[JointTrajectoryControllerState] = []
    listener = client.node.create_subscription(
        JointTrajectoryControllerState, 'arm_controller/controller_state', told.append, 10
    )
    speed = client.node.create_publisher(SpeedScalingFactor, 'arm_controller/speed_scaling_input', 1)
    client.eventually(speed.get_subscription_count, 'the twin listening')
    start = client.position()[0]
    handle = client.send(trajectory_goal(2, start + 0.6, 0.3))
    client.eventually(lambda: client.position()[0] > start + 0.01, 'some motion')
    speed.publish(SpeedScalingFactor(factor=0.0))
    client.eventually(lambda: told and told[-1].speed_scaling_factor == 0.0, 'the pause')
    assert list(told[-1].joint_names) == ['shoulder', 'elbow']
    assert max(abs(each.error.positions[0]) for each in told) > 1e-4  # a mock arm follows late
    paused = handle.get_result_async()
    assert not paused.done()
    speed.publish(SpeedScalingFactor(factor=1.0))
    assert client.result(paused).status == GoalStatus.STATUS_SUCCEEDED
    client.node.destroy_publisher(speed)
    client.node.destroy_subscription(listener)


def test_goals_end_when_the_real_side_is_killed_and_work_when_it_is_back(cell: Cell):
    client = cell.client
    start = client.position()[0]
    handle = client.send(trajectory_goal(20, start + 1.0, 1.0))
    client.eventually(lambda: client.position()[0] > start + 0.01, 'some motion')
    cell.real.process.stop()
    answer = client.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    quiet = f"No joint states of '{PREFIX}shoulder' come on '{REAL}/joint_states'."
    assert answer.result.error_string.startswith(f'{quiet} The goal was cancelled.')
    refused = client.run(trajectory_goal(1, 0.5, 0.5))
    assert refused.status == GoalStatus.STATUS_ABORTED
    assert refused.result.error_string == f'{quiet} Start the real robot.'
    client.eventually(lambda: f'{quiet} Stopping what moves.' in cell.twin.output, 'word that it is gone')
    assert cell.twin.output.count(f'{quiet} Stopping what moves.') == 1
    cell.real.restart()
    client.eventually(lambda: cell.twin.output.count(f"Mirrors '{REAL}/joint_states'.") == 2, 'word that it is back')
    assert client.position() == pytest.approx(START)
    assert client.run(trajectory_goal(1, 0.5, 0.5)).status == GoalStatus.STATUS_SUCCEEDED
    assert 'Traceback' not in cell.twin.output


def test_a_twin_that_ends_stops_the_real_arm_and_says_so(cell: Cell):
    client = cell.client
    start = client.position()[0]
    handle = client.send(trajectory_goal(20, start + 1.0, 1.0))
    client.eventually(lambda: client.position()[0] > start + 0.01, 'some motion')
    result = handle.get_result_async()
    cell.twin.send(signal.SIGINT)
    answer = client.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_string.startswith('The twin is ending. The real controller said: Cancelled')
    client.eventually(lambda: not cell.twin.is_running, 'its end')
    assert cell.twin.wait() == 0
    assert 'Traceback' not in cell.twin.output
    assert 'never retrieved' not in cell.twin.output
    client.eventually(lambda: abs(client.real_states[-1].velocity[0]) < 1e-6, 'rest')
    assert client.real_states[-1].position[0] < start + 0.9
