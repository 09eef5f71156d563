"""A UR5e with its controllers and planning server, as real processes, and a client of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.cell import Cell, running_cell
from support.move_group_client import MoveGroupClient


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    with running_cell('ur5e', tmp_path_factory.mktemp('cell')) as cell:
        yield cell


@pytest.fixture
def client(cell: Cell) -> Iterator[MoveGroupClient]:
    client = MoveGroupClient(cell.domain)
    client.clear()
    yield client
    client.peer.close()
