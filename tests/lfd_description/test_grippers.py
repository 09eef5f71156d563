import math
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path

import coal
import numpy as np
import pinocchio
import pytest
import trimesh
import xacro
import yaml
from scipy.spatial import cKDTree
from support.sculpted import assert_made, gripper_files

from lfd_description.bodies import Body, collision_bodies, visual_bodies
from lfd_description.collision_geometry import collision_geometry
from lfd_description.grasp_data import FingerGraspData, SuctionGraspData
from lfd_description.grippers import (
    Gripper,
    GripperError,
    UnknownGripper,
    find_gripper,
    gripper_names,
    load_gripper,
)
from lfd_description.kinematics import Tree
from lfd_description.meshes import shape_mesh
from lfd_description.robots import find_robot, robot_names
from lfd_description.shapes import Box, Cylinder, Shape
from lfd_description.urdf import Matrix, RobotTree, parse_urdf

ROOT = Path(__file__).parents[2]
FINGERS = [name for name in gripper_names() if find_gripper(name).kind == 'finger']
SUCTION = [name for name in gripper_names() if find_gripper(name).kind == 'suction']

# Every arm's flange has x out; the plain arm is one joint and a tool0, which has z out.
OUT_OF_FLANGE = '0 ${pi / 2} 0'
PLAIN_ARM = """
  <link name="${prefix}base_link"/>
  <joint name="${prefix}turn" type="revolute">
    <origin xyz="0 0 0.5" rpy="0 1 0"/>
    <parent link="${prefix}base_link"/>
    <child link="${prefix}tool0"/>
    <axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
  <link name="${prefix}tool0"/>
"""

each_gripper = pytest.mark.parametrize('name', gripper_names())
each_prefix = pytest.mark.parametrize('prefix', ['', 'left_'])


def mounted(gripper: Gripper, folder: Path, *, prefix: str = '', robot: str | None = None) -> str:
    """The URDF of an arm with the gripper on it; without a robot, of the plain arm."""
    arm, parent, rpy = PLAIN_ARM, 'tool0', '0 0 0'
    if robot is not None:
        arm = f'<xacro:include filename="{find_robot(robot).xacro_file}"/>'
        parent, rpy = 'flange', OUT_OF_FLANGE
    file = folder / 'mounted.urdf.xacro'
    file.write_text(
        f"""<robot name="mounted" xmlns:xacro="http://www.ros.org/wiki/xacro">
          <xacro:property name="prefix" value="{prefix}"/>
          {arm}
          <xacro:include filename="{gripper.xacro_file}"/>
          <xacro:lfd_gripper prefix="{prefix}" parent="{parent}" rpy="{rpy}"/>
        </robot>"""
    )
    return str(xacro.process_file(str(file), mappings={'prefix': prefix}).toxml())


def postures(gripper: Gripper, count: int = 11) -> Iterator[dict[str, float]]:
    """The actuated joint's position from closed to open."""
    data = gripper.grasp_data
    if gripper.joint is None:
        yield {}
        return
    column = data.joints.index(gripper.joint)
    for position in np.linspace(data.grasp_posture[column], data.pregrasp_posture[column], count):
        yield {gripper.joint: float(position)}


def below(tree: RobotTree, link: str) -> set[str]:
    """The link and all that hang below it."""
    found = {link}
    for joint in tree.joints:  # xacro writes parents first
        if joint.parent in found:
            found.add(joint.child)
    return found


def contacts(bodies: list[Body], poses: dict[str, Matrix], shape: Shape, pose: Matrix) -> set[str]:
    """The links that a shape at a pose in the root's frame collides with."""
    geometry = collision_geometry(shape).exact
    return {body.link for body in bodies if collide(body.shape, poses[body.link] @ body.origin, geometry, pose)}


def collide(shape: Shape, pose: Matrix, other: coal.CollisionGeometry, other_pose: Matrix) -> bool:
    result = coal.CollisionResult()
    coal.collide(
        collision_geometry(shape).exact, transform(pose), other, transform(other_pose), coal.CollisionRequest(), result
    )
    return bool(result.isCollision())


def transform(pose: Matrix) -> coal.Transform3s:
    return coal.Transform3s(np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))


def outside(body: Body, points: Matrix) -> Matrix:
    """How far [m] points in the link's frame lie outside a solid, (n,); zero inside."""
    local = (points - body.origin[:3, 3]) @ body.origin[:3, :3]
    if isinstance(body.shape, Box):
        beyond = np.abs(local) - 0.5 * np.array(body.shape.size)
    else:
        assert isinstance(body.shape, Cylinder)
        radius = np.hypot(local[:, 0], local[:, 1])
        beyond = np.column_stack([radius - body.shape.radius, np.abs(local[:, 2]) - 0.5 * body.shape.height])
    distance: Matrix = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    return distance


