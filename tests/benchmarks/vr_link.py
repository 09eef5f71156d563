"""A page's connection for the VR benchmark: it hears all the time, as a browser does, and counts what comes."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import numpy as np
from support.vr_client import TIMEOUT, Closed, Frame, VrClient, connected

RECEIVED = 128  # where the kernel's tcp_info has the bytes that came on a connection
HAND = (0.0, 0.7071067811865476, 0.0, 0.7071067811865476)  # fingers point down


class Page:
    """A paired connection."""

    def __init__(self, client: VrClient) -> None:
        self.client = client
        self.newest: dict[str, str] = {}
        """The text of the newest frame of each type."""
        self.lengths: dict[str, list[int]] = {}
        """Of all frames that came, by type."""
        self._waiting: dict[int, asyncio.Future[Frame]] = {}
        self._id = 0

    @property
    def received(self) -> int:
        """Bytes that came so far, as TCP counts them."""
        info = self.client.socket.get_extra_info('socket').getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        return int(struct.unpack_from('<Q', info, RECEIVED)[0])

    async def say(self, text: str) -> None:
        """Send a frame that is not answered."""
        await self.client.socket.send_str(text)

    async def do(self, kind: str, **fields: object) -> Frame:
        """Request something that must be done."""
        self._id += 1
        answer = self._waiting[self._id] = asyncio.get_running_loop().create_future()
        await self.client.say(kind, id=self._id, **fields)
        frame = await asyncio.wait_for(answer, TIMEOUT)
        assert frame['type'] == 'done', frame
        return frame

    async def grab(self, name: str, pose: Sequence[float]) -> None:
        await self.do('grab', object=name, hand='right', pose=list(pose), hand_pose=hand_above(pose))

    async def release(self, name: str, pose: Sequence[float]) -> list[float]:
        """Where it came to rest."""
        answer = await self.do('release', object=name, pose=list(pose), hand_pose=hand_above(pose))
        return list(answer['pose'])

    async def hear(self) -> None:
        """Hear until the connection ends."""
        with suppress(Closed):
            while True:
                message = await self.client.socket.receive()
                if not isinstance(message.data, str):
                    return
                # Only the type is read of what comes often, so that hearing costs the measurement little.
                kind = message.data[len('{"type":"') :].partition('"')[0]
                self.newest[kind] = message.data
                self.lengths.setdefault(kind, []).append(len(message.data))
                if kind in ('done', 'refused'):
                    frame = json.loads(message.data)
                    if (future := self._waiting.pop(frame.get('id', 0), None)) is not None:
                        future.set_result(frame)


@asynccontextmanager
async def opened(port: int, **how: str) -> AsyncIterator[Page]:
    """A page that said hello with a `code` or a `token`, and has heard everything."""
    async with connected(port) as client:
        await client.say('hello', protocol=1, name='bench', **how)
        await client.until('tasks')
        page = Page(client)
        for frame in client.heard:
            page.newest[frame['type']] = json.dumps(frame, separators=(',', ':'))
        hearing = asyncio.create_task(page.hear())
        try:
            yield page
        finally:
            hearing.cancel()
            await asyncio.gather(hearing, return_exceptions=True)


def hand_above(pose: Sequence[float]) -> list[float]:
    """A hand that holds an object from above."""
    x, y, z = pose[:3]
    return [x, y, z + 0.05, *HAND]


def move_text(number: int, name: str, pose: Sequence[float]) -> str:
    """A `move` frame."""
    frame = {'type': 'move', 'seq': number, 'object': name, 'pose': list(pose), 'hand_pose': hand_above(pose)}
    return json.dumps(frame)


def spread(latencies: Sequence[float], sent: int) -> dict:
    """How latencies [s] are spread, how many are missing, and all of them as 201 quantiles."""
    found = np.asarray(latencies) if latencies else np.array([np.inf])
    p50, p99, longest = np.percentile(found, (50, 99, 100))
    return {
        'p50': float(p50),
        'p99': float(p99),
        'max': float(longest),
        'count': len(latencies),
        'lost': sent - len(latencies),
        'quantiles': [
            float(each) for each in np.percentile(found, np.linspace(0.0, 100.0, 201), method='inverted_cdf')
        ],
    }
