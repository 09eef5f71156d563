from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from lfd_description.bodies import Body, collision_bodies
from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model, mesh_finder
from lfd_description.model.model import RobotModel
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.scene import AllowedCollisions, PlanningScene, from_scene


@dataclass(frozen=True, eq=False)
class Arm:
    """A shipped arm with a gripper."""

    model: RobotModel
    bodies: tuple[Body, ...]
    geometry: RobotGeometry

    @property
    def joints(self) -> tuple[str, ...]:
        return self.model.group.joints

    def scene(self, name: str | None = None) -> PlanningScene:
        """A bundled scene, or an empty one, with the arm's allowed collisions; it stands on what it stands on."""
        scene = from_scene(find_scene(name)) if name else PlanningScene('base_link')
        disabled = self.model.collision_matrix.disabled
        allowed = AllowedCollisions.of((pair.link1, pair.link2) for pair in disabled)
        foot = self.bodies[0].link
        return replace(scene, allowed=allowed).allow(foot, *scene.objects)

    def world(self, scene: PlanningScene, joints: Sequence[str] | None = None, **padding: float) -> CollisionWorld:
        return CollisionWorld(self.geometry, scene, self.joints if joints is None else joints, **padding)

    def random_states(self, count: int, seed: int) -> npt.NDArray[np.float64]:
        limits = [self.model.limits[joint] for joint in self.joints]
        random = np.random.default_rng(seed)
        return random.uniform(
            [limit.lower for limit in limits], [limit.upper for limit in limits], (count, len(limits))
        )


@cache
def _arm(robot: str, gripper: str) -> Arm:
    model = build_model(find_robot(robot), gripper=find_gripper(gripper))
    bodies = collision_bodies(model.urdf, mesh_finder(model.robot))
    return Arm(model, bodies, RobotGeometry(model.tree, bodies, 'base_link'))


@pytest.fixture(scope='session')
def make_arm() -> Callable[[str, str], Arm]:
    return _arm


@pytest.fixture(scope='session')
def gp8() -> Arm:
    return _arm('gp8', 'two_finger')
