"""A node of the test's own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.task import Future

TIMEOUT = 30.0  # [s], generous: a loaded machine must not fail a test
ASK_AGAIN = 5.0  # [s]


def eventually(
    condition: Callable[[], Any], what: str, timeout: float = TIMEOUT, meanwhile: Callable[[], object] | None = None
) -> Any:
    """Wait until a condition holds and return its value."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, f'waited {timeout:g} s in vain for: {what}'
        if meanwhile is None:
            time.sleep(0.02)
        else:
            meanwhile()
    return value


class Peer:
    """A node in a DDS participant of its own.

    It is spun by the test's thread, while the test waits and only then: rclpy's action client loses the answer to a
    goal that is sent while another thread spins.
    """

    def __init__(self, name: str, domain: int) -> None:
        self.domain = domain
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)

    def spin_once(self, timeout: float = 0.01) -> None:
        """Handle one message, or wait a moment [s]."""
        self._executor.spin_once(timeout_sec=timeout)

    def eventually(
        self,
        condition: Callable[[], Any],
        what: str = 'the condition',
        timeout: float = TIMEOUT,
        doing: Callable[[], object] = lambda: None,
    ) -> Any:
        """Spin, and do something in each round, until a condition holds; return its value."""

        def meanwhile() -> None:
            doing()
            self.spin_once()

        return eventually(condition, what, timeout, meanwhile)

    def result(self, future: Future, timeout: float = TIMEOUT) -> Any:
        """Spin until there is an answer."""
        self.eventually(future.done, 'an answer', timeout)
        return future.result()

    def ask(self, client: Any, request: Any, timeout: float = TIMEOUT) -> Any:
        """The answer of a service that was restarted: who was killed still seems to be there, and never answers."""
        deadline = time.monotonic() + timeout
        while True:
            future = client.call_async(request)
            again = time.monotonic() + ASK_AGAIN
            while not future.done() and time.monotonic() < again:
                self.spin_once()
            if future.done():
                return future.result()
            client.remove_pending_request(future)
            assert time.monotonic() < deadline, f'waited {timeout:g} s in vain for {client.srv_name}'

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)
