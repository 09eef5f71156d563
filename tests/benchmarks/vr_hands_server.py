"""A server for the VR benchmark: `vr_hands_server.py lfd|floor FILE`; until SIGTERM.

`lfd` is the bridge's server with the real studio, which records, and its log. `floor` is a bare WebSocket of aiohttp
that only reads JSON. It prints its port (and code), notes when a hand or an object arrived, and writes that as rows
of an array: 0 for hands or 1 for moves, number, time [s] of the machine's monotonic clock.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from aiohttp import web
from benchmarks.vr_hands import KINDS, STEP, X
from support.vr_server import SayerOfYes, running_server

from lfd_vr_bridge.demo_log.logger import DemoLogger
from lfd_vr_bridge.server.bridge_server import BridgeServer
from lfd_vr_bridge.studio import events

Row = tuple[int, int, float]


def main() -> int:
    kind, file = sys.argv[1:]
    rows = _lfd() if kind == 'lfd' else asyncio.run(_floor())
    np.save(file, np.array(rows, dtype=float).reshape(-1, 3))
    return 0


def _lfd() -> list[Row]:
    rows: list[Row] = []
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())

    def note(event: events.Event) -> None:
        now = time.monotonic()
        if isinstance(event, events.HandsMoved) and event.hands.right is not None:
            rows.append((0, round((event.hands.right.pose.position[0] - X) / STEP), now))
        elif isinstance(event, events.Carried):
            rows.append((1, round((event.pose.position[0] - X) / STEP), now))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with running_server(folder, robot=SayerOfYes()) as server:
            logger = server.call(_watched(server, folder, note)).result(30.0)
            print(f'ready {server.port} {server.code}', flush=True)
            ended.wait()
            logger.close()
    return rows


async def _watched(server: BridgeServer, folder: Path, note: object) -> DemoLogger:
    """The log as the node has it, and then we: an event that we hear of is on its way to the disk."""
    logger = DemoLogger(server.studio, folder, print)
    server.studio.watch(note)
    return logger


async def _floor() -> list[Row]:
    rows: list[Row] = []
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)

    async def serve(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            frame = json.loads(message.data)
            if frame['type'] in KINDS:
                rows.append((KINDS.index(frame['type']), frame['seq'], time.monotonic()))
        return socket

    app = web.Application()
    app.router.add_get('/ws', serve)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, '127.0.0.1', 0)
    await site.start()
    print(f'ready {runner.addresses[0][1]} -', flush=True)
    await ended.wait()
    await runner.cleanup()
    return rows


if __name__ == '__main__':
    sys.exit(main())
