"""Where a released object comes to rest: gravity lets it fall straight down, snapping lays it flat.

=========================  ==========================================================================================
the object                 comes to rest
=========================  ==========================================================================================
rests already              exactly where it is
is a little in something   beside or above it, by the shortest way
is deep in something       on top of that, with a warning
is above something         on it, with gravity; with snapping alone only if it is a few millimetres above
is nearly parallel to it   parallel to it, with snapping; it keeps the direction that it looks in
has nothing below it       where it was let go of, with a warning
=========================  ==========================================================================================

Nothing tips over here; `lfd_planner.reachability.falls` tells what would. Poses are in the twin's frame, whose z is up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lfd_description.transforms import Quaternion
from lfd_planner.pose import Pose
from lfd_planner.reachability import Boxes, Drop, Gap, Neighbours
from lfd_planner.reachability.neighbours import TOUCHES, raised
from lfd_planner.scene import PlanningScene, WorldObject
from lfd_planner.validate.solids import TOUCH, Numbers

from .faces import flat_sides, rolling_axes
from .values import Settings

RESTS = 0.0002  # [m] above or inside of something that is as good as touching; recorded places are no better
PARALLEL = math.radians(0.3)  # [rad] that is as good as parallel
NEARLY = math.radians(12.0)  # [rad] from parallel, within which an object is laid flat
NEAR = 0.015  # [m] above something, within which snapping alone puts an object onto it
SHALLOW = 0.01  # [m] inside of something, up to which an object is pushed out by the shortest way
PUSHES = 8  # times that it is pushed, out of one thing and perhaps into the next
ABOVE = 0.001  # [m] from which it falls onto what it may touch already
STEP = 0.001  # [m] between two heights at which there may be room
EXACT = 1e-7  # [rad] that rounding turns
STRAIGHT = math.cos(math.radians(30.0))  # part of a contact's direction along the normal of the side that is met
HIGHEST = 0.5  # [m] by which an object is raised out of others
UP = 0.5  # part of a normal that is upwards, of a side that something can stand on
ROUNDS = 4  # times that an object is laid flat, because it then meets something else


@dataclass(frozen=True)
class Settled:
    """Where an object stays."""

    pose: Pose | None
    """None: there is no place for it here; it should go back to where it was."""
    on: tuple[str, ...] = ()
    """What it stands on, or leans against."""
    warnings: tuple[str, ...] = ()
    """What a person should know, a sentence each."""


def settle(scene: PlanningScene, thing: WorldObject, settings: Settings, boxes: Boxes | None = None) -> Settled:
    """Where an object stays that is let go of at its pose.

    Args:
        scene: all that it can come to rest on; not the object itself.
        thing: the object where it is let go of.
        settings: whether it falls, and whether it is laid flat.
        boxes: to be kept from one question to the next, if there are many objects.
    """
    if not (settings.gravity or settings.snap):
        return Settled(thing.pose)
    return _Settling(scene, thing, settings, boxes or Boxes()).settled()


class _Settling:
    """One object that is let go of."""

    def __init__(self, scene: PlanningScene, thing: WorldObject, settings: Settings, boxes: Boxes) -> None:
        self._scene, self._thing, self._settings = scene, thing, settings
        self._around = Neighbours(scene, thing, boxes)

    def settled(self) -> Settled:
        """Where it stays."""
        pose: Pose | None = self._thing.pose
        if self._rests(self._thing.pose):
            return self._told(self._thing.pose)
        pose, warnings = self._out(self._thing.pose)
        if pose is None:
            return Settled(None, warnings=warnings)
        pose = self._laid_flat(pose)
        met = self._met(pose)
        if met is None and self._settings.gravity:
            nothing = f"There is nothing below '{self._thing.id}'; it stays in the air."
            return Settled(pose, (), (*warnings, nothing))
        return self._told(raised(pose, -met.height) if met is not None else pose, warnings)

    def _rests(self, pose: Pose) -> bool:
        """Whether it is good as it is."""
        if any(gap.distance < -RESTS for gap in self._around.gaps(pose, 0.0)):
            return False
        met = self._met(pose)
        if met is None:
            return not self._settings.gravity
        return abs(met.height) <= RESTS and self._flat(pose, met, PARALLEL) is None

    def _met(self, pose: Pose) -> Drop | None:
        """What it falls onto, or is snapped to; the height is below zero if it is a little inside of that."""
        # Of two that touch, the direction of the contact is lost in rounding; so it falls from a little above.
        met = self._around.drop(raised(pose, ABOVE))
        if met is None or (not self._settings.gravity and met.height - ABOVE > NEAR):
            return None
        return met._replace(height=met.height - ABOVE)

    def _laid_flat(self, pose: Pose) -> Pose:
        """Parallel to what it meets; what that is can change with it."""
        for _ in range(ROUNDS):
            met = self._met(pose)
            flat = None if met is None else self._flat(pose, met, EXACT)
            free = None if flat is None else self._out(flat)[0]
            if free is None:
                break
            pose = free
        return pose

    def _flat(self, pose: Pose, met: Drop, tolerance: float) -> Pose | None:
        """Laid onto the side of what it meets; None if it is that within a tolerance [rad], or shall not be."""
        up = self._side_of(met) if self._settings.snap else None
        if up is None:
            return None
        turn = pose.matrix[:3, :3]
        ways = [(side, -up) for side in flat_sides(self._thing.body) @ turn.T]
        ways += [(axis, _unit(axis - (axis @ up) * up)) for axis in rolling_axes(self._thing.body) @ turn.T]
        angles = [math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b)) for a, b in ways]
        best = int(np.argmin(angles)) if angles else -1
        if best < 0 or not tolerance < angles[best] <= NEARLY:
            return None
        turned = Pose(orientation=_turning(*ways[best])) @ Pose(orientation=pose.orientation)
        return replace(pose, orientation=turned.orientation)

    def _side_of(self, met: Drop) -> Numbers | None:
        """The normal of the side that it meets; None if that is none to stand on."""
        other = self._scene.objects[met.other]
        sides = flat_sides(other.body) @ other.pose.matrix[:3, :3].T
        along = sides @ -met.normal
        if not len(sides) or along.max() < STRAIGHT:
            return None
        side: Numbers = sides[int(np.argmax(along))]
        return side if side[2] > UP else None

    def _out(self, pose: Pose) -> tuple[Pose | None, tuple[str, ...]]:
        """The pose beside or above all that it is in, and what to tell of it; None if there is no room."""
        start = pose
        for _ in range(PUSHES):
            deep = self._deepest(pose)
            if deep is None:
                return pose, ()
            if -deep.distance > SHALLOW or math.dist(pose.position, start.position) > SHALLOW:
                break
            x, y, z = (np.array(pose.position) + (deep.distance - TOUCHES) * deep.normal).tolist()
            pose = replace(pose, position=(x, y, z))
        return self._above(start)

    def _above(self, pose: Pose) -> tuple[Pose | None, tuple[str, ...]]:
        """The pose straight above all that it is in."""
        name, deep = self._thing.id, self._deepest(pose)
        other = deep.other if deep is not None else ''
        for height in np.arange(STEP, HIGHEST, STEP).tolist():
            if self._deepest(raised(pose, height)) is None:
                told = (f"'{name}' was let go of inside of '{other}'; it was put on top.",) if height > SHALLOW else ()
                return raised(pose, height), told
        return None, (f"There is no room for '{name}' inside of '{other}'; it went back to where it was.",)

    def _deepest(self, pose: Pose) -> Gap | None:
        gaps = self._around.gaps(pose, 0.0)
        return gaps[0] if gaps and gaps[0].distance < -TOUCH else None

    def _told(self, pose: Pose, warnings: tuple[str, ...] = ()) -> Settled:
        """Where it rests, and on what."""
        return Settled(pose, tuple(gap.other for gap in self._around.gaps(pose, 0.5 * RESTS)), warnings)


def _unit(vector: Numbers) -> Numbers:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector


def _turning(a: Numbers, b: Numbers) -> Quaternion:
    """The shortest turn of one unit vector to another that does not look the other way."""
    x, y, z = np.cross(a, b).tolist()
    w = 1.0 + float(a @ b)
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    return x / norm, y / norm, z / norm, w / norm
