"""Tasks that go on with an object in the hand, as after an execution that was stopped on its way."""

from __future__ import annotations

from functools import cache

import pytest
from support.hopeless_tasks import THERE, one_pair
from support.task_cells import box, moving, planner, seed_cell

from lfd_description.shapes import Vector
from lfd_planner.mtdf import Pick, Place
from lfd_planner.planner import Planned, PlanOptions, TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.validate import validate

FLIPPED = (1.0, 0.0, 0.0, 0.0)


@cache
def picked(scene: PlanningScene | None = None) -> PlanningScene:
    """The scene with the blue box in the hand, lifted."""
    found = planner().plan(moving(Pick('blue_box')), scene or seed_cell(), Pose())
    assert not isinstance(found, TaskFailure), found.message
    return found[0].step.end.scene


def put(place: Vector, **options: bool) -> tuple[Planned, ...] | TaskFailure:
    return planner().plan(one_pair(place=place).task, picked(), Pose(), PlanOptions(**options))


def test_it_is_put_down() -> None:
    found = put(THERE)
    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner().model, picked(), one_pair().task, Pose())
    assert report.ok, report.text
    assert [segment.name for segment in found[0].solution.segments] == [
        'hold',
        'transfer',
        'lower',
        'open',
        'retreat',
    ]


@pytest.mark.parametrize(
    ('place', 'reason', 'facts'),
    [
        ((1.6, 0.1, THERE[2]), 'unreachable', ('towards the robot',)),
        ((THERE[0], THERE[1], THERE[2] - 0.03), 'place_occupied', ("inside '", 'up')),
        ((THERE[0], THERE[1], THERE[2] + 0.08), 'unsupported', ('80 mm above',)),
    ],
)
def test_a_place_that_cannot_be_is_told_as_for_any_other_object(
    place: Vector, reason: str, facts: tuple[str, ...]
) -> None:
    found = put(place)
    assert isinstance(found, TaskFailure)
    assert (found.keyframe, found.stage, found.rejections[0].reason) == (1, 'place', reason)
    for fact in facts:
        assert fact in found.message


def test_a_place_below_a_bar_is_told() -> None:
    size = (0.01, 0.10, 0.005)
    x, y, z = THERE
    bar = box('bar', size, (x - 0.019, y, z + 0.5 * 0.0474 + 0.005 + 0.5 * size[2]), movable=False)
    found = planner().plan(one_pair().task, picked().add(bar), Pose())
    assert isinstance(found, TaskFailure)
    assert found.rejections[0].reason == 'blocked_above'


def test_it_is_regrasped_where_its_grasp_does_not_serve() -> None:
    """It is held from above and goes upside down: it is laid down on the pillar in between."""
    size = (0.06, 0.042, 0.05)
    middle = -0.15 + 0.5 * size[2]
    pillar = box('pillar', (0.12, 0.12, 0.16), (0.5, 0.25, -0.07), movable=False)
    scene = picked(seed_cell().add(pillar, box('blue_box', size, (0.4, -0.1, middle))))
    task = moving(Pick('blue_box'), Place('blue_box', Pose((0.42, 0.1, middle), FLIPPED)))
    found = planner().plan(task, scene, Pose())
    assert not isinstance(found, TaskFailure), found.message
    assert [segment.name for segment in found[0].solution.segments].count('close') == 1
    report = validate(found[0].solution, planner().model, scene, task, Pose())
    assert report.ok, report.text
    assert isinstance(planner().plan(task, scene, Pose(), PlanOptions(regrasp=False)), TaskFailure)
