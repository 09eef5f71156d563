"""What is left of a task after some of its keyframes: a task of its own, to be planned from where everything is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lfd_planner.mtdf import Pick, Task
from lfd_planner.mtdf.task import object_of


@dataclass(frozen=True)
class Remaining:
    """The rest of a task."""

    task: Task
    offset: int
    """What to add to its keyframes' numbers to have those of the whole task."""


def remaining(task: Task, first: int) -> Remaining:
    """The task from a keyframe on.

    If that begins with an object in the hand, its pick comes first once more: the planner sees that it is done, or
    picks the object up again from wherever it is.

    Raises:
        ValueError: there is no such keyframe, or nothing is left to do.
    """
    count = len(task.keyframes)
    if not 0 <= first < count:
        raise ValueError(f'The task has the keyframes 0 to {count - 1}; resume from one of them, not from {first}.')
    rest, offset = task.keyframes[first:], first
    moved = next((keyframe for keyframe in rest if object_of(keyframe) is not None), None)
    if moved is not None and not isinstance(moved, Pick):
        before = [key for key in task.keyframes[:first] if isinstance(key, Pick) and key.object == object_of(moved)]
        if before:
            rest, offset = (before[-1], *rest), first - 1
    return Remaining(replace(task, keyframes=rest), offset)
