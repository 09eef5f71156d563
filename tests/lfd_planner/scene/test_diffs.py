import pickle
import random
from itertools import pairwise

import pytest
from support.scene_edits import LINKS, ROBOT, TETRAHEDRON, Editor

from lfd_description.shapes import Box, Sphere
from lfd_planner.scene import (
    EMPTY,
    Body,
    Code,
    Moved,
    PlanningScene,
    Pose,
    SceneFault,
    WorldObject,
    apply,
    compose,
    difference,
)

SEEDS = range(60)
BOX = Body.of(Box((0.1, 0.1, 0.1)))
LINK_POSES = ROBOT.link_poses({})
SCENE = PlanningScene('base_link').add(WorldObject('box', BOX), WorldObject('mesh', Body.of(TETRAHEDRON)))


def some_scene(rng):
    return Editor(rng).edit(PlanningScene('base_link'), rng.randint(0, 60))


@pytest.mark.parametrize('seed', SEEDS)
def test_applying_the_difference_gives_the_new_scene(seed):
    rng = random.Random(seed)
    old = some_scene(rng)
    for new in (Editor(rng).edit(old, rng.randint(0, 5)), Editor(rng).edit(old, 60), some_scene(rng)):
        assert apply(old, difference(old, new)) == new
        assert apply(new, difference(new, old)) == old


@pytest.mark.parametrize('seed', SEEDS)
def test_composing_is_applying_one_after_the_other(seed):
    rng = random.Random(seed)
    scenes = [some_scene(rng)]
    for _ in range(3):
        scenes.append(Editor(rng).edit(scenes[-1], rng.randint(0, 15)))
    total = EMPTY
    for old, new in pairwise(scenes):
        total = compose(total, difference(old, new))
        assert apply(scenes[0], total) == new


@pytest.mark.parametrize('seed', SEEDS)
def test_no_difference_is_empty(seed):
    scene = some_scene(random.Random(seed))
    assert difference(scene, scene) == EMPTY
    assert not difference(scene, some_scene(random.Random(seed)))
    assert apply(scene, EMPTY) == scene


def test_each_change_is_in_its_place():
    new = SCENE.move('box', Pose((1.0, 0.0, 0.0))).add(WorldObject('ball', Body.of(Sphere(0.1))))
    new = new.attach('mesh', 'hand', LINK_POSES).allow('ball', 'hand').with_colours({'ball': (1.0, 0.0, 0.0, 1.0)})
    new = new.with_default('box', True).with_joints({'joint_1': 0.5})
    diff = difference(SCENE, new)
    assert diff
    assert diff.moved == (Moved('box', Pose((1.0, 0.0, 0.0))),)
    assert [thing.id for thing in diff.added] == ['ball']
    assert [(held.id, held.link, held.body) for held in diff.attached] == [('mesh', 'hand', None)]
    assert diff.pairs == (('ball', 'hand', True),)
    assert diff.defaults == (('box', True),)
    assert diff.colours == (('ball', (1.0, 0.0, 0.0, 1.0)),)
    assert diff.joints == (('joint_1', 0.5),)
    back = difference(new, SCENE)
    assert back.removed == ('ball',)
    assert [change.id for change in back.detached] == ['mesh']


def test_geometry_travels_once():
    """Moving, attaching and detaching send no geometry."""
    held = SCENE.move('mesh', Pose((1.0, 0.0, 0.0))).attach('mesh', 'hand', LINK_POSES)
    for old, new in ((SCENE, held), (held, SCENE), (SCENE, SCENE.move('mesh', Pose((1.0, 0.0, 0.0))))):
        assert TETRAHEDRON.vertices.tobytes() not in pickle.dumps(difference(old, new))
    assert TETRAHEDRON.vertices.tobytes() in pickle.dumps(difference(SCENE.remove('mesh'), SCENE))


def test_the_size_of_a_diff_does_not_grow_with_the_scene():
    sizes = set()
    for count in (10, 1000, 5000):
        old = PlanningScene('base_link').add(*(WorldObject(f'box {number:04}', BOX) for number in range(count)))
        sizes.add(len(pickle.dumps(difference(old, old.move('box 0003', Pose((1.0, 0.0, 0.0)))))))
    assert len(sizes) == 1


def test_a_difference_looks_only_at_what_changed(monkeypatch):
    old = PlanningScene('base_link').add(*(WorldObject(f'box {number}', BOX) for number in range(5000)))
    new = old.move('box 7', Pose((1.0, 0.0, 0.0)))
    compared = []
    monkeypatch.setattr(WorldObject, '__eq__', lambda self, other: compared.append(self.id) or self.pose == other.pose)
    assert difference(old, new).moved
    assert set(compared) <= {'box 7'}


@pytest.mark.parametrize('edit', ['move', 'attach', 'detach'])
def test_a_diff_for_another_scene_is_refused(edit):
    old = SCENE.attach('box', 'hand', LINK_POSES) if edit == 'detach' else SCENE
    new = {
        'move': lambda: old.move('box', Pose((1.0, 0.0, 0.0))),
        'attach': lambda: old.attach('box', 'hand', LINK_POSES),
        'detach': lambda: old.detach('box', LINK_POSES),
    }[edit]()
    with pytest.raises(SceneFault, match='send the whole scene') as fault:
        apply(PlanningScene('base_link'), difference(old, new))
    assert fault.value.code is Code.INVALID_OBJECT_NAME


def test_diffs_that_do_not_follow_each_other_are_refused():
    move = difference(SCENE, SCENE.move('box', Pose((1.0, 0.0, 0.0))))
    with pytest.raises(SceneFault, match="'box' moved"):
        compose(difference(SCENE, SCENE.remove('box')), move)


def test_scenes_of_two_frames_have_no_difference():
    with pytest.raises(SceneFault, match='different frames'):
        difference(SCENE, PlanningScene('world'))


def test_attaching_otherwise_is_a_small_change():
    held = SCENE.attach('box', 'hand', LINK_POSES)
    again = held.detach('box', LINK_POSES).attach('box', 'hand', LINK_POSES, LINKS)
    (change,) = difference(held, again).attached
    assert change.body is None
    assert change.touch_links == frozenset(LINKS)
    assert apply(held, difference(held, again)) == again
