import re

import numpy as np
import pytest
from support.scene_edits import LINKS, ROBOT

from lfd_description.shapes import Box, Capsule, Sphere
from lfd_planner.scene import (
    AttachedObject,
    Body,
    Code,
    Part,
    PlanningScene,
    Pose,
    SceneFault,
    WorldObject,
    shapes_in_world,
)

BOX = Body.of(Box((0.1, 0.1, 0.1)))
AT = Pose((0.5, 0.2, 0.1), (0.0, 0.0, 0.6, 0.8))
SCENE = PlanningScene('base_link').add(WorldObject('box', BOX, AT), WorldObject('ball', Body.of(Sphere(0.2))))
LINK_POSES = ROBOT.link_poses({'joint_1': 0.3, 'joint_2': -0.4, 'joint_3': 1.2})


def in_world(scene, id, link_poses=LINK_POSES):
    (shape,) = (shape for shape in shapes_in_world(scene, link_poses) if shape.id == id)
    return shape.pose


def refused(edit):
    with pytest.raises(SceneFault) as fault:
        edit()
    return fault.value.code, str(fault.value)


def test_adding_a_known_id_replaces_the_object():
    scene = SCENE.add(WorldObject('box', Body.of(Sphere(0.3))))
    assert scene.objects['box'].body == Body.of(Sphere(0.3))
    assert SCENE.objects['box'].body == BOX
    assert list(scene.objects) == ['box', 'ball']


def test_appended_shapes_are_in_the_objects_frame():
    scene = SCENE.append('box', [Part(Sphere(0.05), Pose((0.0, 0.0, 0.1)))], {'top': Pose((0.0, 0.0, 0.15))})
    shapes = [shape for shape in shapes_in_world(scene, LINK_POSES) if shape.id == 'box']
    assert [shape.shape for shape in shapes] == [Box((0.1, 0.1, 0.1)), Sphere(0.05)]
    np.testing.assert_allclose(shapes[1].pose[:3, 3], [0.5, 0.2, 0.2], atol=1e-15)
    assert scene.objects['box'].body.subframe['top'] == Pose((0.0, 0.0, 0.15))


def test_moving_keeps_the_body():
    scene = SCENE.move('box', Pose((1.0, 0.0, 0.0)))
    assert scene.objects['box'].body is BOX
    assert scene.objects['ball'] is SCENE.objects['ball']


def test_a_removed_object_takes_colour_and_allowed_collisions_along():
    scene = SCENE.with_colours({'box': (1, 0, 0, 1)}).allow('box', 'ball', 'hand').remove('box')
    assert 'box' not in scene
    assert dict(scene.colours) == {}
    assert list(scene.allowed.pairs()) == []


def test_removing_all_leaves_what_is_attached():
    scene = SCENE.attach('box', 'hand', LINK_POSES).with_colours({'ball': (1, 0, 0, 1)}).remove_all()
    assert list(scene.objects) == []
    assert list(scene.attached) == ['box']
    assert dict(scene.colours) == {}


@pytest.mark.parametrize('link', LINKS)
def test_an_attached_object_stays_there_and_then_moves_with_its_link(link):
    scene = SCENE.attach('box', link, LINK_POSES)
    np.testing.assert_allclose(in_world(scene, 'box'), AT.matrix, atol=1e-15)
    moved = ROBOT.link_poses({'joint_1': -1.0, 'joint_2': 0.7, 'joint_3': 0.1})
    motion = moved[link] @ np.linalg.inv(LINK_POSES[link])
    np.testing.assert_allclose(in_world(scene, 'box', moved), motion @ AT.matrix, atol=1e-14)


def test_a_detached_object_stays_where_it_was_held():
    scene = SCENE.attach('box', 'hand', LINK_POSES)
    moved = ROBOT.link_poses({'joint_1': -1.0})
    down = scene.detach('box', moved)
    np.testing.assert_allclose(in_world(down, 'box', LINK_POSES), in_world(scene, 'box', moved), atol=1e-15)
    assert list(down.attached) == []


