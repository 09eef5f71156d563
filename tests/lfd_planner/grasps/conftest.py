"""A judge of grasps: the gripper's real bodies and coal, which know nothing of how grasps are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from support.coal_judge import coal_collides, coal_distance

from lfd_description.bodies import Body as LinkBody
from lfd_description.bodies import collision_bodies
from lfd_description.grasp_data import FingerGraspData, SuctionGraspData
from lfd_description.grippers import Gripper, find_gripper
from lfd_description.kinematics import Tree
from lfd_description.model.builder import build_model, mesh_finder
from lfd_description.robots import find_robot
from lfd_description.shapes import Box, Cylinder, Shape, Sphere
from lfd_planner.grasps import Grasp
from lfd_planner.scene import Body

Array = npt.NDArray[np.float64]

NEAR = 0.001  # [m], the farthest that a pad is from what it holds
DEEPEST = 0.0005  # [m], the most that a finger is inside of it


@dataclass(frozen=True, eq=False)
class Judge:
    """Says what is wrong with a grasp; nothing, if it is good."""

    gripper: Gripper
    tree: Tree
    bodies: tuple[LinkBody, ...]

    def solids(self, posture: Mapping[str, float]) -> list[tuple[str, Shape, Array]]:
        """The gripper's links, their shapes and where these are in the tcp's frame."""
        own = {} if self.gripper.joint is None else {self.gripper.joint: posture[self.gripper.joint]}
        poses = self.tree.poses_at(own)
        from_tcp = np.linalg.inv(poses['tcp'])
        return [(body.link, body.shape, from_tcp @ poses[body.link] @ body.origin) for body in self.bodies]

    def faults(self, body: Body, grasp: Grasp) -> list[str]:
        if isinstance(self.gripper.grasp_data, FingerGraspData):
            return [*self._closed(body, grasp), *self._between(body, grasp), *self._approach(body, grasp)]
        return self._suction(body, grasp)

    def _closed(self, body: Body, grasp: Grasp) -> list[str]:
        faults = []
        near: dict[str, float] = {}
        for link, shape, pose in self.solids(grasp.posture):
            away = min(distance(shape, pose, body, grasp))
            if link in self.gripper.touch_links:
                near[link] = min(near.get(link, np.inf), away)
                if collides(shrunk(shape), pose, body, grasp):
                    faults.append(f'{link} is deep inside')
            elif away <= 0.0:
                faults.append(f'{link} touches')
        faults += [f'{link} is {1e3 * away:.2f} mm away' for link, away in near.items() if away > NEAR]
        return faults

    def _between(self, body: Body, grasp: Grasp) -> list[str]:
        """So much of the object as a finger is wide must lie between the pads, at the least depth and deeper."""
        data = self.gripper.grasp_data
        assert isinstance(data, FingerGraspData)
        assert grasp.width is not None
        faults = []
        for side in (-1.0, 1.0):
            slice_ = Box((1e-4, grasp.width, data.grasp_max_depth))
            pose = np.eye(4)
            pose[:3, 3] = side * (0.5 * data.gripper_finger_width - 6e-4), 0.0, -0.5 * data.grasp_max_depth
            if not collides(slice_, pose, body, grasp):
                faults.append(f'nothing is between the pads at x {side:+.0f}')
        return faults

    def _approach(self, body: Body, grasp: Grasp) -> list[str]:
        """On the way to the grasp nothing may touch."""
        faults = []
        for back in (0.0, 0.004, 0.012, 0.03, 0.06):
            for link, shape, pose in self.solids(grasp.open_posture):
                moved = pose.copy()
                moved[2, 3] -= back
                if collides(shape, moved, body, grasp):
                    faults.append(f'{link} touches {1e3 * back:.0f} mm before the grasp')
        return faults

    def _suction(self, body: Body, grasp: Grasp) -> list[str]:
        data = self.gripper.grasp_data
        assert isinstance(data, SuctionGraspData)
        faults = [
            f'{link} touches'
            for link, shape, pose in self.solids({})
            if link not in self.gripper.touch_links and collides(shape, pose, body, grasp)
        ]
        for angle in np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False):
            for below, wanted in ((3e-4, True), (-3e-4, False)):
                pose = np.eye(4)
                radius = 0.5 * data.active_suction_range_x - 2e-4
                pose[:3, 3] = radius * np.cos(angle), radius * np.sin(angle), below - grasp.depth
                # A ball that is cut by the surface is where the surface is; a mesh has no inside.
                if collides(Sphere(4e-4 if wanted else 1e-4), pose, body, grasp) != wanted:
                    faults.append(f'the rim of the cup is {"off" if wanted else "inside"} the face')
        return faults


def shrunk(shape: Shape) -> Shape:
    """A shape without its outermost half millimetre."""
    less = 2.0 * DEEPEST
    match shape:
        case Box(size):
            return Box((size[0] - less, size[1] - less, size[2] - less))
        case Cylinder(radius, height):
            return Cylinder(radius - DEEPEST, height - less)
    raise TypeError(shape)


def distance(shape: Shape, pose: Array, body: Body, grasp: Grasp) -> list[float]:
    """From a shape at a pose in the tcp's frame to each part of the object [m]."""
    to_object = np.linalg.inv(grasp.tcp.matrix @ pose)
    return [coal_distance(shape, part.shape, to_object @ part.pose.matrix) for part in body.parts]


def collides(shape: Shape, pose: Array, body: Body, grasp: Grasp) -> bool:
    to_object = np.linalg.inv(grasp.tcp.matrix @ pose)
    return any(coal_collides(shape, part.shape, to_object @ part.pose.matrix) for part in body.parts)


@cache
def _judge(name: str) -> Judge:
    gripper = find_gripper(name)
    model = build_model(find_robot('ur5e'), gripper=gripper)
    hand = {'hand_base', *gripper.touch_links}
    bodies = tuple(body for body in collision_bodies(model.urdf, mesh_finder(model.robot)) if body.link in hand)
    return Judge(gripper, Tree(model.tree), bodies)


@pytest.fixture(scope='session')
def fingers() -> Judge:
    return _judge('two_finger')


@pytest.fixture(scope='session')
def cup() -> Judge:
    return _judge('suction')


def some(grasps: Sequence[Grasp], count: int) -> list[Grasp]:
    """The first few, and others spread over all the rest."""
    if len(grasps) <= count:
        return list(grasps)
    return [*grasps[: count // 2], *grasps[count // 2 :: max(1, len(grasps) // (count // 2))]]


@pytest.fixture(scope='session')
def choose():
    return some
