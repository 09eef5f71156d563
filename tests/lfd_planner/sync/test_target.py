import math
import random

import pytest
from support.scene_edits import Editor

from lfd_description.shapes import Box
from lfd_planner.scene import Body, Part, PlanningScene, Pose, WorldObject
from lfd_planner.sync import Selection, Target, unmarked
from lfd_planner.sync.target import Wanted

BOX = (Part(Box((0.1, 0.1, 0.1))),)


def tagged(id: str, *tags: str) -> WorldObject:
    return WorldObject(id, Body(BOX, tags=tags))


@pytest.mark.parametrize(
    ('include', 'exclude', 'selected'),
    [
        ([], [], {'can', 'table', 'lamp'}),
        (['graspable'], [], {'can'}),
        (['graspable', 'fixed'], [], {'can', 'table'}),
        ([], ['fixed'], {'can', 'lamp'}),
        (['graspable'], ['red'], set()),
        ([''], [''], {'can', 'table', 'lamp'}),
    ],
)
def test_tags_select(include: list[str], exclude: list[str], selected: set[str]) -> None:
    twin = PlanningScene('world').add(tagged('can', 'graspable', 'red'), tagged('table', 'fixed'), tagged('lamp'))
    wanted = Wanted(Target('arm', 'world', selection=Selection.of(include, exclude)))

    wanted.follow(twin)

    assert set(wanted.scene.objects) == selected


def test_poses_are_told_in_the_frame_of_the_server() -> None:
    half = math.sqrt(0.5)
    origin = Pose((1.0, 0.0, 0.0), (0.0, 0.0, half, half))
    wanted = Wanted(Target('arm', 'base_link', origin))

    wanted.follow(PlanningScene('cell').add(WorldObject('can', Body(BOX), Pose((0.5, 0.0, 0.2)))))

    assert wanted.scene.frame == 'base_link'
    assert wanted.scene.objects['can'].pose.position == pytest.approx((1.0, 0.5, 0.2))


def test_only_what_concerns_the_server_counts_as_a_change() -> None:
    wanted = Wanted(Target('arm', 'world', selection=Selection.of(exclude=['fixed'])))
    twin = PlanningScene('world').add(tagged('table', 'fixed'), tagged('can'), colours={'table': (1.0, 0.0, 0.0, 1.0)})

    assert wanted.follow(twin) == {'can'}
    assert wanted.follow(twin) == frozenset()
    assert wanted.follow(twin.move('table', Pose((1.0, 0.0, 0.0)))) == frozenset()
    assert wanted.follow(twin.with_colours({'can': (1.0, 0.0, 0.0, 1.0)})) == {'can'}
    assert dict(wanted.scene.colours) == {'can': (1.0, 0.0, 0.0, 1.0)}


def test_an_object_whose_tags_change_comes_and_goes_with_its_colour() -> None:
    wanted = Wanted(Target('arm', 'world', selection=Selection.of(['graspable'])))
    twin = PlanningScene('world').add(tagged('can'), colours={'can': (0.0, 1.0, 0.0, 1.0)})
    wanted.follow(twin)

    wanted.follow(twin.add(tagged('can', 'graspable')))
    assert dict(wanted.scene.colours) == {'can': (0.0, 1.0, 0.0, 1.0)}
    wanted.follow(twin)
    assert not wanted.scene.objects
    assert not wanted.scene.colours


@pytest.mark.parametrize('seed', range(10))
def test_following_step_by_step_is_the_same_as_following_at_once(seed: int) -> None:
    editor = Editor(random.Random(seed))
    target = Target('arm', 'base_link', Pose((0.1, 0.2, 0.3)), Selection.of(['graspable', 'fixed'], ['support']))
    twin, stepwise = PlanningScene('base_link'), Wanted(target)
    for _ in range(40):
        twin = editor.edit(twin, 2)
        stepwise.follow(twin)

    at_once = Wanted(target)
    at_once.follow(twin)

    assert stepwise.scene == at_once.scene


def test_marks_come_off_again() -> None:
    target = Target('arm', 'world', mark='cell twin')
    twin = PlanningScene('world').add(tagged('can', 'graspable'), tagged('lamp'))
    wanted = Wanted(target)
    wanted.follow(twin)

    assert wanted.scene.objects['can'].body.tags == ('graspable', 'cell twin')
    assert unmarked(wanted.scene, 'cell twin') == twin
