"""Arms for the control benchmark: each a real ros2_control_node process, its simulated controller another.

All times are of the machine's monotonic clock, which its processes share.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import yaml
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from support.peer import Peer, eventually
from support.process import Process, node_process
from trajectory_msgs.msg import JointTrajectoryPoint

from lfd_bringup import tether
from lfd_description.robots import Robot, find_robot, robot_description

Array = npt.NDArray[np.float64]
HERE = Path(__file__).parent
TIMEOUT = 60.0  # [s]
SWING = 0.2  # [rad] of the first joint
NUDGE = 0.01  # [rad]
NUDGE_TIME = 0.1  # [s]
TICK = 1.0 / os.sysconf('SC_CLK_TCK')  # [s]
PLUGINS = {
    'ur': 'ur_robot_driver/URPositionHardwareInterface',
    'abb': 'abb_hardware_interface/ABBSystemHardware',
    'motoman': 'lfd_hardware/MotomanSystem',
}


@dataclass(frozen=True)
class Arm:
    """An arm to control."""

    robot: str
    driver: str
    rate: int  # [Hz]


ARMS = {
    'mock': Arm('ur5e', 'mock', 500),
    'ur': Arm('ur5e', 'ur', 500),
    'abb': Arm('irb1600', 'abb', 250),
    'motoman': Arm('gp8', 'motoman', 250),
}


@dataclass(frozen=True)
class Window:
    """A stretch of time that is measured."""

    begin: float  # [s] monotonic
    end: float
    cpu: tuple[float, ...] = ()  # of one core, of each process that was watched
    plans: int = 0  # that the planners made meanwhile
    busy: float = 0.0  # cores of the machine that worked, for whomever; of processes that were there at its end

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    def of(self, stamps: Array) -> Array:
        """The times, or rows that begin with one, that lie in it."""
        times = stamps if stamps.ndim == 1 else stamps[:, 0]
        return stamps[(times >= self.begin) & (times <= self.end)]


def program(name: str, *arguments: object) -> Process:
    """A program of the benchmark; it ends with this process, however that ends."""
    command = [sys.executable, '-u', tether.__file__, str(os.getpid()), str(HERE / name), *map(str, arguments)]
    return Process(command, {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)})


def ready(process: Process, word: str) -> str:
    """Wait until a program prints a line with a word, and return the line."""

    def found() -> str:
        assert process.is_running, process.output
        return next((line for line in process.output.splitlines() if word in line), '')

    return str(eventually(found, f"'{word}' of a program", TIMEOUT))


class Planners:
    """Processes that plan the recorded stack in a loop; they sleep but when asked to work."""

    def __init__(self, number: int) -> None:
        self._processes = [program('control_load.py') for _ in range(number)]
        for process in self._processes:
            ready(process, 'planned')
            process.send(signal.SIGSTOP)

    @property
    def plans(self) -> int:
        """How many plans they made."""
        return sum(process.output.count('planned') for process in self._processes)

    @contextmanager
    def working(self, wanted: bool) -> Iterator[None]:
        """Let them work meanwhile, if that is wanted."""
        for process in self._processes if wanted else ():
            process.send(signal.SIGCONT)
        try:
            yield
        finally:
            for process in self._processes if wanted else ():
                process.send(signal.SIGSTOP)

    def stop(self) -> None:
        for process in self._processes:
            process.stop()

    def watch(self, seconds: float, pids: Sequence[int] = ()) -> Window:
        """Let some time pass, and tell what the processes used of the CPU meanwhile."""
        plans = self.plans
        before, begin = _busy(), time.monotonic()
        time.sleep(seconds)
        end, after = time.monotonic(), _busy()
        shares = {pid: (used - before.get(pid, 0.0)) / (end - begin) for pid, used in after.items()}
        return Window(begin, end, tuple(shares[pid] for pid in pids), self.plans - plans, sum(shares.values()))


def _cpu(pid: int) -> float:
    """What a process used [s], in all its threads."""
    fields = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()
    return TICK * (int(fields[11]) + int(fields[12]))


def _busy() -> dict[int, float]:
    """What each process used [s]; the machine's own count leaves out those that work for less than a tick."""
    found = {}
    for folder in Path('/proc').iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):  # it has ended
                found[int(folder.name)] = _cpu(int(folder.name))
    return found


