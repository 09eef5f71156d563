"""The node as a process, scenes that connect to it, and a ROS peer; one node for all tests of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from support.peer import Peer, eventually
from support.process import Process, node_process
from support.unity_client import UnityClient

from lfd_bringup.domain import claim_free


class Endpoint:
    """unity_endpoint on a port of its own choice, in a ROS domain of its own."""

    def __init__(self, domain: int, port: int = 0, **parameters: object) -> None:
        self.domain = domain
        arguments = [f'-p{name}:={value}' for name, value in {'port': port, **parameters}.items()]
        settings = [part for argument in arguments for part in ('-p', argument.removeprefix('-p'))]
        self.process: Process = node_process(domain, 'lfd_vr_bridge', 'unity_endpoint', '--ros-args', *settings)
        found = eventually(self._listening, 'the endpoint to listen')
        self.port = int(found[1])

    def _listening(self) -> re.Match[str] | None:
        assert self.process.is_running, self.process.output
        return re.search(r'Listening for Unity on [^ ]+:(\d+)\.', self.process.output)


@pytest.fixture(scope='module')
def endpoint() -> Iterator[Endpoint]:
    with claim_free() as domain:
        endpoint = Endpoint(domain.number, largest_message=8, service_wait=0.5, service_timeout=3.0)
        yield endpoint
        assert endpoint.process.end() == 0, endpoint.process.output
        assert 'Traceback' not in endpoint.process.output, endpoint.process.output
        assert 'never retrieved' not in endpoint.process.output, endpoint.process.output


@pytest.fixture
def make_unity(endpoint: Endpoint) -> Iterator[Callable[..., UnityClient]]:
    """Makes scenes that are connected to the endpoint."""
    made: list[UnityClient] = []

    def make(port: int | None = None, **options: object) -> UnityClient:
        made.append(UnityClient(endpoint.port if port is None else port, **options))
        return made[-1]

    yield make
    for client in made:
        client.disconnect()


@pytest.fixture(scope='module')
def peer(endpoint: Endpoint) -> Iterator[Peer]:
    peer = Peer('peer', endpoint.domain)
    yield peer
    peer.close()
