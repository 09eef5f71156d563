from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation
from support.coal_judge import PinocchioWorld, coal_distance

from lfd_description.bodies import Body as LinkBody
from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Shape, Sphere
from lfd_description.urdf import Matrix, parse_urdf
from lfd_planner.collision import CollisionWorld, RobotGeometry, collides, edge_free, make_room
from lfd_planner.scene import (
    AttachedObject,
    Body,
    PersistentMap,
    PlanningScene,
    Pose,
    RobotFrames,
    SceneFault,
    TriangleMesh,
    WorldObject,
)

if TYPE_CHECKING:
    from .conftest import Arm

SEED = 20261118

# A ball on a rail along x, and beside it a finger on a rail of its own that another one mimics.
RAIL = parse_urdf("""<robot name="rail">
<link name="base"/><link name="cart"/><link name="finger"/><link name="thumb"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-5" upper="5" velocity="1" effort="1"/></joint>
<joint name="grip" type="prismatic"><parent link="cart"/><child link="finger"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.5"/><limit lower="0" upper="1" velocity="1" effort="1"/></joint>
<joint name="follow" type="prismatic"><parent link="cart"/><child link="thumb"/><axis xyz="0 -1 0"/>
<origin xyz="0 0 0.5"/><limit lower="0" upper="1" velocity="1" effort="1"/><mimic joint="grip"/></joint>
</robot>""")
BALLS = [LinkBody(link, Sphere(0.1), np.eye(4)) for link in ('cart', 'finger', 'thumb')]


def rail(scene: PlanningScene, joints: tuple[str, ...] = ('slide',), **options: float) -> CollisionWorld:
    return CollisionWorld(RobotGeometry(RAIL, BALLS, scene.frame), scene, joints, **options)


def scene_with(*objects: WorldObject, frame: str = 'base') -> PlanningScene:
    opened = {'grip': 0.2}
    return PlanningScene(frame, joints=PersistentMap(opened)).add(*objects)


def box(id: str, x: float, y: float = 0.0, z: float = 0.0, edge: float = 0.2) -> WorldObject:
    return WorldObject(id, Body.of(Box((edge, edge, edge))), Pose((x, y, z)))


# What is checked -----------------------------------------------------------------------------------------------------


def test_a_link_collides_with_an_object_where_they_meet() -> None:
    world = rail(scene_with(box('crate', 1.0)))

    assert not world.collides([0.7])
    assert world.collides([0.85])
    assert not world.collides([1.3])
    assert world.collide([[0.7], [0.85], [1.3]]).tolist() == [False, True, False]


def test_joints_outside_the_group_stand_where_the_scene_says_and_mimics_follow() -> None:
    crate = box('crate', 1.0, -0.4, 0.5)

    assert not rail(scene_with(crate)).collides([1.0])
    assert rail(scene_with(crate).with_joints({'grip': 0.3})).collides([1.0])
    assert rail(scene_with(crate), ('slide', 'grip')).collides([1.0, 0.3])


def test_links_collide_with_each_other_unless_they_may_touch() -> None:
    closed = scene_with().with_joints({'grip': 0.05})

    assert rail(closed).collides([0.0])
    assert not rail(closed.allow('finger', 'thumb')).collides([0.0])
    assert rail(scene_with(), ('slide', 'grip')).collides([0.0, 0.09])
    assert not rail(scene_with(), ('slide', 'grip')).collides([0.0, 0.11])


def test_what_no_joint_moves_is_checked_too() -> None:
    """The base in a wall is a collision in every state, and is told as one."""
    base = [LinkBody('base', Box((0.2, 0.2, 0.2)), np.eye(4))]
    wall = scene_with(box('wall', 0.15))
    world = CollisionWorld(RobotGeometry(RAIL, base, 'base'), wall, ['slide'])

    assert world.collides([2.0])
    assert [(contact.a, contact.b) for contact in world.contacts([2.0])] == [('base', 'wall')]
    assert not CollisionWorld(RobotGeometry(RAIL, base, 'base'), wall.allow('base', 'wall'), ['slide']).collides([0.0])


