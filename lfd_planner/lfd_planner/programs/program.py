"""A program in no language yet: what a solution does, step by step, as native languages can say it.

A segment becomes a part with steps: the fingers start to move at its beginning, its outputs are switched and its input
is waited for at its end, while the arm stands still. A native program knows a gripper that is open or closed; it is
closed as long as something is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory
from lfd_planner.timing.trajectory import AT_REST

from .texts import ExportError

GRIPPER = '\0'
"""Stands for the gripper's output; no signal of a task has this name, for it cannot be seen."""


@dataclass(frozen=True, eq=False)
class Move:
    """A motion through points, from where the arm is; times [s] from its start."""

    motion: Trajectory

    @property
    def rests(self) -> list[bool]:
        """Whether the arm stands still at each point."""
        return [bool(speed <= AT_REST) for speed in np.abs(self.motion.v).max(axis=1)]

    def durations(self, decimals: int) -> list[float]:
        """The time from each point to the next [s], rounded such that the errors do not add up, and never 0."""
        rounded = np.diff(np.round(self.motion.times, decimals))
        return [float(max(duration, 10.0**-decimals)) for duration in rounded]


@dataclass(frozen=True)
class Pause:
    """The arm stands still."""

    duration: float
    """[s]"""


@dataclass(frozen=True)
class Switch:
    """An output is set."""

    signal: str
    """`GRIPPER`: the gripper's, which is on while it holds."""
    value: bool | float


@dataclass(frozen=True)
class Await:
    """A digital input must have a value before the program goes on."""

    signal: str
    value: bool
    timeout: float | None
    """After which the program stops with an error [s]; None: it waits for ever."""


@dataclass(frozen=True)
class Note:
    """Something to say in a comment."""

    text: str


Step = Move | Pause | Switch | Await | Note


class Language(Protocol):
    """What a language can say."""

    def note(self, step: Note) -> None:
        """A comment."""

    def move(self, step: Move) -> None:
        """A motion."""

    def pause(self, step: Pause) -> None:
        """Standing still."""

    def switch(self, step: Switch) -> None:
        """An output."""

    def wait(self, step: Await) -> None:
        """An input."""


def say(step: Step, language: Language) -> None:
    """Say a step in a language."""
    match step:
        case Note():
            language.note(step)
        case Move():
            language.move(step)
        case Pause():
            language.pause(step)
        case Switch():
            language.switch(step)
        case Await():
            language.wait(step)


@dataclass(frozen=True)
class Part:
    """What one segment does."""

    name: str
    keyframe: int
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """For a comment."""
        return f'keyframe {self.keyframe}: {self.name}'

    @property
    def points(self) -> int:
        """How many points are moved to."""
        return sum(len(step.motion.times) - 1 for step in self.steps if isinstance(step, Move))


@dataclass(frozen=True, eq=False)
class Program:
    """All that a solution does."""

    robot: str
    joints: tuple[str, ...]
    start: tuple[float, ...]
    """Joint positions at the beginning [rad]."""
    duration: float
    """Of the plan, without waiting for inputs [s]."""
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()
    """Sentences on what the program cannot do as planned."""


def compose(solution: Solution, thin: Callable[[Trajectory], Trajectory], gpio: str | None = None) -> Program:
    """The program of a solution; `thin` chooses the points of a motion, `gpio` is the output that the gripper has.

    Raises:
        ExportError: something is switched while the arm moves, or a number is waited for.
    """
    held = _held_at_start(solution.segments)
    parts, openings = [], set()
    for index, segment in enumerate(solution.segments):
        held -= {segment.detach.object} if segment.detach else set()
        held |= {segment.attach.object} if segment.attach else set()
        if segment.gripper and not held:
            openings.add(tuple(sorted(segment.gripper.items())))
        motion = solution.trajectory.part(segment.first, segment.last)
        _check_rest(index, segment, motion)
        parts.append(Part(segment.name, segment.keyframe, _steps(index, segment, motion, bool(held), thin, gpio)))
    return Program(
        robot=solution.robot,
        joints=solution.joints,
        start=tuple(solution.trajectory.q[0].tolist()),
        duration=solution.trajectory.duration,
        parts=tuple(parts),
        notes=_notes(len(openings)),
    )