def points_of(body: Body) -> Matrix:
    """The corners of a body's surface in the link's frame, (n, 3) [m]."""
    vertices: Matrix = np.asarray(shape_mesh(body.shape).vertices) @ body.origin[:3, :3].T + body.origin[:3, 3]
    return vertices


def surface(body: Body) -> Matrix:
    """Points all over a body's surface in the link's frame, (n, 3) [m]."""
    points, _ = trimesh.sample.sample_surface(shape_mesh(body.shape), 5000, seed=20261116)
    placed: Matrix = points @ body.origin[:3, :3].T + body.origin[:3, 3]
    return placed


def object_at(tcp: Matrix, size: tuple[float, float, float], depth: float) -> Matrix:
    """The pose of a box whose near face the tcp is `depth` [m] behind."""
    pose = np.eye(4)
    pose[2, 3] = 0.5 * size[2] - depth
    return tcp @ pose


def test_the_grippers_of_the_suite_are_found() -> None:
    assert set(gripper_names()) >= {'two_finger', 'suction'}


@pytest.mark.parametrize(
    ('name', 'hint'),
    [
        ('two_fingers', " (did you mean 'two_finger'?)"),
        ('Suction', " (did you mean 'suction'?)"),
        ('../suction', " (did you mean 'suction'?)"),
        ('hook', ''),
    ],
)
def test_an_unknown_gripper_is_answered_with_those_there_are(name: str, hint: str) -> None:
    with pytest.raises(UnknownGripper) as error:
        find_gripper(name)
    assert str(error.value) == f"There is no gripper '{name}'{hint}; choose one of {', '.join(gripper_names())}."


def test_the_two_finger_gripper_has_the_published_grasp_data() -> None:
    data = find_gripper('two_finger').grasp_data

    assert isinstance(data, FingerGraspData)
    assert (data.base_link, data.end_effector_name, data.end_effector_type) == ('world', 'hand', 'finger')
    assert (data.max_finger_width, data.min_finger_width, data.max_grasp_width) == (0.049, 0.030, 0.044)
    assert data.gripper_finger_width == 0.006
    assert data.joints == ('joint_left_finger', 'joint_right_finger')
    assert (data.pregrasp_posture, data.grasp_posture) == ((0.04, -0.04), (0.0, 0.0))
    assert data.tcp_to_eef_mount_transform == (0, 0, 0, 0, 0, 0)
    assert (data.grasp_resolution, data.angle_resolution) == (0.05, 90)
    assert (data.grasp_max_depth, data.grasp_min_depth, data.grasp_depth_resolution) == (0.006, 0.003, 1.0)
    assert (data.approach_distance_desired, data.retreat_distance_desired) == (0.05, 0.05)
    assert (data.lift_distance_desired, data.grasp_padding_on_approach) == (0.01, 0.003)
    assert (data.pregrasp_time_from_start, data.grasp_time_from_start) == (0.0, 0.0)


