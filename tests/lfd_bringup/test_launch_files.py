"""`ros2 launch` and `./lfd up` start the same graph: same processes, arguments, parameters, remappings, order.

launch and launch_ros are not on PyPI, so recorders with their signatures stand in for them here.
"""

from __future__ import annotations

import dataclasses
import runpy
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from lfd_bringup import graph
from lfd_bringup.home.faults import Fault
from lfd_bringup.supervisor import command_of
from lfd_description.grippers import gripper_names
from lfd_description.robots import robot_names

LAUNCH_FILES = sorted((Path(__file__).resolve().parents[2] / 'lfd_bringup' / 'launch').glob('*.launch.py'))
NAMED = [path.name.removesuffix('.launch.py') for path in LAUNCH_FILES if path.name != 'robot.launch.py']
# Which launch file, with which arguments: each robot's own, and the general one for every robot.
LAUNCHES = [(name, {}) for name in NAMED] + [('robot', {'robot': name}) for name in robot_names()]
each_launch = pytest.mark.parametrize(
    ('file', 'arguments'), LAUNCHES, ids=lambda value: value if isinstance(value, str) else '-'.join(value.values())
)


class Recorder:
    """An action that remembers what it was made of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.__dict__.update(kwargs)


class Node(Recorder):
    def __init__(
        self,
        *,
        executable,
        package,
        arguments=None,
        parameters=None,
        remappings=None,
        respawn=False,
        respawn_delay=0.0,
        output,
    ) -> None:
        super().__init__(**{key: value for key, value in locals().items() if key not in ('self', '__class__')})


class ParameterValue:
    def __init__(self, value: object, *, value_type: type) -> None:
        assert isinstance(value, value_type)
        self.value = value


class LaunchConfiguration:
    def __init__(self, name: str) -> None:
        self.name = name

    def perform(self, context: dict[str, str]) -> str:
        return context[self.name]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch):
    """Launches a robot's launch file; returns its arguments and its nodes in order of start."""
    recorders = {
        'launch': {'LaunchContext': dict, 'LaunchDescription': list, 'LaunchDescriptionEntity': Recorder},
        'launch.actions': {
            name: type(name, (Recorder,), {})
            for name in ('DeclareLaunchArgument', 'LogInfo', 'OpaqueFunction', 'RegisterEventHandler')
        },
        'launch.event_handlers': {'OnProcessStart': type('OnProcessStart', (Recorder,), {})},
        'launch.substitutions': {'LaunchConfiguration': LaunchConfiguration},
        'launch_ros': {},
        'launch_ros.actions': {'Node': Node},
        'launch_ros.parameter_descriptions': {'ParameterValue': ParameterValue},
    }
    for name, members in recorders.items():
        module = types.ModuleType(name)
        module.__dict__.update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, 'lfd_bringup.ros_launch', raising=False)

    told: list[str] = []

    def launch(file: str, **configuration: str) -> tuple[list[Any], list[tuple[Node, Node | None]]]:
        path = next(path for path in LAUNCH_FILES if path.name == f'{file}.launch.py')
        *declared, function = runpy.run_path(str(path))['generate_launch_description']()
        defaults = {item.args[0]: item.default_value for item in declared if hasattr(item, 'default_value')}
        context = {**defaults, **configuration}
        assert context.keys() == {item.args[0] for item in declared}
        entities = function.function(context, *function.args)
        nodes: list[tuple[Node, Node | None]] = [(entity, None) for entity in entities if isinstance(entity, Node)]
        for entity in entities:
            if hasattr(entity, 'msg'):
                told.append(entity.msg)
            elif not isinstance(entity, Node):
                (handler,) = entity.args
                nodes += [(made, handler.target_action) for made in handler.on_start(None, context)]
                again = handler.on_start(None, context)
                assert all(new is not old for new, (old, _) in zip(again, nodes[-len(again) :], strict=True))
        return declared, nodes

    launch.told = told  # what the launch file says to people
    yield launch
    sys.modules.pop('lfd_bringup.ros_launch', None)


