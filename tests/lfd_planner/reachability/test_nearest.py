"""Where an object could stand instead, for a UR5e in the demonstration cell."""

from __future__ import annotations

import math

import pytest
from support.task_cells import moving, planner, seed_cell

from lfd_description.shapes import Vector
from lfd_planner.mtdf import Pick, Place
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle, nearest_place, steps_from_one

ON_TABLE = -0.1263  # [m] height of the blue box there
ON_FLOOR = -0.8763


@pytest.fixture(scope='module')
def oracle() -> PoseOracle:
    return PoseOracle(planner().model, planner().backend)


@pytest.mark.parametrize(
    ('position', 'words'),
    [
        ((1.1, 0.0, ON_TABLE), '26 cm nearer to the robot'),
        ((1.1, 0.0, 0.5), "26 cm nearer to the robot, on 'table'"),
        ((1.3, 0.2, ON_FLOOR), "48 cm nearer to the robot, on 'table'"),
        ((0.42, 0.1, 0.1), "on 'template'"),
    ],
    ids=['beside the table', 'in the air', 'on the floor', 'above its place'],
)
def test_what_is_told_can_be_done(oracle: PoseOracle, position: Vector, words: str) -> None:
    found = nearest_place(oracle, seed_cell(), 'blue_box', Pose(position))
    assert found is not None
    assert str(found) == words
    assert found.nearer == pytest.approx(math.hypot(*position[:2]) - math.hypot(*found.pose.position[:2]))
    task = moving(Pick('blue_box'), Place('blue_box', found.pose))
    assert not isinstance(planner().plan(task, seed_cell(), Pose()), TaskFailure)


def test_what_nobody_can_hold_has_no_place(oracle: PoseOracle) -> None:
    assert nearest_place(oracle, seed_cell(), 'pedestal', Pose((1.1, 0.0, 0.0))) is None
    assert nearest_place(oracle, seed_cell(), 'nothing', Pose((1.1, 0.0, 0.0))) is None


def test_steps_are_counted_from_one() -> None:
    text = 'keyframes[1] (place a) cannot be done; see keyframe 3 and 4 keyframes.'
    assert steps_from_one(text) == 'Step 2 (place a) cannot be done; see Step 4 and 4 keyframes.'
