"""What the studio, the server and the node say to each other, as values.

All poses are in ROS axes and in the twin's frame, which is the robot's base [m]; times are of the studio's clock [s].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from lfd_planner.mtdf import Keyframe
from lfd_planner.pose import Pose
from lfd_planner.reachability import KeyframeQuality as KeyframeQuality
from lfd_planner.reachability import Quality as Quality
from lfd_planner.reachability import Verdict as Verdict
from lfd_planner.scene import WorldObject

Owner = Literal['twin', 'robot', 'other']
"""Whose an object is: the twin's; the robot's, that holds it; somebody's who put it into the planning scene."""


class Refusal(Exception):
    """What was asked for cannot be done; the message is one sentence for the person, with what to do about it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        """For programs, such as not_held, no_object, wrong_name, busy."""


class Hand(Enum):
    """What an object is held with."""

    LEFT = 'left'
    RIGHT = 'right'
    MOUSE = 'mouse'


class RecordingState(Enum):
    """What the recorder does."""

    IDLE = 'idle'
    RECORDING = 'recording'
    REVIEW = 'review'


@dataclass(frozen=True)
class Held:
    """Who holds an object."""

    by: str
    """The client."""
    hand: Hand


@dataclass(frozen=True)
class Settings:
    """How objects behave in a person's hands."""

    snap: bool = True
    """A released object that is nearly parallel to what it is put on, or nearly on it, becomes so exactly."""
    gravity: bool = True
    """A released object comes to rest on what is below it."""
    keep_paths: bool = False
    """The way of a held object is recorded as a trajectory keyframe."""


@dataclass(frozen=True)
class HandState:
    """One hand, or the head, of a person."""

    pose: Pose
    grip: float = 0.0
    """0 open .. 1 closed."""


@dataclass(frozen=True)
class Hands:
    """Where a person is at a moment."""

    left: HandState | None = None
    right: HandState | None = None
    head: HandState | None = None


@dataclass(frozen=True)
class Released:
    """What became of an object that was let go of."""

    pose: Pose
    """Where it came to rest."""
    kept: bool
    """Whether keyframes were recorded."""
    reason: str = ''
    """Why not, for people."""


@dataclass(frozen=True)
class Recording:
    """The task as it is now."""

    state: RecordingState = RecordingState.IDLE
    name: str = ''
    keyframes: tuple[Keyframe, ...] = ()
    """Their poses are relative to the task's origin."""
    origin: Pose = field(default_factory=Pose)
    """Of the task's poses in the twin's frame."""
    saved: bool = False
    since: float = 0.0
    """How long the recording has been going on [s]."""


@dataclass(frozen=True)
class TaskEntry:
    """A task in the library."""

    name: str
    version: int
    """The newest."""
    versions: tuple[int, ...]
    keyframes: int
    objects: tuple[str, ...]
    changed: str
    """When, ISO 8601."""
    problem: str = ''
    """Why the newest version cannot be used; empty if it can."""
    bundled: bool = False
    """It comes with the suite, as version 0, and nobody has saved another version; it cannot be renamed or deleted."""


# What changed ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ObjectsChanged:
    """News of the twin's objects since the revision before."""

    revision: int
    changed: tuple[WorldObject, ...] = ()
    """New ones, or of another make."""
    moved: Mapping[str, Pose] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    held: Mapping[str, Held | None] = field(default_factory=dict)
    """Those that were taken, and None for those that were let go of."""


@dataclass(frozen=True)
class RecordingChanged:
    """News of the recording."""

    recording: Recording


@dataclass(frozen=True)
class TasksChanged:
    """The library has other tasks or versions."""

    tasks: tuple[TaskEntry, ...]


@dataclass(frozen=True)
class SettingsChanged:
    """News of the settings."""

    settings: Settings


@dataclass(frozen=True)
class Notice:
    """Something that a person should know."""

    level: str
    """info, warning or error."""
    text: str


@dataclass(frozen=True)
class OtherUnwanted:
    """Somebody wants an object to be gone that others put into the planning scene."""

    object: str


Change = ObjectsChanged | RecordingChanged | TasksChanged | SettingsChanged | Notice | OtherUnwanted


# The robot's side -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlannedSegment:
    """A stretch of a planned motion."""

    name: str
    keyframe: int
    first: int
    last: int
    attach: tuple[str, str] | None = None
    """Object and link, at its end."""
    detach: tuple[str, str] | None = None
    gripper: Mapping[str, float] = field(default_factory=dict)
    """Joint positions at its end [rad or m]."""


@dataclass(frozen=True)
class PlanResult:
    """A planned motion, or why there is none."""

    ok: bool
    robot: str
    message: str
    joints: tuple[str, ...] = ()
    times: Sequence[float] = ()
    q: Sequence[Sequence[float]] = ()
    """One row for each time [rad or m]."""
    segments: tuple[PlannedSegment, ...] = ()
    planning_time: float = 0.0
    keyframe: int = -1
    object: str = ''
    stage: str = ''
    reasons: tuple[tuple[str, tuple[str, ...], int], ...] = ()
    """Reason, who was involved, how often."""
    suggestion: str = ''


@dataclass(frozen=True)
class PlanProgress:
    """How far planning is."""

    robot: str
    keyframe: int
    keyframes: int
    stage: str
    solutions: int = 0


@dataclass(frozen=True)
class RunProgress:
    """How far execution is."""

    state: str
    keyframe: int
    segment: str
    progress: float


@dataclass(frozen=True)
class RunResult:
    """How execution ended."""

    ok: bool
    message: str
    next_keyframe: int
    code: int
