"""Why a task could not be planned: for scripts a code and counts, for people a few sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lfd_planner.error_codes import Code


@dataclass(frozen=True)
class RejectionCount:
    """How often something was rejected for one reason."""

    reason: str
    """Such as unreachable, joint_limit, collision, too_wide, no_path."""
    subjects: tuple[str, ...]
    """What was involved, such as the two bodies that collide, or the joint."""
    count: int
    detail: str = ''

    def __str__(self) -> str:
        subjects = f' ({", ".join(self.subjects)})' if self.subjects else ''
        return f'{self.count} x {self.reason}{subjects}'


@dataclass(frozen=True)
class TaskFailure:
    """A task that cannot be planned, or was not."""

    code: Code
    message: str
    """All that a person needs: where, why, what to do."""
    keyframe: int = -1
    """Index of the first keyframe that cannot be done; -1: the task as a whole."""
    stage: str = ''
    rejections: tuple[RejectionCount, ...] = ()
    """The most frequent first."""
    suggestion: str = ''
    """The nearest feasible alternative; empty: none was found."""
    planning_time: float = 0.0
    """[s]"""
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)
    """The time that each stage took [s]."""
