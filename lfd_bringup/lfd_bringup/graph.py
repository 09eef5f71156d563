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
class NodeSpec:
    """One process of the graph.

    name: of the node that the process makes by itself; it is never remapped, because a process may hold several nodes.
    is_one_shot: does its work and ends; any other process is restarted when it ends.
    follows: name of the node after which this one starts, and starts again whenever that one does.
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


@dataclass(frozen=True)
class Graph:
    """The processes of one robot, in the order in which they start."""

    robot: str
    nodes: tuple[NodeSpec, ...]


def describe(
    robot_name: str,
    *,
    hardware: str = MOCK,
    robot_ip: str = '',
    hardware_parameters: Mapping[str, str] = MappingProxyType({}),
    scene: str = '',
    gripper: str = '',
    backend: str = 'embedded',
    twin_of: str = '',
    page: Page | None = None,
    unity: str = '',
    rviz: bool = False,
) -> Graph:
    """The graph of a robot, with the official packages.

    hardware: 'mock' for controllers without a robot, or the robot's own.
    robot_ip: the address of the real controller, which every real one but MotoROS2 needs.
    hardware_parameters: of its driver, by name, such as ports and timeouts.
    gripper: what it carries; empty: its own, else the usual one.
    backend: what tasks are planned with: 'embedded', or 'moveit' where moveit_py is installed.
    scene: a scene file, or the name of a bundled scene, that stands around the robot; empty: what the twin publishes.
    twin_of: the namespace of a real robot that this one mirrors, and that gets its commands; empty: it has controllers.
    page: on which tasks are shown; the scene is then where people begin, and what they make of it counts. None: none.
    unity: where Unity's ROS-TCP-Connector finds us, as HOST:PORT; empty: nowhere.
    rviz: whether RViz is started, where it is installed.
    """
    model = model_of(
        robot_name,
        gripper or None,
        with_hand=True,
        hardware=hardware,
        robot_ip=robot_ip,
        hardware_parameters=hardware_parameters,
    )
    robot = model.robot
    if hardware not in (MOCK, MOTOMAN) and not (robot_ip or twin_of):
        raise Fault(
            f'The address of the controller of {robot.name} is missing.', 'tell robot_ip, such as 192.168.56.101'
        )
    state_publisher = NodeSpec(
        name='robot_state_publisher',
        package='robot_state_publisher',
        executable='robot_state_publisher',
        parameters={'robot_description': model.urdf, 'publish_frequency': 50.0},
    )
    move_group = NodeSpec(
        name='move_group',
        package='moveit_ros_move_group',
        executable='move_group',
        parameters=move_group_parameters(model),
    )
    scene_sync = NodeSpec(
        name='scene_sync',
        package='lfd_planner',
        executable='scene_sync',
        parameters={
            'scene': '' if page else _scene(scene),
            'frame': robot.base,
            **({'expect_twin': True} if page else {}),
        },
    )
    task_planner = NodeSpec(
        name='task_planner',
        package='lfd_planner',
        executable='task_planner',
        parameters={
            'robot': robot.name,
            'gripper': model.gripper.name if model.gripper else '',
            'backend': backend,
        },
    )
    task_executor = NodeSpec(
        name='task_executor',
        package='lfd_planner',
        executable='task_executor',
        parameters={
            'robot': robot.name,
            'gripper': model.gripper.name if model.gripper else '',
            'hardware': hardware,
            **({'joint_states_within': SIMULATED_WITHIN} if hardware == MOCK and not twin_of else {}),
        },
    )
    others = (
        move_group,
        scene_sync,
        task_planner,
        task_executor,
        *((_bridge(model, scene, page),) if page else ()),
        *((_unity(unity),) if unity else ()),
        *((_rviz(model),) if rviz else ()),
    )
    if twin_of:
        return Graph(robot.name, (state_publisher, _twin(model, twin_of), *others))
    controllers = _controllers(model)
    nodes = (state_publisher, *controllers[:1], *others, *controllers[1:])
    if hardware == MOTOMAN:  # MotoROS2 is in a namespace, and so are its joint states, which all the others share
        states = (('joint_states', f'{model.controller}/joint_states'),)
        nodes = tuple(dataclasses.replace(node, remappings=states) for node in nodes)
    return Graph(robot.name, nodes)


def described(arguments: argparse.Namespace, home: str = 'embedded') -> Graph:
    """The graph that a command line asks for, in a home: 'embedded' or 'ros'."""
    hardware = arguments.hardware
    graph = describe(
        arguments.robot,
        hardware=EMBEDDED_HARDWARE.get(hardware, hardware) if home == 'embedded' else hardware,
        robot_ip=arguments.robot_ip or '',
        hardware_parameters=dict(arguments.hardware_parameters),
        scene=arguments.scene,
        gripper=arguments.gripper,
        backend=arguments.backend,
        twin_of=arguments.twin_of or '',
        page=Page(arguments.port or 0, arguments.lan, _absolute(arguments.folder)) if arguments.page else None,
        unity=arguments.unity or '',
    )
    return embedded(graph) if home == 'embedded' else graph


def embedded(graph: Graph) -> Graph:
    """The same graph with the stand-ins of the embedded home."""
    nodes = (dataclasses.replace(node, package=STAND_INS.get(node.package, node.package)) for node in graph.nodes)
    return dataclasses.replace(graph, nodes=tuple(nodes))


def _controllers(model: RobotModel) -> tuple[NodeSpec, ...]:
    """The controller manager and what starts the controllers, of the arm and what it carries; none if none is needed.

    Raises:
        Fault: the robot's folder has no controllers for this hardware.
    """
    robot, gripper = model.robot, model.gripper
    names: tuple[str, ...] = gripper.controllers if gripper else ()
    files: tuple[Path, ...] = (gripper.controllers_file,) if gripper else ()
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
    controller_manager = NodeSpec(
        name='controller_manager',
        package='controller_manager',
        executable='ros2_control_node',
        parameters=parameters,
        parameter_files=files,
    )
    spawner = NodeSpec(
        name='spawner',
        package='controller_manager',
        executable='spawner',
        arguments=(*names, '--controller-manager', 'controller_manager'),
        is_one_shot=True,
        follows=controller_manager.name,
    )
    return controller_manager, spawner


def _twin(model: RobotModel, real: str) -> NodeSpec:
    """What stands for the controllers of a robot that mirrors a real one."""
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
            'gripper': model.gripper.name if model.gripper else '',
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
        print(f'  when it ends  {"its work is done" if node.is_one_shot else "it is restarted"}')
    return 0
