"""The graph: which nodes run for a robot, with which parameters, in which order.

One description serves both homes. It names the official packages; the embedded home replaces those that PyPI does not
have by stand-ins of ours with the same executables, nodes, parameters and topics::

    describe('gp8') ──► launch_description()   lfd_bringup/launch/*.launch.py, on a ROS 2 machine
                   └──► embedded() ──► Supervisor   ./lfd up
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ament_index_python.packages import get_package_share_directory

from lfd_description.model.configs import MOCK_RATE
from lfd_description.model.model import RobotModel
from lfd_description.robots import MOCK, MOTOMAN, MOTOROS1
from lfd_description.scenes import SceneError, open_scene, scene_path

from .commands import AXES, TWIN_AXES
from .home.faults import Fault
from .inputs import model_of
from .move_group import move_group_parameters

# Official package -> the package of ours that stands in for it where there is no ROS 2 installation.
STAND_INS = {
    'controller_manager': 'lfd_hardware',
    'moveit_ros_move_group': 'lfd_planner',
    'robot_state_publisher': 'lfd_description',
}

# A kind of hardware -> the one that the embedded home drives in its place: without MotoROS2, by MotoROS's messages.
EMBEDDED_HARDWARE = {MOTOMAN: MOTOROS1}

# [s] that joint states may be late: a busy machine is no danger to an arm that is simulated.
SIMULATED_WITHIN = 1.0


@dataclass(frozen=True)
class Page:
    """The page on which people show tasks and watch the robot; its bridge then has the twin."""

    port: int = 0
    """0: the usual one, or else the next that is free."""
    lan: bool = False
    """Whether other devices of the network, such as headsets, may open it."""
    folder: str = ''
    """Where tasks and pairings are kept; empty: among the user's data."""


@dataclass(frozen=True)
class Restart:
    """What differs when a process that had run is started again."""

    arguments: tuple[str, ...] = ()
    """After those that it has."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Beside those that it has."""
    note: str = ''
    """What people are to know then, as the end of a sentence."""


