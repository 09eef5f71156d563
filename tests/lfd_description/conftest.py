"""A ROS graph of the test's own: a node in a domain that nobody else uses, and processes to talk to."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

TIMEOUT = 20.0  # [s], generous: a loaded machine must not fail a test


class Graph:
    """The test's node in a domain of its own."""

    def __init__(self, domain: int) -> None:
        self.domain = domain
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node('test', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def wait_for(self, condition: Callable[[], object], doing: Callable[[], object] = lambda: None) -> None:
        """Spin, and do something in each round, until the condition holds."""
        deadline = self.node.get_clock().now().nanoseconds + TIMEOUT * 1e9
        while not condition():
            assert self.node.get_clock().now().nanoseconds < deadline, 'the condition did not come true in time'
            doing()
            self.executor.spin_once(timeout_sec=0.02)

    def result_of(self, future: Future) -> object:
        self.wait_for(future.done)
        return future.result()

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class Process:
    """A node running in a process of its own, its output in a file."""

    def __init__(self, command: list[str], env: dict[str, str], output: Path) -> None:
        self._output = output
        with output.open('w') as file:
            self._process = subprocess.Popen(command, env=env, stdout=file, stderr=subprocess.STDOUT)

    @property
    def output(self) -> str:
        return self._output.read_text()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def send(self, signal: int) -> None:
        self._process.send_signal(signal)

    def exit_code(self) -> int:
        return self._process.wait(TIMEOUT)

    def close(self) -> None:
        if self.running:
            self._process.kill()
        self._process.wait(TIMEOUT)


@pytest.fixture
def graph(ros_domain: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Graph]:
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    graph = Graph(ros_domain)
    yield graph
    graph.close()


@pytest.fixture
def start(graph: Graph, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts the robot_state_publisher with the given parameters."""
    processes = []

    def start(**parameters: object) -> Process:
        file = tmp_path / f'parameters_{len(processes)}.yaml'
        file.write_text(yaml.safe_dump({'robot_state_publisher': {'ros__parameters': parameters}}))
        executable = Path(get_package_prefix('lfd_description')) / 'lib/lfd_description/robot_state_publisher'
        command = [str(executable)]
        if parameters:
            command += ['--ros-args', '--params-file', str(file)]
        env = {**os.environ, 'ROS_DOMAIN_ID': str(graph.domain)}
        processes.append(Process(command, env, tmp_path / f'output_{len(processes)}.txt'))
        return processes[-1]

    yield start
    for process in processes:
        process.close()