def spec_of(node: Node, target: Node | None, spec: graph.NodeSpec) -> graph.NodeSpec:
    """Reads a launched node back into the graph's own words; launch knows no other way to start a node again."""
    values: dict[str, Any] = {}
    files = []
    for parameter in node.parameters:
        if isinstance(parameter, dict):
            values |= {
                key: value.value if isinstance(value, ParameterValue) else value for key, value in parameter.items()
            }
        else:
            files.append(Path(parameter))
    assert (target is None) == (spec.follows is None)
    return graph.NodeSpec(
        name=spec.name,
        package=node.package,
        executable=node.executable,
        arguments=tuple(node.arguments),
        parameters=values,
        parameter_files=tuple(files),
        remappings=tuple(node.remappings),
        is_one_shot=spec.is_one_shot if spec.restart else not node.respawn,
        follows=spec.follows,
        restart=spec.restart,
    )


def test_the_robots_of_the_suite_have_launch_files_of_their_own():
    assert set(robot_names()) >= set(NAMED) == {'gp8', 'irb1600', 'ur3', 'ur3e', 'ur5e', 'ur10e'}


@each_launch
def test_launch_file_and_description_agree(file: str, arguments: dict[str, str], launched):
    _, nodes = launched(file, **arguments)
    described = graph.describe(arguments.get('robot', file), backend='moveit', page=graph.Page())
    read_back = [spec_of(node, target, spec) for (node, target), spec in zip(nodes, described.nodes, strict=True)]
    assert tuple(read_back) == described.nodes


@each_launch
def test_what_follows_a_node_is_launched_when_that_node_starts(file: str, arguments: dict[str, str], launched):
    _, nodes = launched(file, **arguments)
    by_executable = {node.executable: node for node, _ in nodes}
    targets = {node.executable: target for node, target in nodes if target is not None}
    assert targets == {'spawner': by_executable['ros2_control_node']}


@each_launch
def test_lfd_up_runs_what_launch_runs(file: str, arguments: dict[str, str], launched, tmp_path: Path):
    """The command lines of ./lfd up, read back, are the launched nodes with the embedded packages."""
    _, nodes = launched(file, **arguments)
    specs = graph.embedded(graph.describe(arguments.get('robot', file), backend='moveit', page=graph.Page())).nodes
    for (node, _), spec in zip(nodes, specs, strict=True):
        command = command_of(spec, tmp_path)
        script = next(
            index for index, word in enumerate(command) if word.endswith(f'/lib/{spec.package}/{node.executable}')
        )
        assert spec.package == graph.STAND_INS.get(node.package, node.package)
        words = command[script + 1 :]
        split = words.index('--ros-args') if '--ros-args' in words else len(words)
        assert words[:split] == node.arguments
        files = [Path(word) for word in words[split:] if word.endswith('.yaml')]
        expected_files = [Path(parameter) for parameter in node.parameters if isinstance(parameter, str)]
        assert files[: len(expected_files)] == expected_files
        for path, parameter in zip(files[len(expected_files) :], node.parameters[len(expected_files) :], strict=True):
            written = yaml.safe_load(path.read_text())['/**']['ros__parameters']
            assert written == {key: getattr(value, 'value', value) for key, value in parameter.items()}


def test_arguments_explain_themselves(launched):
    (argument, robot_ip, parameters, hand, scene, gripper, backend, twin_of, *others), _ = launched('ur5e')
    assert (hand.args, hand.default_value, hand.choices) == (('hand',), '', ['', 'mock', 'external'])
    assert argument.args == ('hardware',)
    assert scene.args == ('scene',)
    assert scene.default_value == ''
    assert gripper.args == ('gripper',)
    assert gripper.choices == ['', *gripper_names()]
    assert backend.args == ('backend',)
    assert backend.default_value == 'moveit'
    assert twin_of.args == ('twin_of',)
    assert twin_of.default_value == ''
    assert argument.default_value == 'mock'
    assert argument.choices == ['mock', 'motoman', 'abb', 'ur']
    assert (robot_ip.args, robot_ip.default_value) == (('robot_ip',), '')
    assert (parameters.args, parameters.default_value) == (('hardware_parameters',), '')
    assert argument.description.endswith('.')
    assert {item.args[0]: item.default_value for item in others} == {
        'unity': '',
        'twin_axes': '',
        'page': 'true',
        'port': '0',
        'lan': 'false',
        'folder': '',
        'rviz': 'false',
    }
    assert all(item.description.endswith('.') for item in others)
    finite = [item.args[0] for item in others if hasattr(item, 'choices')]
    assert finite == ['twin_axes', 'page', 'lan', 'rviz']


