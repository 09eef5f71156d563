"""A cable that can be pulled: forwards TCP connections to a port of this machine until it is told not to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

Result = TypeVar('Result')


class Relay:
    """Listens on `port`; `cut` ends all connections and takes no new ones until `mend`; `hush` lets all hang."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()
        self._whole = True
        self._flows = asyncio.Event()
        self._flows.set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(self._listen())
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._run(self._set(False))

    def hush(self) -> None:
        """Nothing passes any more, and nobody is told: as when a radio link fades."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def mend(self) -> None:
        self._run(self._set(True))

    def close(self) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10.0)
        self._loop.close()

    def _run(self, job: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result(10.0)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._forward, '127.0.0.1', 0)

    async def _set(self, whole: bool) -> None:
        self._whole = whole
        self._flows.set()
        if not whole:
            for writer in tuple(self._writers):
                writer.transport.abort()

    async def _end(self) -> None:
        await self._set(False)
        self._server.close()
        jobs = [job for job in asyncio.all_tasks() if job is not asyncio.current_task()]
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection('127.0.0.1', self._target)
        self._writers |= {writer, back}
        try:
            await asyncio.gather(self._pump(reader, back), self._pump(there, writer))
        finally:
            self._writers -= {writer, back}
            for each in (writer, back):
                each.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


@contextmanager
def relay(target: int) -> Iterator[Relay]:
    """A relay to a port, closed at the end."""
    made = Relay(target)
    try:
        yield made
    finally:
        made.close()
