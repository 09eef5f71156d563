"""A twin of a two-joint arm, and its real side, whose names are below /real and whose joints have a prefix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.task import Future
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectoryPoint

from .peer import Peer
from .process import Process, node_process

JOINTS = ('shoulder', 'elbow')
START = (0.1, -0.2)  # [rad]
PREFIX = 'cell_'
REAL = '/real'
ACTION = 'arm_controller/follow_joint_trajectory'
VALVE = 'vacuum_controller'

URDF = (
    '<robot name="arm"><link name="base"/><link name="upper"/><link name="lower"/>'
    + ''.join(
        f'<joint name="{PREFIX}{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        '<axis xyz="0 0 1"/><limit lower="-2" upper="2" velocity="2" effort="10"/></joint>'
        for name, parent, child in zip(JOINTS, ('base', 'upper'), ('upper', 'lower'), strict=True)
    )
    + '<ros2_control name="arm_hardware" type="system"><hardware><plugin>mock_components/GenericSystem</plugin>'
    '</hardware>'
    + ''.join(
        f'<joint name="{PREFIX}{name}"><command_interface name="position"/><state_interface name="position">'
        f'<param name="initial_value">{start}</param></state_interface><state_interface name="velocity"/></joint>'
        for name, start in zip(JOINTS, START, strict=True)
    )
    + '</ros2_control><ros2_control name="hand" type="system"><hardware><plugin>mock_components/GenericSystem</plugin>'
    '</hardware><gpio name="vacuum"><command_interface name="active"/><state_interface name="active"/></gpio>'
    '</ros2_control></robot>'
)

CONTROLLERS_YAML = f"""
{REAL}/controller_manager:
  ros__parameters:
    update_rate: 125
    joint_state_broadcaster: {{type: joint_state_broadcaster/JointStateBroadcaster}}
    arm_controller: {{type: joint_trajectory_controller/JointTrajectoryController}}
    vacuum_controller: {{type: forward_command_controller/ForwardCommandController}}
{REAL}/arm_controller:
  ros__parameters:
    joints: [{PREFIX}shoulder, {PREFIX}elbow]
    command_interfaces: [position]
    state_interfaces: [position, velocity]
{REAL}/vacuum_controller:
  ros__parameters: {{joints: [vacuum], interface_name: active}}
