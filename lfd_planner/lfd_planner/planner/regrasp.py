"""Put an object down on the way and pick it again, where no single grasp serves its pick and its purposes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lfd_description.shapes import Box
from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Keyframe, Pick
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject
from lfd_planner.stages.generate_grasps import GenerateGrasps, Purpose
from lfd_planner.stages.loose_object import LooseObject
from lfd_planner.task import Context, Direction, Serial, Stage, State
from lfd_planner.task.stage import NOBODY, Run

from .standing import below, stands

if TYPE_CHECKING:
    from .compose import Composition

MOST_TRIED = 96  # poses on the way that are looked at
MOST_GRASPS = 6  # grasps of each leg, with which they are looked at all at once
MOST_CHECKED = 8  # of those that are left, that are looked at closely
MOST_TRIES = 12  # other choices within one leg, before the place on the way counts as useless
MOST_PLANNED = 2  # poses on the way for which motions are planned
MOST_TOPS = 3  # raised things that are looked at
ROOM = 0.06  # [m], of the least side of a thing to put something on
UPRIGHT = 0.999  # cosine of a tilt
RING = (0.0, 0.08, 0.14, 0.2)  # [m] around where the object is
AROUND = 6  # places on each ring

Numbers = npt.NDArray[np.int64]
Leg = tuple[GenerateGrasps, Numbers]
"""The grasps of a leg, and which of them serve its other end."""


class Regrasp(Stage):
    """A pick and what follows by way of a free place nearby, where the object stands in another way.

    Args:
        composition: what the legs are composed with.
        keyframes: a pick, and all until its object is put down.
        number: of the pick.
        in_hand: whether the pick is done already.
    """

    def __init__(
        self, composition: Composition, keyframes: Sequence[Keyframe], number: int, *, in_hand: bool = False
    ) -> None:
        super().__init__('regrasp', keyframe=number)
        pick = keyframes[0]
        if not isinstance(pick, Pick):
            raise ValueError(f'keyframes[{number}] is no pick.')
        self.composition, self.keyframes, self.in_hand = composition, tuple(keyframes), in_hand
        self.pick, self.again = pick, replace(pick, grasp=None)
        self.object = composition.objects[pick.object]
        self.purposes = composition.purposes(keyframes, number)

    @property
    def direction(self) -> Direction:
        """It goes on from its start."""
        return Direction.FORWARD

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """Ways over the first places that have any."""
        if start is None:
            return NOBODY
        found = False
        for middle in itertools.islice(self._middles(context, start), MOST_PLANNED):
            for step in self._legs(middle).run(context, start, None, start):
                found = True
                yield step
            if found:
                break
        return NOBODY

    def _legs(self, middle: Pose) -> Serial:
        """To the place on the way, and from there to the end."""
        make, number = self.composition, self.keyframe
        there = [Purpose(middle, number)]
        first = Serial(
            'put down',
            *(make.held(self.pick, number) if self.in_hand else make.pick(self.pick, there, number)),
            *make.place(middle, number),
            most=2,
            most_backups=MOST_TRIES,
        )
        second = Serial(
            'pick again',
            *make.pick(self.again, self.purposes, number),
            *make.after_pick(self.keyframes, number),
            most=2,
            most_backups=MOST_TRIES,
        )
        return Serial('regrasp', first, second, keyframe=number, most=2)

    def _middles(self, context: Context, start: State) -> Iterator[Pose]:
        """Free poses on the way for which there are grasps of both legs, as far as the ends of motions tell.

        All poses are looked at together for whether the object stands there and an arm gets there; only few of these
        closely, which takes most of the time.
        """
        scene, now = self._let_go(start.scene), self.composition.arm.q(start)
        if scene is None:
            return
        first, last = self._first(), self._grasps(self.again, self.purposes)
        here, there = self._worthwhile(scene, now, first, last)
        if not (len(here) and len(there)):
            return
        loose, thing = LooseObject(scene, self.object), scene.objects[self.object]
        poses = list(itertools.islice(_poses(scene, thing), MOST_TRIED))
        poses = list(itertools.compress(poses, loose.may_stand(poses)))
        for stage, numbers in ((last, there), (first, here)):
            poses = list(itertools.compress(poses, stage.hopeful(scene, poses, now, numbers[:MOST_GRASPS])))
        context.gave_up |= len(poses) > MOST_CHECKED * context.effort
        for pose in poses[: MOST_CHECKED * context.effort]:
            if context.stopped:
                return
            if self._serves(loose, scene, pose, now, (first, here), (last, there)):
                yield pose

    def _serves(self, loose: LooseObject, scene: PlanningScene, pose: Pose, now: Matrix, *legs: Leg) -> bool:
        """Whether the object can stand at a pose, and there is a grasp of each leg there."""
        found = loose.touching(pose)
        if found.overlaps or not found.supports:
            return False
        if not all(len(stage.usable(scene, pose, now, numbers)) for stage, numbers in legs):
            return False
        return not self._grasps(self.pick, [Purpose(pose, self.keyframe)]).obstructed(State(scene))

    def _let_go(self, scene: PlanningScene) -> PlanningScene | None:
        """The scene with the object in it where it is, also if it is in the hand; None if it is not there."""
        if self.in_hand and self.object in scene.attached:
            return scene.detach(self.object, self.composition.arm.backend.robot.frames.link_poses(scene.joints))
        return scene if self.object in scene.objects else None

    def _first(self) -> GenerateGrasps:
        """The grasps with which the object is taken to its place on the way."""
        if self.in_hand:
            return self.composition.held_grasp(self.pick, (), self.keyframe)
        return self._grasps(self.pick, ())

    def _grasps(self, pick: Pick, purposes: Sequence[Purpose]) -> GenerateGrasps:
        return self.composition.grasps(pick, purposes, self.keyframe)

    def _worthwhile(
        self, scene: PlanningScene, now: Matrix, first: GenerateGrasps, last: GenerateGrasps
    ) -> tuple[Numbers, Numbers]:
        """The grasps where the object is, and those for where it goes; none if they are not what fails."""
        none = np.empty(0, dtype=np.int64)
        here = np.arange(1) if self.in_hand else first.usable(scene, scene.objects[self.object].pose, now)
        if not len(here) or len(self._serving(first, scene, now, here)):
            return none, none
        there = self._serving(last, scene, now, np.arange(len(last.grasps)))
        if not len(there) or last.obstructed(State(scene)):
            return none, none  # no grasp helps
        return here, there

    def _serving(self, stage: GenerateGrasps, scene: PlanningScene, now: Matrix, numbers: Numbers) -> Numbers:
        """Of some grasps those that serve all purposes."""
        for purpose in self.purposes:
            if not len(numbers):
                break
            numbers = stage.usable(scene, purpose.pose, now, numbers, free=purpose.put_down)
        return numbers


def _poses(scene: PlanningScene, thing: WorldObject) -> Iterator[Pose]:
    """Poses in which a body stands, other than where it is."""
    parts, rotation = thing.body.parts, thing.pose.matrix[:3, :3]
    ways = stands(parts, rotation)
    for x, y, ground in _spots(scene, thing, below(parts, rotation)):
        for way in ways:
            matrix = np.eye(4)
            matrix[:3, :3] = way.rotation
            matrix[:3, 3] = x, y, ground + way.height
            yield Pose.of(matrix)


def _spots(scene: PlanningScene, thing: WorldObject, below: float) -> Iterator[tuple[float, float, float]]:
    """Where to put something down, x, y, z of the ground [m]: on raised things, which leave hands room, or nearby."""
    x, y, z = thing.pose.position
    tops = [top for other in scene.objects.values() if (top := _top(other)) is not None]
    yield from sorted(tops, key=lambda top: (-top[2], math.hypot(top[0] - x, top[1] - y)))[:MOST_TOPS]
    for radius in RING:
        for number in range(AROUND if radius else 1):
            angle = 2.0 * math.pi * number / AROUND
            yield x + radius * math.cos(angle), y + radius * math.sin(angle), z - below


def _top(other: WorldObject) -> tuple[float, float, float] | None:
    """The middle of the upper side of a fixed box that stands upright, if there is room on it."""
    shape = other.body.parts[0].shape
    if other.body.movable or not isinstance(shape, Box) or abs(float(other.pose.matrix[2, 2])) < UPRIGHT:
        return None
    x, y, z = other.pose.position
    return (x, y, z + 0.5 * shape.size[2]) if min(shape.size[:2]) >= ROOM else None
