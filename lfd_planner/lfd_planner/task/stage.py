"""A stage: something that connects two states, and says which of them it reads."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Generator as PythonGenerator
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from typing import ClassVar

from .context import Context
from .state import Rejection, State, Step

Outcome = Step | Rejection
Blame = frozenset[str]
"""Which of `start`, `end` and `before` another value of might have given more steps."""
Run = PythonGenerator[Step, None, Blame]

NOBODY: Blame = frozenset()


class Direction(Enum):
    """What a stage reads: its start, its end, both or neither."""

    GENERATE = (False, False)
    FORWARD = (True, False)
    BACKWARD = (False, True)
    CONNECT = (True, True)

    @property
    def reads_start(self) -> bool:
        """Whether somebody else says where it starts."""
        return self.value[0]

    @property
    def reads_end(self) -> bool:
        """Whether somebody else says where it ends."""
        return self.value[1]


class Stage(ABC):
    """A part of a task; `most` is how many steps are taken of it for one start and end, None: all."""

    children: tuple[Stage, ...] = ()
    """The stages of a container."""

    def __init__(self, name: str, *, keyframe: int = -1, most: int | None = None) -> None:
        self.name = name
        self.keyframe = keyframe
        self.most = most

    @property
    @abstractmethod
    def direction(self) -> Direction:
        """What it reads."""

    @abstractmethod
    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """The ways to do it, the best first; at last, what to blame that there are no more.

        `start` and `end` are there if the stage reads them. `before` is the last state that is known of those before
        the stage.
        """

    def faults(self) -> Iterator[str]:
        """What is wrong with its structure."""
        return iter(())


class Leaf(Stage):
    """A stage that is no container: it journals what it rejects and how long it takes."""

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """The ways to do it, in the order in which they come."""
        context.progress(self.keyframe, self.name)
        outcomes = iter(self._outcomes(context, start, end, before))
        given = 0
        while self.most is None or given < self.most:
            begin = time.perf_counter()
            outcome = next(outcomes, None)
            taken = time.perf_counter() - begin
            context.journal.spend(self.name, taken)
            context.observer.spent(self, taken)
            if outcome is None or context.stopped:
                break
            if isinstance(outcome, Rejection):
                context.journal.reject(self.name, self.keyframe, outcome)
                context.observer.rejected(self, outcome, start or end or before)
            else:
                given += 1
                step = replace(outcome, stage=self.name)
                context.observer.found(self, step)
                yield step
        return self._blame()

    @abstractmethod
    def _outcomes(
        self, context: Context, start: State | None, end: State | None, before: State | None
    ) -> Iterable[Outcome]:
        """Steps and rejections."""

    def _blame(self) -> Blame:
        sides = {'start': self.direction.reads_start, 'end': self.direction.reads_end}
        return frozenset(side for side, reads in sides.items() if reads)


class Generator(Leaf):
    """Makes states by itself; it may look at the state before it, but is not connected to that."""

    blames_before: ClassVar[bool] = True
    """Whether it might have found more had things been different before; say no if only the arm could be elsewhere."""

    @property
    def direction(self) -> Direction:
        """It reads neither side."""
        return Direction.GENERATE

    @abstractmethod
    def generate(self, context: Context, before: State | None) -> Iterable[Outcome]:
        """Steps and rejections; `before` is the last known state of those before this stage."""

    def _outcomes(
        self, context: Context, start: State | None, end: State | None, before: State | None
    ) -> Iterable[Outcome]:
        return self.generate(context, before)

    def _blame(self) -> Blame:
        return frozenset({'before'}) if self.blames_before else NOBODY


class Forward(Leaf):
    """Goes on from its start."""

    @property
    def direction(self) -> Direction:
        """It reads its start."""
        return Direction.FORWARD

    @abstractmethod
    def forward(self, context: Context, start: State) -> Iterable[Outcome]:
        """Steps from the start, and rejections."""

    def _outcomes(
        self, context: Context, start: State | None, end: State | None, before: State | None
    ) -> Iterable[Outcome]:
        return self.forward(context, _given(start))


class Backward(Leaf):
    """Finds ways to its end."""

    @property
    def direction(self) -> Direction:
        """It reads its end."""
        return Direction.BACKWARD

    @abstractmethod
    def backward(self, context: Context, end: State) -> Iterable[Outcome]:
        """Steps to the end, and rejections."""

    def _outcomes(
        self, context: Context, start: State | None, end: State | None, before: State | None
    ) -> Iterable[Outcome]:
        return self.backward(context, _given(end))


class Connector(Leaf):
    """Finds ways from its start to its end."""

    @property
    def direction(self) -> Direction:
        """It reads both sides."""
        return Direction.CONNECT

    @abstractmethod
    def connect(self, context: Context, start: State, end: State) -> Iterable[Outcome]:
        """Steps from the start to the end, and rejections."""

    def _outcomes(
        self, context: Context, start: State | None, end: State | None, before: State | None
    ) -> Iterable[Outcome]:
        return self.connect(context, _given(start), _given(end))


def _given(state: State | None) -> State:
    if state is None:
        raise ValueError('A stage was run without the state that it reads; run it in a container.')
    return state