def test_the_page_is_launched_as_told(launched):
    told = {'port': '9000', 'lan': 'true', 'folder': '/tasks', 'unity': '0.0.0.0:10001', 'scene': 'seed_cell'}
    _, nodes = launched('ur5e', **told)
    page = graph.Page(9000, True, '/tasks')
    described = graph.describe('ur5e', backend='moveit', scene='seed_cell', page=page, unity='0.0.0.0:10001')
    specs = zip(nodes, described.nodes, strict=True)
    assert tuple(spec_of(node, target, spec) for (node, target), spec in specs) == described.nodes
    bridge, endpoint = (next(n for n in described.nodes if n.name == name) for name in ('vr_bridge', 'unity_endpoint'))
    assert {'scene': 'seed_cell', 'port': 9000, 'lan': True, 'folder': '/tasks'}.items() <= bridge.parameters.items()
    assert endpoint.parameters == {'host': '0.0.0.0', 'port': 10001}


def test_with_the_page_the_scene_is_the_bridges_and_scene_sync_waits_for_it():
    def sync(**told: Any) -> graph.NodeSpec:
        return next(
            node for node in graph.describe('ur5e', scene='seed_cell', **told).nodes if node.name == 'scene_sync'
        )

    assert sync().parameters == {'scene': 'seed_cell', 'frame': 'base_link'}
    assert sync(page=graph.Page()).parameters == {'scene': '', 'frame': 'base_link', 'expect_twin': True}


def test_without_page_and_scene_unitys_scene_is_the_twin(launched):
    def sync(**told: Any) -> graph.NodeSpec:
        return next(node for node in graph.describe('ur5e', **told).nodes if node.name == 'scene_sync')

    unity = {'unity': '127.0.0.1:10000'}
    twin = {'scene': '', 'frame': 'base_link', 'expect_twin': True}
    assert sync(**unity).parameters == {**twin, 'axes': 'ros'}
    assert sync(**unity, twin_axes='unity').parameters == {**twin, 'axes': 'unity'}
    assert sync(**unity, scene='seed_cell').parameters == {'scene': 'seed_cell', 'frame': 'base_link'}
    assert sync(**unity, page=graph.Page()).parameters == twin
    for wrong in ({}, {'page': graph.Page()}, {'scene': 'seed_cell'}):
        with pytest.raises(Fault, match=r'with --unity and --no-page, without --scene'):
            sync(**({'unity': ''} if not wrong else unity), **wrong, twin_axes='unity')
    _, nodes = launched('ur5e', page='false', unity='127.0.0.1:10000', twin_axes='unity')
    (launched_sync,) = [node for node, _ in nodes if node.executable == 'scene_sync']
    assert launched_sync.parameters[-1]['axes'].value == 'unity'


def test_a_launch_without_the_page_is_as_described(launched):
    _, nodes = launched('gp8', page='false')
    assert len(nodes) == len(graph.describe('gp8').nodes)
    assert 'vr_bridge' not in [node.executable for node, _ in nodes]


@pytest.mark.parametrize('told', [{'port': '0x7'}, {'port': '70000'}, {'unity': 'here'}, {'unity': ':10000'}])
def test_a_launch_with_a_wrong_address_is_refused(told: dict[str, str], launched):
    with pytest.raises(Fault, match='write'):
        launched('ur5e', **told)


