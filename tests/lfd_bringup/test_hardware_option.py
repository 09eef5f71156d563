"""`--hardware`: which driver moves a real arm in each home, with which controllers, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import yaml

from lfd_bringup import commands, graph
from lfd_bringup.graph import Graph, NodeSpec
from lfd_bringup.home.faults import Fault
from lfd_description.robots import Robot, find_robot, robot_names
from lfd_hardware.description import Component, parse_hardware
from lfd_hardware.drivers import make_driver
from lfd_hardware.drivers.motoman import MotomanDriver

REAL = [(name, find_robot(name).hardware) for name in robot_names() if find_robot(name).hardware != 'mock']
each_real_robot = pytest.mark.parametrize(('robot', 'hardware'), REAL)
ADDRESS = '192.0.2.7'


def asked(*words: str, home: str = 'embedded') -> Graph:
    """The graph of a command line."""
    return graph.described(commands.parse(['up', *words]), home)


def real(robot: str, hardware: str, *words: str) -> Graph:
    """The graph of a real arm in the embedded home."""
    return asked('--robot', robot, '--hardware', hardware, '--robot-ip', ADDRESS, *words)


def node(described: Graph, name: str) -> NodeSpec:
    return next(spec for spec in described.nodes if spec.name == name)


def components(described: Graph) -> dict[str, Component]:
    urdf = node(described, 'robot_state_publisher').parameters['robot_description']
    return {each.name: each for each in parse_hardware(urdf).components}


def controllers(described: Graph) -> dict[str, Any]:
    """What the arm's controllers are told."""
    told: dict[str, Any] = yaml.safe_load(node(described, 'controller_manager').parameter_files[0].read_text())
    return {name: each['ros__parameters'] for name, each in told.items()}


@each_real_robot
def test_the_embedded_home_drives_a_real_arm_at_its_own_rate(robot: str, hardware: str):
    described = real(robot, hardware)
    component = components(described)[robot]
    assert make_driver(component).component is component
    assert ADDRESS in (component.parameters.get('robot_ip'), component.parameters.get('rws_ip'))
    told = controllers(described)
    assert told['controller_manager']['update_rate'] == find_robot(robot).control_rate
    assert told[f'{robot}_controller']['joints'] == list(find_robot(robot).joints)
    assert f'{robot}_controller' in node(described, 'spawner').arguments


@each_real_robot
def test_the_rest_of_the_graph_knows_the_same_controllers(robot: str, hardware: str):
    described = real(robot, hardware)
    names = node(described, 'move_group').parameters['moveit_simple_controller_manager']['controller_names']
    assert names[0] == f'{robot}_controller'
    assert set(names) - {'gripper_controller'} <= set(node(described, 'spawner').arguments)
    assert node(described, 'task_executor').parameters['hardware'] in find_robot(robot).kinds_of_hardware


def test_the_motomans_tolerances_allow_for_its_delay():
    """A joint at full speed is up to v * (lead + 0.1 s) behind, and the arm arrives up to lead + 0.3 s late."""
    described = real('gp8', 'motoman')
    component = components(described)['gp8']
    assert isinstance(make_driver(component), MotomanDriver)
    lead = float(component.parameters['lead'])
    constraints = controllers(described)['gp8_controller']['constraints']
    assert constraints['goal_time'] >= lead + 0.3
    for part in component.joints:
        assert part.limit is not None
        assert constraints[part.name]['trajectory'] >= part.limit.velocity * (lead + 0.1)


@pytest.mark.parametrize(('robot', 'hardware'), [each for each in REAL if each[1] != 'motoman'])
def test_homes_differ_in_packages_only(robot: str, hardware: str):
    words = ('--robot', robot, '--hardware', hardware, '--robot-ip', ADDRESS)
    assert asked(*words) == graph.embedded(asked(*words, home='ros'))


@each_real_robot
@pytest.mark.parametrize(('gripper', 'controller'), [('two_finger', 'gripper'), ('suction', 'vacuum')])
def test_a_real_arm_has_no_simulated_hand_unless_asked_for(robot: str, hardware: str, gripper: str, controller: str):
    name = f'{controller}_controller'
    described = real(robot, hardware, '--gripper', gripper)
    assert set(components(described)) == {robot}
    assert name not in node(described, 'spawner').arguments
    assert node(described, 'task_executor').parameters['hand'] == 'external'
    assert described.notices == ()
    simulated = real(robot, hardware, '--gripper', gripper, '--hand', 'mock')
    assert set(components(simulated)) == {robot, 'hand'}
    assert name in node(simulated, 'spawner').arguments
    assert node(simulated, 'task_executor').parameters['hand'] == 'mock'
    (notice,) = simulated.notices
    assert 'THE HAND IS SIMULATED' in notice


def test_a_simulated_arm_has_a_simulated_hand_unless_asked_for():
    assert set(components(asked('--robot', 'ur5e'))) == {'ur5e', 'hand'}
    described = asked('--robot', 'ur5e', '--hand', 'external')
    assert set(components(described)) == {'ur5e'}
    assert 'gripper_controller' not in node(described, 'spawner').arguments
    assert asked('--robot', 'ur5e').notices == described.notices == ()


@each_real_robot
def test_a_real_arm_whose_controller_manager_died_waits_for_people(robot: str, hardware: str):
    """Else it would be powered on and its brakes released while nobody looks."""
    described = real(robot, hardware)
    manager, spawner = node(described, 'controller_manager'), node(described, 'spawner')
    assert 'hardware_components_initial_state' not in manager.parameters
    assert manager.again.parameters['hardware_components_initial_state'] == {'inactive': [robot]}
    assert manager.again.parameter_files == manager.parameter_files
    assert './lfd recover' in manager.restart.note
    assert spawner.again.arguments == (*spawner.arguments, '--inactive')
    mock = asked('--robot', robot)
    assert all(spec.again == spec for spec in mock.nodes)


