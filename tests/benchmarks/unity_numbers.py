"""What a Unity scene's messages cost on their way through ROS and back; a part of `./lfd bench vr`.

Every client publishes on a topic and hears it again: socket, endpoint, DDS, endpoint, socket. Round trips are made one
at a time, throughput with some messages under way. The peer in the same run is an endpoint in the plain way
(`unity_peer`): threads, blocking sockets, every message made into an object and back. It is ours, written from the
protocol; it is not Unity's own ROS-TCP-Endpoint, which is not installed here.
"""

from __future__ import annotations

import re
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image
from support.peer import eventually
from support.process import Process, node_process, same_paths
from support.unity_client import command, frame

from lfd_bringup.domain import claim_free

CLIENTS = (1, 8)
SECONDS = 2.0
POSES, PICTURES = 8, 2  # of a client that are under way, for throughput
PICTURE = (640, 480)  # pixels, three bytes each
PATIENCE = 2.0  # [s] after which what is under way counts as lost
SEND_WITHIN = 60.0  # [s]
Result = TypeVar('Result')
OURS, PEER = 'unity_endpoint', 'plain endpoint (peer)'


@dataclass(frozen=True)
class UnityNumbers:
    """Of one endpoint with so many clients."""

    endpoint: str
    clients: int
    messages_per_second: float
    """Poses, of all clients together, there and back."""
    megabytes_per_second: float
    """Pictures, of all clients together, there and back."""
    p50: float
    """[s] of a pose's round trip"""
    p99: float
    """[s]"""


