"""Robots and scenes for tests of the task planner; made once, because models take their time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_description.shapes import Box, Vector
from lfd_planner.mtdf import Descriptor, Keyframe, Pick, Place, Task, find_task
from lfd_planner.planner import TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject, from_scene


@cache
def planner(robot: str = 'ur5e', gripper: str = 'two_finger') -> TaskPlanner:
    return TaskPlanner(build_model(find_robot(robot), gripper=find_gripper(gripper)))


@cache
def seed_task() -> Task:
    return find_task('stack_boxes')


@cache
def seed_cell() -> PlanningScene:
    return from_scene(find_scene('seed_cell'))


def seed_origin(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    """The recommended origin, moved [m]."""
    hint = seed_task().origin
    assert hint is not None
    here = hint.pose.position
    return replace(hint.pose, position=(here[0] + x, here[1] + y, here[2] + z))


def box(name: str, size: Vector, position: Vector, *, movable: bool = True) -> WorldObject:
    return WorldObject(name, replace(Body.of(Box(size)), movable=movable), Pose(position))


def moving(*keyframes: Keyframe) -> Task:
    """A task about the objects that its keyframes name."""
    names = dict.fromkeys(keyframe.object for keyframe in keyframes if isinstance(keyframe, Pick | Place))
    return Task(tuple(Descriptor(name) for name in names), keyframes)