def test_what_no_joint_moves_can_be_left_out() -> None:
    """A table that touches the robot's foot does not keep a group from moving, nor does what is fixed to the foot."""
    solids = [LinkBody('base', Box((0.2, 0.2, 0.2)), np.eye(4)), *BALLS]
    table = box('table', 0.0, z=-0.15)
    robot = RobotGeometry(RAIL, solids, 'base')
    scene = scene_with(table, box('crate', 2.0)).allow('base', 'cart')
    scene = scene.attach_new(held('sign', 'base', 0.15), RobotFrames(RAIL, 'base').link_poses({}))

    whole = CollisionWorld(robot, scene, ['slide'])
    assert whole.collides([-2.0])
    assert {(contact.a, contact.b) for contact in whole.contacts([-2.0])} == {('base', 'table'), ('sign', 'table')}
    assert set(whole.touching([-2.0])) == {('base', 'table', 'object'), ('sign', 'table', 'object')}
    world = CollisionWorld(robot, scene, ['slide'], moving_only=True)
    assert not world.collides([-2.0])
    assert world.contacts([-2.0]) == ()
    assert world.edge_free([-2.0], [-1.0], 0.05)
    assert {(contact.a, contact.b) for contact in world.contacts([2.0])} == {('cart', 'crate')}
    assert {(contact.a, contact.b) for contact in world.contacts([0.2])} == {('cart', 'sign')}
    hand = CollisionWorld(robot, scene_with().forbid('base', 'cart'), ['grip'], moving_only=True)
    assert CollisionWorld(robot, scene_with().forbid('base', 'cart'), ['grip']).collides([0.2])
    assert not hand.collides([0.2])


def test_what_moves_together_is_not_left_out() -> None:
    """Both fingers are moved by the slide, though not against each other."""
    closed = scene_with().with_joints({'grip': 0.05})

    assert rail(closed, moving_only=True).collides([0.0])
    assert not rail(closed, ('grip',), moving_only=True).collides([0.2])


def test_a_hand_is_checked_against_an_arm_that_stands() -> None:
    """The cart stands in the crate, which is not what closes the hand; a finger that comes to the crate is."""
    scene = scene_with(box('crate', 0.15), box('cup', 0.0, 0.5, 0.5))

    assert rail(scene, ('grip',)).collides([0.2])
    assert not rail(scene, ('grip',), moving_only=True).collides([0.2])
    assert rail(scene, ('grip',), moving_only=True).collides([0.35])


def test_objects_in_the_world_may_stand_in_each_other() -> None:
    assert not rail(scene_with(box('crate', 3.0), box('lid', 3.05))).collides([0.0])


def test_a_default_for_a_name_counts_for_all_its_pairs() -> None:
    scene = scene_with(box('crate', 1.0), box('ghost', 1.0))

    assert rail(scene.with_default('ghost', True)).collides([1.0])
    assert not rail(scene.with_default('ghost', True).with_default('crate', True)).collides([1.0])
    assert not rail(scene.with_default('cart', True)).collides([1.0])
    assert rail(scene.with_default('cart', True).forbid('cart', 'ghost')).collides([1.0])


# Attached objects ----------------------------------------------------------------------------------------------------


def held(id: str, link: str, x: float, touch: tuple[str, ...] = ()) -> AttachedObject:
    return AttachedObject(id, Body.of(Box((0.2, 0.2, 0.2))), link, Pose((x, 0.0, 0.0)), frozenset(touch))


def attach(scene: PlanningScene, *objects: AttachedObject) -> PlanningScene:
    poses = RobotFrames(RAIL, scene.frame).link_poses(scene.joints)
    for thing in objects:
        scene = scene.attach_new(thing, poses)
    return scene


def test_an_attached_object_moves_with_its_link() -> None:
    scene = scene_with(box('crate', 1.0))

    assert not rail(scene).collides([0.5])
    assert rail(attach(scene, held('tool', 'cart', 0.35))).collides([0.5])
    assert not rail(attach(scene, held('tool', 'cart', 0.35)).allow('tool', 'crate')).collides([0.5])


def test_an_attached_object_may_touch_its_link_and_its_touch_links_only() -> None:
    scene = scene_with()
    tool = AttachedObject('tool', Body.of(Box((0.2, 1.0, 1.2))), 'cart')

    (contact, *others) = rail(attach(scene, tool)).contacts([0.0])
    assert (contact.a, contact.b, contact.kind_a, contact.kind_b) == ('finger', 'tool', 'link', 'attached')
    assert [other.a for other in others] == ['thumb']
    assert not rail(attach(scene, replace(tool, touch_links=frozenset(['finger', 'thumb'])))).collides([0.0])


