"""A page's side of the WebSocket, for tests: says things, remembers what it hears, and waits for what it wants."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

TIMEOUT = 30.0  # [s]
Frame = dict[str, Any]


class Closed(Exception):
    """The server ended the connection."""

    def __init__(self, code: int | None, last: Frame | None) -> None:
        super().__init__(f'closed with {code}, last frame {last}')
        self.code = code
        self.last = last


class VrClient:
    """One connection; `heard` has every frame since it was made."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.heard: list[Frame] = []
        self._read = 0
        self._id = 0

    @property
    def client(self) -> str:
        """What the server calls us."""
        return self.last('welcome')['client']

    @property
    def token(self) -> str:
        return self.last('welcome')['token']

    def last(self, kind: str) -> Frame:
        """The newest frame of a kind."""
        return next(frame for frame in reversed(self.heard) if frame['type'] == kind)

    async def say(self, kind: str, **fields: object) -> None:
        await self.socket.send_str(json.dumps({'type': kind, **fields}))

    async def hear(self) -> Frame:
        """The next frame.

        Raises:
            Closed: there is none any more.
        """
        message = await self.socket.receive(timeout=TIMEOUT)
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise Closed(self.socket.close_code, self.heard[-1] if self.heard else None)
        self.heard.append(json.loads(message.data))
        return self.heard[-1]

    async def until(self, kind: str, wanted: Callable[[Frame], bool] = lambda frame: True) -> Frame:
        """The next frame of a kind that is as wanted."""
        while True:
            frame = await self.hear()
            if frame['type'] == kind and wanted(frame):
                return frame

    async def ask(self, kind: str, **fields: object) -> Frame:
        """Request something and wait for the answer, `done` or `refused`."""
        self._id += 1
        id = self._id
        await self.say(kind, id=id, **fields)
        while True:
            frame = await self.hear()
            if frame['type'] in ('done', 'refused') and frame.get('id') == id:
                return frame

    async def do(self, kind: str, **fields: object) -> Frame:
        """Request something that must be done."""
        answer = await self.ask(kind, **fields)
        assert answer['type'] == 'done', answer
        return answer

    async def until_closed(self) -> Closed:
        """How the server ended the connection."""
        while True:
            try:
                await self.hear()
            except Closed as closed:
                return closed


@asynccontextmanager
async def connected(
    port: int, *, scheme: str = 'http', context: ssl.SSLContext | None = None, **options: Any
) -> AsyncIterator[VrClient]:
    """A connection that has not said anything yet."""
    async with aiohttp.ClientSession() as session:
        url = f'{scheme}://127.0.0.1:{port}/ws'
        async with session.ws_connect(url, ssl=context or True, max_msg_size=0, **options) as socket:
            yield VrClient(socket)


@asynccontextmanager
async def paired(port: int, *, name: str = 'a test', **how: Any) -> AsyncIterator[VrClient]:
    """A connection that said hello with a code or a token, and has heard the whole scene."""
    hello = {key: how.pop(key) for key in ('code', 'token', 'page') if key in how}
    async with connected(port, **how) as client:
        await client.say('hello', protocol=1, name=name, **hello)
        await client.until('tasks')
        yield client


def run(job: Any) -> Any:
    """Run a test's coroutine, for a while at most."""
    return asyncio.run(asyncio.wait_for(job, 120.0))
