"""A solution as what is commanded: motions of the arm, and acts between them while it stands.

Segments with nothing to do between them are one motion, so that the arm rests no longer than the plan says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lfd_planner.solution import Attachment, Awaited, Segment, Solution
from lfd_planner.timing import Trajectory
from lfd_planner.timing.trajectory import AT_REST


@dataclass(frozen=True, eq=False)
class Move:
    """The arm follows the trajectory of one or several segments."""

    first: int
    """Index of the first segment."""
    last: int
    """Index of the last one, included."""
    start: float
    """When it begins in the solution [s]."""
    trajectory: Trajectory
    """From 0 s on."""

    @property
    def stands(self) -> bool:
        """Whether the arm only waits."""
        return _stands(self.trajectory)


@dataclass(frozen=True, eq=False)
class Act:
    """What happens at a segment's end, the arm at rest; in this order."""

    segment: int
    gripper: Mapping[str, float]
    """Where the gripper's joints go [rad or m]; empty: they stay."""
    outputs: Mapping[str, bool | float]
    attach: Attachment | None
    detach: Attachment | None
    awaits: Awaited | None


Step = Move | Act


def steps_of(solution: Solution) -> tuple[Step, ...]:
    """What is commanded, in order; a solution without motion and acts has no steps."""
    return tuple(_steps(solution))


def _steps(solution: Solution) -> Iterator[Step]:
    first: int | None = None
    for index, segment in enumerate(solution.segments):
        moves = not _stands(part(solution, index, index))
        if first is not None and segment.gripper and not moves:  # the hand takes the time; the arm just stands
            yield _move(solution, first, index - 1)
            first = None
        elif first is None and (moves or (_lasts(solution, segment) and not segment.gripper)):
            first = index
        if acts(segment):
            if first is not None:
                yield _move(solution, first, index)
                first = None
            yield _act(index, segment)
    if first is not None:
        yield _move(solution, first, len(solution.segments) - 1)


def acts(segment: Segment) -> bool:
    """Whether anything happens at a segment's end."""
    return bool(segment.gripper or segment.attach or segment.detach or segment.outputs or segment.awaits)


def part(solution: Solution, first: int, last: int) -> Trajectory:
    """The motion from one segment's begin to another's end, from 0 s on."""
    return solution.trajectory.part(solution.segments[first].first, solution.segments[last].last)


def segment_at(solution: Solution, move: Move, time: float) -> int:
    """Which segment is under way at a time of a move [s]."""
    times = solution.trajectory.times
    for index in range(move.first, move.last):
        if times[solution.segments[index].last] > move.start + time:
            return index
    return move.last


def next_keyframe(solution: Solution, segment: int, *, acted: bool, keyframes: int) -> int:
    """From which keyframe a task goes on if execution ends in a segment; `keyframes` [count] if all is done.

    A keyframe that takes or lets go of something is done when that is, another one when its last segment is.

    Args:
        solution: what is executed.
        segment: in which it ended.
        acted: whether what happens at that segment's end has happened.
        keyframes: how many the task has.
    """
    left = range(segment + 1 if acted else segment, len(solution.segments))
    for index in left:
        keyframe = solution.segments[index].keyframe
        handles = [_handles(other) for other in solution.segments if other.keyframe == keyframe]
        if not any(handles) or any(
            _handles(solution.segments[later]) and solution.segments[later].keyframe == keyframe for later in left
        ):
            return keyframe
    return keyframes


def _handles(segment: Segment) -> bool:
    return segment.attach is not None or segment.detach is not None


def _move(solution: Solution, first: int, last: int) -> Move:
    start = float(solution.trajectory.times[solution.segments[first].first])
    return Move(first, last, start, part(solution, first, last))


def _act(index: int, segment: Segment) -> Act:
    return Act(index, segment.gripper, segment.outputs, segment.attach, segment.detach, segment.awaits)


def _lasts(solution: Solution, segment: Segment) -> bool:
    return segment.last > segment.first


def _stands(trajectory: Trajectory) -> bool:
    still = np.ptp(trajectory.q, axis=0).max(initial=0.0) <= AT_REST
    return bool(still and np.abs(trajectory.v).max(initial=0.0) <= AT_REST)
