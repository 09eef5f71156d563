"""A Unity scene with ROS-TCP-Connector 0.7, at the level of its protocol; it imports nothing of the server it tests.

Frames are `u32 n | destination | u32 m | payload`, little endian. Destinations and JSON end in a NUL that is counted,
messages are CDR behind `00 01 00 00`, eight zero bytes keep the connection alive, service ids start at 101, and all
that is registered is registered again after a reconnect.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from .peer import eventually

HEADER = b'\x00\x01\x00\x00'
KEEPALIVE = bytes(8)
KEEPALIVE_AFTER = 1.0  # [s] without a word
TIMEOUT = 30.0  # [s], generous: a loaded machine must not fail a test


def frame(destination: str, payload: bytes) -> bytes:
    """As Unity writes it."""
    name = destination.encode() + b'\0'
    return struct.pack('<I', len(name)) + name + struct.pack('<I', len(payload)) + payload


def command(name: str, **fields: Any) -> bytes:
    return frame(f'__{name}', json.dumps(fields).encode() + b'\0')


def text_message(text: str) -> bytes:
    """A std_msgs/String, as Unity serialises it."""
    raw = text.encode() + b'\0'
    return HEADER + struct.pack('<I', len(raw)) + raw


def text_of(payload: bytes) -> str:
    """What a std_msgs/String says."""
    assert payload[:4] == HEADER
    (length,) = struct.unpack_from('<I', payload, 4)
    return payload[8 : 8 + length - 1].decode()


@dataclass
class Heard:
    """All that came, in order: frames, and what is remembered of them by kind."""

    frames: list[tuple[str, bytes]] = field(default_factory=list)
    notes: dict[str, list[str]] = field(default_factory=lambda: {'log': [], 'warn': [], 'error': []})
    messages: dict[str, list[bytes]] = field(default_factory=dict)
    responses: dict[int, bytes] = field(default_factory=dict)
    topics: dict[str, str] | None = None
    pings: list[Any] = field(default_factory=list)
    handshake: dict[str, Any] | None = None


class UnityClient:
    """One scene; a thread reads, as Unity's does."""

    def __init__(self, port: int, host: str = '127.0.0.1', receive_buffer: int | None = None) -> None:
        self.port, self._host, self._receive_buffer = port, host, receive_buffer
        self._registrations: dict[tuple[str, str], bytes] = {}
        self._services: dict[str, Any] = {}
        self._ids = count(101)
        self._reading = threading.Event()
        self._reading.set()
        self.heard = Heard()
        self.is_connected = False
        self.connect()

    # The connection ---------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Connect, again if need be, and register all that was registered."""
        self._socket = socket.socket()
        if self._receive_buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        self._socket.settimeout(TIMEOUT)
        self._socket.connect((self._host, self.port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_connected, self._lock, self._spoke = True, threading.Lock(), time.monotonic()
        self._threads = [threading.Thread(target=self._read, daemon=True), threading.Thread(target=self._keep_alive)]
        self.send(KEEPALIVE)
        for thread in self._threads:
            thread.start()
        for registration in self._registrations.values():
            self.send(registration)

    def disconnect(self) -> None:
        """Leave without a word, as a scene that is stopped."""
        self.is_connected = False
        self._reading.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(TIMEOUT)
        self._socket.close()

    def pause(self) -> None:
        """Read no more: a scene that hangs."""
        self._reading.clear()

    def go_on(self) -> None:
        self._reading.set()

    def send(self, data: bytes) -> None:
        with self._lock:
            self._spoke = time.monotonic()
            self._socket.sendall(data)

    # What a scene does ------------------------------------------------------------------------------------------------

    def subscribe(self, topic: str, type_name: str) -> None:
        self._register('subscribe', topic, type_name)

    def advertise(self, topic: str, type_name: str, *, queue_size: int = 10, latch: bool = False) -> None:
        self._register('publish', topic, type_name, queue_size=queue_size, latch=latch)

    def use_service(self, service: str, type_name: str) -> None:
        self._register('ros_service', service, type_name)

    def serve(self, service: str, type_name: str, answer: Any) -> None:
        """Offer a service; `answer` makes a response of a request, both serialised, or None for silence."""
        self._services[service] = answer
        self._register('unity_service', service, type_name)

    def remove(self, kind: str, name: str) -> None:
        """Take back a `subscriber`, `publisher`, `ros_service` or `unity_service`."""
        made = {'subscriber': 'subscribe', 'publisher': 'publish'}.get(kind, kind)
        self._registrations.pop((made, name), None)
        self.send(command(f'remove_{kind}', topic=name))

    def publish(self, topic: str, payload: bytes) -> None:
        self.send(frame(topic, payload))

    def request(self, service: str, payload: bytes) -> int:
        """Call a service; its answer will be in `heard.responses` under the number that is returned."""
        id = next(self._ids)
        self.send(command('request', srv_id=id) + frame(service, payload))
        return id

    def call(self, service: str, payload: bytes, meanwhile: Any = None) -> bytes:
        """Call a service and wait for the answer."""
        id = self.request(service, payload)
        return self.wait(lambda: self.heard.responses.get(id), f'a response of {service}', meanwhile)

    def synchronise(self, meanwhile: Any = None) -> None:
        """Wait until all that was sent before has been handled: a ping comes back after it."""
        mark = f'mark {next(self._ids)}'
        self.send(command('ping', request_time=mark))
        self.wait(lambda: mark in self.heard.pings, 'the answer to a ping', meanwhile)

    def wait(self, condition: Any, what: str, meanwhile: Any = None) -> Any:
        return eventually(condition, what, TIMEOUT, meanwhile)

    def texts(self, topic: str) -> list[str]:
        """What the std_msgs/Strings of a topic said so far."""
        return [text_of(payload) for payload in self.heard.messages.get(topic, [])]

    # ------------------------------------------------------------------------------------------------------------------

    def _register(self, kind: str, name: str, type_name: str, **more: Any) -> None:
        made = command(kind, topic=name, message_name=type_name, **more)
        self._registrations[kind, name] = made
        self.send(made)

    def _keep_alive(self) -> None:
        while self.is_connected:
            time.sleep(0.05)
            if self.is_connected and time.monotonic() - self._spoke > KEEPALIVE_AFTER:
                try:
                    self.send(KEEPALIVE)
                except OSError:
                    return

    def _read(self) -> None:
        announced: tuple[str, int] | None = None
        try:
            while True:
                destination, payload = self._read_frame()
                self.heard.frames.append((destination, payload))
                if announced is not None:
                    self._on_service(*announced, destination, payload)
                    announced = None
                elif destination in ('__request', '__response'):
                    announced = (destination, json.loads(payload)['srv_id'])
                elif destination.startswith('__'):
                    self._on_command(destination.removeprefix('__'), json.loads(payload))
                else:
                    self.heard.messages.setdefault(destination, []).append(payload)
        except OSError:
            self.is_connected = False

    def _read_frame(self) -> tuple[str, bytes]:
        (length,) = struct.unpack('<I', self._exactly(4))
        destination = self._exactly(length).decode()
        assert not destination.endswith('\0')
        (length,) = struct.unpack('<I', self._exactly(4))
        return destination, self._exactly(length)

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            self._reading.wait()
            try:
                part = self._socket.recv(min(length - len(data), 2**20))
            except TimeoutError:
                continue
            if not part:
                raise ConnectionError('the server left')
            data += part
        return bytes(data)

    def _on_command(self, name: str, fields: dict[str, Any]) -> None:
        if name in self.heard.notes:
            self.heard.notes[name].append(fields['text'])
        elif name == 'handshake':
            self.heard.handshake = fields
        elif name == 'topic_list':
            self.heard.topics = dict(zip(fields['topics'], fields['types'], strict=True))
        elif name == 'ping_response':
            self.heard.pings.append(fields['request_time'])

    def _on_service(self, kind: str, id: int, service: str, payload: bytes) -> None:
        if kind == '__response':
            self.heard.responses[id] = payload
        elif (answer := self._services[service](payload)) is not None:
            self.send(command('response', srv_id=id) + frame(service, answer))
