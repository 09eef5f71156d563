"""How often things happen, and when: what is told to others, and what a client may send and says of its time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

DRIFT = 1e-3  # [s/s] between two clocks, more than any real ones have


class Pacer:
    """Calls a function at once when asked to, but at most once in a period; the last time it is asked always counts."""

    def __init__(self, period: float, action: Callable[[], None]) -> None:
        """`period` is in seconds."""
        self._period = period
        self._action = action
        self._waiting: asyncio.TimerHandle | None = None
        self._asked = False

    def ask(self) -> None:
        """There is something to do."""
        if self._waiting is not None:
            self._asked = True
            return
        self._act()

    def close(self) -> None:
        """Do nothing any more."""
        if self._waiting is not None:
            self._waiting.cancel()

    def _act(self) -> None:
        self._asked = False
        self._waiting = asyncio.get_running_loop().call_later(self._period, self._over)
        self._action()

    def _over(self) -> None:
        self._waiting = None
        if self._asked:
            self._act()


class Allowance:
    """So many a second, and as many at once after a rest.

    Args:
        rate: allowed in the long run [1/s].
        burst: allowed at once.
        now: the time [s].
    """

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate = rate
        self._burst = burst
        self._left = burst
        self._then = now

    def wait(self, now: float) -> float:
        """For how long no more is allowed [s]."""
        self._follow(now)
        return max(0.0, (1.0 - self._left) / self._rate)

    def take(self, now: float) -> bool:
        """Whether one more is allowed."""
        self._follow(now)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def _follow(self, now: float) -> None:
        self._left = min(self._burst, self._left + (now - self._then) * self._rate)
        self._then = now


class ClientClock:
    """What a client's clock means here: frames wait on their way, but never arrive before they are sent.

    So the frame that took the shortest way tells how far the clocks are apart; that one is forgotten slowly, because no
    two clocks go equally fast.
    """

    def __init__(self) -> None:
        self._apart: float | None = None
        self._then = self._last = 0.0

    def here(self, sent: float, now: float) -> float:
        """When a frame was sent, by our clock [s]; never earlier than a frame before.

        Args:
            sent: by the client's clock [s].
            now: by ours, as it arrived [s].
        """
        apart = now - sent
        if self._apart is not None:
            apart = min(apart, self._apart + DRIFT * (now - self._then))
        self._apart, self._then = apart, now
        self._last = min(now, max(self._last, sent + apart))
        return self._last
