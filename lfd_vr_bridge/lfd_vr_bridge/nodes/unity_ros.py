"""ROS as the server for Unity clients sees it (`lfd_vr_bridge.unity_tcp.ports.RosPort`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from lfd_vr_bridge.nodes.unity_services import ClientOffer, RosClient, Services
from lfd_vr_bridge.nodes.unity_threads import Threads
from lfd_vr_bridge.nodes.unity_topics import ClientPublisher, ClientSubscription, Topics
from lfd_vr_bridge.nodes.unity_types import unity_name
from lfd_vr_bridge.unity_tcp.ports import Answerer, Listener

MATCH_EVERY = 0.5  # [s] between two looks at who came and went


class UnityRos:
    """Topics and services of a node for Unity clients."""

    def __init__(
        self, node: Node, loop: asyncio.AbstractEventLoop, service_wait: float, service_timeout: float
    ) -> None:
        """Times in seconds: how long a service may be away, and how long it may take to answer."""
        self._threads = Threads(node, loop)
        self._topics = Topics(self._threads)
        self._services = Services(self._threads, service_wait, service_timeout)
        node.create_timer(MATCH_EVERY, self._topics.match, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def log(self, level: str, text: str) -> None:
        """Log a sentence; `level` is log, warn or error."""
        self._threads.log(level, text)

    async def subscribe(self, topic: str, type_name: str, listener: Listener) -> ClientSubscription:
        """Have a topic's messages from now on, and what is latched."""
        return await self._topics.subscribe(topic, type_name, listener)

    async def advertise(self, topic: str, type_name: str, queue_size: int, latch: bool) -> ClientPublisher:
        """Prepare to publish."""
        return await self._topics.advertise(topic, type_name, queue_size, latch)

    async def connect(self, service: str, type_name: str) -> RosClient:
        """Prepare to call a service."""
        return await self._services.connect(service, type_name)

    async def offer(self, service: str, type_name: str, answerer: Answerer) -> ClientOffer:
        """Offer a service; among several who offer it, the newest is asked."""
        return await self._services.offer(service, type_name, answerer)

    async def topics(self) -> Sequence[tuple[str, str]]:
        """All topics with their types."""
        found = await self._threads.in_ros(self._threads.node.get_topic_names_and_types)
        return [(name, unity_name(kinds[0])) for name, kinds in found if kinds]

    async def doubts(self, topic: str, type_name: str) -> str:
        """Why nothing may come through although the topic is registered; empty if all is well."""
        return await self._threads.in_ros(lambda: self._topics.doubts(topic, type_name))