def test_motoros2_needs_no_controllers_of_ours():
    theirs = graph.describe('gp8', hardware='motoman')
    assert '<ros2_control' not in node(theirs, 'robot_state_publisher').parameters['robot_description']
    assert not {'controller_manager', 'spawner'} & {spec.name for spec in theirs.nodes}
    assert {spec.remappings for spec in theirs.nodes} == {(('joint_states', 'gp8/joint_states'),)}


def test_motoros2_has_no_controllers_of_ours_but_those_of_a_simulated_hand():
    theirs = graph.describe('gp8', hardware='motoman', hand='mock')
    assert set(components(theirs)) == {'hand'}
    manager = node(theirs, 'controller_manager')
    assert manager.parameters['joint_state_broadcaster'] == {'type': 'joint_state_broadcaster/JointStateBroadcaster'}
    assert all('gp8' not in path.name for path in manager.parameter_files)
    assert node(theirs, 'spawner').arguments[:2] == ('joint_state_broadcaster', 'gripper_controller')
    assert node(theirs, 'task_executor').parameters['hardware'] == 'motoman'
    names = node(theirs, 'move_group').parameters['moveit_simple_controller_manager']['controller_names']
    assert names == ['gp8', 'gripper_controller']
    assert {spec.remappings for spec in theirs.nodes} == {(('joint_states', 'gp8/joint_states'),)}


def test_parameters_of_the_driver_can_be_told():
    words = ('--hardware-parameter', 'rtde_port=41001', '--hardware-parameter', 'robot_receive_timeout=0.5')
    parameters = components(real('ur5e', 'ur', *words))['ur5e'].parameters
    assert parameters['rtde_port'] == '41001'
    assert parameters['robot_receive_timeout'] == '0.5'
    assert parameters['headless_mode'] == 'true'
    text = 'a <b> & "c"'
    assert (
        components(real('irb1600', 'abb', '--hardware-parameter', f'rws_password={text}'))['irb1600'].parameters[
            'rws_password'
        ]
        == text
    )


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (['--hardware', 'ur'], '--hardware ur needs --robot-ip, the address of the controller'),
        (['--hardware', 'ur', '--robot-ip', ''], '--hardware ur needs --robot-ip'),
        (['--robot-ip', ADDRESS], '--robot-ip and --hardware-parameter need --hardware, one of motoman, abb, ur'),
        (['--hardware-parameter', 'a=b'], '--robot-ip and --hardware-parameter need --hardware'),
        (['--hardware', 'ur', '--robot-ip', ADDRESS, '--hardware-parameter', 'b'], "'b' is no hardware parameter"),
        (['--hardware', 'ur', '--robot-ip', ADDRESS, '--hardware-parameter', '1=b'], "'1=b' is no hardware parameter"),
        (['--hardware', 'ur', '--robot-ip', ADDRESS, '--twin-of', '/real'], '--twin-of has no hardware of its own'),
    ],
)
def test_wrong_usage_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as refused:
        commands.parse(['up', '--robot', 'ur5e', *words])
    assert refused.value.code == 2
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.startswith('lfd: ')
    assert sentence in first
    assert len(rest) == 1


def test_motoros2_needs_no_address_but_a_ros_home(capsys: pytest.CaptureFixture[str]):
    words = ['graph', '--robot', 'gp8', '--hardware', 'motoman']
    assert commands.parse([*words, '--home', 'ros']).robot_ip is None
    for wrong in (words, [*words, '--home', 'ros', '--robot-ip', ADDRESS]):
        with pytest.raises(SystemExit) as refused:
            commands.parse(wrong)
        assert refused.value.code == 2
    assert 'MotoROS2 is found by its ROS names' in capsys.readouterr().err


@pytest.mark.parametrize(('robot', 'hardware'), [('gp8', 'ur'), ('ur5e', 'abb'), ('irb1600', 'motoman')])
def test_the_wrong_vendor_is_refused_in_one_sentence(robot: str, hardware: str):
    with pytest.raises(Fault, match=rf"^{robot} does not run on hardware '\w+'; choose mock or \w+\.$"):
        real(robot, hardware)


def test_an_address_that_is_none_is_refused():
    with pytest.raises(Fault, match=r"The address '1 2/>' is no host"):
        asked('--robot', 'ur5e', '--hardware', 'ur', '--robot-ip', '1 2/>')


@pytest.mark.parametrize(('robot', 'hardware'), [each for each in REAL if each[1] != 'motoman'])
def test_a_launch_without_an_address_is_refused(robot: str, hardware: str):
    with pytest.raises(Fault, match=rf'The address of the controller of {robot} is missing\.'):
        graph.describe(robot, hardware=hardware)


def test_a_robot_without_controllers_for_its_hardware_is_told_how_to_derive_them(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Robot, 'controllers_file_on', lambda self, hardware: self.folder / 'none.yaml')
    with pytest.raises(Fault, match=r'none\.yaml is missing\.\nFix: derive it: \./lfd robots build ur5e'):
        real('ur5e', 'ur')


def test_every_vendor_has_a_robot_here():
    assert {hardware for _, hardware in REAL} == set(commands.HARDWARE[1:])
    assert all(a != b for a, b in itertools.combinations(commands.HARDWARE, 2))
