"""What all tests share: ROS domains of their own, nodes in them, and ./lfd as a user runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.peer import Peer

from lfd_bringup.domain import claim_free
from lfd_bringup.home.environment import environment
from lfd_bringup.home.layout import Layout

CHECKOUT = Path(__file__).resolve().parents[1]


@pytest.fixture
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture
def ros_domain() -> Iterator[int]:
    """A ROS domain that nobody else uses."""
    with claim_free() as domain:
        yield domain.number


@pytest.fixture
def make_peer(ros_domain: int) -> Iterator[Callable[[str], Peer]]:
    """Makes nodes in the test's domain, each a DDS participant of its own."""
    peers: list[Peer] = []

    def make(name: str) -> Peer:
        peers.append(Peer(name, ros_domain))
        return peers[-1]

    yield make
    for peer in peers:
        peer.close()


@pytest.fixture
def user_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a terminal in which ./lfd is typed: none of what ./lfd test added but the home it runs in.

    A user's data, such as tasks that were shown, are in a folder of the test's own.
    """
    layout = Layout.inside()
    added = {*environment(layout, {}), 'LFD_OWN_DOMAIN'}
    path = [folder for folder in os.environ['PATH'].split(os.pathsep) if Path(folder) != layout.venv / 'bin']
    kept = {key: value for key, value in os.environ.items() if key not in added}
    data = tmp_path_factory.mktemp('data')
    return {**kept, 'PATH': os.pathsep.join(path), 'LFD_HOME': str(layout.home), 'XDG_DATA_HOME': str(data)}


@pytest.fixture
def lfd(user_environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ./lfd with arguments to its end, as a user would."""

    def run(*arguments: object, script: Path = CHECKOUT / 'lfd', timeout: float = 300.0, **environment: str):
        return subprocess.run(
            [str(script), *map(str, arguments)],
            env={**user_environment, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