def test_objects_on_different_links_collide_and_those_on_one_link_do_not() -> None:
    apart, close = held('a', 'finger', 0.3), held('b', 'thumb', 0.3)

    assert not rail(attach(scene_with(), apart, close)).collides([0.0])
    assert rail(attach(scene_with().with_joints({'grip': 0.06}), apart, close).allow('finger', 'thumb')).collides([0.0])
    assert not rail(attach(scene_with(), held('a', 'cart', 0.3), held('b', 'cart', 0.35))).collides([0.0])


# Padding and scale ---------------------------------------------------------------------------------------------------


def test_padding_keeps_a_distance_from_the_world_and_not_from_oneself() -> None:
    scene = scene_with(box('crate', 1.0)).with_joints({'grip': 0.11})  # finger and thumb are 20 mm apart

    assert not rail(scene).collides([0.79])
    assert rail(scene, padding=0.02).collides([0.79])
    assert not rail(scene, padding=0.02).collides([0.77])
    assert not rail(scene, padding=0.05).collides([0.0])
    assert rail(scene, self_padding=0.05).collides([0.0])


def test_padding_counts_for_attached_objects_too() -> None:
    scene = attach(scene_with(box('crate', 1.0)), held('tool', 'cart', 0.35))

    assert not rail(scene).collides([0.44])
    assert rail(scene, padding=0.02).collides([0.44])


def test_links_have_padding_and_scale_of_their_own() -> None:
    scene = scene_with(box('crate', 1.0))
    padded = replace(scene, link_padding=PersistentMap({'cart': 0.05}))
    grown = replace(scene, link_scale=PersistentMap({'cart': 1.5}))

    for wide in (padded, grown):
        assert rail(wide).collides([0.76])
        assert not rail(wide).collides([0.74])


def test_a_world_can_be_padded_anew() -> None:
    scene = scene_with(box('crate', 1.0)).with_joints({'grip': 0.11})
    world = rail(scene, padding=0.05)

    assert not world.padded(0.0, 0.0).collides([0.79])
    assert world.padded(0.02, 0.0).collides([0.79])
    assert not world.padded(0.02, 0.0, {'cart': 0.005}).collides([0.79])
    assert world.padded(0.02, 0.0, {'finger': 0.0}).collides([0.79])
    assert world.padded(0.0, 0.05).collides([0.0])
    assert world.collides([0.76])  # as before
    with pytest.raises(ValueError, match='no length'):
        world.padded(0.0, 0.0, {'cart': -1.0})


def test_links_are_neither_padded_nor_scaled_against_each_other() -> None:
    narrow = scene_with().with_joints({'grip': 0.11})
    wide = replace(narrow, link_padding=PersistentMap({'finger': 0.1}), link_scale=PersistentMap({'thumb': 1.5}))

    assert not rail(wide).collides([0.0])


# Contacts and clearance ----------------------------------------------------------------------------------------------


def test_contacts_tell_who_where_and_how_deep() -> None:
    world = rail(scene_with(box('crate', 1.0)))

    (contact,) = world.contacts([0.82])

    assert (contact.a, contact.b, contact.kind_a, contact.kind_b) == ('cart', 'crate', 'link', 'object')
    assert contact.depth == pytest.approx(0.02)
    assert contact.normal == pytest.approx((1.0, 0.0, 0.0))
    assert 0.9 - 1e-9 <= contact.position[0] <= 0.92 + 1e-9
    assert world.contacts([0.0]) == ()


def test_within_the_padding_there_is_a_contact_without_depth() -> None:
    (contact,) = rail(scene_with(box('crate', 1.0)), padding=0.05).contacts([0.78])

    assert contact.depth == 0.0
    assert contact.position == pytest.approx((0.89, 0.0, 0.0))
    assert contact.normal == pytest.approx((1.0, 0.0, 0.0))


