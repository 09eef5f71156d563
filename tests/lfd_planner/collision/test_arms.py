from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from support.coal_judge import PinocchioWorld

from lfd_description.robots import robot_names

if TYPE_CHECKING:
    from .conftest import Arm

SEED = 20261117
STATES = 2000
CONTACT = 1e-6  # [m]: so close to touching, checkers may differ


@pytest.mark.parametrize('scene', ['seed_cell', 'shelf', 'bin', 'kitchen'])
@pytest.mark.parametrize(('robot', 'gripper'), list(product(robot_names(), ['two_finger', 'suction'])))
def test_every_arm_in_every_scene_collides_where_pinocchio_says(
    robot: str, gripper: str, scene: str, make_arm: Callable[[str, str], Arm]
) -> None:
    arm = make_arm(robot, gripper)
    there = arm.scene(scene)
    q = arm.random_states(STATES, SEED)
    found = arm.world(there).collide(q)
    judge = PinocchioWorld(arm.model.urdf, arm.bodies, there, arm.joints)

    expected = judge.collide(q)

    assert 0.01 < expected.mean() < 0.99
    assert all(abs(judge.distance(q[n])) <= CONTACT for n in np.flatnonzero(found != expected))
