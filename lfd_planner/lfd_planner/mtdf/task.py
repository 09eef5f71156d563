"""A task as a value: what happens to which objects, free of any robot.

All poses are in ROS axes (x forward, y left, z up), in metres, relative to the task's origin; only a grasp is relative
to the object. The origin is where the task is done: whoever plans it says so, the task itself can only hint at it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from math import sqrt

import numpy as np

from lfd_planner.pose import Pose

from .rules import Rule

_HALF = sqrt(0.5)
_TCP_IN_HAND = Pose(orientation=(0.0, _HALF, 0.0, _HALF))


@dataclass(frozen=True)
class Descriptor:
    """What the keyframes call an object, and how it is found in a scene."""

    name: str
    rule: Rule | None = None
    """None: it is the object of this name."""


@dataclass(frozen=True)
class GraspHint:
    """How the object was held when the task was shown."""

    hand: Pose
    """The hand in the object's frame: x points along the fingers, y is the way they close, z is up from the hand."""
    width: float | None = None
    """How far the fingers were apart [m]."""

    @property
    def tcp(self) -> Pose:
        """The same grasp as the frame `tcp` of our grippers in the object's frame: z points along the fingers."""
        return self.hand @ _TCP_IN_HAND


@dataclass(frozen=True)
class Pick:
    """Take an object."""

    object: str
    grasp: GraspHint | None = None
    time: float | None = None
    """Since the recording began [s]."""


@dataclass(frozen=True)
class Place:
    """Put the held object down so that it is at a pose in the task's frame."""

    object: str
    pose: Pose
    time: float | None = None
    """Since the recording began [s]."""


@dataclass(frozen=True)
class Trajectory:
    """Lead the held object through poses in the task's frame; without times and speed the planner chooses them."""

    object: str
    poses: tuple[Pose, ...]
    times: tuple[float, ...] = ()
    """When each pose is reached, since the first motion towards them [s]; one for each pose, or none."""
    speed: float | None = None
    """Of the object's frame along the way [m/s]; not together with times."""
    time: float | None = None
    """Since the recording began [s]."""


@dataclass(frozen=True)
class Wait:
    """Do nothing for a while."""

    duration: float
    """[s]"""
    time: float | None = None
    """Since the recording began [s]."""


@dataclass(frozen=True)
class SetOutput:
    """Switch or set an output of the cell."""

    signal: str
    value: bool | float
    time: float | None = None
    """Since the recording began [s]."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetOutput) and _same_signal(self, other)


@dataclass(frozen=True)
class AwaitInput:
    """Go on when an input of the cell has a value."""

    signal: str
    value: bool | float
    timeout: float | None = None
    """After which the task has failed [s]; None: wait for ever."""
    time: float | None = None
    """Since the recording began [s]."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AwaitInput) and _same_signal(self, other)


Io = SetOutput | AwaitInput
Keyframe = Pick | Place | Trajectory | Wait | SetOutput | AwaitInput


@dataclass(frozen=True)
class Origin:
    """Where the task was shown: a hint, for whoever plans the task decides."""

    pose: Pose
    """Of the task's frame in `frame`."""
    frame: str | None = None
    """Such as base_link; None: the frame of the scene."""


@dataclass(frozen=True)
class Recorder:
    """What recorded the task."""

    name: str
    version: str | None = None


@dataclass(frozen=True)
class Task:
    """Objects and what happens to them, in order."""

    descriptors: tuple[Descriptor, ...]
    keyframes: tuple[Keyframe, ...]
    origin: Origin | None = None
    recorder: Recorder | None = None
    recorded_at: datetime | None = None
    """When the recording began, with its time zone."""

    def rules(self) -> Iterator[Descriptor]:
        """The descriptors that are rules."""
        return (descriptor for descriptor in self.descriptors if descriptor.rule is not None)


def _same_signal(a: Io, b: Io) -> bool:
    """Whether all is equal; to Python true is 1, but a switch that is on is no signal of the value 1."""
    switches = (isinstance(value, bool | np.bool_) for value in (a.value, b.value))
    return len(set(switches)) == 1 and vars(a) == vars(b)


def object_of(keyframe: Keyframe) -> str | None:
    """The descriptor that a keyframe moves; None of those that move nothing."""
    return keyframe.object if isinstance(keyframe, Pick | Place | Trajectory) else None


def kind_of(keyframe: Keyframe) -> str:
    """What task files call a keyframe of this type."""
    match keyframe:
        case Pick():
            return 'pick'
        case Place():
            return 'place'
        case Trajectory():
            return 'trajectory'
        case Wait():
            return 'wait'
        case SetOutput() | AwaitInput():
            return 'io'