@pytest.mark.parametrize('other', [Box((0.3, 0.2, 0.1)), Capsule(0.05, 0.3), Cone(0.1, 0.3), Cylinder(0.1, 0.2)])
@pytest.mark.parametrize('one', [Box((0.1, 0.2, 0.4)), Sphere(0.1), Cylinder(0.1, 0.4)])
def test_moving_along_the_normal_by_the_depth_parts_two(one: Shape, other: Shape) -> None:
    robot = RobotGeometry(RAIL, [LinkBody('cart', one, np.eye(4))], 'base')
    random = np.random.default_rng(SEED)
    for turn in Rotation.random(30, rng=random):
        place = np.eye(4)
        place[:3, :3], place[:3, 3] = turn.as_matrix(), random.uniform(-0.08, 0.08, 3)
        (contact,) = CollisionWorld(robot, scene_with(_thing(other, place)), ['slide']).contacts([0.0])
        assert contact.depth <= 1.05 * -coal_distance(one, other, place) + 1e-4
        inside = np.eye(4)
        inside[:3, 3] = contact.position
        point = Sphere(1e-9)
        assert coal_distance(point, one, np.linalg.inv(inside)) < 1e-6
        assert coal_distance(point, other, np.linalg.inv(inside) @ place) < 1e-6
        place[:3, 3] += np.array(contact.normal) * (contact.depth + 1e-6)
        assert not CollisionWorld(robot, scene_with(_thing(other, place)), ['slide']).collides([0.0])


def _thing(shape: Shape, pose: Matrix) -> WorldObject:
    return WorldObject('thing', Body.of(shape), Pose.of(pose))


def test_the_same_state_has_the_same_contacts_whatever_was_asked_before(gp8: Arm) -> None:
    world = gp8.world(gp8.scene('kitchen'))
    q = gp8.random_states(50, SEED)

    before = [world.contacts(row) for row in q]
    after = [world.contacts(row) for row in reversed(q)][::-1]

    assert before == after
    assert [bool(found) for found in before] == world.collide(q).tolist()
    assert [len(world.contacts(row, most=1)) for row in q] == [min(len(found), 1) for found in before]


def test_clearance_is_the_smallest_distance_of_what_must_not_touch(gp8: Arm) -> None:
    scene = gp8.scene('kitchen')
    world, judge = gp8.world(scene), PinocchioWorld(gp8.model.urdf, gp8.bodies, scene, gp8.joints)

    for q in gp8.random_states(60, SEED):
        distance, a, b = world.clearance(q)
        assert distance == pytest.approx(max(judge.distance(q), 0.0), abs=1e-5)
        assert not scene.may_touch(a, b)


def test_with_nothing_to_touch_the_clearance_is_endless() -> None:
    assert rail(scene_with().allow('finger', 'thumb').allow('cart', 'finger', 'thumb')).clearance([0.0]) == (
        math.inf,
        '',
        '',
    )


# Edges ---------------------------------------------------------------------------------------------------------------


def test_an_edge_is_free_only_if_all_its_samples_are() -> None:
    world = rail(scene_with(box('crate', 1.0)))

    assert world.edge_free([-1.0], [0.75], 0.01)
    assert not world.edge_free([0.0], [2.0], 0.01)
    assert world.edge_free([0.5], [1.5], 1.0)  # steps over it, as asked
    assert not world.edge_free([0.85], [3.0], 5.0)
    assert not world.edge_free([3.0], [0.85], 5.0)
    assert world.edge_free([0.0], [0.0], 0.01)


def test_an_edge_is_free_if_all_its_samples_are(gp8: Arm) -> None:
    world = gp8.world(gp8.scene('seed_cell'), padding=0.002)
    room = make_room(world.data)
    starts, ends = gp8.random_states(60, SEED), gp8.random_states(60, SEED + 1)

    for q0, q1 in zip(starts, ends, strict=True):
        count = math.ceil(np.abs(q1 - q0).max() / 0.05)
        along = world.collide(q0 + np.linspace(0.0, 1.0, count + 1)[:, np.newaxis] * (q1 - q0))
        assert edge_free(world.data, q0, q1, 0.05, room) != along.any()


# Scenes --------------------------------------------------------------------------------------------------------------


def test_a_body_in_a_bowl_does_not_touch_it() -> None:
    bowl = trimesh.creation.annulus(0.3, 0.35, 0.4)  # a wall around, open above and below
    scene = scene_with(WorldObject('bowl', Body.of(TriangleMesh.of(bowl)), Pose((2.0, 0.0, 0.0))))

    world = rail(scene.allow('bowl', 'finger', 'thumb'))

    assert not world.collides([2.0])
    assert world.collides([2.25])
    assert not world.collides([2.5])


