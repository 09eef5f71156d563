"""Existing Unity scenes talk to ROS through here, as through Unity's own ROS-TCP-Endpoint.

```
Unity (ROS-TCP-Connector 0.7) ──TCP──► unity_tcp.UnityEndpoint ──► UnityRos ──► topics and services of ROS
                                       event loop's thread           node's thread
```

Numbers go through as they are: Unity scenes convert their axes themselves (`To<FLU>()`), or publish a twin's scene in
Unity's axes, which scene sync converts (`axes: unity`).
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from ipaddress import ip_address
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node

from lfd_description.nodes.lifetime import run_until_signal
from lfd_vr_bridge.nodes.unity_ros import UnityRos
from lfd_vr_bridge.unity_tcp.endpoint import MOST_CLIENTS, UnityEndpoint
from lfd_vr_bridge.unity_tcp.session import Limits

NAME = 'unity_endpoint'
START_WITHIN = 10.0  # [s]
SWITCH_EVERY = 0.0005
"""[s] after which one thread lets the other have the interpreter: ROS and the sockets wait for each other."""


class AddressError(OSError):
    """Nobody can listen there; the message says where, why, and what to do."""


class UnityEndpointNode(Node):
    """Serves Unity clients.

    Raises:
        AddressError: nobody can listen on host and port.
        ParameterException: a parameter has a value of the wrong type or out of bounds.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        host = str(self._text('host', '127.0.0.1', 'Where to listen: an address of this machine, 0.0.0.0 for all.'))
        port = self._whole('port', 10000, 'The TCP port; 0 for any free one.', 0, 65535)
        largest = self._whole('largest_message', 64, 'The largest message from Unity [MB].', 1, 1024)
        clients = self._whole('most_clients', MOST_CLIENTS, 'Unity clients at once.', 1, 1000)
        wait = self._number('service_wait', 2.0, 'How long a service that Unity calls may be away [s].', 0.0, 600.0)
        timeout = self._number('service_timeout', 120.0, 'How long an answer of a service may take [s].', 0.1, 86400.0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name='unity', daemon=True)
        self._thread.start()
        self._ros = UnityRos(self, self._loop, wait, timeout)
        self._endpoint = UnityEndpoint(self._ros, self._ros.log, Limits(largest * 2**20, timeout), clients)
        self._closing: Future[None] | None = None
        self._listen(host, port)

    def begin_to_close(self) -> None:
        """Part from all clients."""
        self._closing = self._run(self._endpoint.close())

    def is_closed(self) -> bool:
        """Whether all clients are gone, after `begin_to_close`."""
        return self._closing is not None and self._closing.done()

    def destroy_node(self) -> None:
        """End the event loop's thread too."""
        self._end_loop()
        super().destroy_node()

    def _listen(self, host: str, port: int) -> None:
        try:
            self._run(self._endpoint.start(host, port)).result(START_WITHIN)
        except OSError as error:
            self._end_loop()
            reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            raise AddressError(
                f'Nobody can listen on {host}:{port} ({reason}); set the parameters host and port, '
                'or end the program that listens there.'
            ) from error
        self.get_logger().info(f'Listening for Unity on {host}:{self._endpoint.port}.')
        if not _is_local(host):
            self.get_logger().warning(
                f'Whoever reaches {host}:{self._endpoint.port} can publish and call anything in this ROS domain: '
                'the protocol has no password and no encryption. Use a network that you trust.'
            )

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def _end_loop(self) -> None:
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_WITHIN)
        if not self._thread.is_alive():
            self._loop.close()

    def _text(self, name: str, default: str, description: str) -> str:
        return str(self.declare_parameter(name, default, _fixed(description)).value)

    def _whole(self, name: str, default: int, description: str, low: int, high: int) -> int:
        bounds = [IntegerRange(from_value=low, to_value=high)]
        return int(self.declare_parameter(name, default, _fixed(description, integer_range=bounds)).value)

    def _number(self, name: str, default: float, description: str, low: float, high: float) -> float:
        bounds = [FloatingPointRange(from_value=low, to_value=high)]
        return float(self.declare_parameter(name, default, _fixed(description, floating_point_range=bounds)).value)


def _fixed(description: str, **bounds: Any) -> ParameterDescriptor:
    return ParameterDescriptor(description=description, read_only=True, **bounds)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == 'localhost'


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if an argument cannot be used."""
    sys.setswitchinterval(SWITCH_EVERY)
    return run_until_signal(
        NAME,
        UnityEndpointNode,
        args,
        refusals=(AddressError, ParameterException),
        on_stop=UnityEndpointNode.begin_to_close,
        is_idle=UnityEndpointNode.is_closed,
    )


if __name__ == '__main__':
    sys.exit(main())
