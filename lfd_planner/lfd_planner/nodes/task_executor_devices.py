"""The arm and the signals of an execution over ROS.

joint_states, <arm>_controller/controller_state, cell_inputs ──► execution ──► follow_joint_trajectory, gripper_cmd,
                                                                               cell_outputs, vacuum_controller/commands
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import yaml
from control_msgs.msg import JointTrajectoryControllerState
from lfd_msgs.msg import SignalValue
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from lfd_description.model.configs import moveit_controllers_yaml
from lfd_description.model.model import RobotModel
from lfd_description.nodes.qos import (
    CELL_SIGNALS_QOS,
    CONTROLLER_STATE_QOS,
    JOINT_STATES_QOS,
    VALVE_QOS,
)
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import ExecutionRules, GoalRefused, GoalRules
from lfd_planner.execution.devices import ShouldStop
from lfd_planner.messages import trajectory_to_message
from lfd_planner.timing import Trajectory

from .capabilities.controllers import (
    FOLLOW,
    GRIPPER,
    ControllerClients,
    ControllerSpec,
    choose,
    read_controllers,
)
from .task_executor_motoros2 import MotoRos2Mode, explained

CONTROLLERS = 'moveit_simple_controller_manager'
LOOK_EVERY = 0.01  # [s] between two looks whether the arm stands
AT_REST = 1e-4  # [rad or m] by which the joint states of an arm that stands may differ


def controllers_of(model: RobotModel, told: Mapping[str, Any]) -> tuple[ControllerSpec, ...]:
    """The controllers of a robot: as parameters tell, or else as its moveit_controllers.yaml does; and its gripper's.

    Args:
        model: the robot.
        told: the parameters below moveit_simple_controller_manager, by their names with dots.

    Raises:
        ControllerFault: one of them cannot be used.
    """
    found = read_controllers(told or _flat(yaml.safe_load(moveit_controllers_yaml(model))[CONTROLLERS]))
    joint = f'{model.prefix}{model.gripper.joint}' if model.gripper and model.gripper.joint else None
    name = model.gripper_controller
    if joint is not None and name is not None and not any(joint in spec.joints for spec in found):
        found = (*found, ControllerSpec(name, f'{name}/gripper_cmd', GRIPPER, (joint,)))
    return found


def _flat(nested: Mapping[str, Any], prefix: str = '') -> dict[str, Any]:
    """Nested keys as the names with dots that ROS parameters have."""
    found: dict[str, Any] = {}
    for key, value in nested.items():
        found |= _flat(value, f'{prefix}{key}.') if isinstance(value, Mapping) else {f'{prefix}{key}': value}
    return found


class RosArm:
    """The arm behind its trajectory controller; keeps where its joints are, and how far they were off."""

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        clients: ControllerClients,
        rules: ExecutionRules,
        goals: GoalRules,
        mode: MotoRos2Mode | None = None,
    ) -> None:
        """`mode`: what the arm's controller must be brought into before it moves, if it is one with MotoROS2."""
        self._model, self._clients, self._rules, self._goals = model, clients, rules, goals
        self._mode = mode
        self._joints: dict[str, float] = {}
        self._heard = dict.fromkeys(model.group.joints, -math.inf)
        self._off: dict[str, float] = {}
        self._lock = threading.Lock()
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(JointState, 'joint_states', self._on_joints, JOINT_STATES_QOS, callback_group=group)
        for spec in clients.controllers:
            if spec.kind == FOLLOW:
                node.create_subscription(
                    JointTrajectoryControllerState,
                    f'{spec.name}/controller_state',
                    self._on_state,
                    CONTROLLER_STATE_QOS,
                    callback_group=group,
                )

    def follow(self, trajectory: Trajectory, should_stop: ShouldStop) -> Failure | None:
        """Move along a trajectory that begins where the arm is, to its end."""
        specs = self._specs()
        if isinstance(specs, Failure):
            return specs
        look = safe(should_stop)
        if self._mode is not None and (failed := self._mode.start(look)):
            return failed
        try:
            for goal in self._goals.goals(trajectory):
                if self._goals.begins_at_rest and (failed := self._wait_for_rest(look)):
                    return failed
                begun = self._goals.starting_at(goal, self._model.group.joints, self.joints())
                if failed := self._run(begun, specs, look):
                    return failed
        except GoalRefused as error:
            return Failure(Code.INVALID_MOTION_PLAN, str(error))
        return None

    def _wait_for_rest(self, look: ShouldStop) -> Failure | None:
        """Wait for two joint states from now on that agree: what was heard while the last goal ended is too old."""
        deadline, before = time.monotonic() + self._rules.rest_within, np.full(len(self._heard), np.nan)
        heard = time.monotonic()
        while time.monotonic() < deadline:
            if (reason := look()) is not None:
                return reason
            with self._lock:
                newest = min(self._heard.values())
                now = np.array([self._joints.get(name, math.nan) for name in self._heard])
            if newest > heard:
                if np.abs(now - before).max() <= AT_REST:
                    return None
                heard, before = newest, now
            time.sleep(LOOK_EVERY)
        return Failure(
            Code.INVALID_ROBOT_STATE,
            f'The arm does not stand within {self._rules.rest_within:g} s, and goals of its controller begin at rest; '
            'look for who else moves it.',
        )

    def _run(self, goal: Trajectory, specs: tuple[ControllerSpec, ...], look: ShouldStop) -> Failure | None:
        """Have the controllers run one goal."""
        message = trajectory_to_message(goal, self._model.group.joints, '').joint_trajectory
        results: list[Any] = []
        failed = self._clients.execute(
            specs, message, look, self._rules.allowed(goal.duration), lambda _, result: results.append(result)
        )
        if failed is None or self._mode is None or not results:
            return failed
        return explained(failed, results[0])

    def missing(self) -> Failure | None:
        """Why it cannot be moved now."""
        specs = self._specs()
        return specs if isinstance(specs, Failure) else self._clients.missing(specs)

    def joints(self) -> Mapping[str, float]:
        """The newest positions of all joints [rad or m]."""
        with self._lock:
            return dict(self._joints)

    def silence(self) -> float:
        """For how long no joint state has come of the joint of the arm that was heard of least recently [s]."""
        with self._lock:
            return time.monotonic() - min(self._heard.values())

    def forget_errors(self) -> None:
        """From now on, errors count anew."""
        with self._lock:
            self._off.clear()

    def errors(self) -> dict[str, float]:
        """How far each joint was at most from where it was commanded to be [rad or m]."""
        with self._lock:
            return dict(self._off)

    def _specs(self) -> tuple[ControllerSpec, ...] | Failure:
        return choose(self._clients.controllers, self._model.group.joints)

    def _on_joints(self, message: JointState) -> None:
        """What is no number tells nothing."""
        told = zip(message.name, message.position, strict=False)
        found = {name: value for name, value in told if math.isfinite(value)}
        with self._lock:
            self._joints.update(found)
            now = time.monotonic()
            self._heard.update({name: now for name in found if name in self._heard})

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        with self._lock:
            for name, error in zip(message.joint_names, message.error.positions, strict=False):
                if math.isfinite(error):
                    self._off[name] = max(self._off.get(name, 0.0), abs(error))