class RobotController:
    """A simulated controller in a process of its own."""

    def __init__(self, kind: str, robot: Robot, folder: Path, *arguments: str) -> None:
        self._file = folder / f'{kind}_set_points.npy'
        positions = [str(each) for each in robot.poses['home']]
        self.process = program('control_robot.py', kind, self._file, '--positions', *positions, *arguments)
        self.tag: dict[str, object] = json.loads(ready(self.process, '{'))

    def end(self) -> Array:
        """End it; gives what it was told: time of arrival, values."""
        assert self.process.end(signal.SIGTERM) == 0, self.process.output
        return np.asarray(np.load(self._file))


class RunningArm:
    """An arm with its controller manager, its controllers, and robot_state_publisher, which hears its joint states."""

    def __init__(self, arm: Arm, peer: Peer, folder: Path, namespace: str = '/arm') -> None:
        self.arm = arm
        self._peer = peer
        self._robot = find_robot(arm.robot)
        self._folder = folder / namespace.strip('/')
        self._folder.mkdir(parents=True, exist_ok=True)
        self._namespace = namespace
        self._file = self._folder / 'cycles.npy'
        self._processes: list[Process] = []
        self.controller: RobotController | None = None
        self._client: Any = None
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Of ros2_control_node."""
        return self._node.pid

    def _start(self) -> None:
        if self.arm.driver != 'mock':
            self.controller = RobotController(self.arm.driver, self._robot, self._folder)
        urdf = self._urdf()
        description = self._write('description.yaml', {'/**': {'ros__parameters': {'robot_description': urdf}}})
        ros = ('-r', f'__ns:={self._namespace}')
        domain = self._peer.domain
        self._processes.append(
            node_process(
                domain, 'lfd_description', 'robot_state_publisher', '--ros-args', '--params-file', description, *ros
            )
        )
        os.environ['ROS_DOMAIN_ID'] = str(domain)
        self._node = program(
            'control_node.py', self._file, '--ros-args', '--params-file', self._parameters_file(), *ros
        )
        self._processes.append(self._node)
        name = f'{self._robot.name}_controller'
        self._spawner = node_process(
            *(domain, 'lfd_hardware', 'spawner', 'joint_state_broadcaster', name),
            *('--controller-manager', f'{self._namespace}/controller_manager', '--controller-manager-timeout', '60'),
        )
        self._processes.append(self._spawner)
        action = f'{self._namespace}/{name}/follow_joint_trajectory'
        self._client = ActionClient(self._peer.node, FollowJointTrajectory, action)

    def wait(self) -> RunningArm:
        """Wait until it can be moved."""
        assert self._spawner.wait(TIMEOUT) == 0, self._spawner.output + self._node.output
        self._peer.eventually(self._client.server_is_ready, f'the action of {self._robot.name}')
        return self

    def _urdf(self) -> str:
        urdf = robot_description(self._robot)
        if self.controller is None:
            return urdf
        tree = ElementTree.fromstring(urdf)
        hardware = tree.find('ros2_control/hardware')
        assert hardware is not None
        hardware.clear()
        ElementTree.SubElement(hardware, 'plugin').text = PLUGINS[self.arm.driver]
        for name, value in self.controller.tag.items():
            ElementTree.SubElement(hardware, 'param', name=name).text = str(value)
        return ElementTree.tostring(tree, encoding='unicode')

    def _parameters_file(self) -> str:
        """The robot's own parameters, below the namespace and with the rate."""
        data = yaml.safe_load(self._robot.controllers_file.read_text(encoding='utf-8'))
        data['controller_manager']['ros__parameters']['update_rate'] = self.arm.rate
        return self._write('controllers.yaml', {f'{self._namespace}/{name}': each for name, each in data.items()})

    def _write(self, name: str, data: object) -> str:
        file = self._folder / name
        file.write_text(yaml.safe_dump(data), encoding='utf-8')
        return str(file)

    def swing(self, seconds: float) -> Any:
        """Send a goal that moves the first joint to and fro for some time; gives the future of its result."""
        positions = [SWING * (second % 2) for second in range(1, math.ceil(seconds) + 1)]
        handle = self._peer.result(self._client.send_goal_async(self._goal(positions, 1.0)), TIMEOUT)
        assert handle.accepted
        return handle.get_result_async()

    def nudge(self, number: int) -> tuple[float, float, float]:
        """A short motion: the times [s] when the goal was sent, when it was accepted, and when it had ended."""
        goal = self._goal([NUDGE * (1 - number % 2)], NUDGE_TIME)
        sent = time.monotonic()
        future = self._client.send_goal_async(goal)
        # Without the pause that waiting elsewhere has between two looks.
        while not future.done():
            self._peer.spin_once(0.1)
        accepted = time.monotonic()
        assert future.result().accepted, self._node.output
        self.finish(future.result().get_result_async())
        return sent, accepted, time.monotonic()

    def finish(self, future: Any) -> None:
        """Wait for the end of a motion, which must have gone well."""
        result = self._peer.result(future, TIMEOUT).result
        assert result.error_code == FollowJointTrajectory.Result.SUCCESSFUL, result.error_string

    def _goal(self, offsets: Sequence[float], step: float) -> Any:
        """Through places of the first joint, at rest in each, one after the other."""
        home = list(self._robot.poses['home'])
        goal = FollowJointTrajectory.Goal()
        goal.trajectory.joint_names = list(self._robot.joints)
        for number, offset in enumerate(offsets, 1):
            point = JointTrajectoryPoint(positions=[home[0] + offset, *home[1:]], velocities=[0.0] * len(home))
            whole = round(number * step * 1e9)
            point.time_from_start.sec, point.time_from_start.nanosec = whole // 10**9, whole % 10**9
            goal.trajectory.points.append(point)
        return goal

    def end(self) -> tuple[Array, Array | None]:
        """End it; gives the starts and ends of all cycles, and what its simulated controller was told."""
        assert self._node.end(signal.SIGINT, TIMEOUT) == 0, self._node.output
        told = None if self.controller is None else self.controller.end()
        self.stop()
        return np.asarray(np.load(self._file)), told

    def stop(self) -> None:
        """Let go of everything."""
        if self._client is not None:
            self._client.destroy()
            self._client = None
        if self.controller is not None:
            self.controller.process.stop()
        for process in self._processes:
            process.stop()


