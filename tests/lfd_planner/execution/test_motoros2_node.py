"""Goals by the rules of MotoROS2, sent to a node that has these rules, over DDS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from industrial_msgs.msg import RobotStatus
from motoros2_interfaces.srv import ResetError, StartTrajMode
from rclpy.action import ActionClient
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from support.motoros2_simulator import JOINTS, MotoRos2Simulator
from support.peer import Peer
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.execution.motoros2 import SERVICE_READY, MotoRos2Rules, explain, explain_reason, native_code
from lfd_planner.timing import Trajectory

START = np.array([0.1, -0.4, 0.3, 0.0, 0.5, -0.2])  # [rad]
NAMESPACE = 'cell'


def wave(ways: Sequence[float], points: int = 120, spacing: float = 0.004) -> Trajectory:
    """A motion of all joints by each of the ways [rad] in turn, at rest in between."""
    u = np.linspace(0.0, 1.0, points)
    duration = (points - 1) * spacing
    law, pace = 10 * u**3 - 15 * u**4 + 6 * u**5, (30 * u**2 - 60 * u**3 + 30 * u**4) / duration
    ones, parts, here = np.ones(6), [], START
    for way in ways:
        parts.append(Trajectory(u * duration, here + np.outer(law, way * ones), np.outer(pace, way * ones)))
        here = parts[-1].q[-1]
    return Trajectory.joined(parts)


class Client:
    """What an executor does: states in, services and goals out."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.joints: dict[str, float] = {}
        self.status: Any = None
        node = peer.node
        node.create_subscription(JointState, f'{NAMESPACE}/joint_states', self._on_joints, qos_profile_sensor_data)
        node.create_subscription(RobotStatus, f'{NAMESPACE}/robot_status', self._on_status, qos_profile_sensor_data)
        self._services = {
            name: node.create_client(kind, f'{NAMESPACE}/{name}')
            for name, kind in (
                ('start_traj_mode', StartTrajMode),
                ('stop_traj_mode', Trigger),
                ('reset_error', ResetError),
            )
        }
        self._action = ActionClient(node, FollowJointTrajectory, f'{NAMESPACE}/follow_joint_trajectory')
        peer.eventually(self._action.server_is_ready, 'the action of MotoROS2')
        peer.eventually(lambda: self.joints and self.status, 'the topics of MotoROS2')

    def call(self, name: str) -> Any:
        client = self._services[name]
        self.peer.eventually(client.service_is_ready, name)
        return self.peer.result(client.call_async(client.srv_type.Request()))

    def begin(self, goal: Trajectory) -> Any:
        """Send a goal; MotoROS2 accepts every goal."""
        message = FollowJointTrajectory.Goal(trajectory=message_of(goal))
        handle = self.peer.result(self._action.send_goal_async(message))
        assert handle.accepted
        return handle

    def run(self, goal: Trajectory) -> tuple[int, int]:
        """Send a goal and return its status and error code."""
        answer = self.peer.result(self.begin(goal).get_result_async())
        return answer.status, answer.result.error_code

    def close(self) -> None:
        self._action.destroy()

    def _on_joints(self, message: Any) -> None:
        self.joints = dict(zip(message.name, message.position, strict=True))

    def _on_status(self, message: Any) -> None:
        self.status = message


def message_of(goal: Trajectory) -> JointTrajectory:
    moves = goal
    points = []
    for time, q, v in zip(moves.times, moves.q, moves.v, strict=True):
        nanoseconds = round(time * 1e9)
        points.append(
            JointTrajectoryPoint(
                positions=q.tolist(),
                velocities=v.tolist(),
                time_from_start=Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9),
            )
        )
    return JointTrajectory(joint_names=list(JOINTS), points=points)


@pytest.fixture
def controller(ros_domain: int) -> Iterator[MotoRos2Simulator]:
    with MotoRos2Simulator(JOINTS, START, ros_domain, namespace=NAMESPACE) as simulator:
        yield simulator


@pytest.fixture
def client(controller: MotoRos2Simulator, make_peer: Any) -> Iterator[Client]:
    made = Client(make_peer('executor'))
    yield made
    made.close()


def goals_of(motion: Trajectory) -> tuple[Trajectory, ...]:
    return MotoRos2Rules().goals(motion)


