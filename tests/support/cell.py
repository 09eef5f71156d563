"""A robot's whole graph as real processes in a ROS domain, as `./lfd up` runs it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lfd_bringup.domain import claim_free
from lfd_bringup.graph import Graph, NodeSpec, describe, embedded
from lfd_bringup.supervisor import command_of

from .process import Process

READY_WITHIN = 120.0  # [s], on a machine that is busy with other tests


@contextmanager
def running_cell(
    robot: str, folder: Path, scene: str = '', change: Callable[[Graph], Graph] = lambda graph: graph
) -> Iterator[Cell]:
    """The whole graph of a robot, as `change` makes it, in a ROS domain that nobody else uses."""
    with claim_free() as domain:
        cell = Cell(robot, domain.number, folder, scene, change)
        try:
            cell.start()
            yield cell
        finally:
            cell.stop()


class Cell:
    """The processes of a robot's graph; each can be ended and started again."""

    def __init__(
        self,
        robot: str,
        domain: int,
        folder: Path,
        scene: str = '',
        change: Callable[[Graph], Graph] = lambda graph: graph,
    ) -> None:
        self.graph: Graph = change(embedded(describe(robot, scene=scene)))
        self.domain = domain
        self._folder = folder
        self._specs = {spec.name: spec for spec in self.graph.nodes}
        self.processes: dict[str, Process] = {}

    def start(self, *names: str) -> None:
        """Start processes of the graph, or all of them, and wait for those that do one thing only."""
        for name in names or self._specs:
            self.processes[name] = self._process(self._specs[name])
            if self._specs[name].is_one_shot:
                assert self.processes[name].wait(READY_WITHIN) == 0, self.processes[name].output

    def stop(self) -> None:
        """End everything."""
        for process in reversed(self.processes.values()):
            process.stop()

    def _process(self, spec: NodeSpec) -> Process:
        return Process(command_of(spec, self._folder), {**os.environ, 'ROS_DOMAIN_ID': str(self.domain)})
