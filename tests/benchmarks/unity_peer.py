"""The peer of `unity_numbers`: an endpoint for Unity in the plain way, for echoing topics only; `unity_peer.py`.

A thread for each client with blocking sockets, every message made into a Python object and back both ways, and a queue
without bounds for what goes to a client. It prints its port.
"""

from __future__ import annotations

import importlib
import json
import queue
import signal
import socket
import struct
import sys
import threading
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message


def exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        part = connection.recv(length - len(data))
        if not part:
            raise ConnectionError
        data += part
    return bytes(data)


def read_frame(connection: socket.socket) -> tuple[str, bytes]:
    (length,) = struct.unpack('<I', exactly(connection, 4))
    destination = exactly(connection, length).decode().rstrip('\0')
    (length,) = struct.unpack('<I', exactly(connection, 4))
    return destination, exactly(connection, length)


def write_frame(destination: str, payload: bytes) -> bytes:
    name = destination.encode()
    return struct.pack('<I', len(name)) + name + struct.pack('<I', len(payload)) + payload


def message_class(name: str) -> Any:
    package, short = name.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), short)


class Client:
    """One connection: a thread that reads, and one that sends."""

    def __init__(self, node: Node, connection: socket.socket) -> None:
        self._node, self._connection = node, connection
        self._queue: queue.Queue[bytes] = queue.Queue()
        self._publishers: dict[str, tuple[Any, Any]] = {}
        for work in (self._read, self._send):
            threading.Thread(target=work, daemon=True).start()

    def _read(self) -> None:
        try:
            while True:
                destination, payload = read_frame(self._connection)
                if destination.startswith('__'):
                    self._register(destination, json.loads(payload.rstrip(b'\0')))
                elif destination:
                    publisher, kind = self._publishers[destination]
                    publisher.publish(deserialize_message(payload, kind))
        except OSError:
            return

    def _register(self, command: str, fields: dict[str, Any]) -> None:
        topic, kind = fields['topic'], message_class(fields['message_name'])
        if command == '__publish':
            self._publishers[topic] = (self._node.create_publisher(kind, topic, 10), kind)
        elif command == '__subscribe':
            self._node.create_subscription(
                kind, topic, lambda message: self._queue.put(write_frame(topic, serialize_message(message))), 10
            )

    def _send(self) -> None:
        try:
            while True:
                self._connection.sendall(self._queue.get())
        except OSError:
            return


def main() -> int:
    """Serve until SIGTERM."""
    rclpy.init()
    node = rclpy.create_node('unity_peer')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = socket.create_server(('127.0.0.1', 0))
    print(f'port {server.getsockname()[1]}', flush=True)

    def accept() -> None:
        while True:
            connection, _ = server.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Client(node, connection)

    threading.Thread(target=accept, daemon=True).start()
    executor = SingleThreadedExecutor()  # several threads were slower: they wait for the interpreter
    executor.add_node(node)
    try:
        executor.spin()
    except ExternalShutdownException:
        return 0
    return 0


if __name__ == '__main__':
    sys.exit(main())
