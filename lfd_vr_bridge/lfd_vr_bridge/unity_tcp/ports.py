"""What the server needs of ROS. All of it is called, and calls back, in the thread of the server's event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

Listener = Callable[[bytes], None]
"""Is given every message of a topic, serialised."""
Answerer = Callable[[bytes], Awaitable[bytes]]
"""Answers a service's request, both serialised; raises NoAnswer."""


class Refused(Exception):
    """ROS cannot do what Unity asks for; the message says why, and what to do."""


class NoAnswer(Exception):
    """Unity has not answered a service's request; the message says why."""


@dataclass(frozen=True)
class Answer:
    """The answer to a service's request, serialised; if there is a problem, all its fields have their defaults."""

    payload: bytes
    problem: str = ''


class Registration(Protocol):
    """What Unity registered, until it is closed."""

    async def close(self) -> None:
        """Take it back."""


class Subscription(Registration, Protocol):
    """Messages of ROS for Unity."""

    depth: int
    """Of the messages that a slow client has not read yet, so many are kept."""


class Publisher(Registration, Protocol):
    """Messages of Unity for ROS."""

    def publish(self, payload: bytes) -> None:
        """Publish a serialised message.

        Raises:
            Refused: it is no message of the type.
        """


class Client(Registration, Protocol):
    """A service of ROS that Unity calls."""

    async def call(self, payload: bytes) -> Answer:
        """Call it with a serialised request; there always is an answer."""

    def no_answer(self, problem: str) -> Answer:
        """An answer without a call."""


class Server(Registration, Protocol):
    """A service that Unity offers."""

    def check(self, payload: bytes) -> None:
        """Accept a serialised response.

        Raises:
            Refused: it is none of the type.
        """


class RosPort(Protocol):
    """ROS, as the server sees it. Names are as Unity wrote them; types are such as `std_msgs/String`.

    All that registers something raises Refused if it cannot be.
    """

    async def subscribe(self, topic: str, type_name: str, listener: Listener) -> Subscription:
        """Have a topic's messages from now on, and what is latched."""

    async def advertise(self, topic: str, type_name: str, queue_size: int, latch: bool) -> Publisher:
        """Prepare to publish."""

    async def connect(self, service: str, type_name: str) -> Client:
        """Prepare to call a service."""

    async def offer(self, service: str, type_name: str, answerer: Answerer) -> Server:
        """Offer a service; among several who offer it, the newest is asked."""

    async def topics(self) -> Sequence[tuple[str, str]]:
        """All topics with their types."""

    async def doubts(self, topic: str, type_name: str) -> str:
        """Why nothing may come through although the topic is registered, as one sentence; empty if all is well."""
