"""The graph as a launch description, for a ROS 2 installation.

The launch files in `launch/` name a robot, or let the user name it, and nothing else; all of them come here. Everything
that can be decided without launch_ros is decided in `graph`, so that `./lfd up` and `ros2 launch` cannot drift apart.
"""

from __future__ import annotations

from launch.actions import DeclareLaunchArgument, OpaqueFunction, RegisterEventHandler
from launch.event_handlers import OnProcessStart
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from lfd_description.grippers import gripper_names
from lfd_description.robots import robot_names

from .commands import BACKENDS, HARDWARE
from .graph import Graph, NodeSpec, describe

RESPAWN_DELAY = 1.0  # [s]


def launch_description(robot: str | None = None) -> LaunchDescription:
    """What `ros2 launch lfd_bringup <robot>.launch.py` runs; without a robot, its name is an argument."""
    which = DeclareLaunchArgument('robot', choices=list(robot_names()), description='The robot to bring up.')
    return LaunchDescription(
        [
            *([] if robot else [which]),
            DeclareLaunchArgument(
                'hardware',
                default_value='mock',
                choices=list(HARDWARE),
                description='What the controllers drive: mock follows every command, without a robot.',
            ),
            DeclareLaunchArgument(
                'scene',
                default_value='',
                description='What stands around the robot: a scene file or a bundled scene; else what the twin sends.',
            ),
            DeclareLaunchArgument(
                'gripper',
                default_value='',
                choices=['', *gripper_names()],
                description="What the robot carries; empty: the robot's own gripper, else two_finger.",
            ),
            DeclareLaunchArgument(
                'backend',
                default_value='moveit',
                choices=list(BACKENDS),
                description='What tasks are planned with: moveit through moveit_py, embedded without it.',
            ),
            OpaqueFunction(function=_start, args=[robot]),
        ]
    )


def _start(context: LaunchContext, robot: str | None) -> list[LaunchDescriptionEntity]:
    robot = robot or LaunchConfiguration('robot').perform(context)
    told = {name: LaunchConfiguration(name).perform(context) for name in ('hardware', 'scene', 'gripper', 'backend')}
    return actions(describe(robot, **told))


def actions(graph: Graph) -> list[LaunchDescriptionEntity]:
    """The launch actions of a graph, in its order."""
    started: dict[str, Node] = {}
    result: list[LaunchDescriptionEntity] = []
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
        respawn=not spec.is_one_shot,
        respawn_delay=RESPAWN_DELAY,
        output='screen',
    )