def signals(program: Program) -> tuple[list[str], list[str], list[str]]:
    """The digital outputs with `GRIPPER` first, the analogue outputs and the inputs, each in order of appearance."""
    steps = [step for part in program.parts for step in part.steps]
    digital = [step.signal for step in steps if isinstance(step, Switch) and isinstance(step.value, bool)]
    analogue = [step.signal for step in steps if isinstance(step, Switch) and not isinstance(step.value, bool)]
    awaited = [step.signal for step in steps if isinstance(step, Await)]
    return sorted(_once(digital), key=lambda name: name != GRIPPER), _once(analogue), _once(awaited)


def cut(parts: Sequence[Part], most: int) -> list[list[Part]]:
    """Parts in groups of at most `most` points each; a part with more is cut into several."""
    groups: list[list[Part]] = [[]]
    room = most
    for part in parts:
        for piece in _pieces(part, most):
            if piece.points > room and groups[-1]:
                groups.append([])
                room = most
            groups[-1].append(piece)
            room -= piece.points
    return groups


def _pieces(part: Part, most: int) -> list[Part]:
    if part.points <= most:
        return [part]
    steps: list[tuple[Step, ...]] = []
    for step in part.steps:
        if not isinstance(step, Move):
            steps.append((step,))
            continue
        last = len(step.motion.times) - 1
        steps += [(Move(step.motion.part(at, min(at + most, last))),) for at in range(0, last, most)]
    return [replace(part, steps=some) for some in steps]


def _held_at_start(segments: Sequence[Segment]) -> set[str]:
    """What is let go of without having been taken before."""
    taken: set[str] = set()
    found: set[str] = set()
    for segment in segments:
        found |= {segment.detach.object} - taken if segment.detach else set()
        taken |= {segment.attach.object} if segment.attach else set()
    return found


def _once(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _check_rest(index: int, segment: Segment, motion: Trajectory) -> None:
    acts = segment.attach or segment.detach or segment.outputs or segment.awaits
    starts = motion.v[:1] if segment.gripper else motion.v[:0]
    speed = np.abs(np.concatenate([starts, motion.v[-1:] if acts else motion.v[:0]])).max(initial=0.0)
    if speed > AT_REST:
        raise ExportError(f"segments[{index}] ('{segment.name}') acts while the arm moves; plan the task again.")


def _steps(
    index: int,
    segment: Segment,
    motion: Trajectory,
    holds: bool,
    thin: Callable[[Trajectory], Trajectory],
    gpio: str | None,
) -> tuple[Step, ...]:
    steps: list[Step] = []
    if segment.gripper:
        steps.append(Switch(GRIPPER, holds))
    if np.abs(motion.q - motion.q[0]).max() > AT_REST:
        steps.append(Move(thin(motion)))
    elif motion.duration > 0.0:
        steps.append(Pause(motion.duration))
    steps += [Switch(GRIPPER if name == gpio else name, value) for name, value in segment.outputs.items()]
    if segment.attach:
        steps.append(Note(f'now holds {segment.attach.object}'))
    if segment.detach:
        steps.append(Note(f'has let go of {segment.detach.object}'))
    if segment.awaits:
        steps.append(_await(index, segment))
    return tuple(steps)


def _await(index: int, segment: Segment) -> Await:
    awaited = segment.awaits
    if awaited is None or not isinstance(awaited.value, bool):
        raise ExportError(
            f"segments[{index}] ('{segment.name}') waits for a number; native programs wait for digital inputs only."
        )
    return Await(awaited.signal, awaited.value, awaited.timeout)


def _notes(openings: int) -> tuple[str, ...]:
    if openings < 2:
        return ()
    return (
        f'The plan opens the hand to {openings} widths and the output knows one; '
        'check that the open hand fits everywhere.',
    )