def test_a_plane_is_a_floor_without_end() -> None:
    floor = WorldObject('floor', Body.of(Plane()), Pose((0.0, 0.0, -0.15)))

    assert not rail(scene_with(floor)).collides([100.0])
    assert rail(scene_with(floor), padding=0.06).collides([-100.0])
    (contact, *_) = rail(scene_with(replace(floor, pose=Pose((0.0, 0.0, -0.07))))).contacts([3.0])
    assert contact.depth == pytest.approx(0.03)
    assert contact.normal == pytest.approx((0.0, 0.0, -1.0))


def test_a_scene_in_a_links_frame_moves_the_rest_of_the_robot() -> None:
    """The robot hangs from the link that the scene is in, whichever that is."""
    wall = [LinkBody('base', Box((0.2, 0.2, 0.2)), np.eye(4)), *BALLS]
    scene = scene_with(box('crate', -1.0), frame='cart')
    world = CollisionWorld(RobotGeometry(RAIL, wall, 'cart'), scene, ['slide'])

    assert world.collides([1.0])  # the base is now one metre behind the cart
    assert [(contact.a, contact.b) for contact in world.contacts([1.0])] == [('base', 'crate')]
    assert not world.collides([-1.0])


def test_a_frame_on_the_arm_gives_the_links_where_the_scene_sees_them(gp8: Arm) -> None:
    frames, geometry = RobotFrames(gp8.model.tree, 'link_4_r'), RobotGeometry(gp8.model.tree, gp8.bodies, 'link_4_r')
    found = geometry.moving_frames(gp8.joints[:4], {gp8.joints[5]: 0.3})
    poses = frames.link_poses({gp8.joints[5]: 0.3})

    for link, (frame, place) in found.places.items():
        way = np.eye(4)
        while frame > 0:  # at zero, a moving frame is where its constant transform puts it
            row = found.joints[frame - 1]
            before = np.vstack([row[8:].reshape(3, 4), [0.0, 0.0, 0.0, 1.0]])
            way, frame = before @ way, int(row[0])
        np.testing.assert_allclose(way @ place, poses[link], atol=1e-12)


def test_a_thousand_objects_are_as_right_as_a_few(gp8: Arm) -> None:
    random = np.random.default_rng(SEED)
    shapes = (Box((0.04, 0.05, 0.06)), Sphere(0.03), Capsule(0.02, 0.1))
    places = random.uniform((-1.5, -1.5, -0.2), (1.5, 1.5, 1.5), (1000, 3))
    things = [WorldObject(f'thing {n}', Body.of(shapes[n % 3]), Pose(tuple(p))) for n, p in enumerate(places.tolist())]
    scene = gp8.scene().add(*things)
    q = gp8.random_states(100, SEED)
    judge = PinocchioWorld(gp8.model.urdf, gp8.bodies, scene, gp8.joints)

    found = gp8.world(scene).collide(q)

    assert found.tolist() == judge.collide(q).tolist()
    assert found.any()


def test_a_snapshot_stays_as_it_is_while_scenes_go_on(gp8: Arm) -> None:
    q = gp8.random_states(300, SEED)
    scene = gp8.scene('seed_cell')
    world = gp8.world(scene)
    before = world.collide(q)
    for n in range(30):
        mesh = TriangleMesh.of(trimesh.creation.annulus(0.1, 0.2 + 0.01 * n, 0.1))
        scene = scene.add(WorldObject(f'ring {n}', Body.of(mesh), Pose((0.5, 0.0, 0.05 * n))))
        assert gp8.world(scene).collide(q).sum() >= before.sum()

    assert world.collide(q).tolist() == before.tolist()
    assert gp8.world(gp8.scene('seed_cell')).collide(q).tolist() == before.tolist()


def test_moved_and_removed_objects_are_followed(gp8: Arm) -> None:
    scene = gp8.scene().add(box('crate', 0.5, 0.0, 0.5, 0.4))
    q = gp8.random_states(500, SEED)
    moved = scene.move('crate', Pose((-0.5, 0.2, 0.5)))

    for there in (scene, moved, scene, moved.remove('crate'), scene):
        fresh = RobotGeometry(gp8.model.tree, gp8.bodies, 'base_link')
        expected = CollisionWorld(fresh, there, gp8.joints).collide(q)
        assert gp8.world(there).collide(q).tolist() == expected.tolist()


