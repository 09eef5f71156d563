"""A UR5e in the recorded task's cell, as real processes, and a client of its task planner."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.cell import Cell, running_cell
from support.task_planner_client import TaskPlannerClient

from lfd_planner.mtdf.library import task_file


@pytest.fixture(scope='module')
def scene() -> str:
    """What stands around the robot."""
    return 'seed_cell'


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory, scene: str) -> Iterator[Cell]:
    with running_cell('ur5e', tmp_path_factory.mktemp('cell'), scene) as cell:
        yield cell


@pytest.fixture(scope='module')
def client(cell: Cell) -> Iterator[TaskPlannerClient]:
    client = TaskPlannerClient(cell.domain)
    yield client
    client.peer.close()


@pytest.fixture(scope='module')
def text() -> str:
    """The recorded task."""
    return task_file('stack_boxes').read_text()
