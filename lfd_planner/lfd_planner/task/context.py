"""What a search carries along: the seed, who may stop it, and a journal of what was tried."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lfd_planner.stopping import ShouldStop, never

from .state import Rejection, State, Step

if TYPE_CHECKING:
    from .stage import Stage


@dataclass(frozen=True)
class Count:
    """How often a stage rejected something for one reason."""

    stage: str
    keyframe: int
    reason: str
    subjects: tuple[str, ...]
    count: int
    detail: str = ''
    """The first sentence that was given with it."""

    def __str__(self) -> str:
        subjects = f' ({", ".join(self.subjects)})' if self.subjects else ''
        return f'{self.stage}: {self.count} x {self.reason}{subjects}'


@dataclass
class Journal:
    """What happened in a search: rejections by stage and reason, and the time that stages took."""

    seconds: dict[str, float] = field(default_factory=dict)
    """By stage name, without what other stages did meanwhile."""
    backups: int = 0
    """How often a search went back to try another way."""
    _counts: dict[tuple[int, str, str, tuple[str, ...]], tuple[int, str]] = field(default_factory=dict)

    def reject(self, stage: str, keyframe: int, rejection: Rejection) -> None:
        """Count a rejection."""
        about = keyframe if rejection.keyframe is None else rejection.keyframe
        key = (about, rejection.stage or stage, rejection.reason, rejection.subjects)
        count, detail = self._counts.get(key, (0, ''))
        self._counts[key] = count + rejection.count, detail or rejection.detail

    def spend(self, stage: str, seconds: float) -> None:
        """Add to a stage's time [s]."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    @property
    def counts(self) -> tuple[Count, ...]:
        """All rejections: those of the last keyframe first, then the most frequent first."""
        found = [
            Count(stage, keyframe, reason, subjects, count, detail)
            for (keyframe, stage, reason, subjects), (count, detail) in self._counts.items()
        ]
        return tuple(sorted(found, key=lambda count: (-count.keyframe, -count.count)))


class Observer:
    """Told what the stages of a search find, reject and spend; this one takes no notice."""

    def found(self, stage: Stage, step: Step) -> None:
        """A stage found a way; a container tells of its stages' steps too, and so of some for the second time."""

    def rejected(self, stage: Stage, rejection: Rejection, state: State | None) -> None:
        """A stage cannot go a way from a state, or to it."""

    def spent(self, stage: Stage, seconds: float) -> None:
        """A stage, and none within it, took some time [s]."""


def silent(keyframe: int, stage: str) -> None:
    """Nobody listens."""


@dataclass
class Context:
    """One search; the same seed gives the same result, unless time runs out."""

    seed: int = 0
    effort: int = 1
    """How many times as hard as usual to search before giving up."""
    gave_up: bool = False
    """Whether something was left untried, or a search ended, that more effort would have gone on with."""
    deadline: float | None = None
    """On the clock of `time.monotonic` [s]; None: no hurry."""
    should_stop: ShouldStop = never
    progress: Callable[[int, str], None] = silent
    """Told the keyframe and the name of every stage that begins."""
    journal: Journal = field(default_factory=Journal)
    observer: Observer = field(default_factory=Observer)

    @property
    def stopped(self) -> bool:
        """Whether to end now: somebody said so, or time is up."""
        return self.should_stop() or self.late

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def seconds_left(self) -> float:
        """Until the deadline [s]; endless without one."""
        return float('inf') if self.deadline is None else max(0.0, self.deadline - time.monotonic())