def test_attached_objects_of_an_arm_collide_where_pinocchio_says(gp8: Arm) -> None:
    scene = gp8.scene('seed_cell')
    thing = AttachedObject('load', Body.of(Box((0.06, 0.06, 0.25)), Sphere(0.08)), 'tool0', Pose((0.0, 0.0, 0.2)))
    poses = RobotFrames(gp8.model.tree, 'base_link').link_poses({})
    scene = scene.attach_new(replace(thing, touch_links=frozenset(gp8.model.hand_links)), poses)
    q = gp8.random_states(1000, SEED)

    found = gp8.world(scene).collide(q)

    judge = PinocchioWorld(gp8.model.urdf, gp8.bodies, scene, gp8.joints)
    assert found.tolist() == judge.collide(q).tolist()
    assert found.sum() > gp8.world(gp8.scene('seed_cell')).collide(q).sum()


def test_threads_share_a_world(gp8: Arm) -> None:
    world, q = gp8.world(gp8.scene('kitchen')), gp8.random_states(2000, SEED)
    expected, found = world.collide(q).tolist(), {}

    def check(number: int) -> None:
        found[number] = world.collide(q).tolist()

    threads = [threading.Thread(target=check, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all(found[n] == expected for n in range(4))


# Wrong input ---------------------------------------------------------------------------------------------------------


def test_a_joint_that_does_not_exist_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match='did you mean'):
        rail(scene_with(), ('slyde',))
    with pytest.raises(ValueError, match='follow'):
        rail(scene_with(), ('follow',))
    with pytest.raises(ValueError, match='twice'):
        rail(scene_with(), ('slide', 'slide'))


@pytest.mark.parametrize('q', [[0.0, 0.0], [[0.0]], 0.0, [math.nan], [math.inf]])
def test_positions_that_make_no_sense_are_refused(q: object) -> None:
    with pytest.raises(ValueError, match='Joint positions must'):
        rail(scene_with()).collides(q)


@pytest.mark.parametrize('padding', [-0.01, math.nan, math.inf])
def test_a_padding_that_is_no_length_is_refused(padding: float) -> None:
    with pytest.raises(ValueError, match='is no length'):
        rail(scene_with(), padding=padding)


def test_a_scene_in_another_frame_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'map'.*'base'"):
        CollisionWorld(RobotGeometry(RAIL, BALLS, 'base'), PlanningScene('map'), ['slide'])


def test_an_object_on_a_missing_link_is_refused() -> None:
    scene = replace(scene_with(), attached=PersistentMap({'tool': held('tool', 'claw', 0.0)}))
    with pytest.raises(SceneFault, match="'claw'"):
        rail(scene)


def test_meshes_that_cannot_be_checked_are_refused() -> None:
    empty = TriangleMesh(np.zeros((3, 3)), np.empty((0, 3)))
    far = TriangleMesh(np.array([[0.0, 0.0, 0.0], [1e9, 0.0, 0.0], [0.0, 1e9, 0.0]]), np.array([[0, 1, 2]]))
    broken = TriangleMesh(np.full((3, 3), np.nan), np.array([[0, 1, 2]]))
    for mesh in (empty, far, broken):
        with pytest.raises(MeshError):
            rail(scene_with(WorldObject('mesh', Body.of(mesh))))


def test_a_mesh_without_thickness_is_checked() -> None:
    sheet = TriangleMesh(np.array([[0.0, -1, -1], [0, 1, -1], [0, 0, 2]]), np.array([[0, 1, 2], [0, 0, 0]]))
    world = rail(scene_with(WorldObject('sheet', Body.of(sheet), Pose((1.0, 0.0, 0.0)))))

    assert not world.collides([0.85])
    assert world.collides([0.95])
    floor = WorldObject('floor', Body.of(Plane()), Pose((0.0, 0.0, -2.0)))
    tool = AttachedObject('tool', Body.of(sheet), 'cart')
    scene = attach(scene_with(floor), tool).allow('finger', 'thumb', 'cart', 'tool').allow('thumb', 'cart', 'tool')
    assert rail(scene).clearance([0.0]) == (pytest.approx(1.0), 'tool', 'floor')


def test_compiled_code_takes_a_broken_state_as_colliding(gp8: Arm) -> None:
    world = gp8.world(gp8.scene('seed_cell'))

    assert collides(world.data, np.full(6, np.nan), make_room(world.data))
