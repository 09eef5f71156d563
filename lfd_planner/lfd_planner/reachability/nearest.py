"""The nearest place that a robot reaches, of those on which an object would stand: what to tell who shows another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject

from .boxes import Boxes
from .neighbours import Neighbours, raised
from .pose_oracle import PoseOracle
from .stays import falls
from .verdict import BAD

STEP = 0.02  # [m] between two places
FARTHEST = 2.0  # [m] that an object is moved
MOST_JUDGED = 60  # places
NEAREST_SHARE = 0.3  # of the arm's reach, below which an object might be in the robot itself
SAME_HEIGHT = 0.01  # [m]
DEEPEST = 0.001  # [m] that an object may be inside of what it stands on, by rounding


@dataclass(frozen=True)
class Alternative:
    """Where an object could be instead."""

    pose: Pose
    nearer: float
    """How much nearer to the robot that is [m], along the floor; below zero: farther away."""
    on: str
    """What it stands on there."""
    same_height: bool
    """Whether that is as high as where it should have been."""

    def __str__(self) -> str:
        """What to do, such as "30 cm nearer to the robot, on 'table'"."""
        way = 'nearer to' if self.nearer > 0.0 else 'farther from'
        shift = f'{100.0 * abs(self.nearer):.0f} cm {way} the robot' if self.nearer else ''
        on = '' if self.same_height and shift else f"on '{self.on}'"
        return ', '.join(part for part in (shift, on) if part)


def nearest_place(oracle: PoseOracle, scene: PlanningScene, object: str, pose: Pose) -> Alternative | None:
    """The nearest place to a pose, straight towards the robot or away from it, at which it can hold an object.

    Args:
        oracle: of the robot.
        scene: all objects, in the robot's frame.
        object: its name.
        pose: where it should have been, in the scene's frame.

    Raises:
        MeshError: an object has a mesh file that cannot be used.
    """
    thing = scene.objects.get(object)
    if thing is None:
        return None
    boxes, rest = Boxes(), scene.remove(object)
    judged = 0
    for shift, there in _shifted(oracle, pose):
        found = _standing(rest, replace(thing, pose=there), oracle, boxes)
        if found is None or judged >= MOST_JUDGED:
            continue
        judged += 1
        landed, on = found
        if oracle.judge(scene, object, landed).state != BAD:
            same = abs(landed.position[2] - pose.position[2]) < SAME_HEIGHT
            return Alternative(landed, shift, on, same)
    return None


def _shifted(oracle: PoseOracle, pose: Pose) -> Iterator[tuple[float, Pose]]:
    """A pose at places along the line to the robot, the nearest first, and how much nearer they are [m]."""
    x, y, z = pose.position
    way = oracle.base[:2] - np.array((x, y))
    distance = float(np.linalg.norm(way))
    inwards = way / distance if distance > 1e-6 else np.array((1.0, 0.0))
    yield 0.0, pose
    for length in (np.arange(0.0, FARTHEST, STEP) + STEP).tolist():
        for shift in (length, -length):
            away = distance - shift
            if NEAREST_SHARE * oracle.reach <= away <= oracle.reach:
                dx, dy = (inwards * shift).tolist()
                yield shift, replace(pose, position=(x + dx, y + dy, z))


def _standing(scene: PlanningScene, thing: WorldObject, oracle: PoseOracle, boxes: Boxes) -> tuple[Pose, str] | None:
    """Where an object comes to rest that falls from high above its pose, and on what; None if it does not stay."""
    around = Neighbours(scene, thing, boxes)
    high = float(oracle.base[2]) + oracle.reach
    top = replace(thing.pose, position=(*thing.pose.position[:2], high))
    met = around.drop(top)
    if met is None:
        return None
    landed = raised(top, -met.height)
    inside = any(gap.distance < -DEEPEST for gap in around.gaps(landed, 0.0))
    return None if inside or falls(scene, replace(thing, pose=landed), boxes) else (landed, met.other)
