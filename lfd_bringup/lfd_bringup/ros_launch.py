"""The graph as a launch description, for a ROS 2 installation.

The launch files in `launch/` name a robot, or let the user name it, and nothing else; all of them come here. Everything
that can be decided without launch_ros is decided in `graph`, so that `./lfd up` and `ros2 launch` cannot drift apart.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from typing import TypeVar

from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lfd_description.grippers import gripper_names
from lfd_description.robots import robot_names

from .commands import AXES, BACKENDS, HANDS, HARDWARE, UNITY, hardware_parameter, listening_address, port
from .graph import Graph, NodeSpec, Page, describe
from .home.faults import Fault

RESPAWN_DELAY = 1.0  # [s]
Value = TypeVar('Value')


_Told = tuple[str, str, str, Sequence[str]]
"""Of a launch argument: name, value when none is told, description, and what it may be (empty: any text)."""
_YES_OR_NO = ('true', 'false')


def launch_description(robot: str | None = None) -> LaunchDescription:
    """What `ros2 launch lfd_bringup <robot>.launch.py` runs; without a robot, its name is an argument."""
    which = DeclareLaunchArgument('robot', choices=list(robot_names()), description='The robot to bring up.')
    return LaunchDescription(
        [
            *([] if robot else [which]),
            *(_declared(*told) for told in (*_robot_arguments(), *_twin_arguments(), *_page_arguments())),
            OpaqueFunction(function=_start, args=[robot]),
        ]
    )


def _declared(name: str, default: str, description: str, choices: Sequence[str] = ()) -> DeclareLaunchArgument:
    finite = {'choices': list(choices)} if choices else {}
    return DeclareLaunchArgument(name, default_value=default, description=description, **finite)


def _robot_arguments() -> tuple[_Told, ...]:
    """What the robot is and what moves it."""
    return (
        ('hardware', 'mock', 'What the controllers drive: mock follows every command, without a robot.', HARDWARE),
        ('robot_ip', '', 'The address of the real controller; MotoROS2 (hardware:=motoman) needs none.', ()),
        (
            'hardware_parameters',
            '',
            'Parameters of its driver, such as "reverse_port=50011 script_sender_port=50012".',
            (),
        ),
        (
            'hand',
            '',
            'What moves the gripper: mock, or external, its own driver; empty: mock on mock hardware, else external.',
            ('', *HANDS),
        ),
        (
            'scene',
            '',
            'What stands around the robot: a scene file or a bundled scene; else what the twin sends.',
            (),
        ),
        (
            'gripper',
            '',
            "What the robot carries; empty: the robot's own gripper, else two_finger.",
            ('', *gripper_names()),
        ),
        ('backend', 'moveit', 'What tasks are planned with: moveit through moveit_py, embedded without it.', BACKENDS),
    )


def _twin_arguments() -> tuple[_Told, ...]:
    """What it mirrors."""
    axes = 'Of what Unity publishes where that is the twin (unity, page:=false, no scene); empty: ros.'
    return (
        ('twin_of', '', 'The namespace of a real robot to mirror, which gets all commands; empty: none.', ()),
        ('unity', '', f"Where Unity's ROS-TCP-Connector finds us, such as {UNITY}; empty: nowhere.", ()),
        ('twin_axes', '', axes, ('', *AXES)),
    )


def _page_arguments() -> tuple[_Told, ...]:
    """What people see."""
    return (
        (
            'page',
            'true',
            'Whether to serve the page on which tasks are shown; what people do there is the twin.',
            _YES_OR_NO,
        ),
        ('port', '0', 'The port of the page; 0: 8765, or the next one that is free.', ()),
        (
            'lan',
            'false',
            'Whether to serve the page on the network too, over https, for headsets and tablets.',
            _YES_OR_NO,
        ),
        ('folder', '', 'Where shown tasks are kept; empty: $XDG_DATA_HOME/lfd.', ()),
        ('rviz', 'false', 'Whether to start RViz with the displays of the suite.', _YES_OR_NO),
    )


def _start(context: LaunchContext, robot: str | None) -> list[LaunchDescriptionEntity]:
    robot = robot or LaunchConfiguration('robot').perform(context)
    names = ('hardware', 'robot_ip', 'hand', 'scene', 'gripper', 'backend', 'twin_of', 'twin_axes')
    told = {name: LaunchConfiguration(name).perform(context) for name in names}
    parameters = shlex.split(LaunchConfiguration('hardware_parameters').perform(context))
    unity = LaunchConfiguration('unity').perform(context)
    return actions(
        describe(
            robot,
            **told,
            hardware_parameters=dict(_read(hardware_parameter, text) for text in parameters),
            page=_page(context),
            unity=_read(listening_address, unity) if unity else '',
            rviz=_is(context, 'rviz'),
        )
    )


def _page(context: LaunchContext) -> Page | None:
    if not _is(context, 'page'):
        return None
    told = LaunchConfiguration('port').perform(context)
    folder = LaunchConfiguration('folder').perform(context)
    return Page(0 if told == '0' else _read(port, told), _is(context, 'lan'), folder)


def _is(context: LaunchContext, name: str) -> bool:
    return bool(LaunchConfiguration(name).perform(context) == 'true')


def _read(read: Callable[[str], Value], text: str) -> Value:
    try:
        return read(text)
    except ArgumentTypeError as error:
        raise Fault(f'{error}.') from None


def actions(graph: Graph) -> list[LaunchDescriptionEntity]:
    """The launch actions of a graph, in its order."""
    started: dict[str, Node] = {}
    result: list[LaunchDescriptionEntity] = [LogInfo(msg=notice) for notice in graph.notices]
    for spec in graph.nodes:
        if spec.follows is None:
            started[spec.name] = node_action(spec)
            result.append(started[spec.name])
        else:
            handler = OnProcessStart(
                target_action=started[spec.follows],
                # A new action each time: launch runs an action once, and its target may be restarted.
                on_start=lambda event, context, spec=spec: [node_action(spec)],
            )
            result.insert(0, RegisterEventHandler(handler))
    return result


def node_action(spec: NodeSpec) -> Node:
    """One process of the graph as launch_ros starts it."""
    # launch_ros would read a plain string as YAML, and a URDF is none.
    values = {
        name: ParameterValue(value, value_type=str) if isinstance(value, str) else value
        for name, value in spec.parameters.items()
    }
    return Node(
        package=spec.package,
        executable=spec.executable,
        arguments=list(spec.arguments),
        parameters=[*map(str, spec.parameter_files), *([values] if values else [])],
        remappings=list(spec.remappings),
        respawn=not spec.is_one_shot and spec.restart is None,
        respawn_delay=RESPAWN_DELAY,
        output='screen',
    )
