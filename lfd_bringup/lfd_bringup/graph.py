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
from typing import Any

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
    robot_name: str, *, hardware: str = 'mock', scene: str = '', gripper: str = '', backend: str = 'embedded'
) -> Graph:
    """The graph of a robot, with the official packages.

    hardware: 'mock' for controllers without a robot.
    gripper: what it carries; empty: its own, else the usual one.
    backend: what tasks are planned with: 'embedded', or 'moveit' where moveit_py is installed.
    scene: a scene file, or the name of a bundled scene, that stands around the robot; empty: what the twin publishes.
    """
    model = model_of(robot_name, gripper or None, with_hand=True, hardware=hardware)
    robot = model.robot
    state_publisher = NodeSpec(
        name='robot_state_publisher',
        package='robot_state_publisher',
        executable='robot_state_publisher',
        parameters={'robot_description': model.urdf, 'publish_frequency': 50.0},
    )
    controller_manager = NodeSpec(
        name='controller_manager',
        package='controller_manager',
        executable='ros2_control_node',
        parameter_files=(robot.controllers_file,),
    )
    spawner = NodeSpec(
        name='spawner',
        package='controller_manager',
        executable='spawner',
        arguments=('joint_state_broadcaster', f'{robot.name}_controller', '--controller-manager', 'controller_manager'),
        is_one_shot=True,
        follows=controller_manager.name,
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
        parameters={'scene': _scene(scene), 'frame': robot.base},
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
    return Graph(robot.name, (state_publisher, controller_manager, move_group, scene_sync, task_planner, spawner))


def described(arguments: argparse.Namespace) -> Graph:
    """The graph that a command line asks for."""
    return describe(
        arguments.robot,
        hardware=arguments.hardware,
        scene=arguments.scene,
        gripper=arguments.gripper,
        backend=arguments.backend,
    )


def embedded(graph: Graph) -> Graph:
    """The same graph with the stand-ins of the embedded home."""
    nodes = (dataclasses.replace(node, package=STAND_INS.get(node.package, node.package)) for node in graph.nodes)
    return dataclasses.replace(graph, nodes=tuple(nodes))


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
    graph = described(arguments)
    if arguments.home == 'embedded':
        graph = embedded(graph)
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
