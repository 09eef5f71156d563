"""Tasks that cannot be done: each says where, why and what would work."""

from __future__ import annotations

import math

import pytest
from support.task_cells import box, moving, planner, seed_cell, seed_origin, seed_task

from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_planner.backends import SpeedScaling
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Pick, Place, Task
from lfd_planner.planner import PlanOptions, TaskFailure, TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene

BLUE = (0.4, -0.1, -0.1263)


def failure(
    scene: PlanningScene | None = None, origin: Pose | None = None, task: Task | None = None, **options: bool
) -> TaskFailure:
    found = planner().plan(task or seed_task(), scene or seed_cell(), origin or seed_origin(), PlanOptions(**options))
    assert isinstance(found, TaskFailure)
    return found


def test_a_place_out_of_reach_says_how_far_to_move_the_origin() -> None:
    found = failure(origin=seed_origin(x=0.6))
    assert (found.code, found.keyframe, found.stage) == (Code.NO_IK_SOLUTION, 1, 'place')
    assert found.rejections[0].reason == 'unreachable'
    assert 'towards the robot' in found.suggestion
    assert found.suggestion in found.message


def test_what_is_suggested_works() -> None:
    found = failure(origin=seed_origin(x=0.6))
    length = float(found.suggestion.split('moves ')[1].split(' cm')[0]) / 100.0
    place = seed_task().keyframes[1]
    assert isinstance(place, Place)
    x, y, _ = (seed_origin(x=0.6) @ place.pose).position
    nearer = seed_origin(x=0.6 - length * x / math.hypot(x, y), y=-length * y / math.hypot(x, y))
    assert not isinstance(planner().plan(seed_task(), seed_cell(), nearer), TaskFailure)


def test_an_origin_far_away_is_told_with_its_distance() -> None:
    found = failure(origin=seed_origin(x=5.0))
    assert found.keyframe == 1
    assert '4' in found.suggestion
    assert 'm towards the robot' in found.suggestion


def test_an_object_out_of_reach_says_how_far_to_move_it() -> None:
    found = failure(scene=seed_cell().move('blue_box', Pose((1.2, -0.1, -0.1263))))
    assert (found.keyframe, found.stage) == (0, 'grasp')
    assert "'blue_box' is moved" in found.suggestion


def test_a_gripper_too_small_says_both_widths() -> None:
    found = failure(scene=seed_cell().add(box('blue_box', (0.061, 0.061, 0.061), (0.4, -0.1, -0.1195))))
    assert (found.keyframe, found.stage) == (0, 'grasp')
    assert found.rejections[0].reason == 'too_wide'
    assert '61 mm' in found.message
    assert '44 mm' in found.message


def test_an_object_without_size_is_refused() -> None:
    assert (
        "'blue_box' has a size of zero"
        in failure(scene=seed_cell().add(box('blue_box', (0, 0.04, 0.04), BLUE))).message
    )


def test_objects_inside_each_other_are_told_with_both_names() -> None:
    found = failure(scene=seed_cell().move('blue_box', Pose((0.4, -0.1, -0.14))))
    assert found.code == Code.START_STATE_IN_COLLISION
    assert found.rejections[0].reason == 'objects_overlap'
    assert set(found.rejections[0].subjects) >= {'blue_box'}


def test_a_stack_is_taken_from_above() -> None:
    on_blue = Pose((0.4, -0.1, -0.1263 + 0.5 * 0.0474 + 0.5 * 0.0164))
    found = failure(scene=seed_cell().move('red_box', on_blue))
    assert (found.keyframe, found.rejections[0].reason) == (0, 'covered')
    assert "pick 'red_box' first" in found.message


def test_an_occupied_place_says_by_whom() -> None:
    found = failure(scene=seed_cell().add(box('brick', (0.05, 0.05, 0.05), (0.42, 0.1, -0.125), movable=False)))
    assert (found.code, found.keyframe) == (Code.GOAL_IN_COLLISION, 1)
    assert found.rejections[0].subjects == ('blue_box', 'brick')


def test_a_place_below_the_table_is_told_to_move_up() -> None:
    found = failure(origin=seed_origin(z=-0.05))
    assert found.rejections[0].reason == 'place_occupied'
    assert 'up' in found.suggestion


def test_an_arm_that_stands_in_something_cannot_start() -> None:
    found = failure(scene=seed_cell().add(box('wall', (0.3, 0.3, 0.3), (0.2, 0.0, 0.3), movable=False)))
    assert (found.code, found.keyframe) == (Code.START_STATE_IN_COLLISION, -1)
    assert 'wall' in found.message


def test_an_object_that_is_not_there_is_named() -> None:
    found = failure(scene=seed_cell().remove('blue_box'))
    assert found.code == Code.INVALID_OBJECT_NAME
    assert 'blue_box' in found.message


def test_contradictory_keyframes_are_told_all_at_once() -> None:
    found = failure(task=moving(Place('blue_box', Pose()), Pick('red_box'), Pick('yellow_box')))
    assert found.keyframe == 0
    assert 'keyframes[0]' in found.message
    assert 'keyframes[2]' in found.message


def test_a_robot_without_gripper_says_so() -> None:
    found = TaskPlanner(build_model(find_robot('ur5e'))).plan(seed_task(), seed_cell(), seed_origin())
    assert isinstance(found, TaskFailure)
    assert 'no gripper' in found.message


def test_the_first_keyframe_that_fails_is_told_not_those_before() -> None:
    found = failure(scene=seed_cell().move('green_box', Pose((1.2, 0.0, -0.13))))
    assert (found.keyframe, found.stage) == (6, 'grasp')


def test_planning_stops_when_it_is_told_to() -> None:
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(should_stop=lambda: True))
    assert isinstance(found, TaskFailure)
    assert found.code == Code.PREEMPTED


def test_no_patience_is_a_timeout() -> None:
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(patience=0.0))
    assert isinstance(found, TaskFailure)
    assert found.code == Code.TIMED_OUT


@pytest.mark.parametrize('number', [float('nan'), float('inf')])
def test_an_origin_that_is_nowhere_is_refused(number: float) -> None:
    assert 'finite' in failure(origin=Pose((number, 0.0, 0.0))).message


@pytest.mark.parametrize('share', [0.0, 2.0, float('nan')])
def test_a_scaling_that_makes_no_sense_is_told(share: float) -> None:
    options = PlanOptions(scaling=SpeedScaling(velocity=share))
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), options)
    assert isinstance(found, TaskFailure)
    assert 'velocity scaling' in found.message
    assert 'at most 1' in found.message


def test_an_end_pose_that_the_robot_does_not_have_is_told_with_those_that_it_has() -> None:
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(end_pose='nowhere'))
    assert isinstance(found, TaskFailure)
    assert "'nowhere'" in found.message
    assert 'home' in found.message


@pytest.mark.parametrize('length', [1e7, 1e155, 1e300])
def test_what_is_too_far_away_is_refused(length: float) -> None:
    assert 'task origin is more than' in failure(origin=Pose((length, 0.0, 0.0))).message
    assert "'red_box' is more than" in failure(scene=seed_cell().move('red_box', Pose((length, 0.0, 0.0)))).message
