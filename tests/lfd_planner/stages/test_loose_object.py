"""An object alone in the world: what it touches, and what it meets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.task_cells import box, seed_cell

from lfd_description.shapes import Box, Plane
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, PlanningScene, WorldObject
from lfd_planner.stages.loose_object import LooseObject, Met

CUBE = Body.of(Box((0.1, 0.1, 0.1)))


def cubes(*others: WorldObject) -> LooseObject:
    """A cube of 0.1 m in a scene with others, which are as they say."""
    return LooseObject(PlanningScene('world').add(*others), 'cube', CUBE)


def test_it_stands_on_what_is_within_a_millimetre() -> None:
    thing = cubes(box('table', (1.0, 1.0, 0.1), (0.0, 0.0, -0.05)))
    assert thing.touching(Pose((0.0, 0.0, 0.05))).supports == ('table',)
    assert thing.touching(Pose((0.0, 0.0, 0.0509))).supports == ('table',)
    assert thing.touching(Pose((0.0, 0.0, 0.0511))).supports == ()


def test_it_may_be_a_little_inside_but_not_more() -> None:
    thing = cubes(box('table', (1.0, 1.0, 0.1), (0.0, 0.0, -0.05)))
    assert thing.touching(Pose((0.0, 0.0, 0.0485))).overlaps == ()
    (overlap,) = thing.touching(Pose((0.0, 0.0, 0.04))).overlaps
    assert overlap.name == 'table'
    assert overlap.depth == pytest.approx(0.01, abs=1e-6)


def test_the_scene_tells_the_body_and_is_not_in_its_own_way() -> None:
    scene = seed_cell()
    thing = LooseObject(scene, 'blue_box')
    found = thing.touching(scene.objects['blue_box'].pose)
    assert 'template' in found.supports
    assert found.overlaps == ()


def test_a_pose_is_turned_as_it_says() -> None:
    """A flat box stands on its edge where it would not fit lying down."""
    walls = [box(side, (0.1, 0.5, 0.5), (x, 0.0, 0.0)) for side, x in (('left', -0.08), ('right', 0.08))]
    flat = LooseObject(PlanningScene('world').add(*walls), 'flat', Body.of(Box((0.2, 0.1, 0.02))))
    assert len(flat.touching(Pose()).overlaps) == 2
    for turn in ((0.0, 1.0, 0.0), (0.0, -1.0, 0.0)):
        half = np.sqrt(0.5)
        upright = Pose((0.0, 0.0, 0.0), (half * turn[0], half * turn[1], half * turn[2], half))
        assert flat.touching(upright).overlaps == ()


def test_what_is_above_is_met_on_the_way_up_and_only_as_far_as_that_goes() -> None:
    thing = cubes(box('lid', (0.3, 0.3, 0.02), (0.0, 0.0, 0.085)))
    found = thing.above(Pose(), 0.05)
    assert found is not None
    assert found.name == 'lid'
    assert found.distance == pytest.approx(0.025, abs=0.0011)
    assert thing.above(Pose(), 0.02) is None


def test_what_lies_on_it_is_met_at_once_even_a_little_inside() -> None:
    for height in (0.1, 0.0985):
        assert cubes(box('top', (0.1, 0.1, 0.1), (0.0, 0.0, height))).above(Pose(), 0.01) == Met('top', 0.0)


def test_it_slides_up_along_its_supports() -> None:
    wall = box('wall', (0.1, 0.1, 1.0), (0.099, 0.0, 0.0))
    found = cubes(wall).touching(Pose())
    assert found.supports == ('wall',)
    assert cubes(wall).above(Pose(), 0.05, found.supports) is None
    assert cubes(wall).above(Pose(), 0.05) is not None


def test_it_falls_on_what_is_below() -> None:
    floor = WorldObject('floor', replace(CUBE, parts=(Part(Plane()),)), Pose((0.0, 0.0, -0.3)))
    found = cubes(floor).below(Pose())
    assert found is not None
    assert found.name == 'floor'
    assert found.distance == pytest.approx(0.25, abs=0.0011)
    assert cubes().below(Pose()) is None


def test_how_far_up_it_is_free_is_told_to_the_millimetre() -> None:
    thing = cubes(box('brick', (0.1, 0.1, 0.1), (0.0, 0.0, -0.0605)))
    assert thing.free_height(Pose(), 0.2) == pytest.approx(0.04, abs=1e-9)
    assert thing.free_height(Pose(), 0.03) is None
