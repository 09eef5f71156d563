"""How long a search may take: a time budget, and somebody who may stop it at any moment."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from lfd_planner.stopping import ShouldStop, never

Interruption = Literal['timeout', 'stopped']

_SLICE = 0.004
"""[s], that compiled code should run between two looks at the clock."""
_LARGEST_SLICE = 4096


@dataclass(frozen=True)
class Patience:
    """Ends at `deadline`, on the clock of `time.monotonic` [s], or as soon as `should_stop()` says so."""

    deadline: float
    should_stop: ShouldStop = field(default=never)

    @staticmethod
    def of(budget_s: float, should_stop: ShouldStop = never) -> 'Patience':
        """That lasts so many seconds from now."""
        return Patience(time.monotonic() + budget_s, should_stop)

    def interruption(self) -> Interruption | None:
        """Why to end now, if there is a reason."""
        if self.should_stop():
            return 'stopped'
        return 'timeout' if time.monotonic() >= self.deadline else None

    def slices(self) -> Iterator[int]:
        """Amounts of work, each to be done before the next is taken, until patience ends; none takes long.

        How the work is cut depends on the clock; so the work itself must not depend on how it is cut.
        """
        amount = 1
        while self.interruption() is None:
            begin = time.monotonic()
            yield amount
            taken = time.monotonic() - begin
            if taken < 0.5 * _SLICE:
                amount = min(2 * amount, _LARGEST_SLICE)
            elif taken > _SLICE:
                amount = max(1, amount // 2)
