"""Loads the hot loops of planning, so that a process's first plan takes no longer than the next ones.

They are compiled, or loaded from disk where a set-up compiled them before.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Sequence

import numpy as np

from lfd_description.bodies import Body
from lfd_description.kinematics import Chain, Tree
from lfd_description.meshes import shape_mesh
from lfd_description.model.collision_matrix import sample_collision_matrix
from lfd_description.shapes import Plane, Sphere
from lfd_description.urdf import Joint, Limits, RobotTree
from lfd_planner import cartesian, grasps, search, timing
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.collision.solids import solid_of
from lfd_planner.robot.ik import make_solver
from lfd_planner.scene import Body as SceneBody
from lfd_planner.scene import PlanningScene, TriangleMesh, WorldObject

_LINKS = ('base', 'shoulder', 'upper_arm', 'forearm', 'roll', 'pitch', 'tip')
_AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))


def load_beside() -> threading.Thread:
    """Load all of them in a thread of its own; they are there when that has ended."""
    thread = threading.Thread(target=_load, name='load', daemon=True)
    thread.start()
    return thread


def _load() -> None:
    for part in PARTS:
        part()
    gc.freeze()  # what is there by now stays: the collector, which holds up all threads, need not look at it again


def kinematics() -> None:
    """Forward and inverse kinematics."""
    arm = _arm_with_spherical_wrist()
    q = np.full((1, 6), 0.5)
    chain = Chain(arm, 'base', 'tip')
    pose = chain.poses(q)[0]
    chain.link_poses(q)
    Tree(arm).link_poses(q)
    for tip in ('tip', 'pitch'):
        make_solver(arm, 'base', tip).solve(pose)
    sample_collision_matrix(arm, _balls(), {}, samples=1)


def planning() -> None:
    """Collision checks and the search for paths."""
    _check_collisions(_arm_with_spherical_wrist(), _balls())
    search.warm_up()


def motions() -> None:
    """Timing, straight lines and grasps."""
    timing.warm_up()
    cartesian.warm_up()
    grasps.warm_up()


PARTS = (planning, kinematics, motions)
"""The longest first."""


def _balls() -> list[Body]:
    return [Body(link, Sphere(0.01), np.eye(4)) for link in _LINKS]


def _check_collisions(arm: RobotTree, bodies: Sequence[Body]) -> None:
    scene = PlanningScene('base').add(WorldObject('floor', SceneBody.of(Plane())))
    world = CollisionWorld(RobotGeometry(arm, bodies, 'base'), scene, [joint.name for joint in arm.joints])
    q = np.zeros(6)
    world.collides(q)
    world.collide([q])
    world.contacts(q)
    world.clearance(q)
    world.edge_free(q, q, 0.1)
    solid_of(TriangleMesh.of(shape_mesh(Sphere(0.1))))


def _arm_with_spherical_wrist() -> RobotTree:
    """Six joints of an arm with a closed form, the first five of which have none."""
    joints = tuple(
        Joint(
            name=f'joint_{i + 1}',
            kind='revolute',
            parent=_LINKS[i],
            child=_LINKS[i + 1],
            xyz=(0.0, 0.0, 0.3 if i < 4 else 0.0),
            axis=_AXES[i],
            limits=Limits(-3.0, 3.0, 1.0, 1.0),
        )
        for i in range(6)
    )
    return RobotTree('arm', _LINKS, joints, 'base')
