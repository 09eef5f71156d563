"""Put an object down on the way and pick it again, where no single grasp serves its pick and its place."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lfd_description.shapes import Box, Cylinder
from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Pick
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject
from lfd_planner.stages.generate_grasps import Purpose
from lfd_planner.stages.loose_object import LooseObject
from lfd_planner.task import Context, Direction, Serial, Stage, State
from lfd_planner.task.stage import NOBODY, Run

if TYPE_CHECKING:
    from .compose import Composition

MOST_TRIED = 96  # poses on the way whose grasps are looked at
MOST_TRIES = 12  # other choices within one leg, before the place on the way counts as useless
MOST_PLANNED = 2  # poses on the way for which motions are planned
MOST_TOPS = 3  # raised things that are looked at
ROOM = 0.06  # [m], of the least side of a thing to put something on
UPRIGHT = 0.999  # cosine of a tilt
RING = (0.0, 0.08, 0.14, 0.2)  # [m] around where the object is
AROUND = 6  # places on each ring


class Regrasp(Stage):
    """A pick and place by way of a free place nearby, where the object stands in another way."""

    def __init__(self, composition: Composition, pick: Pick, place: Pose, number: int) -> None:
        super().__init__('regrasp', keyframe=number)
        self.composition, self.pick, self.place = composition, pick, place

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
        last = [Purpose(self.place, number + 1)]
        first = Serial(
            'put down',
            *make.pick(self.pick, there, number),
            *make.place(middle, number),
            most=2,
            most_backups=MOST_TRIES,
        )
        again = replace(self.pick, grasp=None)
        second = Serial(
            'pick again',
            *make.pick(again, last, number),
            *make.place(self.place, number + 1),
            most=2,
            most_backups=MOST_TRIES,
        )
        return Serial('regrasp', first, second, keyframe=number, most=2)

    def _middles(self, context: Context, start: State) -> Iterator[Pose]:
        """Free poses on the way for which there are grasps of both legs, as far as the ends of motions tell."""
        make, object = self.composition, self.composition.objects[self.pick.object]
        if object not in start.scene.objects or not self._worthwhile(start, object):
            return
        thing, loose = start.scene.objects[object], LooseObject(start.scene, object)
        last = make.grasps(self.pick, [Purpose(self.place, self.keyframe + 1)], self.keyframe)
        for pose in itertools.islice(_poses(start.scene, thing), MOST_TRIED):
            if context.stopped:
                return
            found = loose.touching(pose)
            if found.overlaps or not found.supports:
                continue
            if not last.serves(State(start.scene.move(object, pose))):
                continue
            if make.grasps(self.pick, [Purpose(pose, self.keyframe)], self.keyframe).serves(start):
                yield pose

    def _worthwhile(self, start: State, object: str) -> bool:
        """Whether there are grasps where the object is, and where it goes, if not the same ones."""
        make = self.composition
        direct = make.grasps(self.pick, [Purpose(self.place, self.keyframe + 1)], self.keyframe)
        if direct.obstructed(start) or direct.serves(start):
            return False  # no grasp helps, or the grasp is not what fails
        grasps = make.grasps(self.pick, (), self.keyframe)
        return grasps.serves(start) and grasps.serves(State(start.scene.move(object, self.place)))


def _poses(scene: PlanningScene, thing: WorldObject) -> Iterator[Pose]:
    """Poses in which a body stands; only of boxes and cylinders, of which it is known how they do."""
    body, rotation = thing.body, thing.pose.matrix[:3, :3]
    shape = body.parts[0].shape
    if len(body.parts) != 1 or not body.parts[0].pose.is_identity or not isinstance(shape, Box | Cylinder):
        return
    turns = [turn for turn in _turns() if not np.allclose(turn, np.eye(3))]
    for x, y, ground in _spots(scene, thing, _half_height(shape, rotation)):
        for turn in turns:
            matrix = np.eye(4)
            matrix[:3, :3] = turn @ rotation
            matrix[:3, 3] = x, y, ground + _half_height(shape, matrix[:3, :3])
            yield Pose.of(matrix)


def _spots(scene: PlanningScene, thing: WorldObject, half_height: float) -> Iterator[tuple[float, float, float]]:
    """Where to put something down, x, y, z of the ground [m]: on raised things, which leave hands room, or nearby."""
    x, y, z = thing.pose.position
    tops = [top for other in scene.objects.values() if (top := _top(other)) is not None]
    yield from sorted(tops, key=lambda top: (-top[2], math.hypot(top[0] - x, top[1] - y)))[:MOST_TOPS]
    for radius in RING:
        for number in range(AROUND if radius else 1):
            angle = 2.0 * math.pi * number / AROUND
            yield x + radius * math.cos(angle), y + radius * math.sin(angle), z - half_height


def _top(other: WorldObject) -> tuple[float, float, float] | None:
    """The middle of the upper side of a fixed box that stands upright, if there is room on it."""
    shape = other.body.parts[0].shape
    if other.body.movable or not isinstance(shape, Box) or abs(float(other.pose.matrix[2, 2])) < UPRIGHT:
        return None
    x, y, z = other.pose.position
    return (x, y, z + 0.5 * shape.size[2]) if min(shape.size[:2]) >= ROOM else None


def _turns() -> list[Matrix]:
    """The 24 turns that bring a cube's axes to axes, those about level axes first."""
    found = []
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            turn = np.zeros((3, 3))
            turn[list(order), range(3)] = signs
            if np.linalg.det(turn) > 0.0:
                found.append(turn)
    return sorted(found, key=lambda turn: float(turn[2, 2]) ** 2)


def _half_height(shape: Box | Cylinder, rotation: Matrix) -> float:
    """Half of how tall a shape is when it is turned like this [m]."""
    if isinstance(shape, Box):
        return 0.5 * float(np.abs(rotation[2]) @ np.array(shape.size))
    up = abs(float(rotation[2, 2]))
    return 0.5 * up * shape.height + math.sqrt(max(0.0, 1.0 - up * up)) * shape.radius
