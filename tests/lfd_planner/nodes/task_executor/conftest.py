"""A UR5e with a two-finger gripper in the recorded task's cell, as real processes, and a client of its executor."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.cell import Cell, running_cell
from support.process import Process
from support.task_executor_client import FINGER, PATIENT, TaskExecutorClient, carry, executor_process

from lfd_bringup.graph import Graph

FAILED = pytest.StashKey[bool]()
GRIPPER = 'gripper_controller'
PARAMETERS = f"""\
controller_manager:
  ros__parameters:
    {GRIPPER}: {{type: position_controllers/GripperActionController}}
{GRIPPER}:
  ros__parameters: {{joint: {FINGER}, goal_tolerance: 0.0005, stall_timeout: 1.0}}
"""


@dataclass
class Robot:
    """All that runs."""

    cell: Cell
    executor: Process

    def start_executor(self, *parameters: str) -> None:
        """Start it anew, with parameters of its own."""
        if self.executor.is_running:
            self.executor.end()
        self.executor = executor_process(self.cell.domain, *(parameters or PATIENT))


@pytest.fixture(scope='module')
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Robot]:
    folder = tmp_path_factory.mktemp('cell')
    with running_cell('ur5e', folder, 'seed_cell', lambda graph: _with_gripper(graph, folder)) as cell:
        if 'task_executor' in cell.processes:  # ours can be started with other parameters
            cell.processes['task_executor'].end()
        robot = Robot(cell, executor_process(cell.domain, *PATIENT))
        try:
            yield robot
        finally:
            robot.executor.stop()


@pytest.fixture(scope='module')
def client(robot: Robot) -> Iterator[TaskExecutorClient]:
    client = TaskExecutorClient(robot.cell.domain)
    yield client
    client.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == 'call':
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(autouse=True)
def fresh_after_failure(request: pytest.FixtureRequest) -> Iterator[None]:
    """What one test left in a bad state fails neither its second try nor the tests after it; its log is shown."""
    if 'client' not in request.fixturenames:
        yield
        return
    robot: Robot = request.getfixturevalue('robot')
    client: TaskExecutorClient = request.getfixturevalue('client')
    yield
    if request.node.stash.get(FAILED, False):
        print(f'the executor, running: {robot.executor.is_running}\n{robot.executor.output[-4000:]}')
        robot.start_executor()
        client.reconnect()


@pytest.fixture
def text(client: TaskExecutorClient) -> str:
    """Bring the blue box to the one of two places where it is not."""
    return carry(client, 'blue_box')


def _with_gripper(graph: Graph, folder: Path) -> Graph:
    """The graph with a controller for the gripper, if it has none."""
    if any(GRIPPER in node.arguments for node in graph.nodes):
        return graph
    file = folder / 'gripper.yaml'
    file.write_text(PARAMETERS)
    nodes = []
    for node in graph.nodes:
        if node.name == 'controller_manager':
            node = dataclasses.replace(node, parameter_files=(*node.parameter_files, file))
        if node.name == 'spawner':
            node = dataclasses.replace(node, arguments=(GRIPPER, *node.arguments))
        nodes.append(node)
    return dataclasses.replace(graph, nodes=tuple(nodes))
