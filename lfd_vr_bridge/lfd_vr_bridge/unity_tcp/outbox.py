"""What waits to be sent to one client, bounded whatever the client does.

Commands and service messages go first, in their order. Topics follow in turn; of each, only the newest messages wait,
one unless told otherwise. So a client that reads slowly gets fewer messages, and no older ones.
"""

from __future__ import annotations

from collections import deque

from .commands import Parts

MOST_NOTES = 100
"""Sentences for the console that wait at most; then the oldest are dropped."""


class OutboxFull(Exception):
    """More service messages and commands wait than are allowed: the client does not read."""


class Outbox:
    """A queue of whole items: none is ever sent in part, or with another between its parts."""

    def __init__(self, largest: int) -> None:
        self._largest = largest  # [bytes] of commands and service messages
        self._urgent: deque[Parts] = deque()
        self._urgent_bytes = 0
        self._notes: deque[Parts] = deque(maxlen=MOST_NOTES)
        self._topics: dict[str, deque[Parts]] = {}
        self.dropped = 0
        """Messages of topics that were replaced by newer ones."""

    def __bool__(self) -> bool:
        """Whether something waits."""
        return bool(self._urgent or self._notes or self._topics)

    def put_urgent(self, item: Parts) -> None:
        """Add a command or a service message, which is never dropped.

        Raises:
            OutboxFull: too much waits already.
        """
        size = sum(map(len, item))
        if self._urgent and self._urgent_bytes + size > self._largest:
            raise OutboxFull(f'{self._urgent_bytes} bytes of service messages wait, and Unity does not read them.')
        self._urgent_bytes += size
        self._urgent.append(item)

    def put_note(self, item: Parts) -> None:
        """Add a sentence for the console."""
        self._notes.append(item)

    def put_topic(self, topic: str, item: Parts, depth: int = 1) -> None:
        """Add a topic's message; of those that wait, the newest `depth` are kept."""
        waiting = self._topics.setdefault(topic, deque())
        waiting.append(item)
        while len(waiting) > depth:
            waiting.popleft()
            self.dropped += 1

    def forget_topic(self, topic: str) -> None:
        """Drop what waits of a topic that nobody wants any more."""
        self._topics.pop(topic, None)

    def take(self) -> Parts | None:
        """The next item, or None."""
        if self._urgent:
            item = self._urgent.popleft()
            self._urgent_bytes -= sum(map(len, item))
            return item
        if self._notes:
            return self._notes.popleft()
        if not self._topics:
            return None
        topic = next(iter(self._topics))
        waiting = self._topics.pop(topic)
        item = waiting.popleft()
        if waiting:
            self._topics[topic] = waiting
        return item
