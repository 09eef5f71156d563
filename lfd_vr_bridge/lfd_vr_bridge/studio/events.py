"""What happened in the studio, for a log: who replays it into a studio gets an equal task.

An event is what was asked for and done, in the order in which it was done; what was refused is none. All poses are in
the twin's frame, times are those of the studio's clock [s].
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lfd_description.bodies import Colour
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject

from .values import Hand, Hands, Settings


@dataclass(frozen=True)
class Began:
    """A recording began, with all that was there: a log that begins with this can be replayed."""

    time: float
    name: str
    recorded_at: datetime
    """When, by the clock on the wall."""
    origin: Pose
    """Of the task's poses."""
    settings: Settings
    scene: PlanningScene
    """The twin's objects and colours."""


@dataclass(frozen=True)
class HandsMoved:
    """A person's hands and head are somewhere."""

    time: float
    client: str
    hands: Hands


@dataclass(frozen=True)
class Grabbed:
    """An object was grabbed."""

    time: float
    client: str
    hand: Hand
    object: str
    pose: Pose
    """The object's."""
    hand_pose: Pose | None


@dataclass(frozen=True)
class Carried:
    """A held object is somewhere else."""

    time: float
    client: str
    object: str
    pose: Pose
    hand_pose: Pose | None


@dataclass(frozen=True)
class LetGo:
    """A held object was released."""

    time: float
    client: str
    object: str
    pose: Pose
    """Where the hand let go of it."""
    hand_pose: Pose | None
    rest: Pose
    """Where it came to rest."""
    kept: bool
    """Whether keyframes were recorded."""


@dataclass(frozen=True)
class Lost:
    """A client is gone; what it held went back."""

    time: float
    client: str


@dataclass(frozen=True)
class Added:
    """There is a new object."""

    time: float
    object: WorldObject
    colour: Colour | None


@dataclass(frozen=True)
class Placed:
    """An object was put somewhere, without a hand and without being recorded."""

    time: float
    object: str
    pose: Pose


@dataclass(frozen=True)
class Removed:
    """An object is gone."""

    time: float
    object: str


@dataclass(frozen=True)
class Adjusted:
    """There are other settings."""

    time: float
    settings: Settings


@dataclass(frozen=True)
class Undone:
    """The last step was taken back."""

    time: float


@dataclass(frozen=True)
class Trimmed:
    """Only some keyframes were kept, from the first to the last."""

    time: float
    first: int
    last: int


@dataclass(frozen=True)
class Completed:
    """A recording ended and is kept for review."""

    time: float


@dataclass(frozen=True)
class Discarded:
    """A recording was thrown away."""

    time: float


@dataclass(frozen=True)
class RobotTook:
    """An object is in the robot's hand."""

    time: float
    object: str


@dataclass(frozen=True)
class RobotPut:
    """The robot let go of an object."""

    time: float
    object: str
    pose: Pose


Action = (
    HandsMoved
    | Grabbed
    | Carried
    | LetGo
    | Lost
    | Added
    | Placed
    | Removed
    | Adjusted
    | Undone
    | Trimmed
    | Completed
    | Discarded
    | RobotTook
    | RobotPut
)
Event = Began | Action
