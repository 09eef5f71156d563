"""An object among others that stand still: how far they are, what it meets when it falls, how it gets out of them.

coal measures all distances. Poses are in the scene's frame, whose z is up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lfd_description.shapes import Plane
from lfd_description.urdf import Matrix
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject
from lfd_planner.validate.solids import Nearest, Place, Solid, nearest, object_solids

from .boxes import Boxes, Numbers, bounds

SLIDES = 1e-4  # part of a direction that is downwards, up to which something slides past
TOUCHES = 1e-7  # [m] that an object keeps above what it lands on, so that rounding does not put it inside
MOST_ADVANCES = 200
LOOK = 1e-4  # [m] that two which touch are moved to see whether one is on the other
_DOWN = np.array([0.0, 0.0, -1.0])


class Gap(NamedTuple):
    """How far an object is from another."""

    other: str
    distance: float
    """[m]; below zero: how deep they are in each other."""
    normal: Numbers
    """From the object to the other."""


class Drop(NamedTuple):
    """What an object meets when it falls straight down."""

    other: str
    height: float
    """[m]"""
    normal: Numbers
    """From the object to the other."""


class Neighbours:
    """An object among others; `boxes` may be kept from one question to the next."""

    def __init__(self, scene: PlanningScene, thing: WorldObject, boxes: Boxes) -> None:
        boxes.follow(scene.objects)
        self._name, self._body, self._boxes = thing.id, thing.body, boxes

    def gaps(self, pose: Pose, room: float) -> list[Gap]:
        """How far the objects are that are so near [m], the nearest first."""
        low, high = bounds(self._body, pose)
        near = (other for other in self._boxes.within(low - room, high + room) if other.id != self._name)
        found = [self._gap(pose, other) for other in near]
        return sorted((gap for gap in found if gap.distance <= room), key=lambda gap: gap.distance)

    def drop(self, pose: Pose) -> Drop | None:
        """What it meets first on its way down; None if there is nothing."""
        low, high = bounds(self._body, pose)
        low[2] = -math.inf
        found: Drop | None = None
        for other in self._boxes.within(low, high):
            for mine, theirs in _pairs(self._body, other):
                most = math.inf if found is None else found.height
                found = _fall(mine, theirs, pose, other, most) or found
        return found

    def _gap(self, pose: Pose, other: WorldObject) -> Gap:
        gaps = [
            Gap(other.id, *_measured(mine, pose.matrix, theirs, other.pose.matrix))
            for mine, theirs in _pairs(self._body, other)
        ]
        return min(gaps, key=lambda gap: gap.distance)


def raised(pose: Pose, height: float) -> Pose:
    """A pose, higher by some metres."""
    x, y, z = pose.position
    return replace(pose, position=(x, y, z + height))


def _fall(mine: Solid, theirs: Solid, pose: Pose, other: WorldObject, most: float) -> Drop | None:
    """How far one solid falls until it meets another, if that is less than `most`.

    Two convex solids are kept apart by the plane between their nearest points until one has crossed the gap along its
    normal; so the object may fall that far, and is measured again. Of others no point moves farther than the fall.
    """
    convex = mine.geometry.hull is None and theirs.geometry.hull is None
    distance, normal = _measured(mine, pose.matrix, theirs, other.pose.matrix)
    if distance <= TOUCHES:
        return Drop(other.id, 0.0, normal) if _is_on(mine, theirs, pose, other, distance) else None
    fallen = 0.0
    for _ in range(MOST_ADVANCES):
        down = float(normal @ _DOWN)
        if convex and down <= SLIDES:
            return None
        step = (distance - 0.5 * TOUCHES) / (down if convex else 1.0)
        fallen += step
        if fallen >= most or _is_below(mine, raised(pose, -fallen), theirs, other):
            return None
        distance, direction = _measured(mine, raised(pose, -fallen).matrix, theirs, other.pose.matrix)
        if distance <= TOUCHES:
            break
        normal = direction
    return Drop(other.id, fallen, normal)


def _is_on(mine: Solid, theirs: Solid, pose: Pose, other: WorldObject, distance: float) -> bool:
    """Whether something that touches another goes deeper into it when it falls, and does not slide along it."""
    lower, _ = _measured(mine, raised(pose, -LOOK).matrix, theirs, other.pose.matrix)
    return lower < distance - 0.5 * LOOK


def _is_below(mine: Solid, pose: Pose, theirs: Solid, other: WorldObject) -> bool:
    """Whether an object has fallen past another."""
    if isinstance(theirs.shape, Plane):
        return False
    top = (pose.matrix @ mine.origin)[:3, :3] @ mine.centre + (pose.matrix @ mine.origin)[:3, 3]
    there = other.pose.matrix @ theirs.origin
    bottom = there[:3, :3] @ theirs.centre + there[:3, 3]
    return bool(top[2] + mine.radius < bottom[2] - theirs.radius)


def _pairs(body: Body, other: WorldObject) -> Iterator[tuple[Solid, Solid]]:
    return ((mine, theirs) for mine in _solids(body) for theirs in _solids(other.body))


@lru_cache(maxsize=1024)
def _solids(body: Body) -> Iterable[Solid]:
    return object_solids('', body)


def _measured(mine: Solid, pose: Matrix, theirs: Solid, other: Matrix) -> Nearest:
    here, there = pose @ mine.origin, other @ theirs.origin
    if isinstance(theirs.shape, Plane) and mine.geometry.hull is not None:  # the lowest point is one of the hull
        mine = replace(mine, geometry=replace(mine.geometry, exact=mine.geometry.hull, hull=None))
    return nearest(mine, Place.of(here), theirs, Place.of(there))
