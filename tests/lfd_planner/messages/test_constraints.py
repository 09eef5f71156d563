"""Constraints go out as messages and come back as the same values."""

from __future__ import annotations

import math

import pytest
from support.planning_cells import planning_cell

from lfd_description.shapes import Box, Cylinder, Sphere
from lfd_planner.messages import constraints_from_message, constraints_to_message
from lfd_planner.pose import Pose
from lfd_planner.search.constraints import (
    NO_CONSTRAINTS,
    JointConstraint,
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
)

HALF = math.sqrt(0.5)


@pytest.mark.parametrize(
    'constraints',
    [
        NO_CONSTRAINTS,
        PathConstraints(joints=(JointConstraint('elbow_joint', 1.0, 0.1, 0.2),)),
        PathConstraints(
            positions=(
                PositionConstraint(
                    'tool0',
                    (
                        Region(Box((0.1, 0.2, 0.3)), Pose((1.0, 2.0, 3.0), (0.0, 0.0, HALF, HALF))),
                        Region(Sphere(0.1), Pose((0.0, 0.0, 1.0))),
                        Region(Cylinder(0.1, 0.4)),
                    ),
                    (0.0, 0.0, 0.05),
                ),
            )
        ),
        PathConstraints(
            orientations=(
                OrientationConstraint('tcp', (1.0, 0.0, 0.0, 0.0), (0.1, 0.2, math.pi)),
                OrientationConstraint('tcp', (0.0, HALF, 0.0, HALF), (1.0, 1.0, 1.0), Parameterization.ROTATION_VECTOR),
            )
        ),
    ],
    ids=['none', 'joint', 'position', 'orientation'],
)
def test_what_goes_out_comes_back(constraints):
    cell = planning_cell('ur5e')
    message = constraints_to_message(constraints, cell.scene.frame)
    poses = cell.robot.frames.link_poses(cell.scene.joints)
    assert constraints_from_message(message, cell.scene, cell.robot.frames, poses) == constraints
    weighed = [*message.joint_constraints, *message.position_constraints, *message.orientation_constraints]
    assert all(part.weight == 1.0 for part in weighed)
