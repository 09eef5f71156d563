"""The scene in which planning begins: what a scene without a robot says counts beside what the robot brings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.task_cells import box, planner, seed_cell, seed_origin, seed_task

from lfd_planner.error_codes import Code
from lfd_planner.planner import TaskFailure
from lfd_planner.scene import PersistentMap

WALL = box('wall', (0.3, 0.3, 0.3), (0.2, 0.0, 0.3), movable=False)  # in which the arm stands


def test_what_the_robot_allows_stays_and_what_the_scene_allows_is_added() -> None:
    own = planner().start_scene(seed_cell())
    assert own.allowed is planner().backend.robot.allowed
    made = planner().start_scene(seed_cell().allow('red_box', 'template'))
    assert made.allowed.allows('red_box', 'template')
    assert {pair for pair in made.allowed.pairs() if 'red_box' not in pair} == set(own.allowed.pairs())


def test_what_may_be_touched_is_no_obstacle() -> None:
    scene = seed_cell().add(WALL)
    refused = planner().plan(seed_task(), scene, seed_origin())
    assert isinstance(refused, TaskFailure)
    assert refused.code is Code.START_STATE_IN_COLLISION
    assert not isinstance(planner().plan(seed_task(), scene.with_default('wall', True), seed_origin()), TaskFailure)


@pytest.mark.parametrize(('what', 'value'), [('link_padding', 0.3), ('link_scale', 3.0)])
def test_padded_and_scaled_links_are_planned_with(what: str, value: float) -> None:
    scene = replace(seed_cell(), **{what: PersistentMap({'forearm_link': value})})
    refused = planner().plan(seed_task(), scene, seed_origin())
    assert isinstance(refused, TaskFailure)
    assert 'forearm_link' in refused.message
