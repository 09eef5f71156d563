"""From a hand in a headset to the recorded event; a part of `./lfd bench vr`.

A client sends hands and a held object at 90 Hz to a server in another process, which notes when its studio has them.
The floor is a bare WebSocket that only reads JSON; both are asked in turn.
"""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
from benchmarks.control_cell import Planners, program, ready
from benchmarks.vr_link import HAND, Page, move_text, opened, spread
from support.vr_client import connected

KINDS = ('hands', 'move')
RATE = 90.0  # [Hz]
ROUNDS = 6
LOADS = ('idle', 'planner')
OBJECT, X, Y, Z = 'red_box', 0.4, 0.0, 0.1  # [m] around which it is moved
STEP = 1e-6  # [m] of x for each frame, which is how the server knows its number
SETTLE = 0.3  # [s] after a change of load
Say = Callable[[str], object]


@dataclass
class Target:
    """A server, and what was sent to it: times by load, kind and number."""

    who: str
    folder: Path
    sent: dict[str, dict[tuple[int, int], float]] = field(default_factory=lambda: {load: {} for load in LOADS})

    def __post_init__(self) -> None:
        self._file = self.folder / f'hands_{self.who}.npy'
        self._process = program('vr_hands_server.py', self.who, self._file)
        self._numbers = count(1)

    def wait(self) -> None:
        _, port, self.code = ready(self._process, 'ready').split()
        self.port = int(port)

    async def send(self, say: Say, load: str, seconds: float) -> None:
        """Send hands and moves at the rate of a headset."""
        start = time.monotonic()
        for step in range(max(1, round(seconds * RATE))):
            number = next(self._numbers)
            for kind, text in enumerate((hands_text(number), _move(number))):
                self.sent[load][kind, number] = time.monotonic()
                await say(text)
            await asyncio.sleep(max(0.0, start + (step + 1) / RATE - time.monotonic()))

    def end(self) -> dict[tuple[int, int], float]:
        """End it; gives when each frame arrived."""
        assert self._process.end(signal.SIGTERM) == 0, self._process.output
        return {(int(kind), int(number)): at for kind, number, at in np.load(self._file)}

    def stop(self) -> None:
        self._process.stop()


def hands_text(number: int) -> str:
    hand = {'pose': [X + STEP * number, Y, Z, *HAND], 'grip': 0.5}
    head = {'pose': [0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0], 'grip': 0.0}
    return json.dumps(
        {'type': 'hands', 'seq': number, 't': time.monotonic(), 'left': None, 'right': hand, 'head': head}
    )


def _move(number: int) -> str:
    return move_text(number, OBJECT, [X + STEP * number, Y, Z, 0.0, 0.0, 0.0, 1.0])


def measure_hands(planners: Planners, folder: Path, seconds: float, rounds: int = ROUNDS) -> list[dict]:
    """Rows of lfd and of the floor for each load and kind of frame."""
    targets = [Target('lfd', folder), Target('floor', folder)]
    try:
        for target in targets:
            target.wait()
        asyncio.run(_send_all(targets, planners, seconds, rounds))
        arrived = {target.who: target.end() for target in targets}
    finally:
        for target in targets:
            target.stop()
    rows = [
        {'who': target.who, 'load': load, 'frame': name, **_latencies(target.sent[load], arrived[target.who], kind)}
        for load in LOADS
        for kind, name in enumerate(KINDS)
        for target in targets
    ]
    for ours, floor in zip(rows[::2], rows[1::2], strict=True):
        ours['ratio'] = ours['p50'] / floor['p50']
        ours['ratio_p99'] = ours['p99'] / floor['p99']
    return rows


async def _send_all(targets: Sequence[Target], planners: Planners, seconds: float, rounds: int) -> None:
    lfd, floor = targets
    async with _recording(lfd) as page, connected(floor.port) as bare:
        for load in LOADS:
            with planners.working(load != 'idle'):
                await asyncio.sleep(SETTLE)
                for _ in range(rounds):
                    await lfd.send(page.say, load, seconds / rounds)
                    await floor.send(bare.socket.send_str, load, seconds / rounds)
        # What was sent last has arrived when what is asked for after it is answered.
        await page.do('discard_recording')


@asynccontextmanager
async def _recording(target: Target) -> AsyncIterator[Page]:
    """A page that records and holds the object."""
    async with opened(target.port, code=target.code) as page:
        await page.do('take_control')
        await page.do('start_recording', name='bench')
        objects = json.loads(page.newest['scene'])['objects']
        await page.grab(OBJECT, next(thing['pose'] for thing in objects if thing['name'] == OBJECT))
        yield page


def _latencies(sent: dict[tuple[int, int], float], arrived: dict[tuple[int, int], float], kind: int) -> dict:
    mine = {key: at for key, at in sent.items() if key[0] == kind}
    return spread([arrived[key] - at for key, at in mine.items() if key in arrived], len(mine))
