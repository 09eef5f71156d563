import math
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import xacro
import yaml

from lfd_description.robots import RobotError, UnknownRobot, find_robot, load_robot, robot_description, robot_names
from lfd_description.urdf import RobotTree, parse_urdf

DEG = math.pi / 180
TURN = 360 * DEG

# The published numbers, written down here once more: lower [rad], upper [rad], velocity [rad/s]. Finds slips of
# the pen, not errors of the sheet.
GP8 = [
    (-2.9670, 2.9670, 7.9412),
    (-1.1344, 2.5307, 6.7495),
    (-1.2217, 3.3161, 9.0757),
    (-3.3161, 3.3161, 9.5993),
    (-2.3561, 2.3561, 9.5993),
    (-6.2944, 6.2944, 17.4845),
]
IRB1600 = [
    (-3.1416, 3.1416, 2.6180),
    (-1.0995, 1.9198, 2.7925),
    (-4.1015, 0.9599, 2.9670),
    (-3.4906, 3.4906, 5.5850),
    (-2.0071, 2.0071, 6.9813),
    (-6.9813, 6.9813, 7.8540),
]


def ur(*velocities: float) -> list[tuple[float, float, float]]:
    limits = [TURN, TURN, TURN / 2, TURN, TURN, TURN]
    return [(-limit, limit, velocity * DEG) for limit, velocity in zip(limits, velocities, strict=True)]


LIMITS = {
    'gp8': GP8,
    'irb1600': IRB1600,
    'ur3': ur(180, 180, 180, 360, 360, 360),
    'ur3e': ur(180, 180, 180, 360, 360, 360),
    'ur5e': ur(180, 180, 180, 180, 180, 180),
    'ur10e': ur(120, 120, 180, 180, 180, 180),
}
EFFORTS = {  # [N m]; ABB publishes none
    'gp8': [150.92, 176.4, 107.56, 55.86, 32.68, 22.54],
    'irb1600': [0, 0, 0, 0, 0, 0],
    'ur3': [56, 56, 28, 12, 12, 12],
    'ur3e': [56, 56, 28, 12, 12, 12],
    'ur5e': [150, 150, 150, 28, 28, 28],
    'ur10e': [330, 330, 150, 56, 56, 56],
}

each_robot = pytest.mark.parametrize('name', robot_names())
each_published_robot = pytest.mark.parametrize('name', LIMITS)


def tree_of(name: str, **options: str) -> RobotTree:
    return parse_urdf(robot_description(find_robot(name), **options))


def poses_of(tree: RobotTree, positions: dict[str, float]) -> dict[str, np.ndarray]:
    """The 4x4 poses of all links in the root's frame, by Rodrigues' formula."""
    poses = {tree.root: np.eye(4)}
    waiting = list(tree.joints)
    while waiting:
        joint = waiting.pop(0)
        if joint.parent not in poses:
            waiting.append(joint)
            continue
        x, y, z = joint.axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        angle = positions.get(joint.name, 0.0)
        turn = np.eye(4)
        turn[:3, :3] += math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
        poses[joint.child] = poses[joint.parent] @ joint.origin @ turn
    return poses


def test_the_robots_of_the_suite_are_found() -> None:
    assert set(robot_names()) >= {'gp8', 'irb1600', 'ur3', 'ur3e', 'ur5e', 'ur10e'}


@pytest.mark.parametrize(
    ('name', 'hint'),
    [
        ('ur5', " (did you mean 'ur5e'?)"),
        ('GP-8', " (did you mean 'gp8'?)"),
        ('../gp8', " (did you mean 'gp8'?)"),
        ('kuka', ''),
    ],
)
def test_an_unknown_robot_is_answered_with_those_there_are(name: str, hint: str) -> None:
    with pytest.raises(UnknownRobot) as error:
        find_robot(name)
    assert str(error.value) == f"There is no robot '{name}'{hint}; choose one of {', '.join(robot_names())}."


@each_published_robot
def test_its_description_is_one_tree_with_the_frames_of_ros_industrial(name: str) -> None:
    tree = tree_of(name)

    assert tree.name == name
    assert tree.root == 'base_link'
    assert {'base', 'flange', 'tool0'} <= set(tree.links)
    assert tree.joint_to['tool0'].parent == 'flange'
    moving = [joint.name for joint in tree.chain('base_link', 'tool0') if joint.moves]
    assert tuple(moving) == find_robot(name).joints


