import random
from dataclasses import replace

import pytest
from geometry_msgs.msg import TransformStamped
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AttachedCollisionObject,
    CollisionObject,
    LinkPadding,
    LinkScale,
    ObjectColor,
    PlanningSceneComponents,
)
from moveit_msgs.msg import PlanningScene as Message
from rclpy.serialization import serialize_message
from support.scene_edits import ROBOT, TETRAHEDRON, Editor

from lfd_description.scenes import find_scene, scene_names
from lfd_description.shapes import Box, MeshFile, Sphere
from lfd_planner.messages import (
    CapsuleAs,
    apply_planning_scene,
    diff_to_message,
    move_message,
    object_to_message,
    remove_message,
    scene_to_message,
)
from lfd_planner.scene import (
    Body,
    Code,
    Part,
    PersistentMap,
    PlanningScene,
    Pose,
    WorldObject,
    from_scene,
    triangles_of,
)

C = PlanningSceneComponents
BOX = Body.of(Box((0.1, 0.2, 0.3)))
LINK_POSES = ROBOT.link_poses({})
EMPTY = PlanningScene('base_link', robot='small')
SCENE = (
    replace(EMPTY, name='cell', fixed_frames=PersistentMap({'camera': Pose((0.0, 0.0, 2.0))}))
    .add(WorldObject('box', BOX, Pose((1.0, 0.0, 0.0))), WorldObject('ball', Body.of(Sphere(0.1))))
    .with_joints({'joint_1': 0.0, 'joint_2': 0.0, 'joint_3': 0.0})
    .attach('ball', 'hand', LINK_POSES, ['forearm'])
    .with_colours({'box': (1.0, 0.5, 0.25, 1.0)})
    .allow('box', 'hand')
)
SCENE = replace(SCENE, link_padding=PersistentMap({'hand': 0.01}), link_scale=PersistentMap({'hand': 1.1}))
EVERYTHING = 1023


def some_scene(rng, start=EMPTY, most=60):
    return Editor(rng).edit(start, rng.randint(0, most))


def decided(scene):
    """The scene with its allowed collisions as a message can tell them."""
    names = sorted({*(f'object_{number}' for number in range(8)), *ROBOT.links})
    pairs = [(a, b) for a in names for b in names if a < b and scene.allowed.allows(a, b)]
    return pairs, replace(scene, allowed=EMPTY.allowed)


def applied(scene, message):
    result = apply_planning_scene(scene, message, ROBOT)
    assert result.faults == ()
    return result.scene


@pytest.mark.parametrize('capsules', CapsuleAs)
@pytest.mark.parametrize('seed', range(30))
def test_a_scene_that_comes_back_whole_is_the_same(seed, capsules, sent):
    scene = some_scene(random.Random(seed)).with_joints({'joint_1': 0.25})
    message = sent(scene_to_message(scene, capsules=capsules))
    assert decided(applied(scene, message)) == decided(scene)


@pytest.mark.parametrize('seed', range(60))
def test_a_diff_makes_the_new_scene_of_the_old(seed, sent):
    rng = random.Random(seed)
    old = some_scene(rng)
    new = some_scene(rng, start=old, most=20)
    # A message cannot take away a colour of an object that stays, or of one that never was.
    new = replace(new, colours=old.colours.edit((id, c) for id, c in new.colours.edits_from(old.colours) if c))
    gone = [id for id in old.colours if id not in new and id in old]
    new = replace(new, colours=new.colours.edit((id, None) for id in gone))
    message = sent(diff_to_message(old, new))
    assert message.is_diff
    found = applied(old, message)
    assert decided(replace(found, colours=new.colours)) == decided(new)
    assert {id: pytest.approx(colour, abs=1e-6) for id, colour in found.colours.items()} == dict(new.colours)


@pytest.mark.parametrize('name', scene_names())
def test_scene_files_travel_without_loss(name, sent):
    """A client and a server that share nothing but messages."""
    scene = from_scene(find_scene(name))
    received = applied(EMPTY, sent(diff_to_message(PlanningScene('base_link'), scene)))
    assert as_triangles(received) == as_triangles(scene)
    back = applied(scene, sent(scene_to_message(received)))
    assert (back.objects, back.colours) == (scene.objects, scene.colours)


def as_triangles(scene):
    """The objects, with triangles for mesh files."""

    def body(thing):
        parts = tuple(
            replace(part, shape=triangles_of(part.shape)) if isinstance(part.shape, MeshFile) else part
            for part in thing.body.parts
        )
        return replace(thing, body=replace(thing.body, parts=parts))

    return {id: body(thing) for id, thing in scene.objects.items()}, scene.colours


