"""Collision checks by pinocchio and coal, to judge the planner's own: nobody here wrote their algorithms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import coal
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from lfd_description.bodies import Body
from lfd_planner.scene import PlanningScene, SceneShape, collision_geometry

Array = npt.NDArray[np.float64]


def coal_distance(one: SceneShape, other: SceneShape, pose: Array) -> float:
    """The distance [m] of two shapes, 0 or less if they touch; `pose` is the 4x4 transform one -> other."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    place = coal.Transform3s(pose[:3, :3], pose[:3, 3])
    return float(coal.distance(_geometry(one), coal.Transform3s(), _geometry(other), place, request, result))


def coal_collides(one: SceneShape, other: SceneShape, pose: Array) -> bool:
    """Whether two shapes touch."""
    request = coal.CollisionRequest()
    request.gjk_initial_guess = coal.GJKInitialGuess.DefaultGuess
    place = coal.Transform3s(pose[:3, :3], pose[:3, 3])
    result = coal.CollisionResult()
    return bool(coal.collide(_geometry(one), coal.Transform3s(), _geometry(other), place, request, result))


@lru_cache(maxsize=256)
def _geometry(shape: SceneShape) -> coal.CollisionGeometry:
    return collision_geometry(shape).exact


class PinocchioWorld:
    """A robot in a scene whose frame is its root link, with the same pairs as the planner checks, without padding.

    `model` spares reading the URDF again. With `moving_only` those pairs are left out that no joint moves apart.
    """

    def __init__(
        self,
        urdf: str,
        bodies: Sequence[Body],
        scene: PlanningScene,
        joints: Sequence[str],
        *,
        model: pin.Model | None = None,
        moving_only: bool = False,
    ) -> None:
        self.model = pin.buildModelFromXML(urdf) if model is None else model
        self._moving_only = moving_only
        self.data = self.model.createData()
        self.geometry = pin.GeometryModel()
        self._scene = scene
        self._owners: dict[str, list[int]] = {}
        for body in bodies:
            self._add(body.link, body.link, body.origin, body.shape)
        for held in scene.attached.values():
            for part in held.body.parts:
                self._add(held.id, held.link, held.pose.matrix @ part.pose.matrix, part.shape)
        robot = list(self._owners)
        for thing in scene.objects.values():
            for placed in thing.placed:
                self._add(thing.id, None, placed.pose, placed.shape)
        for number, a in enumerate(robot):
            for b in (*robot[number + 1 :], *scene.objects):
                self._forbid(a, b)
        self.contacts = self.geometry.createData()
        for request in self.contacts.collisionRequests:
            request.gjk_initial_guess = coal.GJKInitialGuess.DefaultGuess
        self._columns = [self.model.joints[self.model.getJointId(name)].idx_q for name in joints]
        self._neutral = self._at_scene_joints()

    def _add(self, owner: str, link: str | None, origin: Array, shape: SceneShape) -> None:
        parent, place = 0, pin.SE3(np.array(origin))
        if link is not None:
            frame = self.model.frames[self.model.getFrameId(link)]
            parent, place = frame.parentJoint, frame.placement * place
        name = f'{owner} {len(self.geometry.geometryObjects)}'
        thing = pin.GeometryObject(name, parent, place, _geometry(shape))
        self._owners.setdefault(owner, []).append(self.geometry.addGeometryObject(thing))

    def _forbid(self, a: str, b: str) -> None:
        if self._scene.may_touch(a, b):
            return
        things = self.geometry.geometryObjects
        for one in self._owners[a]:
            for other in self._owners[b]:
                if self._moving_only and things[one].parentJoint == things[other].parentJoint:
                    continue
                self.geometry.addCollisionPair(pin.CollisionPair(one, other))

    def _at_scene_joints(self) -> Array:
        q = np.array(pin.neutral(self.model))
        for name, position in self._scene.joints.items():
            joint = self.model.joints[self.model.getJointId(name)]
            q[joint.idx_q] = position
        return q

    def collides(self, q: Array) -> bool:
        """Whether anything touches that must not, at joint positions q [rad or m]."""
        full = self.positions(q)
        return bool(pin.computeCollisions(self.model, self.data, self.geometry, self.contacts, full, True))

    def positions(self, q: Array) -> Array:
        """The positions of all joints as pinocchio takes them; those that are not in q are where the scene says."""
        full = self._neutral.copy()
        full[self._columns] = q
        return full

    def collide(self, q: Array) -> npt.NDArray[np.bool_]:
        """The same for each row."""
        return np.array([self.collides(row) for row in q], dtype=np.bool_)

    def distance(self, q: Array) -> float:
        """The smallest distance of two that must not touch [m]; 0 or less if they do."""
        pin.computeDistances(self.model, self.data, self.geometry, self.contacts, self.positions(q))
        return min(result.min_distance for result in self.contacts.distanceResults)
