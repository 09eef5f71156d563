"""A UR5e with its controllers and planning server, as real processes, and a client of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.cell import Cell
from support.move_group_client import MoveGroupClient

from lfd_bringup.domain import claim_free


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    with claim_free() as domain:
        cell = Cell('ur5e', domain.number, tmp_path_factory.mktemp('cell'))
        try:
            cell.start()
            yield cell
        finally:
            cell.stop()


@pytest.fixture
def client(cell: Cell) -> Iterator[MoveGroupClient]:
    client = MoveGroupClient(cell.domain)
    client.clear()
    yield client
    client.peer.close()