class EchoClient:
    """A scene that hears itself."""

    def __init__(self, port: int, topic: str, type_name: str, payload: bytes) -> None:
        self._socket = socket.create_connection(('127.0.0.1', port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(SEND_WITHIN)
        self._topic, self._frame = topic, frame(topic, payload)
        self._socket.sendall(
            command('subscribe', topic=topic, message_name=type_name)
            + command('publish', topic=topic, message_name=type_name, queue_size=10, latch=False)
        )
        self._buffer = bytearray()

    def begin(self) -> None:
        """Wait until messages come back."""
        self._put(1)
        while not self._heard(0.2):
            self._put(1)
        while self._heard(0.2):  # what else is under way
            pass

    def round_trips(self, seconds: float) -> list[float]:
        """How long each took [s]."""
        taken: list[float] = []
        until = time.perf_counter() + seconds
        while (start := time.perf_counter()) < until:
            self._put(1)
            if self._heard():
                taken.append(time.perf_counter() - start)
        return taken

    def throughput(self, seconds: float, window: int) -> float:
        """Messages that came back in a second."""
        start, count = time.perf_counter(), 0
        self._put(window)
        while time.perf_counter() - start < seconds:
            if self._heard():
                count += 1
                self._put(1)
            else:
                self._put(window)
        return count / (time.perf_counter() - start)

    def close(self) -> None:
        self._socket.close()

    def _put(self, count: int) -> None:
        self._socket.settimeout(SEND_WITHIN)
        self._socket.sendall(self._frame * count)

    def _heard(self, patience: float = PATIENCE) -> bool:
        """Whether the next message comes before patience [s] ends; commands are passed over."""
        self._socket.settimeout(patience)
        try:
            while True:
                (name,) = struct.unpack('<I', self._exactly(4))
                destination = self._exactly(name)
                (length,) = struct.unpack('<I', self._exactly(4))
                self._exactly(length)
                if destination == self._topic.encode():
                    return True
        except TimeoutError:
            return False

    def _exactly(self, length: int) -> bytes:
        while len(self._buffer) < length:
            part = self._socket.recv(2**20)
            if not part:
                raise ConnectionError('The endpoint closed the connection.')
            self._buffer += part
        found = bytes(self._buffer[:length])
        del self._buffer[:length]
        return found


def measure_unity(clients: Sequence[int] = CLIENTS, seconds: float = SECONDS) -> list[UnityNumbers]:
    """Measure our endpoint and the peer, one after the other for each number of clients."""
    numbers: list[UnityNumbers] = []
    for count in clients:
        for name, start in ((OURS, _our_endpoint), (PEER, _peer)):
            with claim_free() as domain, start(domain.number) as port:
                numbers.append(_measure(name, port, count, seconds))
    return numbers


def report_unity(numbers: Sequence[UnityNumbers]) -> None:
    """Print the numbers, and ours against the peer's."""
    print(f'{"":32}{"messages/s":>12}{"MB/s":>9}{"p50 [ms]":>10}{"p99 [ms]":>10}')
    for row in numbers:
        name = f'{row.endpoint}, {row.clients} cl.'
        print(
            f'  {name:30}{row.messages_per_second:>12,.0f}{row.megabytes_per_second:>9.1f}'
            f'{1e3 * row.p50:>10.2f}{1e3 * row.p99:>10.2f}'
        )
    for ours, peer in pairs(numbers):
        messages = ours.messages_per_second / peer.messages_per_second
        data = ours.megabytes_per_second / peer.megabytes_per_second
        print(
            f'  ours / peer, {ours.clients} clients: {messages:.1f} times the messages, {data:.1f} times the bytes, '
            f'{ours.p50 / peer.p50:.2f} of the median latency'
        )


def pairs(numbers: Sequence[UnityNumbers]) -> list[tuple[UnityNumbers, UnityNumbers]]:
    """Ours and the peer's with the same number of clients."""
    peers = {row.clients: row for row in numbers if row.endpoint == PEER}
    return [(row, peers[row.clients]) for row in numbers if row.endpoint == OURS and row.clients in peers]


def _measure(name: str, port: int, count: int, seconds: float) -> UnityNumbers:
    pose = serialize_message(PoseStamped())
    width, height = PICTURE
    picture = serialize_message(Image(width=width, height=height, step=3 * width, data=bytes(3 * width * height)))
    with _echoing(port, 'pose', 'geometry_msgs/PoseStamped', pose, count) as scenes:
        trips = np.concatenate(_at_once([lambda scene=scene: scene.round_trips(seconds) for scene in scenes]))
        messages = sum(_at_once([lambda scene=scene: scene.throughput(seconds, POSES) for scene in scenes]))
    with _echoing(port, 'picture', 'sensor_msgs/Image', picture, count) as scenes:
        pictures = sum(_at_once([lambda scene=scene: scene.throughput(seconds, PICTURES) for scene in scenes]))
    p50, p99 = np.percentile(trips, (50, 99)) if len(trips) else (np.nan, np.nan)
    return UnityNumbers(name, count, messages, pictures * len(picture) / 1e6, float(p50), float(p99))


@contextmanager
def _echoing(port: int, topic: str, type_name: str, payload: bytes, count: int) -> Iterator[list[EchoClient]]:
    with ExitStack() as stack:
        scenes = [EchoClient(port, f'{topic}_{number}', type_name, payload) for number in range(count)]
        for scene in scenes:
            stack.callback(scene.close)
        _at_once([scene.begin for scene in scenes])
        yield scenes


def _at_once(works: Sequence[Callable[[], Result]]) -> list[Result]:
    """What each returns, each in a thread of its own."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


@contextmanager
def _our_endpoint(domain: int) -> Iterator[int]:
    yield from _until_measured(
        node_process(domain, 'lfd_vr_bridge', 'unity_endpoint', '--ros-args', '-p', 'port:=0'),
        r'Listening for Unity on [^ ]+:(\d+)\.',
    )


@contextmanager
def _peer(domain: int) -> Iterator[int]:
    program = str(Path(__file__).with_name('unity_peer.py'))
    environment = {**same_paths(), 'ROS_DOMAIN_ID': str(domain)}
    yield from _until_measured(Process([sys.executable, '-u', program], environment), r'port (\d+)')


def _until_measured(process: Process, pattern: str) -> Iterator[int]:
    try:
        yield int(eventually(lambda: re.search(pattern, process.output), 'the endpoint to listen')[1])
    finally:
        process.stop()
