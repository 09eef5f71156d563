"""The whole graph of a robot with its page, as `./lfd up` runs it, for tests that are people with a browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lfd_bringup.demo.play import patient
from lfd_bringup.graph import Page, describe, embedded
from lfd_vr_bridge.console import PageLine

from .cell import Cell, running_cell
from .peer import eventually
from .process import Process

READY_WITHIN = 120.0  # [s]


class VrGraph:
    """A running graph with the page."""

    def __init__(self, cell: Cell, folder: Path) -> None:
        self.cell = cell
        self.folder = folder
        """Where the bridge keeps tasks, tokens and logs."""

    @property
    def domain(self) -> int:
        """The ROS domain of the graph."""
        return self.cell.domain

    @property
    def bridge(self) -> Process:
        """The process that serves the page."""
        return self.cell.processes['vr_bridge']

    @property
    def port(self) -> int:
        """Of the page, on 127.0.0.1."""
        return int(self.page.address.rstrip('/').rpartition(':')[2])

    @property
    def code(self) -> str:
        """The code that pairs the next device."""
        return self.page.code

    @property
    def address(self) -> str:
        """The page's address, which pairs when it is opened."""
        return self.page.opening

    def restart(self, *names: str) -> None:
        """Kill processes and start them again, as the supervisor does."""
        for name in names:
            self.cell.processes[name].stop()
        self.cell.start(*names)

    @property
    def page(self) -> PageLine:
        """What the bridge printed last about where the page is."""

        def lines() -> list[PageLine]:
            assert self.bridge.is_running, self.bridge.output
            return [found for line in self.bridge.output.splitlines() if (found := PageLine.read(line))]

        return eventually(lines, "the page's address", READY_WITHIN)[-1]


@contextmanager
def running_vr_graph(folder: Path, robot: str = 'ur5e', scene: str = 'seed_cell') -> Iterator[VrGraph]:
    """The whole graph of a robot in a scene, with the page, in a ROS domain that nobody else uses."""
    data = folder / 'data'
    graph = patient(embedded(describe(robot, scene=scene, page=Page(folder=str(data)))))
    with running_cell(robot, folder, change=lambda _: graph) as cell:
        yield VrGraph(cell, data)