def test_the_robot_is_an_argument_of_the_general_launch_file(launched):
    (robot, hardware, *_), _ = launched('robot', robot='gp8')
    assert robot.args == ('robot',)
    assert robot.choices == list(robot_names())
    assert not hasattr(robot, 'default_value')
    assert hardware.args == ('hardware',)


def test_a_twin_takes_the_place_of_the_controllers(launched):
    _, nodes = launched('gp8', twin_of='/real')
    described = graph.describe('gp8', backend='moveit', twin_of='/real', page=graph.Page())
    read_back = [spec_of(node, target, spec) for (node, target), spec in zip(nodes, described.nodes, strict=True)]
    assert tuple(read_back) == described.nodes
    names = [spec.name for spec in described.nodes]
    others = [spec.name for spec in graph.describe('gp8', page=graph.Page()).nodes]
    assert names == ['twin' if name == 'controller_manager' else name for name in others if name != 'spawner']


@pytest.mark.parametrize(
    ('robot', 'told'),
    [
        (
            'ur5e',
            {'hardware': 'ur', 'robot_ip': '192.0.2.7', 'hardware_parameters': "reverse_port=1 x='a b'"},
        ),
        ('irb1600', {'hardware': 'abb', 'robot_ip': '192.0.2.7'}),
        ('gp8', {'hardware': 'motoman'}),
    ],
)
def test_a_real_arm_is_launched_as_described(robot: str, told: dict[str, str], launched):
    _, nodes = launched(robot, **told)
    parameters = {'reverse_port': '1', 'x': 'a b'} if 'hardware_parameters' in told else {}
    described = graph.describe(
        robot,
        hardware=told['hardware'],
        robot_ip=told.get('robot_ip', ''),
        hardware_parameters=parameters,
        backend='moveit',
        page=graph.Page(),
    )
    read_back = [spec_of(node, target, spec) for (node, target), spec in zip(nodes, described.nodes, strict=True)]
    assert tuple(read_back) == described.nodes


def test_the_controller_manager_of_a_real_arm_is_not_started_again_by_launch(launched):
    """It would switch the motors on while nobody looks."""
    _, nodes = launched('ur5e', hardware='ur', robot_ip='192.0.2.7')
    respawned = {node.executable: node.respawn for node, _ in nodes}
    assert not respawned['ros2_control_node']
    assert respawned['move_group']
    _, nodes = launched('ur5e')
    assert {node.executable: node.respawn for node, _ in nodes}['ros2_control_node']


def test_a_simulated_hand_on_a_real_arm_is_said_loudly(launched):
    launched('ur5e', hardware='ur', robot_ip='192.0.2.7')
    launched('ur5e', hand='mock')
    assert launched.told == []
    _, nodes = launched('ur5e', hardware='ur', robot_ip='192.0.2.7', hand='mock')
    assert launched.told == list(graph.describe('ur5e', hardware='ur', robot_ip='192.0.2.7', hand='mock').notices)
    assert 'THE HAND IS SIMULATED' in launched.told[0]
    (executor,) = [node for node, _ in nodes if node.executable == 'task_executor']
    assert executor.parameters[-1]['hand'].value == 'mock'


def test_a_launch_with_a_parameter_without_a_value_is_refused(launched):
    with pytest.raises(Fault, match=r"'lead' is no hardware parameter; write one such as rtde_port=30004\."):
        launched('ur5e', hardware='ur', robot_ip='192.0.2.7', hardware_parameters='lead')


@pytest.mark.parametrize('twin_of', ['', '/real'])
def test_homes_differ_in_packages_only(twin_of: str):
    official = graph.describe('gp8', twin_of=twin_of)
    for ours, theirs in zip(graph.embedded(official).nodes, official.nodes, strict=True):
        assert dataclasses.replace(ours, package=theirs.package) == theirs
        assert ours.package.startswith('lfd_')
        assert (ours.package == theirs.package) == theirs.package.startswith('lfd_')
