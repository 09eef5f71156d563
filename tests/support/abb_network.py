"""A bad network for datagrams: lost, duplicated, delayed, and by that reordered. Recorded by its seed."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass


@dataclass
class Weather:
    """How bad it is; may be changed while it blows."""

    lost: float = 0.0  # part of all datagrams
    duplicated: float = 0.0
    delayed: float = 0.0
    delay: float = 0.012  # [s] the longest
    cut: bool = False  # nothing gets through


class BadNetwork:
    """Holds datagrams until they come out; one direction, one thread."""

    def __init__(self, seed: int) -> None:
        self.weather = Weather()
        self._random = random.Random(seed)
        self._waiting: list[tuple[float, int, bytes]] = []
        self._count = 0

    def put(self, datagram: bytes, now: float) -> None:
        weather, chance = self.weather, self._random.random
        if weather.cut or chance() < weather.lost:
            return
        for _ in range(2 if chance() < weather.duplicated else 1):
            late = self._random.uniform(0.0, weather.delay) if chance() < weather.delayed else 0.0
            self._count += 1
            heapq.heappush(self._waiting, (now + late, self._count, datagram))

    def take(self, now: float) -> list[bytes]:
        """What comes out by now."""
        out = []
        while self._waiting and self._waiting[0][0] <= now:
            out.append(heapq.heappop(self._waiting)[2])
        return out
