"""Compiles the search ahead of time, on an arm of three joints with a ball at its tip."""

import numpy as np

from lfd_description.bodies import Body
from lfd_description.shapes import Box, Sphere
from lfd_description.urdf import Joint, Limits, RobotTree
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.scene import Body as ObjectBody
from lfd_planner.scene import PlanningScene, Pose, WorldObject
from lfd_planner.scene.objects import Part

from .constraint_checker import ConstraintChecker
from .constraints import JointConstraint, PathConstraints
from .plan_path import plan_path

_FOREVER = 3600.0  # [s], for the compiler is slower than any search


def warm_up() -> None:
    """Compile all loops of the search, or load them if that was done before."""
    tree = _arm()
    bodies = [Body(link, Sphere(0.05), np.eye(4)) for link in ('base', 'tip')]
    wall = WorldObject('wall', ObjectBody((Part(Box((0.1, 0.2, 0.1))),)), Pose((0.9, 0.0, 0.0)))
    joints = [joint.name for joint in tree.joints]
    world = CollisionWorld(RobotGeometry(tree, bodies, 'base'), PlanningScene('base').add(wall), joints).data
    limits = np.array([[-2.0] * 3, [2.0] * 3])
    plan_path(world, limits, [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], budget_s=_FOREVER)
    constraints = PathConstraints(joints=(JointConstraint('joint_2', 0.0, 1.5, 1.5),))
    checker = ConstraintChecker(tree, 'base', joints, constraints)
    checker.satisfied([0.0, 0.0, 0.0])
    checker.violations([0.0, 2.0, 0.0])
    checker.project([0.0, 2.0, 0.0], limits)


def _arm() -> RobotTree:
    limits = Limits(-2.0, 2.0, 1.0, 1.0)
    links = ('base', 'upper_arm', 'forearm', 'tip')
    joints = tuple(
        Joint(f'joint_{i}', 'revolute', parent, child, xyz=(reach, 0.0, 0.0), axis=(0.0, 0.0, 1.0), limits=limits)
        for i, (parent, child, reach) in enumerate(
            [('base', 'upper_arm', 0.0), ('upper_arm', 'forearm', 0.5), ('forearm', 'tip', 0.4)], start=1
        )
    )
    return RobotTree('arm', links, joints, links[0])
