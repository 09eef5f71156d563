"""What an object touches at a pose: what it stands on, and what is in the way."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lfd_description.shapes import Box, Cone, Cylinder, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import AttachedObject, Body, PlanningScene, SceneShape, WorldObject

from .arm import Arm

NEAR = 0.001  # [m] below an object that counts as touching
LEVEL = 0.7  # part of a contact's direction that is upwards if one lies on the other
TOLERANCE = 0.002  # [m] that poses by hand are off: objects may overlap by so much


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
    """What it touches, within tolerance."""
    overlaps: tuple[Overlap, ...]
    """What it would have to be inside of."""


def touching(arm: Arm, scene: PlanningScene, object: str, body: Body, pose: Pose) -> Touching:
    """What a body at a pose of the scene's frame touches; the robot and the object itself are left aside."""
    lowered = Pose((pose.position[0], pose.position[1], pose.position[2] - NEAR), pose.orientation)
    depths = _depths(arm, scene, object, body, lowered)
    supports = tuple(name for name, depth in depths.items() if depth <= TOLERANCE + NEAR)
    overlaps = tuple(Overlap(name, depth - NEAR) for name, depth in depths.items() if depth > TOLERANCE + NEAR)
    return Touching(supports, overlaps)


def lying_on(arm: Arm, scene: PlanningScene, object: str) -> tuple[str, ...]:
    """The objects that lie on an object of the scene: those it meets on its way up, but not at its sides."""
    thing = scene.objects[object]
    if not any(_may_lie_on(other, thing) for other in scene.objects.values()):
        return ()
    x, y, z = thing.pose.position
    risen = Pose((x, y, z + 2.0 * NEAR), thing.pose.orientation)
    found = _contacts(arm, scene, object, thing.body, risen)
    return tuple(name for name, normal, depth in found if normal[2] > LEVEL and depth > 0.5 * NEAR)


def _may_lie_on(other: WorldObject, thing: WorldObject) -> bool:
    """Whether that is possible, at a glance."""
    if not other.body.movable or other.pose.position[2] <= thing.pose.position[2]:
        return False
    return math.dist(other.pose.position, thing.pose.position) < _radius(other.body) + _radius(thing.body) + NEAR


def _radius(body: Body) -> float:
    """Of a ball about the object's frame that holds the body [m]; endless where that is not worth finding out."""
    return max(math.hypot(*part.pose.position) + _shape_radius(part.shape) for part in body.parts)


def _shape_radius(shape: SceneShape) -> float:
    if isinstance(shape, Box):
        return 0.5 * math.hypot(*shape.size)
    if isinstance(shape, Sphere):
        return shape.radius
    if isinstance(shape, Cylinder | Cone):
        return math.hypot(shape.radius, shape.height)
    return math.inf


def _depths(arm: Arm, scene: PlanningScene, object: str, body: Body, pose: Pose) -> dict[str, float]:
    return {name: depth for name, _, depth in _contacts(arm, scene, object, body, pose)}


def _contacts(
    arm: Arm, scene: PlanningScene, object: str, body: Body, pose: Pose
) -> list[tuple[str, tuple[float, float, float], float]]:
    """Who touches the body: names, directions from the body to them, and depths [m]."""
    robot = arm.backend.robot
    base = robot.tree.root
    links = frozenset(robot.tree.links)
    in_base = Pose.of(robot.frames.link_poses(robot.home)[base]).inverse @ pose
    without = scene.remove(object) if object in scene.objects else scene
    world = without.attach_new(AttachedObject(object, body, base, in_base, links), {base: np.eye(4)})
    found = arm.backend.state_contacts(world)
    told: list[tuple[str, tuple[float, float, float], float]] = []
    for contact in found:
        x, y, z = contact.normal
        if contact.a == object:
            told.append((contact.b, (x, y, z), contact.depth))
        elif contact.b == object:
            told.append((contact.a, (-x, -y, -z), contact.depth))
    return told
