"""Topics of ROS for Unity clients: serialised messages go through without being made into Python objects.

One subscription serves all clients of a topic. It is opened anew whenever another quality of service would hear more of
the topic's publishers, and, if the topic is latched, for each new client, so that all that is latched comes again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.qos import DurabilityPolicy

from lfd_vr_bridge.nodes.unity_qos import publisher_qos, same, subscription_qos, waiting_depth
from lfd_vr_bridge.nodes.unity_threads import Threads
from lfd_vr_bridge.nodes.unity_types import Codec, message_type
from lfd_vr_bridge.unity_tcp.ports import Listener, Refused

CROSSING = 64
"""Messages of a topic that are on the way from one thread to the other; the oldest are dropped."""
AT_ONCE = 32
"""Messages that are taken for one call of rclpy's, which is slow."""


class SharedSubscription:
    """One topic's messages for all who listen.

    The listeners belong to the event loop's thread, the subscription to the node's.
    """

    def __init__(self, threads: Threads, topic: str, type_name: str) -> None:
        self.topic, self.type_name = topic, type_name
        self.listeners: dict[int, Listener] = {}
        self._threads, self._class = threads, message_type(type_name)
        self._entity: Any = None
        self._qos: Any = None
        self._crossing: deque[bytes] = deque(maxlen=CROSSING)
        self._is_scheduled = False

    def open(self) -> None:
        """Subscribe, anew if need be; in the node's thread."""
        before = self._entity
        self._qos = subscription_qos(self.type_name, self._publishers())
        self._entity = self._threads.node.create_subscription(
            self._class, self.topic, self._on_message, self._qos, raw=True
        )
        self._destroy(before)

    def open_for_newcomer(self) -> None:
        """Have what is latched come again; in the node's thread."""
        if self._qos.durability == DurabilityPolicy.TRANSIENT_LOCAL:
            self.open()

    def match(self) -> None:
        """Hear the publishers that are there now; in the node's thread."""
        publishers = self._publishers()
        if publishers and not same(self._qos, subscription_qos(self.type_name, publishers)):
            self.open()

    def end(self) -> None:
        """Unsubscribe; in the node's thread."""
        self._destroy(self._entity)

    def _publishers(self) -> Sequence[Any]:
        found: Sequence[Any] = self._threads.node.get_publishers_info_by_topic(self.topic)
        return found

    def _destroy(self, entity: Any) -> None:
        if entity is not None:
            self._threads.node.destroy_subscription(entity)

    def _on_message(self, payload: bytes) -> None:
        self._crossing.append(payload)
        with self._entity.handle:
            for _ in range(AT_ONCE):
                if (more := self._entity.handle.take_message(self._class, True)) is None:
                    break
                self._crossing.append(more[0])
        if not self._is_scheduled:
            self._is_scheduled = True
            self._threads.in_loop(self._deliver)

    def _deliver(self) -> None:
        self._is_scheduled = False
        for _ in range(len(self._crossing)):
            payload = self._crossing.popleft()
            for listener in list(self.listeners.values()):
                listener(payload)


class ClientSubscription:
    """What one client has of a shared subscription."""

    def __init__(self, topics: Topics, shared: SharedSubscription, number: int) -> None:
        self.depth = waiting_depth(shared.type_name)
        self._topics, self._shared, self._number = topics, shared, number

    async def close(self) -> None:
        """Listen no longer; the last one ends the subscription."""
        await self._topics.leave(self._shared, self._number)


