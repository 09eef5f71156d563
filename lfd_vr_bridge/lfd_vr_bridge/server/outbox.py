"""What waits to be sent to one client: frames that must arrive in order, and news of which only the newest counts."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping

from lfd_planner.pose import Pose

from .news import ObjectsNews

Text = str | asyncio.Future[str]
"""A frame, or one that is still being made."""


class TooSlow(Exception):
    """A client does not take what it is sent."""


class Outbox:
    """Frames for one client; a slow one holds up nobody, and costs no more than `most` frames.

    Args:
        most: frames that may wait in order.
        encode: makes text of news of moved objects.
    """

    def __init__(self, most: int, encode: Callable[[ObjectsNews], str]) -> None:
        self._most = most
        self._encode = encode
        self._queue: deque[Text] = deque()
        self._newest: dict[str, str] = {}
        self._moved: dict[str, Pose] = {}
        self._revision = 0
        self._something = asyncio.Event()

    def put(self, text: Text) -> None:
        """A frame that must arrive.

        Raises:
            TooSlow: too many wait already.
        """
        if len(self._queue) >= self._most:
            raise TooSlow
        self._queue.append(text)
        self._something.set()

    def offer(self, kind: str, text: str) -> None:
        """A frame of which only the newest of its kind counts."""
        self._newest[kind] = text
        self._something.set()

    def move(self, moved: Mapping[str, Pose], revision: int) -> None:
        """Objects are elsewhere; of each, only the newest pose counts."""
        self._moved.update(moved)
        self._revision = revision
        self._something.set()

    def forget_moves(self, names: Iterable[str]) -> None:
        """Poses of these objects are no news any more: a frame that must arrive has newer ones."""
        for name in names:
            self._moved.pop(name, None)

    async def send(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send what waits, and what comes, for ever."""
        while True:
            await self._something.wait()
            self._something.clear()
            while self._queue:
                text = self._queue.popleft()
                await send(text if isinstance(text, str) else await asyncio.shield(text))
            if self._moved:
                moved, self._moved = self._moved, {}
                await send(self._encode(ObjectsNews(self._revision, moved=moved)))
            while self._newest and not self._queue:
                await send(self._newest.pop(next(iter(self._newest))))
            if self._queue or self._moved or self._newest:
                self._something.set()
