"""Paths in joint space: from joint positions to joint positions, free of collision and within constraints.

=====================  ===========================================================================================
`plan_path`            the search: straight if that is free, else RRT-Connect, then shortened
`Found`, `NotFound`    what it gives
`PathConstraints`      what a motion must keep to, as a value: `JointConstraint`, `PositionConstraint` in `Region`s,
                       `OrientationConstraint`
`ConstraintChecker`    the same for one robot: which joint positions keep them, and what breaks them
`path_length`          of a path
=====================  ===========================================================================================

::

    world = CollisionWorld(robot, scene, joints, padding=0.003).data
    result = plan_path(world, solver.limits[:2], current, solver.solve(pose), seed=1, budget_s=2.0)
    if isinstance(result, NotFound):
        print(result.message)
"""

from .constraint_checker import ConstraintChecker
from .constraints import (
    JointConstraint,
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
    WrongConstraint,
)
from .plan_path import plan_path
from .results import Fault, Found, NotFound, Reason
from .shortcut import path_length
from .warm_up import warm_up

__all__ = [
    'ConstraintChecker',
    'Fault',
    'Found',
    'JointConstraint',
    'NotFound',
    'OrientationConstraint',
    'Parameterization',
    'PathConstraints',
    'PositionConstraint',
    'Reason',
    'Region',
    'WrongConstraint',
    'path_length',
    'plan_path',
    'warm_up',
]
