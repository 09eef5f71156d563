from __future__ import annotations

import numpy as np

from lfd_description.bodies import Body
from lfd_description.shapes import Sphere
from lfd_planner.search import (
    ConstraintChecker,
    JointConstraint,
    PathConstraints,
    motion,
    plan_path,
    projection,
    rrt_connect,
    shortcut,
    warm_up,
)

from .conftest import Maze, gantry, world_of


def test_after_warming_up_nothing_is_left_to_compile() -> None:
    warm_up()
    loops = [rrt_connect._grow, shortcut._shorten, shortcut._remove_needless, motion.first_fault, projection.project]
    compiled = [list(loop.signatures) for loop in loops]

    wall = Maze({'wall': ((0.0, -0.2, 0.0), (0.1, 1.6, 0.2))})
    checker = ConstraintChecker(
        gantry(), 'base', ('x', 'y'), PathConstraints(joints=(JointConstraint('y', 0.0, 1.0, 1.0),))
    )
    for constraints in (None, checker):
        plan_path(wall.world, wall.limits, (-0.5, 0.0), [(0.5, 0.0), (0.6, 0.0)], constraints=constraints)
    empty = world_of(gantry(), [Body('ball', Sphere(0.05), np.eye(4))], ('x', 'y'), {})
    plan_path(empty, wall.limits.tolist(), (-0.5, 0.0), (0.5, 0.0), weights=[1, 2])
    checker.project([0.0, 0.0], wall.limits)

    assert [list(loop.signatures) for loop in loops] == compiled
    assert all(len(signatures) == 1 for signatures in compiled)
