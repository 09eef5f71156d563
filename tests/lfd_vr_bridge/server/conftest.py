"""A server with the demonstration cell for each test, with clients that really connect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.vr_server import SayerOfYes, running_server

from lfd_vr_bridge.server.bridge_server import BridgeServer


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., BridgeServer]]:
    """Starts servers; without a robot unless one is given."""
    with ExitStack() as stack:
        yield lambda folder=tmp_path, **how: stack.enter_context(running_server(folder, **how))


@pytest.fixture
def server(start: Callable[..., BridgeServer]) -> BridgeServer:
    return start()


@pytest.fixture
def robot() -> SayerOfYes:
    return SayerOfYes()


@pytest.fixture
def with_robot(start: Callable[..., BridgeServer], robot: SayerOfYes) -> BridgeServer:
    return start(robot=robot)
