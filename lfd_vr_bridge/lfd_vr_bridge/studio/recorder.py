"""From what hands do to keyframes: a grab and a release become a pick and a place, and perhaps the way between them.

`Demonstration` is the task as it is now, a value; `Carry` follows one object from its grab to its release. Poses of
hands and objects are in the twin's frame, those of keyframes relative to the task's origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import chain

import numpy as np

from lfd_planner.mtdf import Descriptor, GraspHint, Keyframe, Origin, Pick, Place, Recorder, Task, Trajectory
from lfd_planner.mtdf.task import object_of
from lfd_planner.planner.compose import carried
from lfd_planner.pose import IDENTITY, Pose

from .paths import Sample, thinned
from .values import Refusal

RECORDER = Recorder('lfd_vr_bridge')
MOST_SAMPLES = 20_000  # of a held object's way, before every other one is forgotten
AWAY = 0.03  # [m] from where an object was and will be, within which the planner lifts and lowers it its own way


@dataclass(frozen=True)
class Thresholds:
    """Within which an object counts as not moved: it was grabbed by accident."""

    distance: float = 0.005
    """[m]"""
    angle: float = math.radians(3.0)
    """[rad]"""

    def moved(self, before: Pose, after: Pose) -> bool:
        """Whether two poses are farther apart."""
        return math.dist(before.position, after.position) >= self.distance or angle(before, after) >= self.angle


@dataclass(frozen=True)
class Step:
    """Keyframes that belong together: a pick and all until its place, or one that moves nothing."""

    keyframes: tuple[Keyframe, ...]
    object: str = ''
    """What was moved before our eyes; empty of a step that was read from a file."""
    before: Pose = IDENTITY
    """Of the object in the twin's frame."""
    after: Pose = IDENTITY
    """Of the object in the twin's frame."""


@dataclass(frozen=True)
class Demonstration:
    """A task as it was shown or opened, step by step."""

    name: str
    origin: Pose
    """Of the task's poses in the twin's frame."""
    frame: str
    """The twin's."""
    recorded_at: datetime | None = None
    steps: tuple[Step, ...] = ()
    read: Task | None = None
    """The task that it was opened as; None of what was recorded here."""

    @staticmethod
    def opened(name: str, task: Task, origin: Pose, frame: str) -> Demonstration:
        """The steps of a task that was read."""
        steps, number = [], 0
        while number < len(task.keyframes):
            count = carried(task.keyframes, number)
            steps.append(Step(task.keyframes[number : number + count]))
            number += count
        return Demonstration(name, origin, frame, task.recorded_at, tuple(steps), task)

    @cached_property
    def keyframes(self) -> tuple[Keyframe, ...]:
        """All of them, in order."""
        return tuple(chain.from_iterable(step.keyframes for step in self.steps))

    @property
    def task(self) -> Task:
        """The task, ready to be planned or written."""
        read = self.read or Task((), (), recorder=RECORDER)
        known = {descriptor.name: descriptor for descriptor in read.descriptors}
        used = dict.fromkeys(name for keyframe in self.keyframes if (name := object_of(keyframe)))
        names = [name for name in (*known, *(name for name in used if name not in known)) if name in used]
        return Task(
            tuple(known.get(name, Descriptor(name)) for name in names),
            self.keyframes,
            Origin(self.origin, self.frame),
            read.recorder,
            self.recorded_at,
        )

    @property
    def end(self) -> float:
        """The time of the newest keyframe since the recording began [s]."""
        return max((keyframe.time or 0.0 for keyframe in self.keyframes), default=0.0)

    def uses(self, name: str) -> bool:
        """Whether a keyframe is about an object."""
        return any(object_of(keyframe) == name for keyframe in self.keyframes)

    def with_step(self, step: Step) -> Demonstration:
        """With one more step."""
        return replace(self, steps=(*self.steps, step))

    def kept(self, first: int, last: int) -> tuple[int, int]:
        """The steps that begin with one keyframe and end with another: their first number and the number behind them.

        Raises:
            Refusal: these are not whole steps.
        """
        begins = np.cumsum([0, *(len(step.keyframes) for step in self.steps)]).tolist()
        if first not in begins[:-1] or last + 1 not in begins[1:] or first > last:
            raise Refusal(
                'wrong_range',
                f'Steps {first + 1} to {last + 1} of {len(self.keyframes)} are not whole picks and places; '
                f'begin with a pick and end with its place.',
            )
        return begins.index(first), begins.index(last + 1)


class Carry:
    """An object in a hand while a recording goes on.

    Args:
        object: its name.
        before: where it was, in the twin's frame.
        grasp: how it is held.
        time: since the recording began [s], as all times here.
        keep_path: whether its way is recorded.
    """

    def __init__(self, object: str, before: Pose, grasp: GraspHint | None, time: float, *, keep_path: bool) -> None:
        self.object, self.before, self.time = object, before, time
        self._grasp, self._keep_path = grasp, keep_path
        self._samples: list[Sample] = [Sample(time, before)]

    def moved(self, pose: Pose, time: float) -> None:
        """The object is on its way."""
        if self._keep_path and time > self._samples[-1].time:
            self._samples.append(Sample(time, pose))
            if len(self._samples) > MOST_SAMPLES:
                self._samples = self._samples[::2]

    def released(self, rest: Pose, time: float, origin: Pose) -> Step:
        """What was shown, with the object at rest at a pose."""
        back = origin.inverse
        way = self._way(rest)
        began = way[0].time if way else 0.0
        led = Trajectory(
            self.object,
            tuple(back @ sample.pose for sample in way),
            tuple(sample.time - began for sample in way),
            time=max(began, self.time),
        )
        keyframes: tuple[Keyframe, ...] = (
            Pick(self.object, self._grasp, self.time),
            *((led,) if way else ()),
            Place(self.object, back @ rest, time),
        )
        return Step(keyframes, self.object, self.before, rest)

    def _way(self, rest: Pose) -> Sequence[Sample]:
        """The way between where the planner lifts the object off and where it lowers it."""
        far = [
            number
            for number, sample in enumerate(self._samples)
            if min(math.dist(sample.pose.position, end.position) for end in (self.before, rest)) > AWAY
        ]
        return thinned(self._samples[far[0] : far[-1] + 1]) if far else ()


def angle(a: Pose, b: Pose) -> float:
    """By how much two poses are turned against each other [rad]."""
    # The sine of half the angle keeps its digits where the cosine has lost them.
    x, y, z, w = (a.inverse @ b).orientation
    return 2.0 * math.atan2(math.sqrt(x * x + y * y + z * z), abs(w))
