"""The node ``twin``: a robot that mirrors a real one, and whose commands go to the real one.

It stands where the controllers stand in a graph without a robot::

    <real>/joint_states ──► checked, renamed ──► joint_states ──► robot_state_publisher, move_group ...
    <arm>_controller/follow_joint_trajectory, gripper_controller/gripper_cmd, joint_path_command, stop_motion,
    <arm>_controller/speed_scaling_input, vacuum_controller/commands
                                             ──► renamed ──► the same names below <real>
    <real>/<arm>_controller/controller_state ──► renamed ──► <arm>_controller/controller_state

What the real side answers (feedback, results, refusals) is answered here. When it stops telling where its joints are,
goals that run are cancelled and new ones refused: nobody commands an arm that nobody sees.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import CONTROLLER_STATE_QOS, JOINT_STATES_OUT_QOS, JOINT_STATES_QOS, VALVE_QOS
from lfd_hardware.controllers.joint_trajectory_controller import SCALING_QOS, STATE_QOS
from lfd_hardware.controllers.trajectory_messages import seconds
from lfd_hardware.nodes.industrial import PATH_QOS
from lfd_hardware.nodes.twin_goals import GoalForwarder, Patience
from lfd_hardware.nodes.twin_messages import (
    controller_state_from_real,
    gripper_kind,
    trajectory_kind,
    trajectory_to_real,
)
from lfd_hardware.nodes.twin_path import PathTime
from lfd_hardware.nodes.twin_states import Silence, StateMirror, StatesRefused
from lfd_hardware.nodes.twin_topics import CommandForwarder

NAME = 'twin'
LOOK_EVERY = 0.01  # [s] between two looks for what takes too long
LISTENERS_EVERY = 0.1  # [s] between two looks who listens at the real side
CANCEL_TIME = 0.02  # [s] for a cancel request to reach the real side
STOP_WITHIN = 0.5  # [s] that the real side has to answer stop_motion, before goals are cancelled instead
LINGER = 0.1  # [s] after the last goal, at the end, for its result to go out
MOVING_TIMEOUT = 0.1  # [s]
IDLE_TIMEOUT = 1.0  # [s]


class TwinFault(ValueError):
    """Parameters of which no twin can be made; the message is one sentence."""


REFUSALS = (TwinFault, ParameterException, NameValidationException)
"""What a twin with wrong parameters raises."""


class Twin(Node):
    """Mirrors the joints of a real robot and hands commands on to it; one thread does all of it."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self._logger = self.get_logger()
        self._prefix = self._text('real_prefix', "What the real side's joint names have before those of the model.")
        stop_by = self._seconds(
            'moving_timeout',
            MOVING_TIMEOUT,
            'Silence of joint_states by the end of which running goals are cancelled [s].',
        )
        self._moving_timeout = stop_by - CANCEL_TIME
        self._idle_timeout = self._seconds('idle_timeout', IDLE_TIMEOUT, 'Silence of joint_states to be told of [s].')
        joints = self._names('joints', "All joints of the robot, in the model's order.")
        arm_joints = self._names('arm_joints', 'Those whose states must keep coming; empty: all joints.') or joints
        self._check(joints, arm_joints)
        self._mirror, self._silence = StateMirror(joints, self._prefix), Silence(arm_joints)
        self._is_alive, self._told = False, set[str]()
        self._begin = time.monotonic()
        self._path = PathTime()  # of the last trajectory of joint_path_command
        self._listeners_looked = 0.0  # [s]
        self._busy_until = 0.0  # [s] at the end of the node: when the last result is out
        self._patience = Patience()
        self._group = ReentrantCallbackGroup()
        self._offer()

    def _offer(self) -> None:
        group = self._group
        self._states = self.create_publisher(JointState, 'joint_states', JOINT_STATES_OUT_QOS)
        self._real_states = self.create_subscription(
            JointState, self._real('joint_states'), self._on_states, JOINT_STATES_QOS, callback_group=group
        )
        if self._real_states.topic_name == self._states.topic_name:
            raise TwinFault(
                f"The twin and the real robot would share '{self._states.topic_name}': give twin_of another namespace "
                'than the one the twin runs in.'
            )
        actions = self._actions()
        self._forwarders = [
            GoalForwarder(self, kind, f'{name}/{action}', real, self._why_not, self._patience)
            for kind, name, action, real in actions
        ]
        self._offer_topics(arm=actions[0][1], real_arm=actions[0][3].rpartition('/')[0])
        self._paths = self.create_publisher(JointTrajectory, self._real('joint_path_command'), PATH_QOS)
        self.create_subscription(JointTrajectory, 'joint_path_command', self._on_path, PATH_QOS, callback_group=group)
        self._real_stop = self.create_client(Trigger, self._real('stop_motion'), callback_group=group)
        self.create_service(Trigger, 'stop_motion', self._on_stop, callback_group=group)
        # Steady: a clock that is set back must not hold up the watch.
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.create_timer(LOOK_EVERY, self._look, group, clock=self._steady)

    def _offer_topics(self, arm: str, real_arm: str) -> None:
        """Hand on what the controllers take by topics, and what the arm's tells."""
        scaling = (f'{arm}/speed_scaling_input', f'{real_arm}/speed_scaling_input')
        valves = self._names('valve_controllers', "The controllers of the hand's valves, such as vacuum_controller.")
        commands = [(f'{name}/commands', self._real(f'{name}/commands')) for name in valves]
        self._commands = [
            CommandForwarder(self, SpeedScalingFactor, scaling, SCALING_QOS, self._group, self._on_scaling),
            *(CommandForwarder(self, Float64MultiArray, names, VALVE_QOS, self._group) for names in commands),
        ]
        self._arm_states = self.create_publisher(JointTrajectoryControllerState, f'{arm}/controller_state', STATE_QOS)
        self.create_subscription(
            JointTrajectoryControllerState,
            f'{real_arm}/controller_state',
            self._on_arm_state,
            CONTROLLER_STATE_QOS,
            callback_group=self._group,
        )

    def give_up(self) -> None:
        """Stop what moves, because this node ends."""
        self._stop('The twin is ending.')

    @property
    def is_idle(self) -> bool:
        """Whether all goals have ended and their results are out; of use when this node ends."""
        if self._count():
            self._busy_until = time.monotonic() + LINGER
        return time.monotonic() > self._busy_until

    def destroy_node(self) -> None:
        """Let go of the actions too."""
        for each in self._forwarders:
            each.destroy()
        super().destroy_node()

    # Parameters

    def _text(self, name: str, description: str) -> str:
        descriptor = ParameterDescriptor(description=description, read_only=True)
        return str(self.declare_parameter(name, '', descriptor).value)

    def _names(self, name: str, description: str) -> list[str]:
        kind = Parameter.Type.STRING_ARRAY
        descriptor = ParameterDescriptor(description=description, type=kind.value, read_only=True)
        return list(self.declare_parameter(name, kind, descriptor).value or [])

    def _seconds(self, name: str, default: float, description: str) -> float:
        bounds = [FloatingPointRange(from_value=2.0 * CANCEL_TIME, to_value=60.0)]
        descriptor = ParameterDescriptor(description=description, floating_point_range=bounds, read_only=True)
        return float(self.declare_parameter(name, default, descriptor).value)

    def _check(self, joints: Sequence[str], arm_joints: Sequence[str]) -> None:
        if not joints or len(set(joints)) != len(joints):
            raise TwinFault("The parameter 'joints' of twin must name each joint of the robot once.")
        if unknown := [joint for joint in arm_joints if joint not in joints]:
            raise TwinFault(f"The parameter 'arm_joints' of twin names '{unknown[0]}', which is not one of 'joints'.")

    def _real(self, name: str) -> str:
        """A name below the real robot's namespace."""
        if not self.has_parameter('twin_of'):
            self._text('twin_of', "The real robot's namespace, such as /real.")
        namespace = str(self.get_parameter('twin_of').value)
        if not namespace:
            raise TwinFault("The parameter 'twin_of' of twin is empty: give the real robot's namespace, such as /real.")
        return f'{namespace.rstrip("/")}/{name}'

    def _actions(self) -> list[tuple[Any, str, str, str]]:
        """For each action: its kind, the twin's controller, the action's name below that, and the real action."""
        arm = self._text('trajectory_controller', "The arm's controller, such as gp8_controller.")
        gripper = self._text('gripper_controller', "The gripper's controller; empty: there is none.")
        real_arm = self._text('real_trajectory_action', 'Its action at the real side; empty: of the same name.')
        real_gripper = self._text('real_gripper_action', 'Its action at the real side; empty: of the same name.')
        if not arm:
            raise TwinFault("The parameter 'trajectory_controller' of twin is empty: give a name as gp8_controller.")
        found = [(trajectory_kind(self._prefix), arm, 'follow_joint_trajectory', real_arm)]
        if gripper:
            found.append((gripper_kind(), gripper, 'gripper_cmd', real_gripper))
        return [(kind, name, action, self._real(real or f'{name}/{action}')) for kind, name, action, real in found]

    # States

    def _on_states(self, message: Any) -> None:
        try:
            mirrored = self._mirror.mirrored(message)
        except StatesRefused as refusal:
            if refusal.fault not in self._told:
                self._told.add(refusal.fault)
                topic = self._real_states.topic_name
                self._logger.error(f"Ignored a message on '{topic}', and will any like it: {refusal}.")
            return
        if mirrored is not None:
            self._silence.hear(mirrored.name)
            self._states.publish(mirrored)

    def _look(self) -> None:
        """Tell when the stream of states stops or comes back, and end what waits for too long."""
        now = time.monotonic()
        self._silence.look(now)
        self._patience.look()
        self._path.look(now)
        for each in self._forwarders:
            each.look()
        if now - self._listeners_looked >= LISTENERS_EVERY:
            self._listeners_looked = now
            for command in self._commands:
                command.look()
        is_moving = self._count() > 0 or self._path.is_running
        is_alive = self._silence.seconds < (self._moving_timeout if is_moving else self._idle_timeout)
        if is_alive and not self._is_alive:
            self._is_alive = True
            self._told.clear()
            self._logger.info(f"Mirrors '{self._real_states.topic_name}'.")
        elif self._is_alive and not is_alive:
            self._is_alive = False
            self._on_silence(is_moving)
        elif not is_alive and 'nothing' not in self._told and now > self._begin + self._idle_timeout:
            self._told.add('nothing')
            self._logger.warning(f'{self._quiet()} Waiting for it.')
        if not is_alive:
            self._mirror.forget()

    def _on_silence(self, is_moving: bool) -> None:
        self._told.add('nothing')
        self._logger.error(f'{self._quiet()}{" Stopping what moves." if is_moving else ""}')
        self._stop(f'{self._quiet()} The goal was cancelled.')

    def _stop(self, why: str) -> None:
        """Stop what was sent from here: goals by cancelling them, a path by stop_motion."""
        for each in self._forwarders:
            each.give_up(why)
        if self._path.is_running and self._real_stop.service_is_ready():
            self._path.end()
            self._real_stop.call_async(Trigger.Request())

    def _quiet(self) -> str:
        """What is not heard."""
        return f"No joint states of '{self._prefix}{self._silence.quietest}' come on '{self._real_states.topic_name}'."

    def _why_not(self) -> str:
        """Why the real arm must not be moved now, in one sentence, or nothing."""
        return '' if self._silence.seconds < self._moving_timeout else f'{self._quiet()} Start the real robot.'

    def _count(self) -> int:
        return sum(each.count for each in self._forwarders)

    # Commands without an action

    def _on_path(self, message: Any) -> None:
        why = self._why_not()
        if not why and not self._paths.get_subscription_count():
            why = f"Nobody listens to '{self._paths.topic_name}': start the real robot's controller."
        if why:
            self._logger.error(f'Ignored a trajectory on joint_path_command: {why}')
            return
        self._paths.publish(trajectory_to_real(message, self._prefix))
        if message.points:
            self._path.begin(self._delay(message.header.stamp), seconds(message.points[-1].time_from_start))

    def _delay(self, stamp: Any) -> float:
        """Time from now to a trajectory's start [s]; a stamp of zero means now."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return 0.0
        now = self.get_clock().now()
        return float((Time.from_msg(stamp, clock_type=now.clock_type) - now).nanoseconds * 1e-9)

    def _on_scaling(self, message: Any) -> None:
        if 0.0 <= message.factor <= 1.0:  # the real side ignores others
            self._path.pace = message.factor

    def _on_arm_state(self, message: Any) -> None:
        if 0.0 <= message.speed_scaling_factor <= 1.0:
            self._path.pace = message.speed_scaling_factor
        self._arm_states.publish(controller_state_from_real(message, self._prefix))

    async def _on_stop(self, _: Any, response: Any) -> Any:
        if self._real_stop.service_is_ready():
            asked = self._real_stop.call_async(Trigger.Request())
            if await self._patience.answered(asked, STOP_WITHIN):
                self._path.end()
                return asked.result()
            self._real_stop.remove_pending_request(asked)
            why = f'did not answer within {STOP_WITHIN:g} s'
        else:
            why = 'is not there'
        count = self._count()
        for each in self._forwarders:
            each.give_up('Stopped by stop_motion.')
        response.success = False
        response.message = (
            f"'{self._real_stop.srv_name}' {why}: cancelled the goals that were sent from here instead ({count})."
        )
        self._logger.error(response.message)
        return response


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code."""
    return run_until_signal(
        NAME,
        Twin,
        args,
        refusals=REFUSALS,
        on_stop=Twin.give_up,
        is_idle=lambda twin: twin.is_idle,
    )


if __name__ == '__main__':
    sys.exit(main())
