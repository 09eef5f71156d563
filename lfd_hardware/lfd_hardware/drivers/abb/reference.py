"""From commands at the times of the update loop to set-points at the times of the controller, all in rad.

The loop and the controller run at their own pace. If each answer carried the newest command, some answers would make
two of the loop's steps at once and others none, and the arm would shake. So an answer carries the place on the straight
line from where the set-point was when the last command came to that command, which is reached when the next one is due.
That costs one period of the loop, and nothing is ever extrapolated: without a new command the set-point stands.
"""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_LINE = 0.02  # [s] a command after a pause is not stretched over more than this
SHORTEST_LINE = 0.001  # [s]


class Reference:
    """The set-point of an arm. ``steps`` [rad] is how far each joint may go from one answer to the next."""

    def __init__(self, steps: Sequence[float], period: float) -> None:
        self._steps = tuple(steps)
        self._period = period  # [s] between two answers
        self.hold((0.0,) * len(self._steps), 0.0)

    @property
    def sent(self) -> tuple[float, ...]:
        """The set-point of the last answer [rad]."""
        return self._sent

    @property
    def target(self) -> tuple[float, ...]:
        """The newest command [rad]."""
        return self._target

    def hold(self, positions: Sequence[float], now: float) -> None:
        """Stand here [rad]."""
        self._sent = self._start = self._target = self._measured = tuple(positions)
        self._speeds = (0.0,) * len(self._sent)
        self._aimed_at = self._measured_at = now
        self._line = self._period

    def aim(self, target: Sequence[float], now: float) -> None:
        """Go to a new command [rad] until the next one is due."""
        self._start = self._on_line(now)
        self._line = min(max(now - self._aimed_at, SHORTEST_LINE), LONGEST_LINE)
        self._target = tuple(target)
        self._aimed_at = now

    def next(self, now: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The set-point of the answer that is sent now [rad], and its speed [rad/s]."""
        self._sent = tuple(
            last + min(max(wish - last, -step), step)
            for last, wish, step in zip(self._sent, self._on_line(now), self._steps, strict=True)
        )
        passed = now - self._measured_at
        if passed > 0.25 * self._period:  # two answers in a row are too near to derive a speed from
            self._speeds = tuple(
                min(max((new - old) / passed, -step / self._period), step / self._period)
                for new, old, step in zip(self._sent, self._measured, self._steps, strict=True)
            )
            self._measured, self._measured_at = self._sent, now
        return self._sent, self._speeds

    def _on_line(self, now: float) -> tuple[float, ...]:
        part = min(max((now - self._aimed_at) / self._line, 0.0), 1.0)
        return tuple(start + part * (end - start) for start, end in zip(self._start, self._target, strict=True))