def test_an_object_that_brings_its_body_replaces_one_in_the_world():
    held = AttachedObject('box', Body.of(Capsule(0.1, 0.4)), 'hand')
    scene = SCENE.attach_new(held, LINK_POSES)
    assert list(scene.objects) == ['ball']
    assert scene.body('box') == held.body


def test_what_is_attached_may_touch_its_link_its_touch_links_and_its_neighbours():
    scene = SCENE.attach('box', 'hand', LINK_POSES, ['forearm']).attach('ball', 'hand', LINK_POSES)
    assert scene.may_touch('box', 'hand')
    assert scene.may_touch('forearm', 'box')
    assert scene.may_touch('box', 'ball')
    assert not scene.may_touch('box', 'upper_arm')
    assert scene.allow('box', 'upper_arm').may_touch('upper_arm', 'box')
    assert not SCENE.may_touch('box', 'hand')


@pytest.mark.parametrize(
    ('edit', 'code', 'says'),
    [
        (lambda s: s.move('cup', AT), Code.INVALID_OBJECT_NAME, "no object 'cup'.*there are box, ball"),
        (lambda s: s.remove('cup'), Code.INVALID_OBJECT_NAME, "no object 'cup'"),
        (lambda s: s.append('cup', [Part(Sphere(1))]), Code.INVALID_OBJECT_NAME, "no object 'cup'"),
        (lambda s: s.append('box', []), Code.FAILURE, 'no shapes to append'),
        (lambda s: s.add(WorldObject('', BOX)), Code.INVALID_OBJECT_NAME, 'no id'),
        (lambda s: s.add(WorldObject('<octomap>', BOX)), Code.INVALID_OBJECT_NAME, 'no id'),
        (lambda s: s.add(WorldObject('cup', Body(()))), Code.FAILURE, "'cup' has no shape"),
        (lambda s: s.attach('cup', 'hand', LINK_POSES), Code.INVALID_OBJECT_NAME, "no object 'cup'"),
        (lambda s: s.attach('box', 'tail', LINK_POSES), Code.INVALID_LINK_NAME, "no link 'tail'.*upper_arm"),
        (lambda s: s.detach('box', LINK_POSES), Code.INVALID_OBJECT_NAME, 'it stands in the world'),
        (lambda s: s.move_parts('box', [AT, AT]), Code.FAILURE, 'has 1 shapes, and 2'),
    ],
)
def test_what_makes_no_sense_is_refused(edit, code, says):
    found, message = refused(lambda: edit(SCENE))
    assert found is code
    assert re.search(says, message)
    assert '\n' not in message


@pytest.mark.parametrize(
    'edit',
    [
        lambda s: s.remove('box'),
        lambda s: s.move('box', AT),
        lambda s: s.add(WorldObject('box', BOX)),
        lambda s: s.attach('box', 'forearm', LINK_POSES),
    ],
)
def test_an_attached_object_must_be_detached_first(edit):
    code, message = refused(lambda: edit(SCENE.attach('box', 'hand', LINK_POSES)))
    assert code is Code.INVALID_OBJECT_NAME
    assert "'box' is attached to link 'hand'" in message
    assert 'detach it first' in message


def test_scenes_of_the_same_content_are_equal():
    assert SCENE.move('box', Pose()).move('box', AT) == SCENE
    assert SCENE.remove('box').add(WorldObject('box', BOX, AT)) == SCENE
    assert SCENE.with_joints({'joint_1': 1.0}) != SCENE


def test_shapes_that_stood_still_are_the_same_values():
    before = {shape.id: shape for shape in shapes_in_world(SCENE, LINK_POSES)}
    after = {shape.id: shape for shape in shapes_in_world(SCENE.move('ball', AT), LINK_POSES)}
    assert after['box'] is before['box']
    assert after['ball'] is not before['ball']