class RosSignals:
    """The cell's signals on two topics of lfd_msgs/SignalValue; the hand's vacuum also goes to its own controller.

    That is a forward_command_controller with the name of the output, such as vacuum_controller.
    """

    def __init__(self, node: Node, model: RobotModel, are_outputs_needed: bool) -> None:
        self._values: dict[str, bool | float] = {}
        self._are_outputs_needed = are_outputs_needed
        self._out = node.create_publisher(SignalValue, 'cell_outputs', CELL_SIGNALS_QOS)
        vacuum = f'{model.prefix}{model.gripper.gpio}' if model.gripper and model.gripper.gpio else ''
        self._valves = (
            {vacuum: node.create_publisher(Float64MultiArray, f'{vacuum}_controller/commands', VALVE_QOS)}
            if vacuum
            else {}
        )
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(SignalValue, 'cell_inputs', self._on_input, CELL_SIGNALS_QOS, callback_group=group)

    def set(self, outputs: Mapping[str, bool | float]) -> None:
        """Switch outputs."""
        for signal, value in outputs.items():
            self._out.publish(SignalValue(signal=signal, is_digital=isinstance(value, bool), value=float(value)))
            if signal in self._valves:
                self._valves[signal].publish(Float64MultiArray(data=[float(value)]))

    def unheard(self, outputs: Mapping[str, bool | float]) -> Failure | None:
        """Why outputs would be switched in vain."""
        if not self._are_outputs_needed:
            return None
        for signal in outputs:
            valve = self._valves.get(signal)
            if valve is not None and not valve.get_subscription_count():
                return Failure(
                    Code.CONTROL_FAILED,
                    f"Nobody listens to '{signal}_controller/commands', and the hand's vacuum is to be switched; start "
                    "the hand's driver, or have the hand simulated with --hand mock.",
                )
            if valve is None and not self._out.get_subscription_count():
                return Failure(
                    Code.CONTROL_FAILED,
                    f"Nobody listens to 'cell_outputs', and '{signal}' is to be switched; start who switches it.",
                )
        return None

    def value(self, signal: str) -> bool | float | None:
        """What an input is; None: nobody told yet."""
        return self._values.get(signal)

    def _on_input(self, message: SignalValue) -> None:
        if math.isfinite(message.value):
            self._values[message.signal] = message.value != 0.0 if message.is_digital else float(message.value)


def safe(should_stop: ShouldStop) -> Callable[[], Failure | None]:
    """The same, for which a mistake of ours is a reason to stop: nobody looks at an arm that nobody watches."""

    def look() -> Failure | None:
        try:
            return should_stop()
        except Exception as error:
            return Failure(Code.FAILURE, f'Execution failed here: {error!r}; see the log of task_executor.')

    return look