@each_gripper
@each_prefix
@pytest.mark.parametrize('robot', [None, *robot_names()])
def test_it_is_mounted_on_any_arm(name: str, prefix: str, robot: str | None, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    xml = mounted(gripper, tmp_path, prefix=prefix, robot=robot)

    tree = parse_urdf(xml)

    assert tree.root == f'{prefix}base_link'
    assert all(link.startswith(prefix) for link in tree.links)
    assert all(joint.name.startswith(prefix) for joint in tree.joints)
    links = below(tree, f'{prefix}hand_base')
    assert {f'{prefix}{link}' for link in ('tcp', *gripper.touch_links)} <= links
    assert {body.link for body in visual_bodies(xml)} & links == {body.link for body in collision_bodies(xml)} & links
    poses = Tree(tree).poses_at({})
    tool0, hand, tcp = (poses[f'{prefix}{link}'] for link in ('tool0', 'hand_base', 'tcp'))
    np.testing.assert_allclose(hand[:3, 2], tool0[:3, 2], atol=1e-12)
    np.testing.assert_allclose(hand[:3, 3], tool0[:3, 3], atol=1e-12)
    np.testing.assert_allclose((np.linalg.inv(hand) @ tcp)[:3, 3], gripper.tcp, atol=1e-12)
    np.testing.assert_allclose(tcp[:3, :3], hand[:3, :3], atol=1e-12)


@each_gripper
@each_prefix
def test_pinocchio_loads_it_with_the_same_frames(name: str, prefix: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    xml = mounted(gripper, tmp_path, prefix=prefix)
    tree = Tree(parse_urdf(xml))
    model = pinocchio.buildModelFromXML(xml, mimic=True)
    data = model.createData()

    for posture in postures(gripper, 3):
        positions = {f'{prefix}turn': 0.3, **{f'{prefix}{joint}': value for joint, value in posture.items()}}
        q = pinocchio.neutral(model)
        for joint, value in positions.items():
            q[model.joints[model.getJointId(joint)].idx_q] = value
        pinocchio.framesForwardKinematics(model, data, q)
        for link, pose in tree.poses_at(positions).items():
            np.testing.assert_allclose(data.oMf[model.getFrameId(link)].homogeneous, pose, atol=1e-12)


@each_gripper
def test_its_links_weigh_what_it_weighs_and_turn_like_bodies(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    robot = ET.fromstring(mounted(gripper, tmp_path))

    mass = 0.0
    for inertial in robot.findall('link/inertial'):
        mass += float(inertial.find('mass').get('value'))
        tensor = {key: float(value) for key, value in inertial.find('inertia').attrib.items()}
        principal = np.linalg.eigvalsh(
            [
                [tensor['ixx'], tensor['ixy'], tensor['ixz']],
                [tensor['ixy'], tensor['iyy'], tensor['iyz']],
                [tensor['ixz'], tensor['iyz'], tensor['izz']],
            ]
        )
        assert principal[0] > 0
        assert principal[0] + principal[1] > principal[2]
    assert mass == pytest.approx(gripper.mass)


@each_gripper
def test_a_link_that_moves_has_mass(name: str, tmp_path: Path) -> None:
    xml = mounted(find_gripper(name), tmp_path)
    heavy = {link.get('name') for link in ET.fromstring(xml).findall('link') if link.find('inertial') is not None}

    moving = {joint.child for joint in parse_urdf(xml).joints if joint.moves and joint.name != 'turn'}

    assert moving <= heavy


@each_gripper
def test_what_is_seen_is_what_collides(name: str, tmp_path: Path) -> None:
    xml = mounted(find_gripper(name), tmp_path)
    solids, looks = collision_bodies(xml), visual_bodies(xml)

    for link in {body.link for body in looks}:
        seen = np.concatenate([points_of(body) for body in looks if body.link == link])
        own = [body for body in solids if body.link == link]
        assert np.min([outside(body, seen) for body in own], axis=0).max() < 1e-5
        # Solids that reach much further than the body in them would waste space.
        skin = np.concatenate([surface(body) for body in looks if body.link == link])
        solid = np.concatenate([surface(body) for body in own])
        hidden = np.sum([outside(body, solid) == 0.0 for body in own], axis=0) > 1
        assert cKDTree(skin).query(solid[~hidden])[0].max() < 0.007


@each_gripper
def test_nothing_sticks_out_beyond_the_tcp_or_behind_the_flange(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    xml = mounted(gripper, tmp_path)
    tree = Tree(parse_urdf(xml))

    for posture in postures(gripper, 3):
        poses = tree.poses_at(posture)
        from_hand = np.linalg.inv(poses['hand_base'])
        heights = np.concatenate(
            [
                (points_of(body) @ (from_hand @ poses[body.link])[:3, :3].T + (from_hand @ poses[body.link])[:3, 3])
                for body in collision_bodies(xml)
            ]
        )[:, 2]
        assert heights.min() == pytest.approx(0.0, abs=1e-9)
        assert heights.max() == pytest.approx(gripper.tcp[2], abs=1e-9)


@each_gripper
def test_its_plate_is_as_wide_as_it_says(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    looks = [body for body in visual_bodies(mounted(gripper, tmp_path)) if body.link == 'hand_base']

    points = np.concatenate([points_of(body) for body in looks])
    plate = points[points[:, 2] < 0.005]

    assert 2.0 * np.hypot(plate[:, 0], plate[:, 1]).max() == pytest.approx(gripper.mount_diameter, abs=1e-4)


@each_gripper
def test_its_parts_never_touch_each_other(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    xml = mounted(gripper, tmp_path)
    tree, bodies = Tree(parse_urdf(xml)), collision_bodies(xml)
    moving = {joint.child for joint in parse_urdf(xml).joints if joint.moves and joint.name != 'turn'}

    for posture in postures(gripper, 41):
        poses = tree.poses_at(posture)
        for one, two in combinations(bodies, 2):
            if one.link != two.link and {one.link, two.link} & moving:
                pose, other = poses[one.link] @ one.origin, poses[two.link] @ two.origin
                assert not collide(one.shape, pose, collision_geometry(two.shape).exact, other)


@pytest.mark.parametrize('name', FINGERS)
@each_prefix
def test_one_joint_moves_the_fingers(name: str, prefix: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    tree = parse_urdf(mounted(gripper, tmp_path, prefix=prefix))
    data = gripper.grasp_data
    assert isinstance(data, FingerGraspData)
    assert gripper.joint

    moving = [joint for joint in tree.joints if joint.moves and joint.name != f'{prefix}turn']

    assert [joint.name for joint in moving if joint.mimic is None] == [f'{prefix}{gripper.joint}']
    for actuated, opened, closed in zip(data.joints, data.pregrasp_posture, data.grasp_posture, strict=True):
        limits = tree.joint[f'{prefix}{actuated}'].limits
        assert limits
        assert (limits.lower, limits.upper) == (min(opened, closed), max(opened, closed))
    for width in np.linspace(data.min_finger_width, data.max_finger_width, 5):
        posture = dict(zip(data.joints, data.posture(width), strict=True))
        for actuated, position in posture.items():
            mimic = tree.joint[f'{prefix}{actuated}'].mimic
            assert mimic is None or position == pytest.approx(mimic.position(posture[gripper.joint]), abs=1e-12)
    for joint in moving:
        assert joint.limits
        if joint.mimic is not None:
            ends = [joint.mimic.position(posture[gripper.joint]) for posture in postures(gripper, 2)]
            assert sorted(ends) == pytest.approx([joint.limits.lower, joint.limits.upper], abs=1e-12)


@pytest.mark.parametrize('name', FINGERS)
def test_an_object_as_wide_as_the_grasp_data_says_fits_between_the_pads(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    data = gripper.grasp_data
    assert isinstance(data, FingerGraspData)
    xml = mounted(gripper, tmp_path)
    tree, bodies = Tree(parse_urdf(xml)), list(collision_bodies(xml))

    widths = np.linspace(data.min_finger_width, data.max_finger_width, 9)
    for width, depth in product(widths, (data.grasp_min_depth, data.grasp_max_depth)):
        posture = dict(zip(data.joints, data.posture(width), strict=True))
        poses = tree.poses_at({gripper.joint: posture[gripper.joint]})
        for slack, touched in ((-2e-5, set()), (2e-5, set(gripper.touch_links))):
            size = (0.05, width + slack, 0.05)
            pose = object_at(poses['tcp'], size, depth)
            assert contacts(bodies, poses, Box(size), pose) == touched


@pytest.mark.parametrize('name', FINGERS)
def test_the_pads_are_as_wide_across_as_the_grasp_data_says(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    data = gripper.grasp_data
    assert isinstance(data, FingerGraspData)
    xml = mounted(gripper, tmp_path)
    tree, bodies = Tree(parse_urdf(xml)), list(collision_bodies(xml))
    poses = tree.poses_at({})
    beside = np.eye(4)

    for slack, touched in ((1e-5, set()), (-1e-5, set(gripper.touch_links))):
        # A plate that passes the pads at one side, across both fingers.
        beside[0, 3] = 0.5 * data.gripper_finger_width + slack + 0.005
        pose = object_at(poses['tcp'], (0.01, 0.1, 0.05), data.grasp_max_depth) @ beside
        assert contacts(bodies, poses, Box((0.01, 0.1, 0.05)), pose) == touched


@pytest.mark.parametrize('name', FINGERS)
def test_the_tcp_stays_midway_between_the_fingers(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    tree = Tree(parse_urdf(mounted(gripper, tmp_path)))

    for posture in postures(gripper):
        poses = tree.poses_at(posture)
        left, right = (poses[link][:3, 3] for link in gripper.touch_links)
        np.testing.assert_allclose(0.5 * (left + right), poses['tcp'][:3, 3], atol=1e-12)
        across = (left - right) / np.linalg.norm(left - right)
        np.testing.assert_allclose(across, poses['tcp'][:3, 1], atol=1e-9)


@pytest.mark.parametrize('name', SUCTION)
def test_only_the_cup_touches_what_it_sucks(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    data = gripper.grasp_data
    assert isinstance(data, SuctionGraspData)
    xml = mounted(gripper, tmp_path)
    tree, bodies = parse_urdf(xml), list(collision_bodies(xml))
    poses = Tree(tree).poses_at({})
    size = (0.2, 0.2, 0.05)

    assert [joint.name for joint in tree.joints if joint.moves] == ['turn']
    assert contacts(bodies, poses, Box(size), object_at(poses['tcp'], size, -1e-5)) == set()
    for depth in (max(data.grasp_min_depth, 1e-5), data.grasp_max_depth):
        assert contacts(bodies, poses, Box(size), object_at(poses['tcp'], size, depth)) == set(gripper.touch_links)


@pytest.mark.parametrize('name', SUCTION)
def test_the_cup_covers_the_area_that_sucks(name: str, tmp_path: Path) -> None:
    gripper = find_gripper(name)
    data = gripper.grasp_data
    assert isinstance(data, SuctionGraspData)
    (lip,) = [body for body in visual_bodies(mounted(gripper, tmp_path)) if body.link in gripper.touch_links]

    size = np.ptp(points_of(lip), axis=0)

    assert size[:2] == pytest.approx([data.active_suction_range_x, data.active_suction_range_y], abs=5e-4)


def test_the_mesh_files_are_what_the_sculptor_makes(tmp_path: Path) -> None:
    assert_made(gripper_files(), tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the two-finger gripper's folder to spoil."""
    copy = tmp_path / 'my_gripper'
    shutil.copytree(find_gripper('two_finger').folder, copy)
    return copy


def change(file: Path, **changes: object) -> None:
    data = yaml.safe_load(file.read_text())
    data.update(changes)
    file.write_text(yaml.safe_dump({key: value for key, value in data.items() if value is not ...}))


def test_a_folder_is_a_gripper(folder: Path) -> None:
    gripper = load_gripper(folder)

    assert gripper.name == 'my_gripper'
    assert (gripper.kind, gripper.joint, gripper.gpio) == ('finger', 'joint_left_finger', None)
    assert gripper.xacro_file == folder / 'my_gripper.xacro'
    assert gripper.grasp_data_file == folder / 'grasp_data.yaml'


def test_a_suction_gripper_is_switched_by_an_output() -> None:
    gripper = find_gripper('suction')

    assert (gripper.kind, gripper.joint, gripper.gpio) == ('suction', None, 'vacuum')


@pytest.mark.parametrize(
    'key', ['title', 'kind', 'mass_kg', 'payload_kg', 'mount_diameter_m', 'tcp_xyz_m', 'joint', 'touch_links']
)
def test_a_missing_key_is_named(folder: Path, key: str) -> None:
    change(folder / 'gripper.yaml', **{key: ...})

    with pytest.raises(GripperError) as error:
        load_gripper(folder)
    assert str(error.value) == f"{folder}/gripper.yaml lacks the key '{key}'."


@pytest.mark.parametrize(
    ('key', 'value', 'wanted'),
    [
        ('title', 5, 'a text'),
        ('kind', 'magnet', 'one of finger, suction'),
        ('mass_kg', 0, 'a number above zero'),
        ('mass_kg', math.nan, 'a number above zero'),
        ('payload_kg', '1 kg', 'a number above zero'),
        ('tcp_xyz_m', [0, 0], 'a list of 3 numbers [m]'),
        ('tcp_xyz_m', [0, 0, math.inf], 'a list of 3 numbers [m]'),
        ('joint', ['a'], 'a text'),
        ('touch_links', [], 'a list of different names'),
    ],
)
def test_a_wrong_value_is_named(folder: Path, key: str, value: object, wanted: str) -> None:
    change(folder / 'gripper.yaml', **{key: value})

    with pytest.raises(GripperError) as error:
        load_gripper(folder)
    assert str(error.value) == f"{folder}/gripper.yaml has {value!r} for the key '{key}', which must be {wanted}."


def test_an_unknown_key_is_named(folder: Path) -> None:
    change(folder / 'gripper.yaml', mass=1)

    with pytest.raises(GripperError, match=r"has the unknown key 'mass' \(did you mean 'mass_kg'\?\); remove it\.$"):
        load_gripper(folder)


def test_a_joint_that_the_grasp_data_does_not_know_is_refused(folder: Path) -> None:
    change(folder / 'gripper.yaml', joint='joint_thumb')

    with pytest.raises(GripperError, match=r'one of the joints of .*: joint_left_finger, joint_right_finger\.$'):
        load_gripper(folder)


def test_grasp_data_of_another_kind_is_refused(folder: Path) -> None:
    shutil.copy(find_gripper('suction').grasp_data_file, folder)

    with pytest.raises(GripperError, match="for the key 'kind', which must be suction, the end_effector_type of"):
        load_gripper(folder)


def test_wrong_grasp_data_are_a_wrong_gripper(folder: Path) -> None:
    change(folder / 'grasp_data.yaml', base_link=...)

    with pytest.raises(GripperError) as error:
        load_gripper(folder)
    assert str(error.value) == f"{folder}/grasp_data.yaml lacks the key 'base_link'."
