"""The tasks that planners are measured with: the recorded stack, random tabletop tasks, and long ones.

All are pick and place pairs of named objects, with poses in the scene's frame. The same seed gives the same task.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from lfd_description.scenes import find_scene, random_scene
from lfd_description.shapes import Box, Capsule, Cone, Cylinder
from lfd_planner.mtdf import Descriptor, Keyframe, Pick, Place, Task, find_task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject, from_scene

# [m] from the arm's axis, where the hand can point straight down at things of all heights on a table at the arm's foot.
# The IRB 1600 cannot nearer than 0.5 m: its wrist would have to be inside of its shoulder.
REACH = {'gp8': (0.30, 0.62), 'irb1600': (0.60, 1.05), 'ur5e': (0.35, 0.75)}
GAP = 0.02  # [m] between an object that is put down and its neighbours
STACKED = 0.25  # the share of objects that are put on top of a box, where one is free
MOST_CLUTTER = 6  # objects that stay where they are
THROWS = 300
AT_FRAME = Pose()


@dataclass(frozen=True, eq=False)
class BenchTask:
    """A task and where it is done."""

    name: str
    scene: PlanningScene
    task: Task
    origin: Pose = AT_FRAME
    seed: int | None = None

    @property
    def pairs(self) -> int:
        """How many objects are picked and placed."""
        return len(self.task.keyframes) // 2


@cache
def seed_stack() -> BenchTask:
    """The recorded demonstration: eight keyframes, four boxes, one of them tipped."""
    task = find_task('stack_boxes')
    assert task.origin is not None
    return BenchTask('stack', from_scene(find_scene('seed_cell')), task, task.origin.pose)


def long_task(pairs: int) -> BenchTask:
    """Two boxes of the recorded task, moved to and fro by 22 cm: the same four pairs again and again."""
    scene = seed_stack().scene
    names = [descriptor.name for descriptor in seed_stack().task.descriptors][:2]
    frames: list[Keyframe] = []
    for number in range(pairs):
        name = names[number // 2 % 2]
        here = scene.objects[name].pose
        x, y, z = here.position
        there = replace(here, position=(x, y + 0.22, z))
        frames += [Pick(name), Place(name, there if number % 2 == 0 else here)]
    return BenchTask(f'{pairs} pairs', scene, _task(frames))


def random_task(robot: str, seed: int) -> BenchTask:
    """Two to six of the objects on a cluttered table are moved to free places, or onto boxes.

    Cones are clutter only: two parallel fingers do not get hold of every one that stands on its base.

    Args:
        robot: the arm; it decides how far away things are.
        seed: of all that is random.
    """
    random = np.random.default_rng(seed)
    count = int(random.integers(2, 7))
    reach = REACH[robot]
    room = random_scene('clutter', seed, count=count + int(random.integers(0, MOST_CLUTTER + 1)), reach=reach)
    table = _Table(from_scene(room), reach, random)
    movable = [thing for thing in table.scene.objects.values() if thing.body.movable]
    chosen = [movable[number] for number in random.permutation(len(movable))]
    chosen = [thing for thing in chosen if not isinstance(thing.body.parts[0].shape, Cone)][:count]
    frames: list[Keyframe] = []
    for number, thing in enumerate(chosen):
        later = {other.id for other in chosen[number:]}
        pose = table.place_for(thing, later)
        if pose is not None:
            frames += [Pick(thing.id), Place(thing.id, pose)]
    return BenchTask(f'{robot} {seed}', from_scene(room), _task(frames), seed=seed)


def _task(frames: list[Keyframe]) -> Task:
    names = dict.fromkeys(frame.object for frame in frames if isinstance(frame, Pick))
    return Task(tuple(Descriptor(name) for name in names), tuple(frames))


class _Table:
    """Where things are while a task goes on."""

    def __init__(self, scene: PlanningScene, reach: tuple[float, float], random: np.random.Generator) -> None:
        self.scene, self.reach, self.random = scene, reach, random
        self.covered: set[str] = set()

    def place_for(self, thing: WorldObject, later: set[str]) -> Pose | None:
        """Where a thing goes next, turned at random about the vertical; boxes that move `later` are not built upon."""
        stacked = self._on_box(thing, later) if self.random.random() < STACKED else None
        pose = stacked or self._on_table(thing)
        if pose is not None:
            self.scene = self.scene.move(thing.id, pose)
        return pose

    def _on_box(self, thing: WorldObject, later: set[str]) -> Pose | None:
        if not isinstance(thing.body.parts[0].shape, Box | Cylinder):
            return None
        for below in self.scene.objects.values():
            shape = below.body.parts[0].shape
            free = below.body.movable and below.id not in later | self.covered
            if free and isinstance(shape, Box) and min(shape.size[:2]) >= 0.03 and shape.size[2] <= 0.1:
                self.covered |= {below.id, thing.id}
                x, y, z = below.pose.position
                return self._turned(thing, x, y, z + 0.5 * shape.size[2] + _half_height(thing))
        return None

    def _on_table(self, thing: WorldObject) -> Pose | None:
        near, far = self.reach
        radius = _radius(thing)
        others = [
            (*other.pose.position[:2], _radius(other))
            for other in self.scene.objects.values()
            if other.body.movable and other.id != thing.id
        ]
        for _ in range(THROWS):
            x, y = self.random.uniform(0.0, far), self.random.uniform(-far, far)
            inside = near + radius <= math.hypot(x, y) <= far - radius and x >= radius
            if inside and all(math.hypot(x - a, y - b) >= radius + other + GAP for a, b, other in others):
                return self._turned(thing, x, y, thing.pose.position[2])
        return None

    def _turned(self, thing: WorldObject, x: float, y: float, z: float) -> Pose:
        half = 0.5 * self.random.uniform(-math.pi, math.pi)
        turn = Pose((x, y, z), (0.0, 0.0, math.sin(half), math.cos(half)))
        return turn @ Pose(orientation=thing.pose.orientation)


def _half_height(thing: WorldObject) -> float:
    shape = thing.body.parts[0].shape
    return 0.5 * (shape.size[2] if isinstance(shape, Box) else shape.height)


def _radius(thing: WorldObject) -> float:
    """Of the circle about a thing that it never leaves, seen from above [m]."""
    shape = thing.body.parts[0].shape
    if isinstance(shape, Box):
        return 0.5 * math.hypot(*shape.size[:2])
    return 0.5 * shape.height if isinstance(shape, Capsule) else float(shape.radius)  # capsules lie
