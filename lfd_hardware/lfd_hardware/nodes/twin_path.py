"""How long a trajectory that was sent without a goal, of which nobody hears the end, is still on its way."""

from __future__ import annotations

MARGIN = 0.1  # [s] that the real side may be later than planned


class PathTime:
    """Counts down with every look, at the pace at which the real side follows; paused, it waits."""

    def __init__(self) -> None:
        self.pace = 1.0  # of the trajectory's time per second, as the real side tells or was told last
        self._delay = 0.0  # [s] until it begins
        self._left = 0.0  # [s] of the trajectory's own time
        self._looked: float | None = None

    def begin(self, delay: float, duration: float) -> None:
        """A trajectory of that duration begins after a delay [s]; a negative one means that it has begun already."""
        self._delay = max(delay, 0.0)
        self._left = max(duration + min(delay, 0.0), 0.0) + MARGIN

    def end(self) -> None:
        """It was stopped."""
        self._left = 0.0

    @property
    def is_running(self) -> bool:
        """Whether the arm may still move along it."""
        return self._left > 0.0

    def look(self, clock: float) -> None:
        """Let time pass until a clock's now [s]."""
        passed = 0.0 if self._looked is None else max(clock - self._looked, 0.0)
        self._looked = clock
        waited = min(passed, self._delay)
        self._delay -= waited
        self._left = max(self._left - (passed - waited) * self.pace, 0.0)