@dataclass(frozen=True)
class NodeSpec:
    """One process of the graph.

    name: of the node that the process makes by itself; it is never remapped, because a process may hold several nodes.
    is_one_shot: does its work and ends; any other process is restarted when it ends.
    follows: name of the node after which this one starts, and starts again whenever that one does.
    restart: how it starts when it is not the first time, or when what it follows does; None: in the same way. The
        launch files do not restart it then.
    """

    name: str
    package: str
    executable: str
    arguments: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Values, lists of them, and further names below a name."""
    parameter_files: tuple[Path, ...] = ()
    remappings: tuple[tuple[str, str], ...] = ()
    is_one_shot: bool = False
    follows: str | None = None
    restart: Restart | None = None

    @property
    def again(self) -> NodeSpec:
        """The same process when it is started again."""
        if self.restart is None:
            return self
        return dataclasses.replace(
            self,
            arguments=(*self.arguments, *self.restart.arguments),
            parameters={**self.parameters, **self.restart.parameters},
        )


@dataclass(frozen=True)
class Graph:
    """The processes of one robot, in the order in which they start."""

    robot: str
    nodes: tuple[NodeSpec, ...]
    notices: tuple[str, ...] = ()
    """What people must know of it before anything moves, a sentence each."""


def describe(
    robot_name: str,
    *,
    hardware: str = MOCK,
    robot_ip: str = '',
    hardware_parameters: Mapping[str, str] = MappingProxyType({}),
    hand: str = '',
    scene: str = '',
    gripper: str = '',
    backend: str = 'embedded',
    twin_of: str = '',
    page: Page | None = None,
    unity: str = '',
    twin_axes: str = '',
    rviz: bool = False,
) -> Graph:
    """The graph of a robot, with the official packages.

    hardware: 'mock' for controllers without a robot, or the robot's own.
    robot_ip: the address of the real controller, which every real one but MotoROS2 needs.
    hardware_parameters: of its driver, by name, such as ports and timeouts.
    hand: what moves the gripper: 'mock', or 'external', a driver that is no part of the graph and serves the gripper's
        controllers; empty: mock on mock hardware, external on a real arm.
    gripper: what it carries; empty: its own, else the usual one.
    backend: what tasks are planned with: 'embedded', or 'moveit' where moveit_py is installed.
    scene: a scene file, or the name of a bundled scene, that stands around the robot; empty: what the twin publishes.
    twin_of: the namespace of a real robot that this one mirrors, and that gets its commands; empty: it has controllers.
    page: on which tasks are shown; the scene is then where people begin, and what they make of it counts. None: none.
    unity: where Unity's ROS-TCP-Connector finds us, as HOST:PORT; empty: nowhere. Without page and scene, Unity's scene
        is what stands around the robot.
    twin_axes: of that scene, 'ros' or 'unity'; empty: ros.
    rviz: whether RViz is started, where it is installed.
    """
    model = model_of(
        robot_name,
        gripper or None,
        with_hand=True,
        hardware=hardware,
        hand=hand or None,
        robot_ip=robot_ip,
        hardware_parameters=hardware_parameters,
    )
    if hardware not in (MOCK, MOTOMAN) and not (robot_ip or twin_of):
        raise Fault(
            f'The address of the controller of {robot_name} is missing.', 'tell robot_ip, such as 192.168.56.101'
        )
    has_unity_twin = bool(unity) and page is None and not scene
    if twin_axes and not has_unity_twin:
        raise Fault("The axes of Unity's scene were told, which is no twin here.", TWIN_AXES)
    others = (
        _move_group(model),
        _scene_sync(model, scene, page, (twin_axes or AXES[0]) if has_unity_twin else ''),
        _task_planner(model, backend),
        _task_executor(model, is_simulated=hardware == MOCK and not twin_of),
        *((_bridge(model, scene, page),) if page else ()),
        *((_unity(unity),) if unity else ()),
        *((_rviz(model),) if rviz else ()),
    )
    if twin_of:
        return Graph(model.robot.name, (_state_publisher(model), _twin(model, twin_of), *others))
    controllers = _controllers(model)
    nodes = (_state_publisher(model), *controllers[:1], *others, *controllers[1:])
    if hardware == MOTOMAN:  # MotoROS2 is in a namespace, and so are its joint states, which all the others share
        states = (('joint_states', f'{model.controller}/joint_states'),)
        nodes = tuple(dataclasses.replace(node, remappings=states) for node in nodes)
    return Graph(model.robot.name, nodes, _notices(model))


def described(arguments: argparse.Namespace, home: str = 'embedded') -> Graph:
    """The graph that a command line asks for, in a home: 'embedded' or 'ros'."""
    hardware = arguments.hardware
    graph = describe(
        arguments.robot,
        hardware=EMBEDDED_HARDWARE.get(hardware, hardware) if home == 'embedded' else hardware,
        robot_ip=arguments.robot_ip or '',
        hardware_parameters=dict(arguments.hardware_parameters),
        hand=arguments.hand or '',
        scene=arguments.scene,
        gripper=arguments.gripper,
        backend=arguments.backend,
        twin_of=arguments.twin_of or '',
        page=Page(arguments.port or 0, arguments.lan, _absolute(arguments.folder)) if arguments.page else None,
        unity=arguments.unity or '',
        twin_axes=arguments.twin_axes or '',
    )
    return embedded(graph) if home == 'embedded' else graph


def embedded(graph: Graph) -> Graph:
    """The same graph with the stand-ins of the embedded home."""
    nodes = (dataclasses.replace(node, package=STAND_INS.get(node.package, node.package)) for node in graph.nodes)
    return dataclasses.replace(graph, nodes=tuple(nodes))


def _notices(model: RobotModel) -> tuple[str, ...]:
    """What people must know of a robot's hand."""
    if model.hardware == MOCK or model.gripper is None or model.hand != MOCK:
        return ()
    return ('THE HAND IS SIMULATED (hand mock) on a real arm: it grips nothing, yet tasks are reported as done.',)


