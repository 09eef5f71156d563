"""An object alone in the world, without a robot: what it touches at a pose, and what it meets on a straight way.

What this finds holds for every grasp, so that much need not be tried with an arm. It is computed alike for all
backends. Poses are those of the object in the scene's frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Joint, Matrix, RobotTree, roll_pitch_yaw
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.pose import Pose
from lfd_planner.scene import AttachedObject, Body, PersistentMap, PlanningScene

NEAR = 0.001  # [m] below an object that counts as touching; also between two samples of a way
LEVEL = 0.7  # part of a contact's direction that is upwards if one lies on the other
TOLERANCE = 0.002  # [m] that poses by hand are off: objects may overlap by so much
DEEPEST = 0.5  # [m] below an object, where something is looked for that could carry it

_JOINTS = ('x', 'y', 'z', 'yaw', 'pitch', 'roll')
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Overlap:
    """Something that is where an object should be."""

    name: str
    depth: float
    """[m]"""


@dataclass(frozen=True)
class Touching:
    """Who is at an object."""

    supports: tuple[str, ...]
    """What it touches, within tolerance: what it stands on, and what it leans against."""
    overlaps: tuple[Overlap, ...]
    """What it would have to be inside of."""


@dataclass(frozen=True)
class Met:
    """What an object meets on its way."""

    name: str
    distance: float
    """That it gets before [m]."""


class LooseObject:
    """An object, of the scene or with a body of its own, that can be anywhere; the rest of the scene stands still."""

    def __init__(self, scene: PlanningScene, name: str, body: Body | None = None) -> None:
        rest = scene.remove(name) if name in scene.objects else scene
        shown = body or scene.objects[name].body
        held = AttachedObject(name, shown, _JOINTS[-1], Pose())
        alone = replace(rest, attached=PersistentMap({name: held}), joints=PersistentMap())
        self.name = name
        self._world = CollisionWorld(_floating(scene.frame), alone, _JOINTS)

    def touching(self, pose: Pose) -> Touching:
        """What it touches at a pose, or a little below."""
        depths = {name: depth for name, _, depth in self._contacts(_position(pose, -NEAR))}
        supports = tuple(name for name, depth in depths.items() if depth <= TOLERANCE + NEAR)
        overlaps = tuple(Overlap(name, depth - NEAR) for name, depth in depths.items() if depth > TOLERANCE + NEAR)
        return Touching(supports, overlaps)

    def may_stand(self, poses: Sequence[Pose]) -> npt.NDArray[np.bool_]:
        """At which of many poses there is something below it and nothing around it, to the millimetre, (P,)."""
        low = np.array([_position(pose, -NEAR) for pose in poses]).reshape(-1, len(_JOINTS))
        high = low + (TOLERANCE + NEAR) * np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        carried: npt.NDArray[np.bool_] = self._world.collide(low)
        return carried & ~self._world.collide(high)

    def above(self, pose: Pose, height: float, supports: tuple[str, ...] = ()) -> Met | None:
        """What it meets when it is raised by `height` [m]; it may go along its supports, but not lift them."""
        for name, up, depth in self._contacts(_position(pose, 2.0 * NEAR)):
            if up > LEVEL and depth > 0.5 * NEAR:
                return Met(name, 0.0)
        for way, row in self._colliding(pose, height):
            for name, _, _ in self._contacts(row):
                if name not in supports:
                    return Met(name, way - NEAR)
        return None

    def below(self, pose: Pose) -> Met | None:
        """What it meets when it falls."""
        for way, row in self._colliding(pose, -DEEPEST):
            for name, _, _ in self._contacts(row):
                return Met(name, way - NEAR)
        return None

    def free_height(self, pose: Pose, most: float) -> float | None:
        """How far it has to be raised to overlap with nothing, to the millimetre [m]; None: more than `most`."""
        rows = self._way(pose, most)
        free = np.flatnonzero(~self._world.collide(rows))
        return float(NEAR * (free[0] + 1)) if len(free) else None

    def _colliding(self, pose: Pose, height: float) -> Iterator[tuple[float, Matrix]]:
        """Where it collides on its way up or down: how far it went [m], and its joints."""
        rows = self._way(pose, height)
        for number in np.flatnonzero(self._world.collide(rows)):
            yield float(NEAR * (number + 1)), rows[number]

    def _way(self, pose: Pose, height: float) -> Matrix:
        """Its joints on the way up, or down if `height` [m] is negative; not at its begin."""
        count = max(round(abs(height) / NEAR), 1)
        rows: Matrix = np.repeat(_position(pose)[np.newaxis], count, axis=0)
        rows[:, 2] += np.sign(height) * NEAR * np.arange(1, count + 1)
        return rows

    def _contacts(self, row: Matrix) -> Iterator[tuple[str, float, float]]:
        """Who touches it: names, the part of the direction to them that is upwards, and depths [m]."""
        for contact in self._world.contacts(row):
            mine = contact.a == self.name
            yield (contact.b if mine else contact.a), contact.normal[2] * (1.0 if mine else -1.0), contact.depth


def _position(pose: Pose, higher: float = 0.0) -> Matrix:
    """A pose, raised by some metres, as the joints of a floating object."""
    x, y, z = pose.position
    roll, pitch, yaw = roll_pitch_yaw(pose.matrix)
    return np.array([x, y, z + higher, yaw, pitch, roll])


@cache
def _floating(frame: str) -> RobotGeometry:
    """A robot without a body whose joints take an object anywhere in a frame."""
    links = ('air', *_JOINTS)
    slides = [Joint(name, 'prismatic', links[n], name, axis=_AXES[n]) for n, name in enumerate(_JOINTS[:3])]
    turns = [Joint(name, 'continuous', links[3 + n], name, axis=_AXES[2 - n]) for n, name in enumerate(_JOINTS[3:])]
    return RobotGeometry(RobotTree('floating', links, (*slides, *turns), 'air'), (), frame)
