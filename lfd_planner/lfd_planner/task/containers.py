"""Stages of stages. `Serial` is where the search is.

A serial container knows the order in which its stages can be done before it searches: generators and what propagates
from them first, from left to right, and connectors when both their sides are known. It searches depth first, the best
step of each stage first. When a stage finds nothing it goes back to the last stage whose choice that stage depends on,
and leaves alone what has nothing to do with it. So a task costs as much as its stages do, unless something fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from .context import Context
from .stage import NOBODY, Blame, Direction, Run, Stage
from .state import State, Step

_START, _END = -1, -2  # who wrote a state that was given from outside


class StructureError(ValueError):
    """Stages that do not fit together; the message has one line for each fault."""


@dataclass(frozen=True)
class _Turn:
    """A stage's turn in the order of the search."""

    child: int
    before: int
    """The interface whose state a generator may look at; -1: none."""


class Serial(Stage):
    """Stages one after the other; it reads what its first and its last stage read.

    Args:
        name: for people.
        children: the stages, in the order of the motion.
        keyframe: of the task that it serves; -1: none, or several.
        most: how many steps are taken of it for one start and end; None: all.
        most_backups: how often it goes back to another choice before it gives up; None: as often as there are choices.
        most_failures: how often one stage may find nothing, and never anything, before it gives up; None: no matter.
        most_unconnected: the same for connectors, whose searches are long.
    """

    def __init__(
        self,
        name: str,
        *children: Stage,
        keyframe: int = -1,
        most: int | None = None,
        most_backups: int | None = None,
        most_failures: int | None = None,
        most_unconnected: int | None = None,
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.children = children
        self.most_backups = most_backups
        self.most_failures = most_failures
        self.most_unconnected = most_unconnected
        self._order, self._writers, self._faults = _order(name, children)

    @property
    def direction(self) -> Direction:
        """It reads what its first and last stage read."""
        if not self.children:
            return Direction.GENERATE
        first, last = self.children[0].direction, self.children[-1].direction
        return Direction((first.reads_start, last.reads_end))

    def faults(self) -> Iterator[str]:
        """What is wrong with its structure, and with that of its stages."""
        yield from self._faults
        for child in self.children:
            yield from child.faults()

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """Ways through all stages, depth first."""
        if self._faults:
            raise StructureError('\n'.join(self._faults))
        search = _Search(self, context, start, end, before)
        return (yield from search.run())


@dataclass
class _Frame:
    """A stage that is being tried."""

    run: Run
    conflict: set[int] = field(default_factory=set)
    """Turns whose other choices might help where this one's do not."""
    found: bool = False
    """Whether a whole way went through here, so that nothing is to blame any more."""
    step: Step | None = None


@dataclass
class _Kept:
    """What a connector found so far; its states are kept too, so that no others can have their identity."""

    start: State | None
    end: State | None
    run: Run
    steps: list[Step] = field(default_factory=list)

    def search(self) -> bool:
        """Look for one more step; whether there is one."""
        step = next(self.run, None)
        if step is not None:
            self.steps.append(step)
        return step is not None


class _Search:
    """Depth first with conflict-directed backjumping."""

    def __init__(
        self, serial: Serial, context: Context, start: State | None, end: State | None, before: State | None
    ) -> None:
        self.serial, self.context, self.before = serial, context, before
        self.states: list[State | None] = [None] * (len(serial.children) + 1)
        self.states[0], self.states[-1] = start, end
        self.frames: list[_Frame] = []
        self.kept: dict[tuple[int, int, int], _Kept] = {}
        """Steps of connectors, by the identity of their states."""
        self.backups = 0
        self.failures: dict[int, float] = {}
        """How often stages found nothing, by their turn; those that ever found anything have endlessly many left."""

    def run(self) -> Run:
        """Ways through all stages; at last, whether what is outside is to blame."""
        given, order = 0, self.serial._order
        if not order:
            return NOBODY
        self._open()
        while self.frames and not self.context.stopped:
            frame = self.frames[-1]
            try:
                frame.step = next(frame.run)
            except StopIteration as done:
                conflict = self._conflict(frame, done.value)
                if not self._back(conflict):
                    return _outside(conflict)
                continue
            self._write(frame.step)
            if len(self.frames) < len(order):
                self._open()
                continue
            for each in self.frames:
                each.found = True
            yield self._step()
            given += 1
            if given == self.serial.most:
                break
        return frozenset({'start', 'end', 'before'})

    def _open(self) -> None:
        turn = self.serial._order[len(self.frames)]
        child = self.serial.children[turn.child]
        start = self.states[turn.child] if child.direction.reads_start else None
        end = self.states[turn.child + 1] if child.direction.reads_end else None
        before = self.states[turn.before] if turn.before >= 0 else self.before
        run = child.run(self.context, start, end, before)
        if child.direction is Direction.CONNECT:
            run = self._remembered(turn.child, start, end, run)
        self.frames.append(_Frame(run))

    def _remembered(self, child: int, start: State | None, end: State | None, run: Run) -> Run:
        """The steps of a connector, of which those already found are not searched again."""
        key = (child, id(start), id(end))
        kept = self.kept.setdefault(key, _Kept(start, end, run))
        number = 0
        while number < len(kept.steps) or kept.search():
            yield kept.steps[number]
            number += 1
        return frozenset({'start', 'end'})

    def _write(self, step: Step) -> None:
        turn = self.serial._order[len(self.frames) - 1]
        direction = self.serial.children[turn.child].direction
        if not direction.reads_start:
            self.states[turn.child] = step.start
        if not direction.reads_end:
            self.states[turn.child + 1] = step.end

    def _conflict(self, frame: _Frame, blame: Blame) -> set[int]:
        """The turns, and sides of the container, whose other choices might help."""
        here = len(self.frames) - 1
        if frame.found:
            return {*range(here), _START, _END}
        turn, writers = self.serial._order[here], self.serial._writers
        blamed = {'start': turn.child, 'end': turn.child + 1, 'before': turn.before}
        found = {writers.get(interface, _START) for side, interface in blamed.items() if side in blame}
        return frame.conflict | found

    def _back(self, conflict: set[int]) -> bool:
        """Go back to the last choice that might help; whether there is one."""
        tired = self._fails(self.frames.pop())
        turns = [turn for turn in conflict if turn >= 0]
        if not turns or tired or self._exceeds(self.backups, self.serial.most_backups):
            for frame in self.frames:
                frame.run.close()
            self.frames.clear()
            return False
        self.backups += 1
        self.context.journal.backups += 1
        last = max(turns)
        while len(self.frames) > last + 1:
            self.frames.pop().run.close()
        self.frames[-1].conflict |= conflict - {last}
        return True

    def _fails(self, frame: _Frame) -> bool:
        """Note that the stage whose turn it was has no more steps; whether that makes it hopeless."""
        turn = len(self.frames)
        self.failures[turn] = self.failures.get(turn, 0) + 1 if frame.step is None else -math.inf
        serial = self.serial
        connects = serial.children[serial._order[turn].child].direction is Direction.CONNECT
        return self._exceeds(self.failures[turn], serial.most_unconnected if connects else serial.most_failures)

    def _exceeds(self, count: float, most: int | None) -> bool:
        """Whether something happened as often as it may."""
        exceeds = most is not None and count >= most * self.context.effort
        self.context.gave_up |= exceeds
        return exceeds

    def _step(self) -> Step:
        parts: list[Step] = [step for _, step in sorted(self._parts(), key=lambda part: part[0])]
        first, last = parts[0], parts[-1]
        step = Step(first.start, last.end, sum(part.cost for part in parts), stage=self.serial.name, parts=tuple(parts))
        for child, part in zip(self.serial.children, parts, strict=True):
            self.context.observer.found(child, part)
        self.context.observer.found(self.serial, step)
        return step

    def _parts(self) -> Iterator[tuple[int, Step]]:
        for turn, frame in zip(self.serial._order, self.frames, strict=True):
            if frame.step is not None:
                yield turn.child, frame.step


def _outside(conflict: set[int]) -> Blame:
    names = {_START: 'start', _END: 'end'}
    return frozenset(name for turn, name in names.items() if turn in conflict)


class _Parallel(Stage):
    """Stages that stand for each other."""

    def __init__(self, name: str, *children: Stage, keyframe: int = -1, most: int | None = None) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.children = children

    @property
    def direction(self) -> Direction:
        """That of all its stages."""
        return self.children[0].direction if self.children else Direction.GENERATE

    def faults(self) -> Iterator[str]:
        """What is wrong with its structure, and with that of its stages."""
        if not self.children:
            yield f"'{self.name}' has no stages; give it at least one."
        for child in self.children:
            if child.direction is not self.direction:
                yield (
                    f"'{child.name}' in '{self.name}' is of direction {child.direction.name}, but "
                    f"'{self.children[0].name}' beside it is {self.direction.name}; give them the same."
                )
            yield from child.faults()

    def _tell(self, context: Context, child: Stage, step: Step) -> None:
        context.observer.found(child, step)
        context.observer.found(self, step)


class Alternatives(_Parallel):
    """Different ways to do the same; all of them are tried, in turn."""

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """A step of each stage in turn, until no stage has any left."""
        runs = [(child, child.run(context, start, end, before)) for child in self.children]
        blame: Blame = NOBODY
        given = 0
        while runs:
            for child, run in tuple(runs):
                try:
                    step = next(run)
                except StopIteration as done:
                    blame |= done.value
                    runs.remove((child, run))
                    continue
                self._tell(context, child, step)
                yield step
                given += 1
                if given == self.most:
                    return blame
        return blame


class Fallbacks(_Parallel):
    """Different ways to do the same, of which the next is tried only where the one before found nothing."""

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """The steps of the first stage that has any."""
        blame: Blame = NOBODY
        for child in self.children:
            given = 0
            run = child.run(context, start, end, before)
            while self.most is None or given < self.most:
                try:
                    step = next(run)
                except StopIteration as done:
                    blame |= done.value
                    break
                self._tell(context, child, step)
                yield step
                given += 1
            if given:
                break
        return blame


def _order(name: str, children: tuple[Stage, ...]) -> tuple[tuple[_Turn, ...], dict[int, int], tuple[str, ...]]:
    """The order in which stages can be done, who writes which interface in it, and what is wrong."""
    if not children:
        return (), {}, (f"'{name}' has no stages; give it at least one.",)
    known: set[int] = set()
    if children[0].direction.reads_start:
        known.add(0)
    if children[-1].direction.reads_end:
        known.add(len(children))
    order: list[_Turn] = []
    writers: dict[int, int] = {}
    if len(children) in known:
        writers[len(children)] = _END
    faults: list[str] = []
    left = list(range(len(children)))
    while left:
        child = _next(children, left, known)
        if child is None:
            faults += [_waits(children, number, known) for number in left]
            break
        left.remove(child)
        direction = children[child].direction
        before = child if direction.reads_start else max((i for i in known if i <= child), default=-1)
        order.append(_Turn(child, before))
        for interface, reads in ((child, direction.reads_start), (child + 1, direction.reads_end)):
            if reads:
                continue
            if interface in known:
                faults.append(_meets(children, child, interface))
            known.add(interface)
            writers.setdefault(interface, len(order) - 1)
    return tuple(order), writers, tuple(f"'{name}': {fault}" for fault in faults)


def _next(children: tuple[Stage, ...], left: list[int], known: set[int]) -> int | None:
    """The stage to do next: the first that can be done, connectors only if nothing else can."""
    connector: int | None = None
    for child in left:
        direction = children[child].direction
        if (direction.reads_start and child not in known) or (direction.reads_end and child + 1 not in known):
            continue
        if direction is not Direction.CONNECT:
            return child
        connector = child if connector is None else connector
    return connector


def _waits(children: tuple[Stage, ...], child: int, known: set[int]) -> str:
    direction = children[child].direction
    before = ['before'] if direction.reads_start and child not in known else []
    after = ['after'] if direction.reads_end and child + 1 not in known else []
    sides = before + after
    return (
        f"'{children[child].name}' reads the state {' and '.join(sides)} it, which no stage gives; "
        f'put a generator or a propagator there.'
    )


def _meets(children: tuple[Stage, ...], child: int, interface: int) -> str:
    other = children[child - 1] if interface == child else children[child + 1]
    return (
        f"'{children[child].name}' and '{other.name}' both give the state between them; "
        f'put a connector there, or let one of them read it.'
    )
