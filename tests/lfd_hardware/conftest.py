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
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.peer import Peer
from support.process import Process, node_process
from trajectory_msgs.msg import JointTrajectory

from lfd_bringup.domain import claim_free
from lfd_description.nodes.executor import BackgroundExecutor
from lfd_hardware.description import Component, parse_hardware
from lfd_hardware.device import DeviceState, wait_for_all
from lfd_hardware.drivers import DRIVERS, DriverError
from lfd_hardware.drivers.mock import MockDriver
from lfd_hardware.hardware import Hardware
from lfd_hardware.nodes.ros2_control_node import SERVICE_THREADS, ControllerManager

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


def hand_urdf(hardware_parameters: str = '') -> str:
    """URDF of an arm with a hand: a finger (0 to 0.05 m, 0.1 m/s) that another one mimics, and a vacuum."""
    fingers = ''.join(
        f'<link name="{name}_link"/><joint name="{name}" type="prismatic"><parent link="lower"/>'
        f'<child link="{name}_link"/><axis xyz="0 1 0"/><limit lower="0" upper="0.05" velocity="0.1" effort="10"/>'
        f'{mimic}</joint>'
        for name, mimic in (('finger', ''), ('other_finger', '<mimic joint="finger"/>'))
    )
    states = '<state_interface name="position"/><state_interface name="velocity"/>'
    control = (
        '<ros2_control name="hand" type="system"><hardware><plugin>mock_components/GenericSystem</plugin>'
        f'{hardware_parameters}</hardware><joint name="finger"><command_interface name="position"/>{states}</joint>'
        f'<joint name="other_finger">{states}</joint>'
        '<gpio name="vacuum"><command_interface name="active"/><state_interface name="active"/></gpio></ros2_control>'
    )
    return arm_urdf().replace('</robot>', f'{fingers}{control}</robot>')


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
    forward_controller:
      type: forward_command_controller/ForwardCommandController
    gripper_controller:
      type: position_controllers/GripperActionController
    vacuum_controller:
      type: forward_command_controller/ForwardCommandController
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
forward_controller:
  ros__parameters:
    joints: [elbow]
    interface_name: position
gripper_controller:
  ros__parameters:
    joint: finger
    stall_timeout: 0.3
vacuum_controller:
  ros__parameters:
    joints: [vacuum]
    interface_name: active
stray_controller:
  ros__parameters:
    joints: [shoulder, wrist]
    command_interfaces: [position]
    state_interfaces: [position]
"""


class Hang:
    """A step that does not come back before a test lets it."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.release = threading.Event()


class FaultyDriver(MockDriver):
    """Mock hardware that remembers what it is told, and fails, hangs or reports what a test wants."""

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self.told: list[dict[str, float]] = []
        self.steps: list[str] = []
        self.broken_steps: set[str] = set()
        self.fault: Exception | None = None
        self.reports: dict[str, float] = {}
        self.stopped = False  # by itself: follows no commands, and is about to say why
        self.reads = self.writes = 0
        self._hangs: dict[str, Hang] = {}

    def hang(self, step: str) -> Hang:
        """Make a step hang, once."""
        self._hangs[step] = Hang()
        return self._hangs[step]

    def configure(self) -> None:
        self._step('configure')

    def activate(self) -> None:
        self._step('activate')
        super().activate()

    @property
    def is_holding(self) -> bool:
        return self.stopped

    def read(self, period: float) -> dict[str, float]:
        self.reads += 1
        if hang := self._hangs.pop('read', None):
            hang.begun.set()
            assert hang.release.wait(60.0)
        if self.fault is not None:
            raise self.fault
        return {**super().read(period), **self.reports}

    def write(self, commands: Mapping[str, float]) -> None:
        self.writes += 1
        if commands:
            self.told.append(dict(commands))
        if not self.stopped:
            super().write(commands)

    def deactivate(self) -> None:
        self._step('deactivate')

    def close(self) -> None:
        self._step('close')
        if self.fault is not None:
            raise self.fault

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if hang := self._hangs.pop(name, None):
            hang.begun.set()
            assert hang.release.wait(60.0)
        if name in self.broken_steps:
            raise DriverError(f'No {name}.')


class ManagerInside:
    """The node of ros2_control_node in the test's own process, where the test's drivers and controllers are."""

    def __init__(self, domain: int, parameters: Path) -> None:
        rclpy.init(
            args=['--ros-args', '--params-file', str(parameters)],
            domain_id=domain,
            signal_handler_options=SignalHandlerOptions.NO,
        )
        self.node = ControllerManager()
        self.errors: list[Exception] = []
        self._executor = BackgroundExecutor(SERVICE_THREADS, self.errors.append)
        self._executor.add_node(self.node)
        self._closed = False

    def close(self) -> None:
        """End it, as a signal does."""
        if self._closed:
            return
        self._closed = True
        self.node.come_to_rest()
        self._executor.close(2.0)
        self.node.destroy_node()
        rclpy.shutdown()
        assert self.errors == []


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
            name = service if service.startswith('/') else f'controller_manager/{service}'
            client = self._clients[service] = self.node.create_client(kind, name)
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

    def comes_to(self, *positions: float) -> None:
        """Wait until the arm, which lags behind its command a little, is at a position [rad]."""
        self.eventually(lambda: self.position() == pytest.approx(list(positions), abs=1e-8), f'the arm at {positions}')

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


def hardware_up(urdf: str, period: float = 0.01) -> Hardware:
    """The hardware of a URDF with every device active."""
    hardware = Hardware(parse_hardware(urdf), period)
    for device in hardware.devices:
        assert device.go(DeviceState.ACTIVE, lambda _: None)
    assert wait_for_all(hardware.devices, 30.0) == []
    return hardware


@pytest.fixture(scope='session')
def up() -> Callable[..., Hardware]:
    """hardware_up, for the tests."""
    return hardware_up


@pytest.fixture(scope='session')
def urdf() -> Callable[..., str]:
    """arm_urdf, for the tests."""
    return arm_urdf


@pytest.fixture(scope='module')
def hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """A graph whose arm has a hand, with the controllers of the hand active."""
    graph = Graph(tmp_path_factory.mktemp('hand'))
    graph.describe(hand_urdf())
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'gripper_controller', 'vacuum_controller')
    yield graph
    graph.close()


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
