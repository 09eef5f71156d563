import random
from dataclasses import replace

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, MoveItErrorCodes
from shape_msgs.msg import SolidPrimitive
from support.scene_edits import ROBOT, TETRAHEDRON, random_body, random_pose
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_description.shapes import Box, Capsule, Sphere
from lfd_planner.messages import (
    apply_attached_object,
    apply_collision_object,
    attached_to_message,
    detach_message,
    move_message,
    object_from_message,
    object_to_message,
    remove_message,
)
from lfd_planner.scene import (
    AttachedObject,
    Body,
    Code,
    ObjectType,
    Part,
    PlanningScene,
    Posture,
    PosturePoint,
    SceneFault,
    WorldObject,
    frame_pose,
)
from lfd_planner.scene import Pose as At

BALL = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1])
BOX = Body.of(Box((0.1, 0.2, 0.3))).with_subframes({'top': At((0.0, 0.0, 0.15), (0.0, 0.6, 0.0, 0.8))})
AT = At((0.5, 0.2, 0.1), (0.0, 0.0, 0.6, 0.8))
LINK_POSES = ROBOT.link_poses({'joint_1': 0.3, 'joint_2': -0.4})
SCENE = PlanningScene('base_link').add(WorldObject('box', BOX, AT), WorldObject('rod', Body.of(Capsule(0.1, 0.5))))


def request(id, operation, frame='base_link', **fields):
    message = CollisionObject(id=id, operation=operation, **fields)
    message.header.frame_id = frame
    return message


def attach(id, link='hand', frame='base_link', operation=CollisionObject.ADD, shapes=(), **fields):
    thing = request(id, operation, frame, primitives=shapes)
    return AttachedCollisionObject(link_name=link, object=thing, **fields)


def apply(message, scene=SCENE):
    if isinstance(message, AttachedCollisionObject):
        return apply_attached_object(scene, message, LINK_POSES)
    return apply_collision_object(scene, message, LINK_POSES)


def test_the_codes_are_moveits():
    for code in Code:
        assert code == getattr(MoveItErrorCodes, code.name)


@pytest.mark.parametrize('seed', range(40))
def test_an_object_that_comes_back_is_the_same(seed, sent):
    rng = random.Random(seed)
    thing = WorldObject('thing', random_body(rng), random_pose(rng))
    scene = SCENE.add(thing)
    again = apply(sent(object_to_message(thing, 'base_link')), scene)
    assert again == scene
    assert again.objects['thing'].body is thing.body


@pytest.mark.parametrize('seed', range(40))
def test_an_attached_object_that_comes_back_is_the_same(seed, sent):
    rng = random.Random(seed)
    point = PosturePoint((0.1,), (0.2,), (0.3,), (0.4,), 1_500_000_000)
    posture = Posture(('joint_1',), (point,))
    held = AttachedObject('held', random_body(rng), 'hand', random_pose(rng), frozenset({'forearm'}), posture, 0.5)
    scene = SCENE.attach_new(held, LINK_POSES)
    assert apply(sent(attached_to_message(held)), scene) == scene
    assert apply(sent(attached_to_message(held))) == scene


def test_tags_and_types_travel_with_the_object(sent):
    body = Body((Part(Sphere(0.1)),), type=ObjectType('mug', 'shelf'), tags=('graspable', 'ä'), movable=True)
    message = sent(object_to_message(WorldObject('mug', body), 'base_link'))
    assert message.type.key == 'mug'
    assert object_from_message(message)[0] == body
    foreign = request('mug', CollisionObject.ADD, primitives=[BALL])
    foreign.type.db = '{"lfd": 3}'
    assert object_from_message(foreign)[0].type == ObjectType('', '{"lfd": 3}')


def test_an_object_that_comes_back_without_its_type_keeps_its_tags():
    tagged = Body((Part(Capsule(0.1, 0.4)),), tags=('graspable',), movable=True)
    scene = SCENE.add(WorldObject('rod', tagged))
    message = object_to_message(scene.objects['rod'], 'base_link')
    message.type.db = ''
    assert apply(message, scene) == scene
    scene = SCENE.add(WorldObject('ball', replace(tagged, parts=(Part(Sphere(0.1)),))))
    elsewhere = request('ball', CollisionObject.ADD, primitives=[BALL], primitive_poses=[Pose(position=Point(x=1.0))])
    assert apply(elsewhere, scene) == scene.move('ball', At((1.0, 0.0, 0.0)))


