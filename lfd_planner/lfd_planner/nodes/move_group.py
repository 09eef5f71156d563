"""Stand-in for MoveIt's move_group where that is not installed: the same node, names, types and rules.

robot_description, robot_description_semantic, robot_description_planning, moveit_simple_controller_manager (parameters)
    ──► scene services and topics, compute_ik, compute_fk, check_state_validity,
        plan_kinematic_path, compute_cartesian_path, move_action, execute_trajectory
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rclpy.exceptions import ParameterException
from rclpy.node import Node
from std_msgs.msg import String

from lfd_description.meshes import MeshError
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import LATCHED_QOS
from lfd_description.urdf import UrdfError
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.robot.planning_robot import LimitsOverride, PlanningRobot
from lfd_planner.robot.srdf import SrdfError
from lfd_planner.server.scene_monitor import SceneMonitor

from .capabilities.controllers import ControllerClients, ControllerFault, read_controllers
from .capabilities.execution import MOST_GOALS, ExecutionCapability, ExecutionRules
from .capabilities.kinematics import KinematicsCapability
from .capabilities.planning import PlanningCapability
from .capabilities.planning_scene import PlanningSceneCapability
from .capabilities.server import MOST_PLANNING, NAME, Server

# Callbacks at once: planning requests and running goals have limits of their own, so that whoever wants to stop an arm,
# or tells where it is, always finds a thread.
THREADS = MOST_PLANNING + MOST_GOALS + 16
PUBLISH_RATE = 4.0  # [Hz], MoveIt's own
FASTEST_PUBLISH_RATE = 1000.0  # [Hz]


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


class MoveGroup(Node):
    """Plans for one robot.

    Raises:
        ParameterError: a parameter is missing or cannot be used.
    """

    def __init__(self) -> None:
        super().__init__(NAME, automatically_declare_parameters_from_overrides=True)
        # All parameters first: what they are wrong about ends the node before anything runs.
        robot, controllers, rules, rate = self._robot(), self._controllers(), self._rules(), self._publish_rate()
        server = Server(self, SceneMonitor(robot), EmbeddedBackend(robot))
        self._server = server
        self._controller_clients = ControllerClients(controllers)
        self._scene = PlanningSceneCapability(server, rate)
        KinematicsCapability(server)
        planning = PlanningCapability(server)
        self._execution = ExecutionCapability(server, planning, self._controller_clients, rules)
        self._semantic = self.create_publisher(String, 'robot_description_semantic', LATCHED_QOS)
        self._semantic.publish(String(data=robot.srdf))
        groups = ', '.join(f"'{name}' ({len(group.joints)} joints)" for name, group in robot.groups.items())
        self.get_logger().info(f"Planning for robot '{robot.name}' in frame '{robot.frame}': groups {groups}.")

    def stop(self) -> None:
        """End what is under way."""
        self._server.ending.set()
        self._server.monitor.close()

    def destroy_node(self) -> None:
        """Take everything down."""
        self.stop()
        self._scene.close()
        self._execution.close()
        self._controller_clients.close()
        super().destroy_node()

    # Parameters

    def _robot(self) -> PlanningRobot:
        texts = {name: self._text(name) for name in ('robot_description', 'robot_description_semantic')}
        try:
            return PlanningRobot.of(
                texts['robot_description'], texts['robot_description_semantic'], read_limits(self._below_limits())
            )
        except (UrdfError, SrdfError, MeshError) as error:
            raise ParameterError(str(error)) from None

    def _text(self, name: str) -> str:
        value = self._value(name, '')
        if not isinstance(value, str) or not value.strip():
            kind = 'SRDF' if name.endswith('semantic') else 'URDF'
            raise ParameterError(f"The parameter {name} is empty; set it to the robot's {kind} text.")
        return value

    def _below_limits(self) -> Mapping[str, Any]:
        return self._below('robot_description_planning.joint_limits')

    def _controllers(self) -> Any:
        try:
            return read_controllers(self._below('moveit_simple_controller_manager'))
        except ControllerFault as error:
            raise ParameterError(str(error)) from None

    def _rules(self) -> ExecutionRules:
        told, standard = self._below('trajectory_execution'), ExecutionRules()
        return ExecutionRules(
            duration_scaling=_number(told, 'allowed_execution_duration_scaling', standard.duration_scaling),
            duration_margin=_number(told, 'allowed_goal_duration_margin', standard.duration_margin),
            start_tolerance=_number(told, 'allowed_start_tolerance', standard.start_tolerance),
            monitor_duration=bool(told.get('execution_duration_monitoring', standard.monitor_duration)),
        )

    def _publish_rate(self) -> float:
        name = 'planning_scene_monitor_options.publish_planning_scene_hz'
        rate = self._value('publish_planning_scene_hz', self._value(name, PUBLISH_RATE))
        if not isinstance(rate, int | float) or not 0.0 < rate <= FASTEST_PUBLISH_RATE:
            raise ParameterError(
                f'The parameter publish_planning_scene_hz is {rate}; set it above 0 and at most '
                f'{FASTEST_PUBLISH_RATE:g} Hz.'
            )
        return float(rate)

    def _below(self, prefix: str) -> Mapping[str, Any]:
        return {name: parameter.value for name, parameter in self.get_parameters_by_prefix(prefix).items()}

    def _value(self, name: str, default: Any) -> Any:
        return self.get_parameter(name).value if self.has_parameter(name) else default


def read_limits(parameters: Mapping[str, Any]) -> dict[str, LimitsOverride]:
    """The joint limits of MoveIt's joint_limits.yaml, by joint, from its flattened parameters.

    Raises:
        ParameterError: a limit is no number, or one that no joint has.
    """
    joints = {name.rpartition('.')[0] for name in parameters}
    return {joint: _limits_of(joint, parameters) for joint in joints if joint}


def _limits_of(joint: str, parameters: Mapping[str, Any]) -> LimitsOverride:
    def value(switch: str, name: str, least: float) -> float | None:
        if not parameters.get(f'{joint}.{switch}', False) or f'{joint}.{name}' not in parameters:
            return None
        number = _number(parameters, f'{joint}.{name}', math.nan)
        if not number > least:
            raise ParameterError(f'The parameter joint_limits.{joint}.{name} is {number:g}; correct it.')
        return number

    return LimitsOverride(
        lower=value('has_position_limits', 'min_position', -math.inf),
        upper=value('has_position_limits', 'max_position', -math.inf),
        velocity=value('has_velocity_limits', 'max_velocity', 0.0),
        acceleration=value('has_acceleration_limits', 'max_acceleration', 0.0),
    )


def _number(parameters: Mapping[str, Any], name: str, default: float) -> float:
    value = parameters.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ParameterError(f"The parameter {name} is '{value}'; set it to a number.")
    return float(value)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if a parameter cannot be used."""
    refusals = (ParameterError, ParameterException)
    return run_until_signal(NAME, MoveGroup, args, refusals, threads=THREADS, on_stop=MoveGroup.stop)


if __name__ == '__main__':
    sys.exit(main())