@each_published_robot
def test_tool0_looks_out_of_the_flange_along_its_x_axis(name: str) -> None:
    poses = poses_of(tree_of(name), {})

    np.testing.assert_allclose(poses['tool0'][:3, 2], poses['flange'][:3, 0], atol=1e-12)
    np.testing.assert_allclose(poses['tool0'][:3, 3], poses['flange'][:3, 3], atol=1e-12)


@each_published_robot
def test_its_limits_are_the_published_ones(name: str) -> None:
    tree = tree_of(name)
    limits = [tree.joint[joint].limits for joint in find_robot(name).joints]

    actual = [(limit.lower, limit.upper, limit.velocity) for limit in limits if limit]
    np.testing.assert_allclose(actual, LIMITS[name], rtol=1e-12)
    assert [limit.effort for limit in limits if limit] == EFFORTS[name]


@each_published_robot
def test_its_poses_are_within_its_limits_and_above_the_floor(name: str) -> None:
    robot, tree = find_robot(name), tree_of(name)

    assert {'home', 'left', 'right', 'up'} <= set(robot.poses)
    for pose in robot.poses.values():
        positions = dict(zip(robot.joints, pose, strict=True))
        for joint, position in positions.items():
            limits = tree.joint[joint].limits
            assert limits
            assert limits.lower + 0.1 < position < limits.upper - 0.1
        poses = poses_of(tree, positions)
        beyond_shoulder = [joint.child for joint in tree.chain('base_link', 'tool0') if joint.moves][1:]
        assert min(poses[link][2, 3] for link in (*beyond_shoulder, 'flange', 'tool0')) > 0.1


@each_published_robot
def test_home_holds_the_tool_downwards_in_front(name: str) -> None:
    robot = find_robot(name)

    tool = poses_of(tree_of(name), dict(zip(robot.joints, robot.poses['home'], strict=True)))['tool0']

    np.testing.assert_allclose(tool[:3, 2], [0, 0, -1], atol=1e-3)
    x, y, z = tool[:3, 3]
    assert x > 0.2
    assert abs(y) < x
    assert z > 0.2
    assert np.linalg.norm(tool[:3, 3]) < robot.reach + 0.5


@each_robot
def test_a_prefix_goes_before_every_name(name: str) -> None:
    plain, prefixed = tree_of(name), tree_of(name, prefix='left_')

    assert prefixed.links == tuple(f'left_{link}' for link in plain.links)
    assert [joint.name for joint in prefixed.joints] == [f'left_{joint.name}' for joint in plain.joints]
    controls = ET.fromstring(robot_description(find_robot(name), prefix='left_')).findall('ros2_control')
    assert [control.get('name') for control in controls] == [f'left_{name}']
    assert all(joint.get('name', '').startswith('left_') for joint in controls[0].findall('joint'))


@each_robot
def test_on_mock_hardware_it_starts_at_home(name: str) -> None:
    robot = find_robot(name)

    (control,) = ET.fromstring(robot_description(robot)).findall('ros2_control')

    assert control.findtext('hardware/plugin') == 'mock_components/GenericSystem'
    joints = control.findall('joint')
    assert [joint.get('name') for joint in joints] == list(robot.joints)
    starts = [
        float(joint.findtext('state_interface[@name="position"]/param[@name="initial_value"]', '')) for joint in joints
    ]
    assert tuple(starts) == robot.poses['home']
    for joint in joints:
        assert [interface.get('name') for interface in joint.findall('command_interface')] == ['position']
        assert [interface.get('name') for interface in joint.findall('state_interface')] == ['position', 'velocity']


@each_published_robot
def test_on_real_hardware_it_names_its_vendors_driver(name: str) -> None:
    robot = find_robot(name)
    plugins = {'ur': 'ur_robot_driver/URPositionHardwareInterface', 'abb': 'abb_hardware_interface/ABBSystemHardware'}

    controls = ET.fromstring(robot_description(robot, hardware=robot.hardware)).findall('ros2_control')

    # MotoROS2 serves trajectories itself, without ros2_control.
    expected = [] if robot.hardware == 'motoman' else [plugins[robot.hardware]]
    assert [control.findtext('hardware/plugin') for control in controls] == expected