class PeerLoop:
    """A loop to compare with, and the simulated UR controller that it may need."""

    def __init__(self, kind: str, rate: float, folder: Path) -> None:
        self._file = folder / f'{kind}_{rate:g}.npy'
        self.controller: RobotController | None = None
        arguments: tuple[object, ...] = ()
        if kind == 'rtde':
            # The client knows the real ports only, so that the address must be one that nobody else has.
            host = f'127.98.{os.getpid() >> 8 & 255}.{os.getpid() & 255 or 1}'
            robot = find_robot('ur5e')
            self.controller = RobotController('ur', robot, folder, '--host', host, '--real-ports')
            arguments = ('--host', host, '--positions', *robot.poses['home'])
        self._process = program('control_peers.py', kind, self._file, rate, *arguments)
        self.pid = self._process.pid
        ready(self._process, 'ready')

    def ask(self) -> None:
        """Ask for another set-point, and wait until it was given."""
        before = self._process.output.count('called')
        self._process.send(signal.SIGUSR1)
        eventually(lambda: self._process.output.count('called') > before, 'a set-point', TIMEOUT)

    def end(self) -> tuple[Array, Array, Array]:
        """End it; gives the starts of cycles, the times of calls, and what its controller was told."""
        assert self._process.end(signal.SIGTERM) == 0, self._process.output
        calls = self._file.with_suffix('.calls.npy')
        told = np.zeros((0, 1)) if self.controller is None else self.controller.end()
        return np.load(self._file), np.load(calls) if calls.exists() else np.zeros(0), told

    def stop(self) -> None:
        self._process.stop()
        if self.controller is not None:
            self.controller.process.stop()


def first_changes(told: Array, times: Sequence[float]) -> list[float]:
    """For each time, how long [s] until a set-point arrived that differs from the one that held at that time."""
    found = []
    for at in times:
        row = int(np.searchsorted(told[:, 0], at))
        held = told[max(row - 1, 0), 1:]
        moved = np.flatnonzero((np.abs(told[row:, 1:] - held) > 1e-9).any(axis=1))
        if len(moved):
            found.append(float(told[row + moved[0], 0] - at))
    return found
