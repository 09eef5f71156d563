"""A small robot, and random edits of a planning scene: what tests of scenes and of their messages share."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere
from lfd_description.urdf import Joint, Limits, RobotTree
from lfd_planner.scene import (
    AttachedObject,
    Body,
    ObjectType,
    Part,
    PlanningScene,
    Pose,
    Posture,
    PosturePoint,
    RobotFrames,
    SceneFault,
    SceneShape,
    TriangleMesh,
    WorldObject,
)

LIMITS = Limits(-3.0, 3.0, 1.0, 1.0)
LINKS = ('base_link', 'upper_arm', 'forearm', 'hand')
TREE = RobotTree(
    'small',
    LINKS,
    tuple(
        Joint(f'joint_{i + 1}', 'revolute', LINKS[i], LINKS[i + 1], (0.0, 0.1 * i, 0.3), axis=axis, limits=LIMITS)
        for i, axis in enumerate([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)])
    ),
    'base_link',
)
ROBOT = RobotFrames(TREE, 'base_link')
TETRAHEDRON = TriangleMesh(
    np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]]),
    np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
)


def random_pose(rng: random.Random) -> Pose:
    """Anywhere within 2 m, turned anyhow."""
    q = [rng.gauss(0.0, 1.0) for _ in range(4)]
    norm = math.hypot(*q)
    x, y, z, w = (part / norm for part in q)
    return Pose((rng.uniform(-2, 2), rng.uniform(-2, 2), rng.uniform(-2, 2)), (x, y, z, w))


def random_shape(rng: random.Random) -> SceneShape:
    """Any kind of shape."""
    radius = rng.uniform(0.01, 0.2)
    height = 2.0 * radius + rng.uniform(0.0, 0.5)
    vertices = TETRAHEDRON.vertices * rng.uniform(0.5, 2.0)
    return rng.choice(
        [
            Box((rng.uniform(0.01, 1), rng.uniform(0.01, 1), rng.uniform(0.01, 1))),
            Sphere(radius),
            Cylinder(radius, height),
            Cone(radius, height),
            Capsule(radius, height),
            Plane(),
            TriangleMesh(vertices, TETRAHEDRON.triangles),
        ]
    )


def random_body(rng: random.Random) -> Body:
    """One shape or several, perhaps with subframes, a type and tags."""
    poses = [Pose(), *(random_pose(rng) for _ in range(2))]
    parts = tuple(Part(random_shape(rng), pose) for pose in poses[: rng.randint(1, 3)])
    names = rng.sample(['handle', 'spout', 'lid'], rng.randint(0, 2))
    body = Body(
        parts,
        type=ObjectType(rng.choice(['', 'mug']), rng.choice(['', 'shelf 3'])),
        tags=tuple(rng.sample(['graspable', 'fixed', 'support'], rng.randint(0, 2))),
        movable=rng.random() < 0.5,
    )
    return body.with_subframes({name: random_pose(rng) for name in names})


@dataclass
class Editor:
    """Makes random edits of a scene; those that the scene refuses are left out."""

    rng: random.Random
    ids: int = 8

    def edit(self, scene: PlanningScene, count: int) -> PlanningScene:
        """The scene after some edits."""
        for _ in range(count):
            try:
                scene = self._one(scene)
            except SceneFault:
                continue
        return scene

    def _one(self, scene: PlanningScene) -> PlanningScene:
        rng, link_poses = self.rng, ROBOT.link_poses(scene.joints)
        id, other = self._id(), self._id()
        touch = rng.sample(LINKS, rng.randint(0, 2))
        match rng.randint(0, 13):
            case 0 | 1:
                return scene.add(WorldObject(id, random_body(rng), random_pose(rng)))
            case 2:
                return scene.append(id, [Part(random_shape(rng), random_pose(rng))], {'tip': random_pose(rng)})
            case 3 | 4:
                return scene.move(id, random_pose(rng))
            case 5:
                return scene.remove(id)
            case 6 | 7:
                return scene.attach(id, rng.choice(LINKS), link_poses, touch, weight=rng.choice([0.0, 0.5]))
            case 8:
                point = PosturePoint((rng.random(),), time=rng.randint(0, 10**10))
                posture = Posture(('joint_1',), (point,))
                held = AttachedObject(id, random_body(rng), 'hand', random_pose(rng), frozenset(touch), posture)
                return scene.attach_new(held, link_poses)
            case 9:
                return scene.detach(id, link_poses)
            case 10:
                return scene.with_joints({f'joint_{rng.randint(1, 3)}': rng.uniform(-3, 3)})
            case 11:
                return scene.with_colours({id: (rng.random(), rng.random(), rng.random(), 1.0)})
            case 12:
                return rng.choice([scene.allow(id, other), scene.forbid(id, 'hand'), scene.allow('hand', id, other)])
            case _:
                drop = scene.drop(id) if id in scene.attached else scene
                return rng.choice([drop, scene.with_default(id, rng.choice([True, False, None]))])

    def _id(self) -> str:
        return f'object_{self.rng.randrange(self.ids)}'