# What the official plugins ask of a tag, read off their sources (`on_init`, `on_configure`, `export_*_interfaces`):
# command and state interfaces of every joint in this order, and the parameters without which they do not start.
OFFICIAL = {
    'ur': (
        ['position', 'velocity'],
        ['position', 'velocity', 'effort'],
        'robot_ip tf_prefix ur_type headless_mode reverse_ip reverse_port script_sender_port trajectory_port '
        'script_command_port non_blocking_read servoj_gain servoj_lookahead_time use_tool_communication '
        'kinematics/hash robot_receive_timeout',
    ),
    'abb': (['position', 'velocity'], ['position', 'velocity'], 'rws_ip rws_port egm_port'),
}


@pytest.mark.parametrize('name', [name for name in robot_names() if find_robot(name).hardware in OFFICIAL])
def test_the_official_plugin_finds_what_it_asks_for(name: str) -> None:
    robot = find_robot(name)
    commands, states, parameters = OFFICIAL[robot.hardware]
    (control,) = ET.fromstring(robot_description(robot, hardware=robot.hardware)).findall('ros2_control')

    assert [joint.get('name') for joint in control.findall('joint')] == list(robot.joints)
    for joint in control.findall('joint'):
        assert [each.get('name') for each in joint.findall('command_interface')] == commands
        assert [each.get('name') for each in joint.findall('state_interface')] == states
    given = [each.get('name') for each in control.findall('hardware/param')]
    assert [each for each in parameters.split() if each not in given] == []


@pytest.mark.parametrize('prefix', ['', 'left_'])
def test_a_ur_tells_its_speed_scaling_by_the_official_name(prefix: str) -> None:
    xml = ET.fromstring(robot_description(find_robot('ur5e'), hardware='ur', prefix=prefix))

    (gpio,) = xml.findall('ros2_control/gpio')
    # ur_robot_driver exports it below its parameter tf_prefix, whatever the tag says.
    told = xml.findtext('.//param[@name="tf_prefix"]') or ''
    assert gpio.get('name') == f'{told}speed_scaling' == f'{prefix}speed_scaling'
    assert [each.get('name') for each in gpio] == ['speed_scaling_factor']
    assert xml.findtext('.//param[@name="ur_type"]') == 'ur5e'


def test_a_motoman_whose_messages_lfd_speaks_has_a_tag_of_its_own() -> None:
    robot = find_robot('gp8')
    assert robot.kinds_of_hardware == ('mock', 'motoman', 'motoros1')
    assert find_robot('ur5e').kinds_of_hardware == ('mock', 'ur')
    (control,) = ET.fromstring(robot_description(robot, hardware='motoros1', robot_ip='10.0.0.2')).findall(
        'ros2_control'
    )
    assert control.findtext('hardware/plugin') == 'lfd_hardware/MotomanSystem'
    assert control.findtext('hardware/param[@name="robot_ip"]') == '10.0.0.2'
    with pytest.raises(RobotError, match="ur5e does not run on hardware 'motoros1'; choose mock or ur"):
        robot_description(find_robot('ur5e'), hardware='motoros1')


def test_the_driver_is_told_other_parameters() -> None:
    robot = find_robot('ur5e')

    def parameters(prefix: str = '', **told: str) -> list[str | None]:
        text = robot_description(robot, hardware='ur', prefix=prefix, hardware_parameters=told)
        return [each.text for each in ET.fromstring(text).iterfind('.//param') if each.get('name') in told]

    assert parameters(servoj_gain='500', rtde_port='4') == ['500', '4']
    assert parameters(prefix='left_', script_filename='<&"\'>') == ['<&"\'>']
    with pytest.raises(RobotError, match="'a b' is no name of a hardware parameter; write one such as connect_timeout"):
        parameters(**{'a b': '1'})
    with pytest.raises(RobotError, match="gp8 has no driver here that could take the parameter 'lead'"):
        robot_description(find_robot('gp8'), hardware='motoman', hardware_parameters={'lead': '1'})


@pytest.mark.parametrize(('name', 'key'), [('ur5e', 'robot_ip'), ('irb1600', 'rws_ip')])
def test_the_driver_is_told_where_the_controller_is(name: str, key: str) -> None:
    robot = find_robot(name)

    def address(**options: str) -> str | None:
        xml = ET.fromstring(robot_description(robot, hardware=robot.hardware, **options))
        return xml.findtext(f'ros2_control/hardware/param[@name="{key}"]')

    assert address() == {'ur5e': '192.168.56.101', 'irb1600': '192.168.125.1'}[name]
    assert address(robot_ip='robot.local') == 'robot.local'
    with pytest.raises(RobotError, match=r"The address '1 2/>' is no host"):
        address(robot_ip='1 2/>')


