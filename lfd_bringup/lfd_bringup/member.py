"""A node of ours in a graph that runs already: what `./lfd recover` and `./lfd execute` ask it with."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import rclpy
from rclpy.client import Client
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from .commands import domain_id
from .home.faults import Fault

FOUND_WITHIN = 10.0  # [s] that a node has to be discovered
TRIES = 3  # to be answered: a server that has not discovered its client yet loses its answer


class Unanswered(Fault):
    """Nobody answered in time."""


class Member:
    """Asks, and listens while it waits, in the thread that waits."""

    def __init__(self, name: str, domain: int, context: Context) -> None:
        self.domain = domain
        self.node = Node(name, context=context)
        self._spinner = SingleThreadedExecutor(context=context)
        self._spinner.add_node(self.node)

    def wait(self, is_true: Callable[[], bool], timeout: float | None, what: str) -> None:
        """Listen until a condition holds, at most [s].

        Raises:
            Unanswered: it does not come true in time.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not is_true():
            if deadline is not None and time.monotonic() > deadline:
                raise Unanswered(
                    f'waited {timeout:g} s in vain for {what} in ROS domain {self.domain}.',
                    'bring a robot up with ./lfd up, and name the domain that it prints with --domain-id',
                )
            self._spinner.spin_once(timeout_sec=0.05)

    def ask(self, client: Client, request: Any, timeout: float) -> Any:
        """The answer of a service, which may be asked more than once, within [s] each time.

        Raises:
            Unanswered: there is none.
        """
        self.wait(client.service_is_ready, FOUND_WITHIN, client.srv_name)
        for left in reversed(range(TRIES)):
            answer = client.call_async(request)
            try:
                self.wait(answer.done, timeout, f'an answer of {client.srv_name}')
                break
            except Unanswered:
                client.remove_pending_request(answer)
                if not left:
                    raise
        return answer.result()

    def close(self) -> None:
        """Leave the graph."""
        self._spinner.shutdown()
        self.node.destroy_node()


@contextmanager
def joined(name: str, asked: int | None) -> Iterator[Member]:
    """A member of the graph in a ROS domain: the asked one, else the user's, else this checkout's own."""
    domain = _domain() if asked is None else asked
    context = Context()
    rclpy.init(context=context, domain_id=domain, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    member = Member(name, domain, context)
    try:
        yield member
    finally:
        member.close()
        rclpy.shutdown(context=context)


def _domain() -> int:
    try:
        return domain_id(os.environ.get('ROS_DOMAIN_ID', '0'))
    except argparse.ArgumentTypeError as error:
        raise Fault(f'ROS_DOMAIN_ID is set, and {error}.', 'set it to such a number, or unset it') from None