"""


def trajectory_goal(seconds: int, *positions: float, joints: Sequence[str] = JOINTS) -> Any:
    """A goal of one point [rad]."""
    message = FollowJointTrajectory.Goal()
    message.trajectory.joint_names = list(joints)
    message.trajectory.points = [JointTrajectoryPoint(positions=positions)]
    message.trajectory.points[0].time_from_start.sec = seconds
    return message


def twin_parameters(*more: str) -> list[str]:
    """What the twin of the arm is told on its command line; more, or others, as name:=value."""
    told = (
        f'twin_of:={REAL}',
        f'joints:=[{",".join(JOINTS)},finger]',
        f'arm_joints:=[{",".join(JOINTS)}]',
        'trajectory_controller:=arm_controller',
        f'valve_controllers:=[{VALVE}]',
        f'real_prefix:={PREFIX}',
        *more,
    )
    return [word for parameter in told for word in ('-p', parameter)]


def twin_process(domain: int, *more: str) -> Process:
    """The twin of the arm, in the root namespace."""
    return node_process(domain, 'lfd_hardware', 'twin', '--ros-args', *twin_parameters(*more))


class TwinClient(Peer):
    """Who uses the twin: sends goals to it and hears joint states of both sides."""

    def __init__(self, name: str, domain: int) -> None:
        super().__init__(name, domain)
        self.arm = ActionClient(self.node, FollowJointTrajectory, ACTION)
        self.twin_states: list[Any] = []
        self.real_states: list[Any] = []
        self.node.create_subscription(JointState, 'joint_states', self.twin_states.append, QoSProfile(depth=1000))
        self.node.create_subscription(
            JointState, f'{REAL}/joint_states', self.real_states.append, qos_profile_sensor_data
        )

    def send(self, goal: Any, feedback: Callable[[Any], None] | None = None) -> Any:
        """Send a goal to the twin and return its handle."""
        self.eventually(self.arm.server_is_ready, "the twin's action")
        return self.result(self.arm.send_goal_async(goal, feedback_callback=feedback))

    def run(self, goal: Any) -> Any:
        """Send a goal that must be accepted, and return its status and result."""
        handle = self.send(goal)
        assert handle.accepted
        return self.result(handle.get_result_async())

    def position(self) -> list[float]:
        """Where the twin is now [rad]."""
        now = self.node.get_clock().now()
        self.eventually(
            lambda: self.twin_states and Time.from_msg(self.twin_states[-1].header.stamp) >= now, 'a joint state of now'
        )
        return list(self.twin_states[-1].position)


class RealArm:
    """The controller manager of the real side on mock hardware: it can be killed and started again."""

    def __init__(self, client: TwinClient, folder: Path) -> None:
        self._client = client
        self._parameters = folder / 'controllers.yaml'
        self._parameters.write_text(CONTROLLERS_YAML)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = client.node.create_publisher(String, f'{REAL}/robot_description', latched)
        self._description.publish(String(data=URDF))
        self.process = self._start()

    def restart(self) -> None:
        """Start it again, with its controllers."""
        self.process.stop()
        self.process = self._start()

    def _start(self) -> Process:
        ros = ('--ros-args', '--params-file', str(self._parameters), '-r', f'__ns:={REAL}')
        process = node_process(self._client.domain, 'lfd_hardware', 'ros2_control_node', *ros)
        controllers = ('joint_state_broadcaster', 'arm_controller', VALVE)
        # Who was killed still seems to be there, and never answers.
        times = ('--controller-manager-timeout', '30', '--service-call-timeout', '3')
        manager = ('--controller-manager', f'{REAL}/controller_manager', *times)
        spawner = node_process(self._client.domain, 'lfd_hardware', 'spawner', *controllers, *manager)
        assert spawner.wait(60.0) == 0, spawner.output + process.output
        return process


class FakeReal:
    """A real side in the test's own node, for what no real arm does on demand; `name` is of its action."""

    def __init__(self, client: Peer, kind: Any, name: str) -> None:
        self.handles: list[Any] = []
        self.requests: list[Any] = []
        self.is_accepting = True
        self.is_cancelling = True
        self.held: Future | None = None  # until it is done, no goal is answered
        self.ends: list[Future] = []  # one per goal: how it ends, and with which result
        self._server = ActionServer(
            client.node,
            kind,
            f'{REAL}/{name}',
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT if self.is_cancelling else CancelResponse.REJECT,
            callback_group=ReentrantCallbackGroup(),
        )

    def end(self, how: str, result: Any) -> None:
        """End the last goal: succeed, abort or canceled."""
        self.ends[-1].set_result((how, result))

    def destroy(self) -> None:
        self._server.destroy()

    async def _on_goal(self, request: Any) -> GoalResponse:
        self.requests.append(request)
        if self.held is not None:
            await self.held
        return GoalResponse.ACCEPT if self.is_accepting else GoalResponse.REJECT

    async def _execute(self, handle: Any) -> Any:
        self.handles.append(handle)
        end = Future()
        self.ends.append(end)
        how, result = await end
        getattr(handle, how)()
        return result


class FakeStates:
    """Joint states of a real side, from a timer of the test's node while that is spun."""

    def __init__(self, client: Peer, *, is_reliable: bool = True, names: Sequence[str] = JOINTS) -> None:
        reliability = ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT
        qos = QoSProfile(depth=10, reliability=reliability)
        self._node = client.node
        self._publisher = client.node.create_publisher(JointState, f'{REAL}/joint_states', qos)
        self._timer = client.node.create_timer(0.01, self.publish)
        self.names = [f'{PREFIX}{name}' for name in names]
        self.position = [0.0] * len(names)
        self.offset = 0  # [s] by which its clock differs

    def publish(self, message: JointState | None = None) -> None:
        """Publish the present state, or a message of another kind with a stamp of now."""
        message = message or JointState(name=self.names, position=self.position)
        message.header.stamp = self._node.get_clock().now().to_msg()
        message.header.stamp.sec += self.offset
        self._publisher.publish(message)

    def pause(self) -> None:
        """Fall silent."""
        self._timer.cancel()

    def go_on(self) -> None:
        """Be heard again."""
        self._timer.reset()

    def destroy(self) -> None:
        self._node.destroy_timer(self._timer)
        self._node.destroy_publisher(self._publisher)