def test_add_replaces_the_object():
    scene = apply(request('box', CollisionObject.ADD, primitives=[BALL]))
    assert scene.objects['box'].body == Body.of(Sphere(0.1))


@pytest.mark.parametrize('frame', ['hand', 'box', 'box/top', '/forearm'])
def test_poses_may_be_in_any_known_frame(frame):
    pose = Pose(position=Point(x=0.1, y=0.2, z=0.3))
    for scene in (
        apply(request('ball', CollisionObject.ADD, frame, primitives=[BALL], pose=pose)),
        apply(request('rod', CollisionObject.MOVE, frame, pose=pose)),
    ):
        thing = scene.objects.get('ball') or scene.objects['rod']
        expected = frame_pose(SCENE, frame, LINK_POSES) @ At((0.1, 0.2, 0.3))
        np.testing.assert_allclose(thing.pose.matrix, expected.matrix, atol=1e-15)


def test_append_adds_shapes_in_the_objects_frame():
    ball = {'primitives': [BALL], 'primitive_poses': [Pose(position=Point(z=0.2))]}
    scene = apply(request('box', CollisionObject.APPEND, **ball))
    assert scene.objects['box'].pose == AT
    assert scene.objects['box'].body.parts == (*BOX.parts, Part(Sphere(0.1), At((0.0, 0.0, 0.2))))
    assert scene.objects['box'].body.subframes == BOX.subframes
    assert apply(request('new', CollisionObject.APPEND, **ball)).objects['new'].body == Body.of(Sphere(0.1))


def test_move_changes_the_pose_alone():
    scene = apply(move_message('rod', AT, 'base_link'))
    assert scene.objects['rod'].pose == AT
    assert scene.objects['rod'].body is SCENE.objects['rod'].body
    assert apply(move_message('rod', AT, '')) == scene


def test_move_passes_over_shapes():
    """As MoveIt does."""
    again = object_to_message(WorldObject('rod', SCENE.objects['rod'].body, AT), 'base_link')
    again.operation = CollisionObject.MOVE
    assert apply(again) == SCENE.move('rod', AT)
    pose = Pose(position=Point(x=2.0))
    moved = apply(request('rod', CollisionObject.MOVE, pose=pose, primitives=[BALL, BALL]))
    assert moved == SCENE.move('rod', At((2.0, 0.0, 0.0)))


def test_move_may_move_the_shapes_of_an_object():
    body = Body((Part(TETRAHEDRON, At((1.0, 0.0, 0.0))), Part(Sphere(0.1), At((2.0, 0.0, 0.0)))))
    scene = SCENE.add(WorldObject('two', body))
    poses = {'primitive_poses': [Pose(position=Point(y=2.0))], 'mesh_poses': [Pose(position=Point(y=1.0))]}
    moved = apply(request('two', CollisionObject.MOVE, **poses), scene)
    assert [part.pose.position for part in moved.objects['two'].body.parts] == [(0.0, 2.0, 0.0), (0.0, 1.0, 0.0)]
    with pytest.raises(SceneFault, match='has 2 shapes, and 1 shape poses'):
        apply(request('two', CollisionObject.MOVE, mesh_poses=[Pose()]), scene)


def test_move_of_a_single_shape_moves_its_object():
    scene = apply(request('rod', CollisionObject.MOVE, mesh_poses=[Pose(position=Point(y=1.0))]))
    assert scene == SCENE.move('rod', At((0.0, 1.0, 0.0)))


def test_remove_is_for_one_or_for_all():
    assert list(apply(remove_message('box')).objects) == ['rod']
    assert list(apply(remove_message('')).objects) == []


def test_attach_takes_the_object_from_the_world(sent):
    scene = apply(sent(attach('box', touch_links=['forearm', 'hand'], weight=0.3)))
    assert scene == SCENE.attach('box', 'hand', LINK_POSES, ['forearm', 'hand'], weight=0.3)


def test_attach_may_bring_the_object():
    scene = apply(attach('box', frame='forearm', shapes=[BALL]))
    assert list(scene.objects) == ['rod']
    assert scene.body('box') == Body.of(Sphere(0.1))
    held = scene.attached['box']
    np.testing.assert_allclose(LINK_POSES['hand'] @ held.pose.matrix, LINK_POSES['forearm'], atol=1e-14)
    assert apply(attach('box', frame='hand', shapes=[BALL])).attached['box'].pose == At()