def _state_publisher(model: RobotModel) -> NodeSpec:
    return NodeSpec(
        name='robot_state_publisher',
        package='robot_state_publisher',
        executable='robot_state_publisher',
        parameters={'robot_description': model.urdf, 'publish_frequency': 50.0},
    )


def _move_group(model: RobotModel) -> NodeSpec:
    return NodeSpec(
        name='move_group',
        package='moveit_ros_move_group',
        executable='move_group',
        parameters=move_group_parameters(model),
    )


def _scene_sync(model: RobotModel, scene: str, page: Page | None, unity_axes: str) -> NodeSpec:
    """What mirrors the scene: of a file, of the page, or of Unity, whose axes are told then."""
    return NodeSpec(
        name='scene_sync',
        package='lfd_planner',
        executable='scene_sync',
        parameters={
            'scene': '' if page else _scene(scene),
            'frame': model.robot.base,
            **({'expect_twin': True} if page or unity_axes else {}),
            **({'axes': unity_axes} if unity_axes else {}),
        },
    )


def _task_planner(model: RobotModel, backend: str) -> NodeSpec:
    return NodeSpec(
        name='task_planner',
        package='lfd_planner',
        executable='task_planner',
        parameters={'robot': model.robot.name, 'gripper': _gripper_name(model), 'backend': backend},
    )


def _task_executor(model: RobotModel, *, is_simulated: bool) -> NodeSpec:
    return NodeSpec(
        name='task_executor',
        package='lfd_planner',
        executable='task_executor',
        parameters={
            'robot': model.robot.name,
            'gripper': _gripper_name(model),
            'hardware': model.hardware,
            'hand': model.hand,
            **({'joint_states_within': SIMULATED_WITHIN} if is_simulated else {}),
        },
    )


def _gripper_name(model: RobotModel) -> str:
    return model.gripper.name if model.gripper else ''


def _controllers(model: RobotModel) -> tuple[NodeSpec, ...]:
    """The controller manager and what starts the controllers, of the arm and what it carries; none if none is needed.

    Raises:
        Fault: the robot's folder has no controllers for this hardware.
    """
    robot = model.robot
    hand = model.gripper if model.hand == MOCK else None  # a hand with a driver of its own has no controllers here
    names: tuple[str, ...] = hand.controllers if hand else ()
    files: tuple[Path, ...] = (hand.controllers_file,) if hand else ()
    parameters: dict[str, Any] = {}
    if model.hardware != MOTOMAN:
        file = robot.controllers_file_on(model.hardware)
        if not file.is_file():
            raise Fault(f'{file} is missing.', f'derive it: ./lfd robots build {robot.name}')
        names, files = (model.controller, *names), (file, *files)
    elif not names:
        return ()
    else:  # the arm has its own, and tells its joint states; the hand is left
        broadcaster = {'type': 'joint_state_broadcaster/JointStateBroadcaster'}
        parameters = {'update_rate': MOCK_RATE, 'joint_state_broadcaster': broadcaster}
    names = ('joint_state_broadcaster', *names)
    is_real = model.hardware not in (MOCK, MOTOMAN)
    controller_manager = NodeSpec(
        name='controller_manager',
        package='controller_manager',
        executable='ros2_control_node',
        parameters=parameters,
        parameter_files=files,
        restart=_unattended(f'{model.prefix}{robot.name}') if is_real else None,
    )
    spawner = NodeSpec(
        name='spawner',
        package='controller_manager',
        executable='spawner',
        arguments=(*names, '--controller-manager', 'controller_manager'),
        is_one_shot=True,
        follows=controller_manager.name,
        restart=Restart(arguments=('--inactive',)) if is_real else None,
    )
    return controller_manager, spawner


