"""A two-joint arm on mock hardware, and a graph of real processes around it, in a ROS domain of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import rclpy
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import DynamicJointState, JointTrajectoryControllerState
from controller_manager_msgs.srv import ListControllers
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.peer import Peer
from support.process import Process, node_process
from trajectory_msgs.msg import JointTrajectory

from lfd_bringup.domain import claim_free
from lfd_hardware.description import Component
from lfd_hardware.drivers import DRIVERS
from lfd_hardware.drivers.mock import MockDriver
from lfd_hardware.nodes.ros2_control_node import ControllerManager

RATE = 125  # [Hz]
UPPER = (2.0, 1.5)  # [rad] limits are symmetric
VELOCITY = (2.0, 1.0)  # [rad/s]
JOINTS = ['shoulder', 'elbow']


def arm_urdf(
    plugin: str = 'mock_components/GenericSystem',
    hardware_parameters: str = '',
    devices: Sequence[str] = ('arm_hardware',),
    commands: Sequence[str] = ('position',),
) -> str:
    """URDF of an arm whose shoulder starts at 0.1 rad and whose elbow starts at -0.2 rad.

    With two devices, the shoulder belongs to the first and the elbow to the second.
    """
    links = ''.join(f'<link name="{name}"/>' for name in ('base', 'upper', 'lower'))
    joints = ''.join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 0 1"/>'
        f'<limit lower="{-upper}" upper="{upper}" velocity="{velocity}" effort="10"/></joint>'
        for name, parent, child, upper, velocity in zip(
            JOINTS, ('base', 'upper'), ('upper', 'lower'), UPPER, VELOCITY, strict=True
        )
    )
    command_interfaces = ''.join(f'<command_interface name="{name}"/>' for name in commands)
    parts = [
        f'<joint name="{name}">{command_interfaces}'
        f'<state_interface name="position"><param name="initial_value">{start}</param></state_interface>'
        '<state_interface name="velocity"/></joint>'
        for name, start in zip(JOINTS, (0.1, -0.2), strict=True)
    ]
    control = ''.join(
        f'<ros2_control name="{name}" type="system"><hardware><plugin>{plugin}</plugin>{hardware_parameters}</hardware>'
        f'{"".join(parts[index :: len(devices)])}</ros2_control>'
        for index, name in enumerate(devices)
    )
    return f'<robot name="arm">{links}{joints}{control}</robot>'


CONTROLLERS_YAML = f"""
controller_manager:
  ros__parameters:
    update_rate: {RATE}
    joint_state_broadcaster:
      type: joint_state_broadcaster/JointStateBroadcaster
    arm_controller:
      type: joint_trajectory_controller/JointTrajectoryController
    rival_controller:
      type: joint_trajectory_controller/JointTrajectoryController
    shoulder_controller:
      type: joint_trajectory_controller/JointTrajectoryController
    stray_controller:
      type: joint_trajectory_controller/JointTrajectoryController
    odd_controller:
      type: velocity_controllers/JointGroupVelocityController
arm_controller:
  ros__parameters:
    joints: [shoulder, elbow]
    command_interfaces: [position]
    state_interfaces: [position, velocity]
    constraints:
      goal_time: 0.5
      shoulder: {{goal: 0.05}}
rival_controller:
  ros__parameters:
    joints: [elbow]
    command_interfaces: [position]
    state_interfaces: [position]
shoulder_controller:
  ros__parameters:
    joints: [shoulder]
    command_interfaces: [position]
    state_interfaces: [position]
stray_controller:
  ros__parameters:
    joints: [shoulder, wrist]
    command_interfaces: [position]
    state_interfaces: [position]