def test_the_files_of_ur_s_driver_are_named_where_it_is_installed(tmp_path: Path, monkeypatch) -> None:
    index = tmp_path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    for package in ('ur_robot_driver', 'ur_client_library'):
        (index / package).touch()
        (tmp_path / 'share' / package).mkdir()
    robot = find_robot('ur5e')
    names = ('script_filename', 'output_recipe_filename', 'input_recipe_filename')

    def files() -> list[str | None]:
        xml = ET.fromstring(robot_description(robot, hardware='ur'))
        return [xml.findtext(f'ros2_control/hardware/param[@name="{name}"]') for name in names]

    assert files() == [None, None, None]
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{os.environ["AMENT_PREFIX_PATH"]}:{tmp_path}')
    assert all(str(file).startswith(str(tmp_path)) for file in files())


@each_robot
def test_every_link_with_mass_has_a_possible_inertia(name: str) -> None:
    robot = ET.fromstring(robot_description(find_robot(name)))

    inertials = [inertial for link in robot.findall('link') for inertial in link.findall('inertial')]

    assert len(inertials) >= 6
    for inertial in inertials:
        x, y, z = (float(inertial.find('inertia').get(key)) for key in ('ixx', 'iyy', 'izz'))
        assert min(x, y, z) > 0
        assert x + y > z
        assert y + z > x
        assert z + x > y


@each_robot
def test_its_controllers_move_its_joints(name: str) -> None:
    robot = find_robot(name)

    parameters = yaml.safe_load(robot.controllers_file.read_text())

    manager = parameters['controller_manager']['ros__parameters']
    assert manager['update_rate'] == 125
    assert manager['joint_state_broadcaster']['type'] == 'joint_state_broadcaster/JointStateBroadcaster'
    assert manager[f'{name}_controller']['type'] == 'joint_trajectory_controller/JointTrajectoryController'
    controller = parameters[f'{name}_controller']['ros__parameters']
    assert tuple(controller['joints']) == robot.joints
    assert controller['command_interfaces'] == ['position']
    assert controller['state_interfaces'] == ['position', 'velocity']
    constraints = controller['constraints']
    assert constraints['stopped_velocity_tolerance'] > 0
    assert constraints['goal_time'] > 0
    for joint in robot.joints:
        assert 0 < constraints[joint]['goal'] <= constraints[joint]['trajectory']


def test_hardware_of_another_vendor_is_refused() -> None:
    with pytest.raises(RobotError) as error:
        robot_description(find_robot('gp8'), hardware='ur')
    assert str(error.value) == "gp8 does not run on hardware 'ur'; choose mock or motoman."


def test_the_xacro_file_itself_refuses_it_too() -> None:
    with pytest.raises(xacro.XacroException, match='gp8 runs on hardware mock or motoman, not on ur'):
        xacro.process_file(str(find_robot('gp8').xacro_file), mappings={'hardware': 'ur'})


@pytest.mark.parametrize('prefix', ['left-', '1_', 'a b', '"/>', '${1}'])
def test_a_prefix_that_makes_no_name_is_refused(prefix: str) -> None:
    with pytest.raises(RobotError, match='makes no valid name'):
        robot_description(find_robot('gp8'), prefix=prefix)


GOOD = {
    'title': 'My arm',
    'vendor': 'Me',
    'hardware': 'ur',
    'reach_m': 1,
    'payload_kg': 2.5,
    'joints': ['a', 'b'],
    'poses': {'home': [0, 1.5]},
}


def write(folder: Path, data: object) -> Path:
    folder.mkdir()
    (folder / 'robot.yaml').write_text(yaml.safe_dump(data))
    return folder


def test_a_folder_is_a_robot(tmp_path: Path) -> None:
    robot = load_robot(write(tmp_path / 'my_arm', GOOD))

    assert robot.name == 'my_arm'
    assert (robot.reach, robot.payload) == (1.0, 2.5)
    assert (robot.base, robot.tip) == ('base_link', 'tool0')
    assert (robot.accelerations, robot.gripper) == (None, None)
    assert robot.joints == ('a', 'b')
    assert robot.poses == {'home': (0.0, 1.5)}
    assert robot.controllers_file == tmp_path / 'my_arm/controllers.yaml'


