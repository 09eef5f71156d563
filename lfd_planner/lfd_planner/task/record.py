"""What a search did, stage by stage: the tree of its stages, and numbered steps and rejections of each.

The numbers are those of MoveIt Task Constructor: the task itself is stage 0, its stages count from 1 in the order in
which they are read, and whatever any stage found or rejected has a number from 1 on that no other has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .context import Observer
from .stage import Direction, Stage
from .state import Rejection, State, Step

TASK = 0
"""The number of the task, which is no stage."""
ROOT = 1
"""The number of the stage whose steps are solutions of the task."""
MOST_KEPT = 50_000
"""Steps and rejections; of what comes later, only the number is known."""


@dataclass(frozen=True)
class StageEntry:
    """A stage in the tree."""

    number: int
    parent: int
    """The number of the container that it is in."""
    name: str
    direction: Direction
    keyframe: int
    """Index into the task's keyframes; -1: none."""


@dataclass(frozen=True)
class StageStatistics:
    """What a stage did so far."""

    stage: int
    solved: tuple[int, ...]
    """The numbers of its steps, the cheapest first."""
    failed: tuple[int, ...]
    """The numbers of its rejections."""
    rejected: int
    """How many ways it rejected; a rejection may stand for several."""
    seconds: float
    """That it took, its stages included [s]."""


@dataclass(frozen=True, eq=False)
class Part:
    """A step in the place that it has within another."""

    number: int
    """0: it has none, since too many were found before it."""
    stage: int
    """That found it, or made the stage that did."""
    step: Step
    parts: tuple[int, ...] | None
    """The numbers of a container's parts; None: it is a stage's own step."""


@dataclass(frozen=True)
class Refused:
    """A rejection, and the state from which or to which there was no way."""

    stage: int
    rejection: Rejection
    state: State | None


@dataclass(eq=False)
class _Notes:
    """Of one stage; several threads may look while one writes."""

    stage: Stage
    steps: list[tuple[int, float]] = field(default_factory=list)
    """Number and cost."""
    failed: list[int] = field(default_factory=list)
    rejected: int = 0
    seconds: float = 0.0


class Record(Observer):
    """Keeps what a search tells; it may be read while the search goes on."""

    def __init__(self, stage: Stage) -> None:
        tree = tuple(_tree(stage))
        self.entries: tuple[StageEntry, ...] = tuple(entry for entry, _ in tree)
        self._stages = {entry.number: each for entry, each in tree}
        self._notes = {id(each): _Notes(each) for each in self._stages.values()}
        self._numbers = {id(each): number for number, each in self._stages.items()}
        self._kept: dict[int, tuple[Stage, Step] | Refused] = {}
        self._known: dict[tuple[int, int], int] = {}
        """The numbers of steps, by the identity of stage and step."""

    # Told by the search

    def found(self, stage: Stage, step: Step) -> None:
        """Number a step, unless it has a number."""
        notes = self._notes.get(id(stage))
        if notes is None or self._knows(stage, step):
            return
        if number := self._keep(stage, step):
            notes.steps.append((number, step.cost))
        if not stage.children and step.parts:  # of stages that it made by itself
            for leaf in step.leaves():
                self._keep(stage, leaf)

    def rejected(self, stage: Stage, rejection: Rejection, state: State | None) -> None:
        """Number a rejection."""
        notes = self._notes.get(id(stage))
        if notes is None:
            return
        notes.rejected += rejection.count
        if len(self._kept) < MOST_KEPT:
            number = len(self._kept) + 1
            self._kept[number] = Refused(self._numbers[id(stage)], rejection, state)
            notes.failed.append(number)

    def spent(self, stage: Stage, seconds: float) -> None:
        """Add to a stage's time [s]."""
        if notes := self._notes.get(id(stage)):
            notes.seconds += seconds

    # What is known

    @property
    def solutions(self) -> int:
        """How many solutions of the whole task there are so far."""
        return len(self._notes[id(self._stages[ROOT])].steps)

    def statistics(self) -> tuple[StageStatistics, ...]:
        """What each stage did so far, in the order of the tree."""
        seconds = {number: self._notes[id(stage)].seconds for number, stage in self._stages.items()}
        for entry in reversed(self.entries):  # parents come before their stages
            if entry.parent != TASK:
                seconds[entry.parent] += seconds[entry.number]
        return tuple(self._statistics(number, stage, seconds[number]) for number, stage in self._stages.items())

    def number(self, step: Step) -> int:
        """The number of a solution of the whole task; 0: it has none."""
        return self._number(self._stages[ROOT], step)

    def get(self, number: int) -> tuple[Part, ...] | Refused | None:
        """What has a number: a step with all its parts, itself first, or a rejection; None: nothing has it."""
        kept = self._kept.get(number)
        return tuple(self._parts(*kept)) if isinstance(kept, tuple) else kept

    def parts(self, step: Step) -> tuple[Part, ...]:
        """A solution of the whole task with all its parts, itself first."""
        return tuple(self._parts(self._stages[ROOT], step))

    def _keep(self, stage: Stage, step: Step) -> int:
        """The number that a step is given; 0: there are too many."""
        if len(self._kept) >= MOST_KEPT:
            return 0
        number = len(self._kept) + 1
        self._kept[number] = stage, step  # kept, so that no other step can have its identity
        self._known[id(stage), id(step)] = number
        return number

    def _statistics(self, number: int, stage: Stage, seconds: float) -> StageStatistics:
        notes = self._notes[id(stage)]
        solved = sorted(notes.steps, key=lambda step: (step[1], step[0]))
        return StageStatistics(number, tuple(each for each, _ in solved), tuple(notes.failed), notes.rejected, seconds)

    def _parts(self, stage: Stage, step: Step) -> Iterator[Part]:
        number, place = self._number(stage, step), self._numbers[id(stage)]
        below = self._below(stage, step)
        if below:
            yield Part(number, place, step, tuple(self._number(*part) for part in below))
            for part in below:
                yield from self._parts(*part)
        elif step.parts:
            leaves = [(self._number(stage, leaf), leaf) for leaf in step.leaves()]
            yield Part(number, place, step, tuple(each for each, _ in leaves if each))
            yield from (Part(each, place, leaf, None) for each, leaf in leaves)
        else:
            yield Part(number, place, step, None)

    def _number(self, stage: Stage, step: Step) -> int:
        return self._known.get((id(stage), id(step)), 0)

    def _below(self, stage: Stage, step: Step) -> list[tuple[Stage, Step]]:
        """The stages in a container that made a step of it, with their own; none if they are not known."""
        parts = list(zip(stage.children, step.parts, strict=False))
        if len(stage.children) == len(step.parts) and all(self._knows(*part) for part in parts):
            return parts
        return [(child, step) for child in stage.children if self._knows(child, step)][:1]

    def _knows(self, stage: Stage, step: Step) -> bool:
        return (id(stage), id(step)) in self._known


def _tree(stage: Stage) -> Iterator[tuple[StageEntry, Stage]]:
    """All stages in the order in which they are read, containers before what is in them."""
    waiting, number = [(TASK, stage)], TASK
    while waiting:
        parent, each = waiting.pop()
        number += 1
        yield StageEntry(number, parent, each.name, each.direction, each.keyframe), each
        waiting += [(number, child) for child in reversed(each.children)]
