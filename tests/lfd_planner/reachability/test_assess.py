"""How good demonstrations are, for a UR5e in the demonstration cell."""

from __future__ import annotations

from support.task_cells import moving, planner, seed_cell, seed_origin, seed_task

from lfd_planner.mtdf import Pick, Place
from lfd_planner.pose import Pose
from lfd_planner.reachability import Quality, assess

ON_TEMPLATE = (0.42, 0.1, -0.1263)


def assessed(*keyframes: Pick | Place) -> Quality:
    return assess(planner(), moving(*keyframes), Pose(), seed_cell())


def test_the_recorded_demonstration_can_be_done() -> None:
    found = assess(planner(), seed_task(), seed_origin(), seed_cell())
    assert found.score >= 50
    assert [one.index for one in found.keyframes] == list(range(8))
    assert all(one.grasps > 0 and one.reach in ('good', 'hard') for one in found.keyframes)


def test_a_place_out_of_reach_is_told_at_its_keyframe() -> None:
    found = assessed(Pick('blue_box'), Place('blue_box', Pose((0.85, 0.45, -0.1263))))
    assert found.score == 0
    assert found.keyframes[1].reach == 'bad'
    assert found.keyframes[1].reasons
    assert found.reasons[0].startswith('Step 2: out of reach by ')
    assert found.reasons[0].endswith(' cm.')


def test_an_object_over_the_edge_is_told_to_tip_over() -> None:
    found = assessed(Pick('blue_box'), Place('blue_box', Pose((0.4, 0.508, -0.1265))))
    assert found.score <= 30
    assert any('will tip over' in reason for reason in found.reasons)


def test_a_place_in_the_air_is_told() -> None:
    found = assessed(Pick('blue_box'), Place('blue_box', Pose((0.42, 0.1, 0.1))))
    assert found.score == 0
    assert any('above' in reason or 'will not stay' in reason for reason in found.reasons)


def test_a_task_that_ends_with_an_object_in_the_hand_is_worth_less() -> None:
    found = assessed(Pick('blue_box'))
    assert 0 < found.score <= 60
    assert found.keyframes[0].reasons[-1] == "the task ends with 'blue_box' in the hand"


def test_an_object_that_is_not_there_ends_it_at_once() -> None:
    found = assessed(Pick('nothing'), Place('nothing', Pose(ON_TEMPLATE)))
    assert found.score == 0
    assert 'nothing' in found.reasons[0]


def test_an_empty_task_is_worth_nothing() -> None:
    assert assessed().score == 0


def test_an_object_that_is_placed_where_an_earlier_one_went_is_told() -> None:
    place = Pose(ON_TEMPLATE)
    found = assessed(Pick('blue_box'), Place('blue_box', place), Pick('yellow_box'), Place('yellow_box', place))
    assert found.keyframes[1].score > 0
    assert found.keyframes[3].score == 0
    assert any('blue_box' in reason for reason in found.keyframes[3].reasons)