"""


class FaultyDriver(MockDriver):
    """Mock hardware that remembers what it is told, and fails or reports what a test wants."""

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self.told: list[dict[str, float]] = []
        self.fault: Exception | None = None
        self.reports: dict[str, float] = {}
        self.closed = False

    def read(self, period: float) -> dict[str, float]:
        if self.fault is not None:
            raise self.fault
        return {**super().read(period), **self.reports}

    def write(self, commands: Mapping[str, float]) -> None:
        if commands:
            self.told.append(dict(commands))
        super().write(commands)

    def close(self) -> None:
        self.closed = True
        if self.fault is not None:
            raise self.fault


class ManagerInside:
    """The node of ros2_control_node in the test's own process, where the test's drivers and controllers are."""

    def __init__(self, domain: int, parameters: Path) -> None:
        rclpy.init(
            args=['--ros-args', '--params-file', str(parameters)],
            domain_id=domain,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self._node = ControllerManager()
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def close(self) -> None:
        """End it, as a signal does."""
        if self._ending.is_set():
            return
        self._ending.set()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown()

    def _spin(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.1)


class Graph(Peer):
    """The test's own node: publishes robot_description, records joint_states, calls services and the action."""

    def __init__(self, directory: Path) -> None:
        self.parameters = directory / 'controllers.yaml'
        self.parameters.write_text(CONTROLLERS_YAML)
        self._claim = claim_free()
        super().__init__('arm_test', self._claim.number)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._description = self.node.create_publisher(String, 'robot_description', latched)
        self.trajectories = self.node.create_publisher(JointTrajectory, 'arm_controller/joint_trajectory', 10)
        self.states: list[Any] = []
        self.dynamic_states: list[Any] = []
        self.controller_states: list[Any] = []
        keep = QoSProfile(depth=1000)
        self.node.create_subscription(JointState, 'joint_states', self.states.append, keep)
        self.node.create_subscription(DynamicJointState, 'dynamic_joint_states', self.dynamic_states.append, keep)
        self.node.create_subscription(
            JointTrajectoryControllerState, 'arm_controller/controller_state', self.controller_states.append, keep
        )
        self._clients: dict[str, Any] = {}
        self.arm = ActionClient(self.node, FollowJointTrajectory, 'arm_controller/follow_joint_trajectory')
        self._processes: list[Process] = []
        self._inside: ManagerInside | None = None

    def describe(self, urdf: str) -> None:
        self._description.publish(String(data=urdf))

    def manager(self, *ros_arguments: str) -> Process:
        return self._run('ros2_control_node', '--ros-args', '--params-file', str(self.parameters), *ros_arguments)

    def manager_inside(self) -> ManagerInside:
        self._inside = ManagerInside(self.domain, self.parameters)
        return self._inside

    def spawner(self, *arguments: str) -> Process:
        return self._run('spawner', *arguments)

    def spawn(self, *arguments: str) -> str:
        """Run a spawner that must succeed; return its output."""
        spawner = self.spawner('--controller-manager-timeout', '30', *arguments)
        assert spawner.wait(60.0) == 0, spawner.output
        return spawner.output

    def call(self, kind: Any, service: str, **fields: Any) -> Any:
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self.node.create_client(kind, f'controller_manager/{service}')
        self.eventually(client.service_is_ready, f'service {service}')
        return self.result(client.call_async(kind.Request(**fields)))

    def controllers(self) -> dict[str, Any]:
        return {each.name: each for each in self.call(ListControllers, 'list_controllers').controller}

    def send(self, goal: Any, feedback: Callable[[Any], None] | None = None) -> Any:
        """Send a goal and return its handle."""
        self.eventually(self.arm.server_is_ready, 'the action')
        return self.result(self.arm.send_goal_async(goal, feedback_callback=feedback))

    def finish(self, handle: Any) -> Any:
        """Wait for a goal's result: (status, result)."""
        return self.result(handle.get_result_async())

    def position(self) -> list[float]:
        """The position [rad] of now; older joint states may still be waiting to be read."""
        now = self.node.get_clock().now()
        self.eventually(
            lambda: self.states and Time.from_msg(self.states[-1].header.stamp) >= now, 'a joint state of now'
        )
        return list(self.states[-1].position)

    def close(self) -> None:
        for process in self._processes:
            process.stop()
        if self._inside is not None:
            self._inside.close()
        super().close()
        self._claim.__exit__()

    def _run(self, executable: str, *arguments: str) -> Process:
        process = node_process(self.domain, 'lfd_hardware', executable, *arguments)
        self._processes.append(process)
        return process


@pytest.fixture(scope='session')
def urdf() -> Callable[..., str]:
    """arm_urdf, for the tests."""
    return arm_urdf


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> dict[str, FaultyDriver]:
    """The drivers that were made for the plugin 'test/Faulty', by the name of their hardware."""
    made: dict[str, FaultyDriver] = {}

    def make(component: Component) -> FaultyDriver:
        made[component.name] = FaultyDriver(component)
        return made[component.name]

    monkeypatch.setitem(DRIVERS, 'test/Faulty', make)
    return made


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    """A graph without a manager or a description."""
    graph = Graph(tmp_path)
    yield graph
    graph.close()


@pytest.fixture(scope='module')
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """A graph whose arm is up: both controllers active. Shared by the tests of a module."""
    graph = Graph(tmp_path_factory.mktemp('arm'))
    graph.describe(arm_urdf())
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    yield graph
    graph.close()
