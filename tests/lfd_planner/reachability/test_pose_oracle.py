"""What people are told while they hold an object, for a UR5e in the demonstration cell."""

from __future__ import annotations

import numpy as np
import pytest
from support.task_cells import box, moving, planner, seed_cell

from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.shapes import Vector
from lfd_planner.mtdf import Pick, Place
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle, Verdict
from lfd_planner.scene import PlanningScene


@pytest.fixture(scope='module')
def oracle() -> PoseOracle:
    return PoseOracle(planner().model, planner().backend)


def judged(oracle: PoseOracle, position: Vector, name: str = 'red_box', scene: PlanningScene | None = None) -> Verdict:
    return oracle.judge(scene or seed_cell(), name, Pose(position))


def test_a_place_on_the_table_is_good(oracle: PoseOracle) -> None:
    found = judged(oracle, (0.42, 0.1, -0.1418))
    assert (found.state, found.reason) == ('good', '')
    assert found.grasps >= 6


def test_far_away_it_tells_by_how_much(oracle: PoseOracle) -> None:
    near, far = judged(oracle, (1.1, 0.0, 0.0)), judged(oracle, (1.3, 0.0, 0.0))
    assert near.state == far.state == 'bad'
    assert near.reason.startswith('out of reach by ')
    assert int(far.reason.split()[-2]) - int(near.reason.split()[-2]) == pytest.approx(20, abs=2)


def test_inside_of_the_table_it_tells_what_collides(oracle: PoseOracle) -> None:
    found = judged(oracle, (0.42, 0.1, -0.2))
    assert found.state == 'bad'
    assert "with 'table'" in found.reason


def test_of_what_is_too_large_it_tells_both_sizes(oracle: PoseOracle) -> None:
    large = seed_cell().add(box('large', (0.061, 0.2, 0.3), (0.5, 0.0, 0.1)))
    found = judged(oracle, (0.5, 0.0, 0.1), 'large', large)
    assert found.state == 'bad'
    assert '61 mm' in found.reason
    assert '44 mm' in found.reason


def test_an_object_that_is_not_there_is_unknown(oracle: PoseOracle) -> None:
    assert judged(oracle, (0.5, 0.0, 0.1), 'nothing').state == 'unknown'


def test_a_robot_without_a_gripper_holds_nothing() -> None:
    found = judged(PoseOracle(build_model(find_robot('ur5e'))), (0.42, 0.1, -0.1418))
    assert found == Verdict('bad', 'the robot has no gripper')


def test_other_objects_that_move_are_seen(oracle: PoseOracle) -> None:
    assert judged(oracle, (0.42, 0.1, -0.1)).state != 'bad'
    walled = seed_cell().add(box('wall', (0.3, 0.3, 0.3), (0.42, 0.1, 0.0), movable=False))
    assert judged(oracle, (0.42, 0.1, -0.1), scene=walled).state == 'bad'
    assert judged(oracle, (0.42, 0.1, -0.1)).state != 'bad'


def test_what_is_bad_cannot_be_planned_and_what_is_good_can(oracle: PoseOracle) -> None:
    random = np.random.default_rng(5)
    planned: dict[str, set[bool]] = {'good': set(), 'hard': set(), 'bad': set()}
    for _ in range(8):
        pose = Pose((float(random.uniform(0.36, 1.0)), float(random.uniform(-0.4, 0.4)), -0.1418))
        verdict = oracle.judge(seed_cell(), 'red_box', pose)
        found = planner().plan(moving(Pick('red_box'), Place('red_box', pose)), seed_cell(), Pose())
        planned[verdict.state].add(not isinstance(found, TaskFailure))
    assert planned['good'] == {True}
    assert planned['bad'] == {False}