def _unattended(component: str) -> Restart:
    """How the controller manager of a real arm starts again: motors are switched on when somebody asks for it."""
    return Restart(
        parameters={'hardware_components_initial_state': {'inactive': [component]}},
        note=f"and {component} stays inactive: see that nobody is near the arm, then './lfd recover' brings it back",
    )


def _twin(model: RobotModel, real: str) -> NodeSpec:
    """What stands for the controllers of a robot that mirrors a real one."""
    gripper = model.gripper
    return NodeSpec(
        name='twin',
        package='lfd_hardware',
        executable='twin',
        parameters={
            'twin_of': real,
            'joints': [joint.name for joint in model.tree.joints if joint.moves],
            'arm_joints': list(model.group.joints),
            'trajectory_controller': model.controller,
            'gripper_controller': model.gripper_controller or '',
            **({'valve_controllers': [f'{model.prefix}{gripper.gpio}_controller']} if gripper and gripper.gpio else {}),
        },
    )


def _bridge(model: RobotModel, scene: str, page: Page) -> NodeSpec:
    """What serves the page."""
    return NodeSpec(
        name='vr_bridge',
        package='lfd_vr_bridge',
        executable='vr_bridge',
        parameters={
            'robot': model.robot.name,
            'gripper': _gripper_name(model),
            'scene': _scene(scene),
            'port': page.port,
            'lan': page.lan,
            **({'folder': page.folder} if page.folder else {}),
        },
    )


def _unity(address: str) -> NodeSpec:
    """What Unity's ROS-TCP-Connector talks to."""
    host, _, port = address.rpartition(':')
    return NodeSpec(
        name='unity_endpoint',
        package='lfd_vr_bridge',
        executable='unity_endpoint',
        parameters={'host': host, 'port': int(port)},
    )


def _rviz(model: RobotModel) -> NodeSpec:
    """RViz, with what its motion planning display asks for; who closes it does not want it again."""
    known = ('robot_description', 'robot_description_semantic', 'robot_description_kinematics')
    parameters = move_group_parameters(model)
    return NodeSpec(
        name='rviz2',
        package='rviz2',
        executable='rviz2',
        arguments=('-d', str(Path(get_package_share_directory('lfd_bringup'), 'rviz', 'lfd.rviz'))),
        parameters={name: parameters[name] for name in known},
        is_one_shot=True,
    )


def _absolute(folder: Path | None) -> str:
    """A folder that a node finds wherever it runs; empty: none was told."""
    return '' if folder is None else str(folder.expanduser().absolute())


def _scene(name: str) -> str:
    """A scene that a node can open wherever it runs.

    Raises:
        Fault: there is no such scene, or its file is wrong.
    """
    if not name:
        return ''
    try:
        open_scene(name)
    except SceneError as error:
        raise Fault(str(error)) from None
    path = scene_path(name)
    return name if path is None else str(path.resolve())


def _shown(value: object) -> str:
    """A parameter's value for people."""
    if isinstance(value, str) and value.lstrip().startswith('<'):
        return f'{len(value)} characters of XML'
    if isinstance(value, Mapping):
        return f'{", ".join(value)} ...'
    return str(value)


def main(arguments: argparse.Namespace) -> int:
    """`./lfd graph`: print the graph."""
    graph = described(arguments, arguments.home)
    print(f'{graph.robot}: {len(graph.nodes)} processes')
    for node in graph.nodes:
        print(f'\n{node.name}\n  runs        {node.package}/{node.executable} {" ".join(node.arguments)}'.rstrip())
        for key, value in node.parameters.items():
            print(f'  parameter   {key}: {_shown(value)}')
        for path in node.parameter_files:
            print(f'  parameters  {path}')
        for old, new in node.remappings:
            print(f'  remaps      {old} -> {new}')
        if node.follows:
            print(f'  starts      after {node.follows}, whenever that starts')
        note = f', {node.restart.note}' if node.restart and node.restart.note else ''
        print(f'  when it ends  {"its work is done" if node.is_one_shot else "it is restarted"}{note}')
    for notice in graph.notices:
        print(f'\n{notice}')
    return 0