@pytest.mark.parametrize(
    ('mask', 'present'),
    [
        (C.SCENE_SETTINGS, {'name', 'robot_model_name'}),
        (C.TRANSFORMS, {'fixed_frame_transforms'}),
        (C.ROBOT_STATE, {'robot_state'}),
        (C.ROBOT_STATE_ATTACHED_OBJECTS, {'robot_state'}),
        (C.WORLD_OBJECT_NAMES, {'world'}),
        (C.WORLD_OBJECT_GEOMETRY, {'world'}),
        (C.OCTOMAP, set()),
        (C.ALLOWED_COLLISION_MATRIX, {'allowed_collision_matrix'}),
        (C.LINK_PADDING_AND_SCALING, {'link_padding', 'link_scale'}),
        (C.OBJECT_COLORS, {'object_colors'}),
        (C.SCENE_SETTINGS | C.OBJECT_COLORS, {'name', 'robot_model_name', 'object_colors'}),
    ],
)
def test_only_the_components_that_were_asked_for_are_told(mask, present):
    message, nothing = scene_to_message(SCENE, mask), Message()
    fields = Message.get_fields_and_field_types()
    assert {name for name in fields if getattr(message, name) != getattr(nothing, name)} == present


def test_names_come_without_geometry_and_states_without_what_is_held():
    (named,) = scene_to_message(SCENE, C.WORLD_OBJECT_NAMES).world.collision_objects
    assert (named.id, named.primitives) == ('box', [])
    assert scene_to_message(SCENE, C.ROBOT_STATE).robot_state.attached_collision_objects == []
    held = scene_to_message(SCENE, C.ROBOT_STATE_ATTACHED_OBJECTS).robot_state
    assert list(held.joint_state.name) == ['joint_1', 'joint_2', 'joint_3']
    assert held.attached_collision_objects[0].object.id == 'ball'


def test_no_component_means_all():
    assert scene_to_message(SCENE, 0) == scene_to_message(SCENE, EVERYTHING)


def test_a_whole_scene_replaces_what_was_there():
    other = EMPTY.add(WorldObject('cup', BOX)).with_joints({'joint_1': 1.0})
    scene = applied(SCENE, scene_to_message(other))
    assert list(scene.objects) == ['cup']
    assert list(scene.attached) == []
    assert dict(scene.colours) == {}
    assert list(scene.allowed.pairs()) == []
    assert scene.joints['joint_1'] == 1.0
    assert scene.name == ''


def test_a_whole_scene_without_a_robot_state_leaves_the_robot_alone():
    message = scene_to_message(EMPTY)
    scene = applied(SCENE, message)
    assert list(scene.attached) == ['ball']
    assert scene.joints == SCENE.joints


def test_a_diff_leaves_alone_what_it_does_not_name():
    assert applied(SCENE, Message(is_diff=True)) == SCENE
    scene = applied(SCENE, diff_to_message(SCENE, SCENE.move('box', Pose())))
    assert scene == SCENE.move('box', Pose())


def test_a_robot_state_that_is_no_diff_lets_go_of_everything():
    message = Message(is_diff=True)
    message.robot_state.joint_state.name, message.robot_state.joint_state.position = ['joint_1'], [0.5]
    assert list(applied(SCENE, message).attached) == []
    message.robot_state.is_diff = True
    assert list(applied(SCENE, message).attached) == ['ball']


def test_objects_are_attached_where_the_robot_is_now():
    """The joints of a message count before its attached objects."""
    message = Message(is_diff=True)
    message.robot_state.is_diff = True
    message.robot_state.joint_state.name, message.robot_state.joint_state.position = ['joint_1'], [0.5]
    held = AttachedCollisionObject(link_name='hand')
    held.object.id = 'box'
    message.robot_state.attached_collision_objects = [held]
    scene = applied(SCENE, message)
    assert scene == SCENE.with_joints({'joint_1': 0.5}).attach(
        'box', 'hand', ROBOT.link_poses({**SCENE.joints, 'joint_1': 0.5})
    )


def test_what_can_be_done_is_done_and_the_rest_is_told():
    message = Message(is_diff=True)
    message.world.collision_objects = [
        remove_message('cup'),
        move_message('box', Pose((0.0, 0.0, 1.0)), 'base_link'),
        move_message('box', Pose(), 'moon'),
    ]
    message.robot_state.joint_state.name, message.robot_state.joint_state.position = ['elbow'], [0.5]
    message.robot_state.is_diff = True
    message.link_padding = [LinkPadding(link_name='tail', padding=0.1)]
    message.link_scale = [LinkScale(link_name='hand', scale=-1.0)]
    message.object_colors = [ObjectColor(id='')]
    message.allowed_collision_matrix = AllowedCollisionMatrix(entry_names=['a'])
    message.fixed_frame_transforms = [TransformStamped(child_frame_id='camera')]
    message.world.octomap.octomap.data = [1]
    result = apply_planning_scene(SCENE, message, ROBOT)
    assert result.scene == SCENE.move('box', Pose((0.0, 0.0, 1.0)))
    assert [fault.code for fault in result.faults] == [
        Code.FAILURE,
        Code.INVALID_ROBOT_STATE,
        Code.FAILURE,
        Code.INVALID_LINK_NAME,
        Code.FAILURE,
        Code.INVALID_OBJECT_NAME,
        Code.FRAME_TRANSFORM_FAILURE,
        Code.FAILURE,
    ]


