"""The whole graph of a UR5e in the demonstration cell with its page, once for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.move_group_client import MoveGroupClient
from support.vr_graph import VrGraph, running_vr_graph


@pytest.fixture(scope='module')
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VrGraph]:
    with running_vr_graph(tmp_path_factory.mktemp('vr_graph')) as running:
        yield running


@pytest.fixture(scope='module')
def server(graph: VrGraph) -> Iterator[MoveGroupClient]:
    """A client of the graph's planning server."""
    client = MoveGroupClient(graph.domain)
    yield client
    client.peer.close()