def test_append_adds_to_an_attached_object():
    scene = apply(attach('box', touch_links=['forearm']))
    more = apply(attach('box', operation=CollisionObject.APPEND, shapes=[BALL], touch_links=['hand']), scene)
    old, new = scene.attached['box'], more.attached['box']
    assert new.pose == old.pose
    assert new.touch_links == {'forearm', 'hand'}
    assert new.body.parts == (*BOX.parts, Part(Sphere(0.1)))


def test_detach_puts_the_object_back_in_the_world():
    scene = apply(attach('rod'), apply(attach('box', link='forearm')))
    for message, left in (
        (detach_message('box'), ['rod']),
        (detach_message('box', 'forearm'), ['rod']),
        (detach_message('', 'hand'), ['box']),
        (detach_message(''), []),
    ):
        assert list(apply(message, scene).attached) == left
    back = apply(detach_message(''), scene)
    np.testing.assert_allclose(back.objects['box'].pose.matrix, AT.matrix, atol=1e-14)


@pytest.mark.parametrize(
    ('message', 'code', 'says'),
    [
        (request('cup', CollisionObject.MOVE), Code.INVALID_OBJECT_NAME, "no object 'cup'"),
        (remove_message('cup'), Code.INVALID_OBJECT_NAME, "no object 'cup'"),
        (request('a', CollisionObject.ADD, 'moon', primitives=[BALL]), Code.FRAME_TRANSFORM_FAILURE, "'moon'"),
        (request('a', CollisionObject.ADD, '', primitives=[BALL]), Code.FRAME_TRANSFORM_FAILURE, "frame ''"),
        (request('a', CollisionObject.ADD), Code.FAILURE, 'no shape'),
        (request('a', b'\x09'), Code.FAILURE, 'operation'),
        (attach('cup'), Code.INVALID_OBJECT_NAME, "'cup' is attached without a shape"),
        (attach('box', link='tail'), Code.INVALID_LINK_NAME, "no link 'tail'"),
        (attach('a', link='tail', shapes=[BALL]), Code.INVALID_LINK_NAME, "no link 'tail'"),
        (attach('box', operation=CollisionObject.MOVE), Code.FAILURE, 'cannot be moved'),
        (attach('box', operation=b'\x09'), Code.FAILURE, 'operation'),
        (attach('box', weight=float('nan')), Code.FAILURE, 'weight'),
        (detach_message('box'), Code.INVALID_OBJECT_NAME, 'it stands in the world'),
        (detach_message('cup'), Code.INVALID_OBJECT_NAME, 'attached are none'),
        (detach_message('', 'tail'), Code.INVALID_LINK_NAME, "no link 'tail'"),
    ],
)
def test_what_cannot_be_done_is_refused(message, code, says):
    with pytest.raises(SceneFault, match=says) as fault:
        apply(message)
    assert fault.value.code is code
    assert len(fault.value.problems) == 1


def test_what_is_attached_is_refused_until_it_is_detached():
    scene = apply(attach('box'))
    for message in (remove_message('box'), move_message('box', AT, 'base_link'), attach('box', link='forearm')):
        with pytest.raises(SceneFault, match="attached to link 'hand'"):
            apply(message, scene)
    with pytest.raises(SceneFault, match="attached to link 'hand' and not to 'forearm'"):
        apply(detach_message('box', 'forearm'), scene)


@pytest.mark.parametrize('id', ['x' * 10**6, 'line\nbreak', ''])
def test_hostile_names_are_refused_in_short(id):
    for message in (request(id, CollisionObject.ADD, primitives=[BALL]), move_message(id, AT, id), attach(id, link=id)):
        with pytest.raises(SceneFault) as fault:
            apply(message)
        assert len(str(fault.value)) < 400
        assert '\n' not in str(fault.value)


def test_a_wrong_posture_is_told():
    points = [JointTrajectoryPoint(positions=[1.0, 2.0]), JointTrajectoryPoint(positions=[float('inf')])]
    posture = JointTrajectory(joint_names=['joint_1'], points=points)
    with pytest.raises(SceneFault, match='point 1 of the posture') as fault:
        apply(attach('box', detach_posture=posture))
    assert len(fault.value.problems) == 2
