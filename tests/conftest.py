"""What all tests share: ROS domains of their own, nodes in them, and ./lfd as a user runs it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.peer import Peer

from lfd_bringup.domain import claim_free

CHECKOUT = Path(__file__).resolve().parents[1]
# What `./lfd test` adds to the environment; a user's terminal has none of it.
INSIDE = (
    'AMENT_PREFIX_PATH',
    'LD_LIBRARY_PATH',
    'LFD_OWN_DOMAIN',
    'PYTHONPATH',
    'ROS_DOMAIN_ID',
    'ROS_LOG_DIR',
    'VIRTUAL_ENV',
)


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
def user_environment() -> dict[str, str]:
    """The environment of a terminal in which ./lfd is typed; LFD_HOME is that of the running tests."""
    return {key: value for key, value in os.environ.items() if key not in INSIDE}


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