def test_a_long_motion_is_run_goal_by_goal(controller, client):
    assert client.call('start_traj_mode').result_code.value == SERVICE_READY
    goals = goals_of(wave([0.3, -0.2, 0.25]))
    assert len(goals) == 3
    for goal in goals:
        client.peer.eventually(
            lambda goal=goal: np.allclose([client.joints[joint] for joint in JOINTS], goal.q[0], atol=1e-6),
            'the arm is where the goal begins',
        )
        assert client.run(MotoRos2Rules().starting_at(goal, JOINTS, client.joints)) == (GoalStatus.STATUS_SUCCEEDED, 0)
    assert np.allclose(controller.positions, START + 0.35, atol=1e-6)
    assert controller.goals == [120, 120, 120]
    assert client.call('stop_traj_mode').success


def test_what_is_not_ready_is_accepted_then_aborted_with_a_reason(controller, client):
    [goal] = goals_of(wave([0.1]))

    def reason() -> int:
        status, code = client.run(goal)
        assert status == GoalStatus.STATUS_ABORTED
        assert 'unknown' not in explain(code)
        return native_code(code)

    assert reason() == 106
    client.call('start_traj_mode')
    client.call('stop_traj_mode')
    assert reason() == 209
    client.call('start_traj_mode')
    controller.positions = START + 0.01
    assert reason() == 204
    controller.alarm = 8010
    assert reason() == 101
    assert client.call('start_traj_mode').result_code.value == 101
    client.peer.eventually(lambda: client.status.in_error.val == 1, 'the alarm in the status')
    assert list(client.status.error_codes) == [8010]
    assert client.call('reset_error').result_code.value == SERVICE_READY
    controller.e_stopped = True
    assert 'emergency stop' in explain_reason(client.call('start_traj_mode').result_code.value)


@pytest.mark.parametrize(
    ('change', 'code'),
    [
        (lambda message: message.points.__delitem__(slice(1, None)), 201),
        (lambda message: message.points.extend([message.points[-1]] * 200), 202),
        (lambda message: message.joint_names.pop(), 207),
        (lambda message: setattr(message.points[5], 'velocities', []), 212),
        (lambda message: setattr(message.points[-1], 'velocities', [0.1] * 6), 213),
        (lambda message: message.joint_names.__setitem__(0, message.joint_names[1]), 215),
    ],
)
def test_the_simulator_has_the_rules_of_motoros2(controller, client, change, code):
    client.call('start_traj_mode')
    [goal] = goals_of(wave([0.1]))
    message = message_of(goal)
    points, names = list(message.points), list(message.joint_names)
    message.points, message.joint_names = points, names
    change(message)
    handle = client.peer.result(client._action.send_goal_async(FollowJointTrajectory.Goal(trajectory=message)))
    answer = client.peer.result(handle.get_result_async())
    assert (answer.status, answer.result.error_code) == (GoalStatus.STATUS_ABORTED, -100000 - code)
    assert np.allclose(controller.positions, START)


def test_a_running_goal_can_be_cancelled_and_refuses_a_second_one(controller, client):
    client.call('start_traj_mode')
    [goal] = goals_of(wave([0.4], points=190, spacing=0.02))
    handle = client.begin(goal)
    client.peer.eventually(lambda: controller.positions[0] > START[0] + 0.01, 'the arm moves')
    assert native_code(client.run(goal)[1]) == 203
    assert not client.call('stop_traj_mode').success
    client.peer.result(handle.cancel_goal_async())
    answer = client.peer.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert native_code(answer.result.error_code) == 300
    assert controller.positions[0] < START[0] + 0.4


def test_an_emergency_stop_aborts_a_running_goal(controller, client):
    client.call('start_traj_mode')
    [goal] = goals_of(wave([0.4], points=190, spacing=0.02))
    handle = client.begin(goal)
    client.peer.eventually(lambda: controller.positions[0] > START[0] + 0.01, 'the arm moves')
    controller.e_stopped = True
    answer = client.peer.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert native_code(answer.result.error_code) == 303
    client.peer.eventually(lambda: client.status.e_stopped.val == 1, 'the emergency stop in the status')