@pytest.mark.parametrize(
    ('names', 'positions', 'says'),
    [
        (['joint_1'], [], '1 joints and 0 positions'),
        (['joint_1'], [float('nan')], "position of joint 'joint_1' is nan"),
        (['elbow'], [0.0], "no joint 'elbow'; its joints are joint_1"),
    ],
)
def test_a_wrong_robot_state_is_told(names, positions, says):
    message = Message(is_diff=True)
    message.robot_state.is_diff = True
    message.robot_state.joint_state.name, message.robot_state.joint_state.position = names, positions
    (fault,) = apply_planning_scene(SCENE, message, ROBOT).faults
    assert says in str(fault)


def test_a_scene_for_another_robot_is_used_with_a_warning():
    result = apply_planning_scene(SCENE, Message(is_diff=True, robot_model_name='panda'), ROBOT)
    assert result.faults == ()
    assert "for the robot 'panda'" in result.warnings[0]


def test_the_matrix_of_a_diff_replaces_the_old_one():
    rows = [AllowedCollisionEntry(enabled=row) for row in ([False, True], [True, False])]
    message = Message(is_diff=True)
    message.allowed_collision_matrix = AllowedCollisionMatrix(entry_names=['x', 'y'], entry_values=rows)
    assert list(applied(SCENE, message).allowed.pairs()) == [('x', 'y', True)]


def test_shapes_that_a_move_passes_over_are_told():
    message = Message(is_diff=True)
    message.world.collision_objects = [object_to_message(WorldObject('box', BOX), 'base_link')]
    message.world.collision_objects[0].operation = CollisionObject.MOVE
    result = apply_planning_scene(SCENE, message, ROBOT)
    assert result.faults == ()
    assert result.warnings == ("Object 'box': MOVE passes over the shapes that came with it; send ADD to change them.",)


def test_a_forbidden_pair_is_sent_once_at_most(sent):
    """A matrix has no entry that forbids, so that what comes back has none; that is no change."""
    forbidden = SCENE.forbid('ball', 'box').allow('box', 'box')
    assert diff_to_message(SCENE, forbidden).allowed_collision_matrix == AllowedCollisionMatrix()
    received = applied(EMPTY, sent(diff_to_message(EMPTY, forbidden)))
    assert diff_to_message(received, forbidden).allowed_collision_matrix == AllowedCollisionMatrix()
    assert diff_to_message(forbidden, received).allowed_collision_matrix == AllowedCollisionMatrix()


def test_a_pair_that_is_forbidden_against_a_default_is_sent(sent):
    lenient = SCENE.with_default('ball', True)
    forbidden = lenient.forbid('ball', 'box')
    received = applied(lenient, sent(diff_to_message(lenient, forbidden)))
    assert not received.may_touch('ball', 'box')
    assert diff_to_message(received, forbidden).allowed_collision_matrix == AllowedCollisionMatrix()


def test_tags_can_be_taken_away():
    tagged = SCENE.add(WorldObject('box', replace(BOX, tags=('fixed',)), Pose((1.0, 0.0, 0.0))))
    assert applied(tagged, diff_to_message(tagged, SCENE)) == SCENE


def test_the_last_entry_of_a_matrix_can_be_taken_away():
    new = SCENE.remove('box')
    assert list(applied(SCENE, diff_to_message(SCENE, new)).allowed.pairs()) == []


def test_fixed_frames_serve_as_frames_of_objects():
    camera = TransformStamped(child_frame_id='arm_camera')
    camera.header.frame_id = 'base_link'
    camera.transform.translation.x = 3.0
    message = Message(is_diff=True, fixed_frame_transforms=[camera])
    message.world.collision_objects = [object_to_message(WorldObject('cup', BOX), 'arm_camera')]
    assert applied(SCENE, message).objects['cup'].pose == Pose((3.0, 0.0, 0.0))


def test_bytes_of_a_move_do_not_grow_with_the_scene():
    sizes = set()
    for count in (1, 1000):
        old = EMPTY.add(*(WorldObject(f'mesh {number:03}', Body.of(TETRAHEDRON)) for number in range(count)))
        sizes.add(len(serialize_message(diff_to_message(old, old.move('mesh 000', Pose((1.0, 0.0, 0.0)))))))
    assert len(sizes) == 1


def test_an_object_of_one_shape_off_its_frame_arrives_and_moves_as_it_is(sent):
    """With no pose of its own, a reader takes the shape's pose for the object's, so that one must be told."""
    body = Body((Part(Box((0.1, 0.1, 0.1)), Pose((0.0, 0.0, 0.1))),))
    sent_scene = EMPTY.add(WorldObject('box', body))
    received = applied(EMPTY, sent(diff_to_message(EMPTY, sent_scene)))
    assert received == sent_scene

    moved = sent_scene.move('box', Pose((1.0, 0.0, 0.0)))
    assert applied(received, sent(diff_to_message(sent_scene, moved))) == moved
