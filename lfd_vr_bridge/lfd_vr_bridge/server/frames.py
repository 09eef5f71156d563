"""What a page may say, as values; `protocol` reads them. Poses are in ROS axes and in the scene's frame [m]."""

from __future__ import annotations

from dataclasses import dataclass

from lfd_planner.pose import Pose
from lfd_planner.scene import Body

from ..studio.values import Hand, Hands

Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Hello:
    """The first frame: who is there, and why it may be."""

    protocol: int
    code: str | None
    token: str | None
    name: str
    page: str | None = None
    """A page's own name of itself, for as long as it is loaded."""


@dataclass(frozen=True)
class Ping:
    """Whether the server is there; `t` comes back [s]."""

    t: float


@dataclass(frozen=True)
class HandsMoved:
    """Where the demonstrator's hands are."""

    seq: int
    t: float
    hands: Hands


@dataclass(frozen=True)
class Move:
    """A held object is elsewhere."""

    seq: int
    object: str
    pose: Pose
    hand_pose: Pose | None


@dataclass(frozen=True)
class Request:
    """A frame that is answered; `id` is the client's own number of it."""

    id: int


@dataclass(frozen=True)
class TakeControl(Request):
    """Wants to demonstrate."""


@dataclass(frozen=True)
class GiveControl(Request):
    """Hands over to a client, or to nobody."""

    client: str | None


@dataclass(frozen=True)
class Invite(Request):
    """Wants a code for another device."""


@dataclass(frozen=True)
class Grab(Request):
    """Takes an object, which is at `pose`."""

    object: str
    hand: Hand
    hand_pose: Pose | None
    pose: Pose


@dataclass(frozen=True)
class Release(Request):
    """Lets go of an object at `pose`."""

    object: str
    pose: Pose
    hand_pose: Pose | None


@dataclass(frozen=True)
class ChangeSettings(Request):
    """Changes those settings that are not None."""

    snap: bool | None
    gravity: bool | None
    keep_paths: bool | None


@dataclass(frozen=True)
class AddObject(Request):
    """Puts a new object into the scene; without a name it gets one."""

    name: str | None
    body: Body
    pose: Pose
    colour: Colour | None


@dataclass(frozen=True)
class PlaceObject(Request):
    """Puts an object elsewhere without recording it."""

    object: str
    pose: Pose


@dataclass(frozen=True)
class RemoveObject(Request):
    """Takes an object out of the scene."""

    object: str


@dataclass(frozen=True)
class StartRecording(Request):
    """Begins a task."""

    name: str | None


@dataclass(frozen=True)
class CompleteRecording(Request):
    """Ends the recording; the task is kept for review."""


@dataclass(frozen=True)
class DiscardRecording(Request):
    """Throws the recording away."""


@dataclass(frozen=True)
class Undo(Request):
    """Takes the last keyframes back."""


@dataclass(frozen=True)
class Trim(Request):
    """Keeps the keyframes from `first` to `last`, both included."""

    first: int
    last: int


@dataclass(frozen=True)
class Save(Request):
    """Keeps the task in the library; without a name under its own."""

    name: str | None


@dataclass(frozen=True)
class OpenTask(Request):
    """Puts a task of the library under review; without a version the newest."""

    name: str
    version: int | None


@dataclass(frozen=True)
class DeleteTask(Request):
    """Deletes a task of the library."""

    name: str


@dataclass(frozen=True)
class RestoreTask(Request):
    """Takes the task that was deleted last under a name back."""

    name: str


@dataclass(frozen=True)
class RenameTask(Request):
    """Gives a task of the library another name."""

    name: str
    to: str


@dataclass(frozen=True)
class ResetScene(Request):
    """Puts objects back to where they were."""


@dataclass(frozen=True)
class Assess(Request):
    """Asks how good the demonstration is."""


@dataclass(frozen=True)
class PlanTask(Request):
    """Wants a plan for a robot, or the one that is there."""

    robot: str | None


@dataclass(frozen=True)
class RunPlan(Request):
    """Wants the plan executed, or what was begun gone on with from a keyframe; `speed` is in 0..1."""

    speed: float
    first_keyframe: int = 0


@dataclass(frozen=True)
class Stop(Request):
    """Stops planning and motion."""


@dataclass(frozen=True)
class PauseMotion(Request):
    """Stops on the path."""


@dataclass(frozen=True)
class ResumeMotion(Request):
    """Goes on along the path."""


Frame = Hello | Ping | HandsMoved | Move | Request
