"""Topics that only show: what is on them is made by a thread beside, and only if somebody looks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node

from lfd_description.nodes.qos import LATCHED_QOS

Message = TypeVar('Message')


class Showing:
    """A thread that does things one after the other, so that no answer waits for what is only shown."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix='showing')

    def soon(self, work: Callable[[], None]) -> None:
        """Do something in a moment, after all that was asked for before; errors are logged."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self._thread.submit(self._do, work)

    def close(self) -> None:
        """End what is under way and drop the rest; nothing is done after that."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            self._node.get_logger().error(f'Something cannot be shown: {error!r}', throttle_duration_sec=1.0)


class LazyTopic(Generic[Message]):
    """A latched topic whose newest message is made when the first listener is there, and not before.

    Args:
        node: that publishes.
        showing: whose thread makes the messages.
        type: of the messages.
        name: of the topic.
        nothing: what is said where an earlier message holds no more.
        group: of the callback when a listener comes.
    """

    def __init__(
        self, node: Node, showing: Showing, type: type[Message], name: str, nothing: Message, group: CallbackGroup
    ) -> None:
        self._showing, self._nothing = showing, nothing
        self._make: Callable[[], Message] | None = None
        self._holds = False
        events = PublisherEventCallbacks(matched=lambda _: showing.soon(self._send))
        self._publisher = node.create_publisher(type, name, LATCHED_QOS, event_callbacks=events, callback_group=group)

    def show(self, make: Callable[[], Message]) -> None:
        """Publish what `make` gives: in a moment, or when somebody looks."""
        self._showing.soon(lambda: self._replace(make))

    def clear(self) -> None:
        """What was shown holds no more."""
        self._showing.soon(self._clear)

    def _clear(self) -> None:
        self._make = None
        if self._holds:
            self._publisher.publish(self._nothing)
            self._holds = False

    def _replace(self, make: Callable[[], Message]) -> None:
        if not self._publisher.get_subscription_count():
            self._clear()
        self._make = make
        self._send()

    def _send(self) -> None:
        if self._make is not None and self._publisher.get_subscription_count():
            make, self._make = self._make, None
            self._publisher.publish(make())
            self._holds = True
