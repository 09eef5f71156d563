"""A solution: one checked motion that performs a task, cut into segments with one purpose each.

It is what planning hands to validation, execution and export, and what `./lfd plan --json` writes. Attaching and
detaching happen at the end of a segment, while the arm stands still; so does moving the gripper, which takes the time
between two points with the same arm position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lfd_planner.timing import Trajectory


@dataclass(frozen=True)
class Attachment:
    """An object that is taken into the hand."""

    object: str
    link: str
    touch_links: tuple[str, ...] = ()
    """The links, other than `link`, that it may touch."""


@dataclass(frozen=True)
class Awaited:
    """An input of the cell without whose value execution does not go on."""

    signal: str
    value: bool | float
    timeout: float | None = None
    """After which the task has failed [s]; None: wait for ever."""


@dataclass(frozen=True, eq=False)
class Motion:
    """A timed motion with one purpose; attaching, detaching and switching happen at its end, the arm at rest."""

    name: str
    """Such as transit, approach, close, lift."""
    trajectory: Trajectory
    keyframe: int = -1
    """Index into the task's keyframes that it serves; -1: none."""
    attach: Attachment | None = None
    detach: Attachment | None = None
    gripper: Mapping[str, float] = field(default_factory=dict)
    """Where the gripper's joints are at its end [rad or m]; empty: they stay."""
    contacts: tuple[tuple[str, str], ...] = ()
    """Pairs of names that may touch meanwhile."""
    outputs: Mapping[str, bool | float] = field(default_factory=dict)
    awaits: Awaited | None = None
    """The input that must have a value before anything goes on."""


@dataclass(frozen=True)
class Segment:
    """A stretch of the trajectory with one purpose."""

    name: str
    """Such as transit, approach, close, lift, transfer, lower, open, retreat, wait."""
    keyframe: int
    """Index into the task's keyframes that it serves."""
    first: int
    """The first of its points; the last one of the segment before."""
    last: int
    attach: Attachment | None = None
    """Taken into the hand at the segment's end."""
    detach: Attachment | None = None
    """Let go of at the segment's end; the same that was attached."""
    gripper: Mapping[str, float] = field(default_factory=dict)
    """Where the gripper's joints are at the segment's end [rad or m]; empty: they stay."""
    contacts: tuple[tuple[str, str], ...] = ()
    """Pairs of names that may touch during the segment, such as an object and what it stands on."""
    outputs: Mapping[str, bool | float] = field(default_factory=dict)
    """What is switched at the segment's end."""
    awaits: Awaited | None = None
    """What is waited for at the segment's end; how long that takes, the trajectory does not say."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion that performs a task."""

    robot: str
    """The robot's name in the suite."""
    gripper: str | None
    joints: tuple[str, ...]
    """The names of the trajectory's columns: the arm's joints."""
    trajectory: Trajectory
    segments: tuple[Segment, ...]
    """In order, without gaps: each begins where the one before ended."""
    cost: float
    """Lower is better."""
    planning_time: float
    """[s]"""
    seed: int = 0

    @staticmethod
    def joined(
        motions: Sequence[Motion],
        *,
        robot: str,
        gripper: str | None,
        joints: tuple[str, ...],
        cost: float = 0.0,
        planning_time: float = 0.0,
        seed: int = 0,
    ) -> Solution:
        """One motion after the other; each begins where the one before ended. There must be at least one."""
        trajectory = Trajectory.joined([motion.trajectory for motion in motions])
        return Solution(robot, gripper, joints, trajectory, _segments(motions), cost, planning_time, seed)


def _segments(motions: Sequence[Motion]) -> tuple[Segment, ...]:
    segments = []
    first = 0
    for motion in motions:
        last = first + len(motion.trajectory.times) - 1
        segments.append(
            Segment(
                motion.name,
                motion.keyframe,
                first,
                last,
                motion.attach,
                motion.detach,
                motion.gripper,
                motion.contacts,
                motion.outputs,
                motion.awaits,
            )
        )
        first = last
    return tuple(segments)