class ClientPublisher:
    """Publishes what one client sends to a topic."""

    def __init__(self, topics: Topics, topic: str, type_name: str, queue_size: int, latch: bool) -> None:
        self._topics, self._node = topics, topics.threads.node
        self._topic, self._queue_size, self._latch = topic, queue_size, latch
        self._codec = Codec(message_type(type_name), type_name)
        self._entity: Any = None
        self._qos: Any = None

    def open(self) -> None:
        """Advertise, anew if need be; in the node's thread."""
        before, self._qos = self._entity, self._wanted_qos()
        self._entity = self._node.create_publisher(self._codec.message_class, self._topic, self._qos)
        if before is not None:
            self._node.destroy_publisher(before)

    def match(self) -> None:
        """Be heard by the subscribers that are there now; in the node's thread."""
        if not same(self._qos, self._wanted_qos()):
            self.open()

    def end(self) -> None:
        """Publish no longer; in the node's thread."""
        self._node.destroy_publisher(self._entity)

    def publish(self, payload: bytes) -> None:
        """Publish a serialised message; in the event loop's thread.

        Raises:
            Refused: it is no message of the type.
        """
        checked = self._codec.checked(payload)
        entity = self._entity
        try:
            entity.publish(checked)
        except InvalidHandle:  # it was just replaced
            if self._entity is entity:
                raise Refused(f"'{self._topic}' is being closed; the message is lost.") from None
            self._entity.publish(checked)

    async def close(self) -> None:
        """Publish no longer."""
        await self._topics.end(self)

    def _wanted_qos(self) -> Any:
        subscribers = self._node.get_subscriptions_info_by_topic(self._topic)
        return publisher_qos(self._queue_size, self._latch, subscribers)


class Topics:
    """All subscriptions and publishers of Unity clients."""

    def __init__(self, threads: Threads) -> None:
        self.threads = threads
        self._shared: dict[str, SharedSubscription] = {}
        self._numbers = count()
        self._open: set[SharedSubscription | ClientPublisher] = set()  # belongs to the node's thread

    def match(self) -> None:
        """Follow those who came and went in ROS; in the node's thread."""
        for each in self._open:
            each.match()

    async def subscribe(self, topic: str, type_name: str, listener: Listener) -> ClientSubscription:
        """Listen to a topic.

        Raises:
            Refused: it cannot be.
        """
        name = self._resolved(topic)
        shared = self._shared.get(name)
        if shared is not None and shared.type_name != type_name:
            raise Refused(
                f"Another Unity client subscribed to '{name}' as {shared.type_name}, and this one as {type_name}; "
                'use the same type.'
            )
        is_new = shared is None
        if shared is None:
            shared = self._shared[name] = SharedSubscription(self.threads, name, type_name)
        number = next(self._numbers)
        shared.listeners[number] = listener
        joined = ClientSubscription(self, shared, number)
        try:
            await self.threads.in_ros(lambda: self._begin(shared) if is_new else shared.open_for_newcomer())
        except BaseException:
            await joined.close()
            raise
        return joined

    async def leave(self, shared: SharedSubscription, number: int) -> None:
        """Listen no longer."""
        shared.listeners.pop(number, None)
        if not shared.listeners and self._shared.get(shared.topic) is shared:
            del self._shared[shared.topic]
            await self.end(shared)

    async def advertise(self, topic: str, type_name: str, queue_size: int, latch: bool) -> ClientPublisher:
        """Prepare to publish to a topic.

        Raises:
            Refused: it cannot be.
        """
        publisher = ClientPublisher(self, self._resolved(topic), type_name, queue_size, latch)
        await self.threads.in_ros(lambda: self._begin(publisher))
        return publisher

    async def end(self, each: SharedSubscription | ClientPublisher) -> None:
        """Take something back."""

        def end() -> None:
            if each in self._open:
                self._open.remove(each)
                each.end()

        await self.threads.in_ros(end)

    def doubts(self, topic: str, type_name: str) -> str:
        """Why nothing may come through; empty if all is well."""
        name, node = self._resolved(topic), self.threads.node
        there = [*node.get_publishers_info_by_topic(name), *node.get_subscriptions_info_by_topic(name)]
        kinds = {info.topic_type for info in there if info.node_name != node.get_name()}
        package, _, short = type_name.partition('/')
        if not kinds or f'{package}/msg/{short}' in kinds:
            return ''
        return f"In ROS, '{name}' has the type {', '.join(sorted(kinds))}; with {type_name} nothing comes through."

    def _begin(self, each: SharedSubscription | ClientPublisher) -> None:
        each.open()
        self._open.add(each)

    def _resolved(self, topic: str) -> str:
        try:
            return str(self.threads.node.resolve_topic_name(topic))
        except Exception as error:  # of several kinds, by what is wrong with the name
            reason = ' '.join(str(error).split())
            raise Refused(f"'{topic}' cannot be the name of a topic in ROS ({reason}); rename it.") from error