@pytest.mark.parametrize('key', sorted(GOOD.keys() - {'payload_kg'}))
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    folder = write(tmp_path / 'arm', {name: value for name, value in GOOD.items() if name != key})

    with pytest.raises(RobotError) as error:
        load_robot(folder)
    assert str(error.value) == f"{folder}/robot.yaml lacks the key '{key}'."


@pytest.mark.parametrize(
    ('key', 'value', 'named', 'wanted'),
    [
        ('title', 5, 'title', 'a text'),
        ('vendor', '', 'vendor', 'a text'),
        ('hardware', 'fanuc', 'hardware', 'one of mock, motoman, abb, ur'),
        ('hardware', ['ur'], 'hardware', 'one of mock, motoman, abb, ur'),
        ('reach_m', -1, 'reach_m', 'a number above zero'),
        ('payload_kg', True, 'payload_kg', 'a number above zero'),
        ('payload_kg', math.inf, 'payload_kg', 'a number above zero'),
        ('accelerations', [1], 'accelerations', 'a list of 2 accelerations [rad/s^2], one for each joint'),
        ('accelerations', [1, 0], 'accelerations', 'a list of numbers above zero'),
        ('joints', [], 'joints', 'a list of different names'),
        ('joints', ['a', 'a'], 'joints', 'a list of different names'),
        ('joints', [['a'], 'b'], 'joints', 'a list of different names'),
        ('poses', {'rest': [0, 0]}, 'poses', 'named poses, home among them'),
        ('poses', [0, 0], 'poses', 'named poses, home among them'),
        ('poses', {'home': [0]}, 'poses.home', 'a list of 2 angles [rad], one for each joint'),
        ('poses', {'home': [0, 1], 'up': [0, 'x']}, 'poses.up', 'a list of 2 angles [rad], one for each joint'),
        ('poses', {'home': [0, math.nan]}, 'poses.home', 'a list of 2 angles [rad], one for each joint'),
        ('poses', {'home': 'here'}, 'poses.home', 'a list of 2 angles [rad], one for each joint'),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, key: str, value: object, named: str, wanted: str) -> None:
    folder = write(tmp_path / 'arm', {**GOOD, key: value})

    with pytest.raises(RobotError) as error:
        load_robot(folder)
    assert str(error.value).startswith(f'{folder}/robot.yaml has ')
    assert str(error.value).endswith(f"for the key '{named}', which must be {wanted}.")


@pytest.mark.parametrize('text', ['', '- a\n- b\n', '5'])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / 'robot.yaml').write_text(text)

    with pytest.raises(RobotError, match='must hold keys and values'):
        load_robot(tmp_path)


@pytest.mark.parametrize('data', [b'title: [', b'\xff\xfe\x00', None])
def test_an_unreadable_file_is_named(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / 'robot.yaml').write_bytes(data)

    with pytest.raises(RobotError, match='cannot be read') as error:
        load_robot(tmp_path)
    assert str(error.value).startswith(f'{tmp_path}/robot.yaml')
    assert '\n' not in str(error.value)


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


@pytest.mark.parametrize(
    'text',
    [
        None,
        '<robot',
        f'<robot {XACRO}><xacro:nothing/></robot>',
        f'<robot {XACRO}><link name="${{1 +}}"/></robot>',
        f'<robot {XACRO}><link name="${{xacro.load_yaml(\'none.yaml\')}}"/></robot>',
        f'<robot {XACRO}><link name="${{xacro.load_yaml(\'robot.yaml\').nothing}}"/></robot>',
    ],
    ids=['missing', 'not XML', 'unknown macro', 'bad expression', 'missing data', 'missing key'],
)
def test_a_wrong_xacro_file_is_named(tmp_path: Path, text: str | None) -> None:
    robot = load_robot(write(tmp_path / 'arm', GOOD))
    if text is not None:
        robot.xacro_file.write_text(text)

    with pytest.raises(RobotError) as error:
        robot_description(robot)
    assert str(error.value).startswith(f'{tmp_path}/arm/arm.urdf.xacro gives no URDF: ')
    assert '\n' not in str(error.value)
