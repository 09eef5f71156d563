"""Small worlds in which everybody can see what is free: a ball on two slides among boxes, and arms among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from lfd_description.bodies import Body
from lfd_description.shapes import Box, Sphere, Vector
from lfd_description.urdf import Joint, Limits, RobotTree
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.collision.world import World
from lfd_planner.scene import Body as ObjectBody
from lfd_planner.scene import Part, PlanningScene, Pose, WorldObject
from lfd_planner.search.warm_up import warm_up

Array = npt.NDArray[np.float64]

RADIUS = 0.05
"""[m], of the ball."""
PADDING = 0.002
"""[m], with which paths are planned, so that they are still free between the samples."""


@pytest.fixture(scope='session', autouse=True)
def nothing_left_to_compile() -> None:
    """So that time budgets are for searches."""
    warm_up()


@dataclass(frozen=True)
class Maze:
    """Boxes on a floor of two by two metres, (middle, size) by name, for a ball at (x, y, 0)."""

    boxes: Mapping[str, tuple[Vector, Vector]]

    limits = np.array([[-1.0, -1.0], [1.0, 1.0]])

    @property
    def world(self) -> World:
        tree = gantry()
        return world_of(tree, [Body('ball', Sphere(RADIUS), np.eye(4))], ('x', 'y'), self.boxes)

    def distances(self, places: Array) -> Array:
        """From the ball's surface to the nearest box, for places (N, 2) [m]; below zero where they overlap."""
        distances = np.full(len(places), np.inf)
        for middle, size in self.boxes.values():
            beyond = np.abs(places - middle[:2]) - np.array(size[:2]) / 2
            outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
            distances = np.minimum(distances, outside + np.minimum(beyond.max(axis=1), 0.0))
        return distances - RADIUS


def gantry() -> RobotTree:
    limits = Limits(-1.0, 1.0, 1.0, 1.0)
    joints = (
        Joint('x', 'prismatic', 'base', 'cart', axis=(1.0, 0.0, 0.0), limits=limits),
        Joint('y', 'prismatic', 'cart', 'ball', axis=(0.0, 1.0, 0.0), limits=limits),
    )
    return RobotTree('gantry', ('base', 'cart', 'ball'), joints, 'base')


def world_of(
    tree: RobotTree, bodies: Sequence[Body], joints: Sequence[str], boxes: Mapping[str, tuple[Vector, Vector]]
) -> World:
    scene = PlanningScene(tree.root).add(
        *(WorldObject(name, ObjectBody((Part(Box(size)),)), Pose(middle)) for name, (middle, size) in boxes.items())
    )
    return CollisionWorld(RobotGeometry(tree, bodies, tree.root), scene, joints, padding=PADDING).data


def between(path: Array, step: float) -> Array:
    """Places along a path that no joint moves more than a step between [rad or m]."""
    pieces = [path[:1]]
    for a, b in pairwise(path):
        count = max(int(np.ceil(np.abs(b - a).max() / step)), 1)
        pieces.append(a + np.linspace(0.0, 1.0, count + 1)[1:, np.newaxis] * (b - a))
    return np.concatenate(pieces)
