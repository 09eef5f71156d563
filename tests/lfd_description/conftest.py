"""A node of the test's own, and robot state publishers to talk to."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from support.peer import Peer
from support.process import Process, node_process


@pytest.fixture
def graph(make_peer: Callable[[str], Peer]) -> Peer:
    return make_peer('test')


@pytest.fixture
def start(graph: Peer, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Starts the robot_state_publisher with the given parameters."""
    processes: list[Process] = []

    def start(**parameters: object) -> Process:
        file = tmp_path / f'parameters_{len(processes)}.yaml'
        file.write_text(yaml.safe_dump({'robot_state_publisher': {'ros__parameters': parameters}}))
        ros = ['--ros-args', '--params-file', str(file)] if parameters else []
        processes.append(node_process(graph.domain, 'lfd_description', 'robot_state_publisher', *ros))
        return processes[-1]

    yield start
    for process in processes:
        process.stop()
