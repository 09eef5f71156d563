"""Strangers' URDFs become robots, or are refused in one sentence, and nothing is left behind."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import trimesh
import yaml
from support.urdfs import PUBLISHED, ball, joint, link, robot, serial_arm

from lfd_description.bodies import visual_bodies
from lfd_description.grippers import GripperError
from lfd_description.meshes import MeshError, shape_mesh
from lfd_description.model.builder import build_model, mesh_finder
from lfd_description.model.findings import ModelError
from lfd_description.model.importer import Imported, Request, import_robot
from lfd_description.robots import RobotError, load_robot, robot_description
from lfd_description.urdf import UrdfError, parse_urdf
from lfd_planner.robot.ik import make_solver

SEED = 20261116
INCLUDING = (
    '<robot name="made" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="part.xacro"/></robot>'
)
REFUSALS = (UrdfError, ModelError, RobotError, MeshError, GripperError)


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    folder = tmp_path / 'robots'
    folder.mkdir()
    return folder


def add(text: str, robots: Path, file: str = 'arm.urdf', **options: object) -> Imported:
    path = robots.parent / file
    path.write_text(text)
    return import_robot(Request(path, **options), robots)


PUBLISHED_ARMS = [
    ('ur_description/urdf/ur3_robot.urdf', None, 'parallel axes'),
    ('ur_description/urdf/ur5_robot.urdf', None, 'parallel axes'),
    ('ur_description/urdf/ur10_robot.urdf', None, 'parallel axes'),
    ('ur_description/urdf/ur5_gripper.urdf', None, 'parallel axes'),
    ('panda_description/urdf/panda.urdf', None, 'numeric'),
    ('panda_description/urdf/panda.urdf', 'panda_link8', 'numeric'),
    ('pr2_description/urdf/pr2.urdf', 'r_gripper_tool_frame', 'numeric'),
    ('tiago_description/robots/tiago_no_hand.urdf', None, 'numeric'),
    ('baxter_description/urdf/baxter.urdf', 'left_gripper', 'numeric'),
    ('kinova_description/robots/kinova.urdf', None, 'spherical wrist'),
    ('xarm_description/urdf/xarm7.urdf', None, 'numeric'),
    ('z1_description/urdf/z1.urdf', 'link06', 'parallel axes'),
    ('so_arm_description/urdf/so100.urdf', None, 'numeric'),
    ('talos_data/robots/talos_left_arm.urdf', None, 'spherical wrist'),
]


@pytest.mark.parametrize(('file', 'tip', 'family'), PUBLISHED_ARMS, ids=lambda value: Path(str(value)).stem)
def test_a_published_robot_is_planning_ready(file: str, tip: str | None, family: str, robots: Path) -> None:
    original = PUBLISHED / file
    imported = import_robot(Request(original, tip=tip), robots)

    assert [folder.name for folder in robots.iterdir()] == [imported.robot.name]
    model = imported.model
    assert model.family.name == family
    # What was written is the robot that was read: the tip is where pinocchio has it in the original file.
    peer = pinocchio.buildModelFromXML(original.read_text())
    data = peer.createData()
    random = np.random.default_rng(SEED)
    solver = make_solver(model.tree, model.group.base, model.group.tip)
    for _ in range(20):
        q = pinocchio.neutral(peer)
        own = [random.uniform(*_range(model, name)) for name in model.group.joints]
        for name, value in zip(model.group.joints, own, strict=True):
            _set(peer, q, name, value)
        pinocchio.framesForwardKinematics(peer, data, q)
        base, end = (
            data.oMf[peer.getFrameId(link, pinocchio.FrameType.BODY)] for link in (model.group.base, model.group.tip)
        )
        pose = (base.inverse() * end).homogeneous
        np.testing.assert_allclose(solver.chain.pose(own), pose, atol=1e-9)
        # There and back: the inverse kinematics finds a way to every pose that can be reached.
        solutions = solver.solve(pose)
        assert len(solutions) > 0
        np.testing.assert_allclose(solver.chain.poses(solutions), np.tile(pose, (len(solutions), 1, 1)), atol=2e-6)
    assert visual_bodies(model.urdf, mesh_finder(imported.robot))


def _range(model, name: str) -> tuple[float, float]:
    limits = model.limits[name]
    return max(limits.lower, -np.pi), min(limits.upper, np.pi)


def _set(peer: pinocchio.Model, q: np.ndarray, name: str, value: float) -> None:
    joint = peer.joints[peer.getJointId(name)]
    q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]


def test_what_was_found_is_told_with_its_reason(robots: Path) -> None:
    imported = add(serial_arm(6, body=ball()), robots, gripper='two_finger')

    told = {finding.what: finding for finding in imported.findings}
    assert told['tip'].value == 'tool0'
    assert told['gripper mount'].value == 'tool0'
    assert told['home'].value == '0, 0, 0, 0, 0, 0'
    assert told['hardware'].value == 'mock'
    assert all(finding.why for finding in imported.findings)
    assert {'collision checks', 'inverse kinematics', 'accelerations', 'reach'} <= told.keys()
    assert imported.model.gripper.name == 'two_finger'
    assert (imported.robot.folder / 'moveit/arm.srdf').read_text().count('end_effector') == 1


def test_the_new_folder_is_like_any_other(robots: Path) -> None:
    imported = add(serial_arm(4, body=ball(), tip='flange'), robots, name='mine', gripper='suction')

    robot = load_robot(robots / 'mine')
    tree = parse_urdf(robot_description(robot, prefix='left_', gripper=robot.default_gripper()))
    assert tree.joint_to['left_hand_base'].parent == 'left_flange'
    assert all(link.startswith('left_') for link in tree.links)
    assert build_model(robot, gripper=robot.default_gripper()).collision_matrix == imported.model.collision_matrix


def test_meshes_and_xacro_includes_come_along(robots: Path) -> None:
    """A description package of its own: a xacro file that includes another, and a mesh in a folder with a space."""
    package = robots.parent / 'my_robot'
    (package / 'meshes' / 'fine ones').mkdir(parents=True)
    shutil.copy(PUBLISHED / 'ur_description/meshes/ur5/collision/base.stl', package / 'meshes/fine ones/base.stl')
    mesh = '<mesh filename="package://my_robot/meshes/fine%20ones/base.stl" scale="1 1 1"/>'
    body = f'<visual><geometry>{mesh}</geometry></visual><collision><geometry>{mesh}</geometry></collision>'
    arm = serial_arm(3).replace('<link name="base_link"></link>', link('base_link', body))
    (package / 'part.xacro').write_text(arm)
    (package / 'arm.urdf.xacro').write_text(INCLUDING)

    imported = import_robot(Request(package / 'arm.urdf.xacro'), robots)
    shutil.rmtree(package)

    assert imported.robot.name == 'made'
    (seen,) = visual_bodies(imported.model.urdf, mesh_finder(imported.robot))
    assert seen.shape.file == robots / 'made/meshes/fine_ones/base.stl'


def test_a_description_package_need_not_be_installed(robots: Path) -> None:
    """As it comes from a repository: the folder's name is not the package's, and it uses the package beside it."""
    source = robots.parent / 'src'
    for folder, name in (('checkout-of-arm', 'arm_description'), ('parts', 'arm_parts')):
        (source / folder / 'urdf').mkdir(parents=True)
        (source / folder / 'package.xml').write_text(f'<package format="3"><name>{name}</name></package>')
    shutil.copy(PUBLISHED / 'ur_description/meshes/ur5/collision/base.stl', source / 'parts/base.stl')
    mesh = '<visual><geometry><mesh filename="package://arm_parts/base.stl"/></geometry></visual>'
    arm = serial_arm(3).replace('<link name="base_link"></link>', link('base_link', mesh))
    (source / 'parts/urdf/part.xacro').write_text(arm)
    file = source / 'checkout-of-arm/urdf/arm.urdf.xacro'
    file.write_text(INCLUDING.replace('part.xacro', '$(find arm_parts)/urdf/part.xacro'))

    imported = import_robot(Request(file), robots)
    assert (robots / 'made/meshes/parts/base.stl').is_file()
    assert imported.model.group.tip == 'tool0'


def test_a_xacro_file_gets_its_arguments_whatever_it_is_called(robots: Path) -> None:
    arm = serial_arm(3).replace('name="arm"', 'name="$(arg who)" xmlns:xacro="http://www.ros.org/wiki/xacro"')

    with pytest.raises(RobotError, match='gives no URDF'):
        add(arm, robots)
    assert add(arm, robots, arguments={'who': 'me'}).robot.name == 'me'


def box(file: Path, size: float = 0.1) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    trimesh.creation.box((size, size, size)).export(file)
    return file


def with_meshes(*names: str) -> str:
    """An arm whose links have one mesh each."""
    text = serial_arm(len(names))
    for i, name in enumerate(names, start=1):
        body = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        text = text.replace(f'<link name="link_{i}"></link>', link(f'link_{i}', body))
    return text


def test_meshes_of_like_names_stay_apart(robots: Path) -> None:
    names = ['底座.stl', '手臂.stl', 'a b.stl', 'a_b.stl', 'x/a_b.stl', '../a_b.stl']
    folder = robots.parent / 'deep'
    for i, name in enumerate(names, start=1):
        box(folder / name, 0.1 * i)
    file = folder / 'arm.urdf'
    file.write_text(with_meshes(*names))

    imported = import_robot(Request(file), robots)
    seen = visual_bodies(imported.model.urdf, mesh_finder(imported.robot))
    assert [round(float(shape_mesh(body.shape).extents[0]), 3) for body in seen] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    meshes = imported.robot.folder / 'meshes'
    assert all(body.shape.file.resolve().is_relative_to(meshes.resolve()) for body in seen)


def test_materials_and_textures_come_along_and_nothing_else(robots: Path) -> None:
    folder = robots.parent / 'parts'
    box(folder / 'body.obj')
    (folder / 'body.obj').write_text('mtllib my mat.mtl\n' + (folder / 'body.obj').read_text())
    (folder / 'my mat.mtl').write_text('newmtl a\nmap_Kd tex/red.png\nmap_Ks ../../secret.png\n')
    (folder / 'tex').mkdir()
    for name in ('parts/tex/red.png', 'secret.png', 'parts/private.png'):
        (robots.parent / name).write_bytes(b'x')
    (folder / 'dangling.png').symlink_to('nowhere')

    add(with_meshes('parts/body.obj'), robots)
    copied = sorted(str(file.relative_to(robots / 'arm')) for file in (robots / 'arm/meshes').rglob('*.*'))
    assert copied == ['meshes/parts/body.obj', 'meshes/parts/my mat.mtl', 'meshes/parts/tex/red.png']


def test_frames_in_the_middle_of_the_arm_are_no_tips(robots: Path) -> None:
    camera = link('changer_tcp') + joint('f', 'link_2', 'changer_tcp', kind='fixed')

    imported = add(serial_arm(6, tip='my_tool').replace('</robot>', camera + '</robot>'), robots)
    assert imported.model.group.tip == 'my_tool'


def test_an_arm_whose_names_are_a_gripper_s_can_do_without_that(robots: Path) -> None:
    imported = add(serial_arm(3, tip='tcp', body=ball()), robots)

    assert imported.model.group.tip == 'tcp'
    assert [file.name for file in (imported.robot.folder / 'collision_matrix').iterdir()] == ['bare.yaml']
    with pytest.raises(ModelError, match="arm2 cannot carry two_finger: There are 2 links called 'tcp'"):
        add(serial_arm(3, tip='tcp', body=ball()), robots, name='arm2', gripper='two_finger')
    assert not (robots / 'arm2').exists()


def test_soft_limits_count(robots: Path) -> None:
    soft = '<safety_controller soft_lower_limit="0.5" soft_upper_limit="1.5" k_velocity="1"/>'
    limit = '<limit lower="-2" upper="2" velocity="1" effort="1"/>'

    imported = add(serial_arm(3, inside=limit + soft), robots)
    assert {(limits.lower, limits.upper) for limits in imported.model.limits.values()} == {(0.5, 1.5)}
    assert imported.robot.poses['home'] == (1.0, 1.0, 1.0)


def test_a_home_at_a_limit_is_not_rounded_beyond_it(robots: Path) -> None:
    limit = '<limit lower="0.00012" upper="0.00013" velocity="1" effort="1"/>'

    assert add(serial_arm(3, inside=limit), robots).robot.poses['home'][0] >= 0.00012


@pytest.mark.parametrize('letter', ['&#10;', '\u2028', '\u0085'])
def test_a_name_cannot_break_the_files_that_are_made_of_it(letter: str, robots: Path) -> None:
    imported = add(serial_arm(3).replace('name="arm"', f'name="x{letter}evil: [1"'), robots, name='arm')

    for file in imported.robot.folder.rglob('*.yaml'):
        assert isinstance(yaml.safe_load(file.read_text()), dict), file


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'is empty'),
        ('<robot name="x">', 'not well-formed'),
        ('{"robot": 1}', 'not well-formed'),
        ('<sdf version="1.9"/>', 'starts with <sdf>'),
        ('<robot name="x"/>', 'has no links'),
        (robot(link('a')), 'No joint of this robot moves'),
        (
            '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + serial_arm().replace('tool0', '&b;'),
            'DOCTYPE or ENTITY',
        ),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot name="x"/>', 'DOCTYPE or ENTITY'),
        (
            serial_arm().replace('</robot>', joint('loop', 'link_2', 'tool0') + '</robot>'),
            "Link 'tool0' is the child of both",
        ),
        (
            robot(*map(link, 'abc'), joint('j', 'a', 'b'), joint('k', 'b', 'c'), joint('l', 'c', 'a')),
            'form a cycle',
        ),
        (serial_arm(inside=''), "Joint 'joint_1' is revolute but has no limits"),
        (serial_arm(inside='<limit effort="1" velocity="1" lower="a" upper="1"/>'), 'lower="a"'),
        (
            serial_arm(inside='<limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="joint_2"/>'),
            'mimics',
        ),
        (serial_arm(axis='0 0 0'), 'axis 0 0 0'),
        (serial_arm(xyz='0 0 nan'), 'must be finite'),
        (
            serial_arm(body='<visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry></visual>'),
            "in the package 'nowhere', which was not found",
        ),
        (
            serial_arm(body='<collision><geometry><mesh filename="no.stl"/></geometry></collision>'),
            "The mesh 'no.stl' is missing: there is no file",
        ),
        (
            serial_arm(body='<collision><geometry><mesh filename="broken.stl"/></geometry></collision>'),
            'broken.stl',
        ),
        (
            serial_arm(body='<collision><geometry><mesh filename="part.step"/></geometry></collision>'),
            'mesh format that is not read here',
        ),
        (
            serial_arm(body='<collision><geometry><box size="1 1"/></geometry></collision>'),
            'write three finite numbers',
        ),
        (serial_arm(body='<collision><geometry><torus/></geometry></collision>'), 'unknown geometry <torus>'),
        (serial_arm(body='<collision><geometry><sphere radius="-1"/></geometry></collision>'), 'must be above zero'),
        (serial_arm().replace('link_2', '${1+1}'), r'has a \$ in'),
        (serial_arm().replace('name="link_2"', ''), '<link> has no name'),
        (serial_arm().replace('"link_2"', '"li&#10;nk"'), 'has a line break or the like in its name'),
        (
            serial_arm(
                body='<visual><geometry><sphere radius="1"/></geometry></visual>${xacro.load_yaml("/etc/passwd")}'
            ),
            r'has a \$ in',
        ),
        (serial_arm().replace('<robot ', '<robot xmlns="http://www.ros.org" '), 'xmlns="..." attribute'),
        (serial_arm(body='<a>' * 3000 + '</a>' * 3000), 'nested more than 100 deep'),
        (
            serial_arm(body='<visual><geometry><mesh filename="broken.stl"/></geometry></visual>'),
            'broken.stl',
        ),
        (
            serial_arm(body=f'<visual><geometry><mesh filename="{"x" * 300}.stl"/></geometry></visual>'),
            'is missing',
        ),
        (
            serial_arm(body='<visual><geometry><mesh filename="http://x.org/a.stl"/></geometry></visual>'),
            'is not on this machine; download it',
        ),
        (serial_arm(inside='<limit lower="-1" upper="1" velocity="1e308" effort="1"/>'), 'no joint moves'),
        (serial_arm(1, xyz='0 0 0').replace('0 0 0.3', '0 0 0'), 'gets 0 m away from the first joint'),
        (serial_arm(xyz='0 0 1e9'), 'give lengths in metres'),
        (
            '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="m" params=""><xacro:m/>'
            '</xacro:macro><xacro:m/></robot>',
            'gives no URDF',
        ),
    ],
)
def test_what_cannot_be_used_is_refused_and_leaves_nothing(text: str, message: str, robots: Path) -> None:
    (robots.parent / 'broken.stl').write_bytes(b'solid \x00\xff not a mesh')
    (robots.parent / 'part.step').write_text('ISO-10303-21;')

    with pytest.raises(REFUSALS, match=message) as error:
        add(text, robots)
    assert '\n' not in str(error.value)
    assert list(robots.iterdir()) == []


def test_a_bomb_in_a_file_that_xacro_includes_does_not_go_off(robots: Path) -> None:
    entities = ''.join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 30}">' for i in range(1, 12))
    (robots.parent / 'part.xacro').write_text(
        f'<!DOCTYPE r [<!ENTITY e0 "boom">{entities}]><robot name="x"><link name="&e11;"/></robot>'
    )

    with pytest.raises(REFUSALS):
        add(INCLUDING, robots, 'arm.xacro')
    assert list(robots.iterdir()) == []


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'name': 'My Arm'}, "The name 'My Arm' cannot be a folder's"),
        ({'name': '../arm'}, "The name '../arm' cannot be a folder's"),
        ({'name': 'taken'}, "There is a robot 'taken' already; choose another with --name"),
        ({'tip': 'tool9'}, "There is no link 'tool9'"),
        ({'name': 'suction'}, "There is a gripper 'suction'"),
        ({'gripper': 'claw'}, "There is no gripper 'claw'"),
        ({'base': 'tool0'}, 'Nothing moves between'),
    ],
)
def test_a_wrong_request_is_refused(options: dict[str, str], message: str, robots: Path) -> None:
    (robots / 'taken').mkdir()

    with pytest.raises(REFUSALS, match=message):
        add(serial_arm(), robots, **options)
    assert [folder.name for folder in robots.iterdir()] == ['taken']


def test_a_robot_with_fingers_takes_no_other_gripper(robots: Path) -> None:
    with pytest.raises(ModelError, match=r'move below the tip, so .*leave --gripper out'):
        import_robot(Request(PUBLISHED / 'panda_description/urdf/panda.urdf', gripper='two_finger'), robots)


def test_joints_outside_the_arm_are_held_by_the_simulation(robots: Path) -> None:
    imported = import_robot(Request(PUBLISHED / 'panda_description/urdf/panda.urdf'), robots)

    held = ET.fromstring(imported.model.urdf).findall('ros2_control/joint')
    assert {joint.get('name') for joint in held} == {
        joint.name for joint in imported.model.tree.joints if joint.moves and joint.mimic is None
    }


def test_several_arms_are_asked_about(robots: Path) -> None:
    with pytest.raises(ModelError, match='--tip r_gripper_tool_frame or l_gripper_tool_frame'):
        import_robot(Request(PUBLISHED / 'pr2_description/urdf/pr2.urdf'), robots)


@pytest.mark.parametrize('content', [None, b'\xff\xfe\x00', b'x' * 10_000_001], ids=['missing', 'binary', 'huge'])
def test_a_file_that_is_no_text_is_refused(content: bytes | None, robots: Path) -> None:
    file = robots.parent / 'arm.urdf'
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(UrdfError, match=r'arm\.urdf'):
        import_robot(Request(file), robots)


def test_a_folder_that_cannot_be_written_is_named(robots: Path) -> None:
    file = robots.parent / 'arm.urdf'
    file.write_text(serial_arm())

    with pytest.raises(ModelError, match='cannot be written'):
        import_robot(Request(file), robots.parent / 'arm.urdf' / 'robots')


def test_an_import_that_is_interrupted_leaves_nothing(robots: Path) -> None:
    file = robots.parent / 'arm.urdf'
    file.write_text(serial_arm(body=ball()))

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_robot(Request(file), robots, stop)
    assert list(robots.iterdir()) == []
