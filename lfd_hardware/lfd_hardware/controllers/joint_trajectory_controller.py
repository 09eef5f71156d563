"""Follow joint trajectories: the action ``~/follow_joint_trajectory`` and the topic ``~/joint_trajectory``."""

from __future__ import annotations

import itertools
import threading
import traceback
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_hardware.controllers.controller import Controller, ControllerError, ControllerState
from lfd_hardware.description import JointLimit
from lfd_hardware.follower import Outcome, Plan, Progress, TrajectoryFollower
from lfd_hardware.spline import JointSample
from lfd_hardware.tolerances import JointTolerance, StateTolerance, Tolerances, adapt
from lfd_hardware.trajectory import Array, ErrorCode, RawPoint, TrajectoryRefused, read_waypoints

COMMAND_INTERFACES = ('position', 'velocity', 'acceleration')
STATE_INTERFACES = ('position', 'velocity', 'acceleration')
TRAJECTORY_QOS = QoSProfile(depth=10)
STATE_QOS = QoSProfile(depth=10)


@dataclass
class _Goal:
    """A goal on its way from acceptance to its result."""

    handle: Any
    ticket: int
    outcome: Outcome | None = None
    canceled: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def end(self, outcome: Outcome, canceled: bool = False) -> None:
        self.outcome, self.canceled = outcome, canceled
        self.done.set()


class JointTrajectoryController(Controller):
    """Commands positions [rad or m] (and velocities, accelerations where the hardware takes them) along a trajectory.

    A goal that is not valid is accepted and aborted at once, because only a result can carry an error code and a
    sentence (the official controller rejects it without a word); it does not disturb the motion that is going on.
    """

    type_name = 'joint_trajectory_controller/JointTrajectoryController'
    needs_finite_states = True

    def configure(self) -> None:
        """Read the parameters and offer the action, the topic and the state."""
        self._joints = self._read_joints()
        self._command_kinds = self._read_kinds('command_interfaces', COMMAND_INTERFACES)
        self._state_kinds = self._read_kinds('state_interfaces', STATE_INTERFACES)
        self._tolerances = self._read_tolerances()
        self._allow_final_velocity = self.parameter(
            'allow_nonzero_velocity_at_trajectory_end', False, 'Accept trajectories that do not end at rest.'
        )
        self._feedback_every = self._read_rate('action_monitor_rate', 'Rate of the action feedback [Hz].')
        self._state_every = self._read_rate('state_publish_rate', 'Rate of ~/controller_state [Hz].')
        if self.parameter('allow_partial_joints_goal', False, 'Not supported here.'):
            self.logger.warning('allow_partial_joints_goal is not supported here: goals must name every joint.')
        self._lock = threading.Lock()  # around the follower and the goal: the loop and the callbacks use both
        self._follower = TrajectoryFollower([self._limit(joint) for joint in self._joints], self.period)
        self._goal: _Goal | None = None
        self._tickets = itertools.count(1)  # in the order in which trajectories come; long ones are ready later
        self._arriving: dict[int, int] = {}  # ticket of a goal between its two callbacks, by the id of its request
        self._newest = 0  # ticket of what was started, or stopped, last
        self._cycle = 0
        self._publisher = self.node.create_publisher(JointTrajectoryControllerState, '~/controller_state', STATE_QOS)
        self._subscription = self.node.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, TRAJECTORY_QOS
        )
        self._server = ActionServer(
            self.node,
            FollowJointTrajectory,
            '~/follow_joint_trajectory',
            execute_callback=self._unexpected,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def command_interfaces(self) -> Sequence[str]:
        """Position of every joint, and what else ``command_interfaces`` names."""
        return [f'{joint}/{kind}' for joint in self._joints for kind in self._command_kinds]

    def state_interfaces(self) -> Sequence[str]:
        """Position of every joint, and what else ``state_interfaces`` names."""
        return [f'{joint}/{kind}' for joint in self._joints for kind in self._state_kinds]

    def activate(self) -> None:
        """Hold the last command, or the present state when the hardware was never commanded."""
        commands, states = self.hardware.commands, self.hardware.states
        start = np.array([states[f'{joint}/position'] for joint in self._joints])
        last = np.array([commands[f'{joint}/position'] for joint in self._joints])
        with self._lock:
            self._follower.hold(np.where(np.isfinite(last), last, start))

    def update(self) -> None:
        """Command the next point of the trajectory, and tell how it goes."""
        positions = self._read('position')
        velocities = self._read('velocity') if 'velocity' in self._state_kinds else None
        self._cycle += 1
        with self._lock:
            goal = self._goal
            if goal is not None and goal.handle.is_cancel_requested:
                self._follower.stop()
                self._end_goal(Outcome(ErrorCode.SUCCESSFUL, 'Canceled: the joints hold where they were.'), True)
                goal = None
            progress = self._follower.update(positions, velocities)
            self._command(progress.desired)
            if progress.outcome is not None:
                self._report(progress.outcome)
                self._end_goal(progress.outcome)
        if goal is not None and (self._cycle % self._feedback_every == 0 or progress.outcome is not None):
            self._publish_feedback(goal, progress, positions, velocities)
        if self._cycle % self._state_every == 0:
            self._publish_state(progress, positions, velocities)

    def deactivate(self, reason: str) -> None:
        """Stop, and abort the goal and those that are still being prepared."""
        with self._lock:
            self._follower.stop()
            self._command(self._follower.commanded)
            self._newest = next(self._tickets)
            self._end_goal(Outcome(ErrorCode.INVALID_GOAL, f"The controller '{self.name}' was deactivated: {reason}."))

    def cleanup(self) -> None:
        """Take back the action, the topic and the state."""
        self._server.destroy()
        self.node.destroy_subscription(self._subscription)
        self.node.destroy_publisher(self._publisher)

    # Parameters

    def _read_joints(self) -> tuple[str, ...]:
        joints = tuple(self.parameter('joints', [], 'Joints to control.'))
        if not joints or len(set(joints)) != len(joints):
            raise ControllerError(f"'joints' of '{self.name}' is {list(joints)}: name at least one joint, each once.")
        return joints

    def _read_kinds(self, name: str, known: Sequence[str]) -> tuple[str, ...]:
        kinds = tuple(self.parameter(name, [], f'{name} of every joint: position, and further ones.'))
        if 'position' not in kinds or not set(kinds) <= set(known):
            raise ControllerError(
                f"'{name}' of '{self.name}' is {list(kinds)}: it must hold position and may hold "
                f'{" and ".join(known[1:])} (controllers without position need the official ros2_control).'
            )
        return kinds

    def _read_tolerances(self) -> Tolerances:
        stopped = self._tolerance('constraints.stopped_velocity_tolerance', 0.01, 'Largest velocity at the end.')
        path = [self._tolerance(f'constraints.{joint}.trajectory', 0.0, 'Largest error.') for joint in self._joints]
        goal = [
            self._tolerance(f'constraints.{joint}.goal', 0.0, 'Largest error at the end.') for joint in self._joints
        ]
        count = len(self._joints)
        return Tolerances(
            path=StateTolerance(np.array(path), np.zeros(count)),
            goal=StateTolerance(np.array(goal), np.full(count, stopped)),
            goal_time=self._tolerance('constraints.goal_time', 0.0, 'Time to settle after the end [s].'),
        )

    def _tolerance(self, name: str, default: float, description: str) -> float:
        value = float(self.parameter(name, default, f'{description} Zero: not checked.'))
        if not np.isfinite(value) or value < 0.0:
            raise ControllerError(f"'{name}' of '{self.name}' is {value:g}: give zero or more.")
        return value

    def _limit(self, joint: str) -> JointLimit:
        limit = self.hardware.limits.get(joint)
        if limit is None:
            known = ', '.join(self.hardware.limits)
            raise ControllerError(f"'joints' of '{self.name}' names '{joint}': use joints of the hardware ({known}).")
        return limit

    def _read_rate(self, name: str, description: str) -> int:
        """Cycles from one message to the next."""
        rate = float(self.parameter(name, 20.0, description))
        if not rate > 0.0:
            raise ControllerError(f"'{name}' of '{self.name}' is {rate:g}: give a rate above zero.")
        return max(1, round(1.0 / (rate * self.period)))

    # The loop's side

    def _read(self, kind: str) -> Array:
        states = self.hardware.states
        return np.array([states[f'{joint}/{kind}'] for joint in self._joints])

    def _command(self, sample: JointSample) -> None:
        values = {'position': sample.positions, 'velocity': sample.velocities, 'acceleration': sample.accelerations}
        for kind in self._command_kinds:
            for joint, value in zip(self._joints, values[kind].tolist(), strict=True):
                self.hardware.commands[f'{joint}/{kind}'] = value

    def _end_goal(self, outcome: Outcome, canceled: bool = False) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.end(outcome, canceled)

    def _report(self, outcome: Outcome) -> None:
        if outcome.code is ErrorCode.SUCCESSFUL:
            self.logger.info(outcome.message)
        else:
            self.logger.warning(outcome.message)

    def _publish_feedback(self, goal: _Goal, progress: Progress, positions: Array, velocities: Array | None) -> None:
        desired, actual, error = self._points(progress, positions, velocities)
        message = FollowJointTrajectory.Feedback(
            joint_names=list(self._joints), desired=desired, actual=actual, error=error
        )
        message.header.stamp = self.node.get_clock().now().to_msg()
        goal.handle.publish_feedback(message)

    def _publish_state(self, progress: Progress, positions: Array, velocities: Array | None) -> None:
        desired, actual, error = self._points(progress, positions, velocities)
        message = JointTrajectoryControllerState(
            joint_names=list(self._joints),
            reference=desired,
            feedback=actual,
            error=error,
            output=desired,
            speed_scaling_factor=1.0,
        )
        message.header.stamp = self.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    @staticmethod
    def _points(progress: Progress, positions: Array, velocities: Array | None) -> tuple[Any, Any, Any]:
        """Desired, actual and error as messages."""
        wanted = progress.desired
        desired = JointTrajectoryPoint(
            positions=_doubles(wanted.positions),
            velocities=_doubles(wanted.velocities),
            accelerations=_doubles(wanted.accelerations),
        )
        actual = JointTrajectoryPoint(positions=_doubles(positions))
        error = JointTrajectoryPoint(positions=_doubles(progress.position_error))
        if velocities is not None and progress.velocity_error is not None:
            actual.velocities = _doubles(velocities)
            error.velocities = _doubles(progress.velocity_error)
        return desired, actual, error

    # The callbacks' side

    def _on_goal(self, request: Any) -> Any:
        if self.state is ControllerState.ACTIVE:
            # Now, because the client does not know yet: whatever it sends after this goal has a higher ticket.
            self._arriving[id(request)] = next(self._tickets)
            return GoalResponse.ACCEPT
        self.logger.error(f"Rejected a goal: '{self.name}' is {self.state.value}, activate it first.")
        return GoalResponse.REJECT

    def _on_accepted(self, handle: Any) -> None:
        goal = _Goal(handle, self._arriving.pop(id(handle.request)))
        handle.execute(lambda _: self._execute(goal))

    def _execute(self, goal: _Goal) -> Any:
        """Start a goal, wait for its end and answer; runs in a thread of the executor."""
        request = goal.handle.request
        try:
            if request.multi_dof_trajectory.points:
                raise TrajectoryRefused(
                    ErrorCode.INVALID_GOAL,
                    'The goal has a multi_dof_trajectory, which is not supported: leave it empty.',
                )
            tolerances = adapt(
                self._tolerances,
                self._joints,
                [JointTolerance(t.name, t.position, t.velocity) for t in request.path_tolerance],
                [JointTolerance(t.name, t.position, t.velocity) for t in request.goal_tolerance],
                _seconds(request.goal_time_tolerance),
            )
            self._start(request.trajectory, tolerances, goal.ticket, goal)
        except TrajectoryRefused as refusal:
            self.logger.error(f'Refused a goal: {refusal}')
            goal.end(Outcome(refusal.code, str(refusal)))
        except Exception as error:  # a mistake in here must not leave the client waiting for ever
            self.logger.error(f'Failed to start a goal: {error}\n{traceback.format_exc()}')
            goal.end(Outcome(ErrorCode.INVALID_GOAL, f'Internal error: {error}'))
        return self._result(goal)

    def _on_trajectory(self, message: Any) -> None:
        ticket = next(self._tickets)
        if self.state is not ControllerState.ACTIVE:
            self.logger.error(f"Ignored a trajectory: '{self.name}' is {self.state.value}, activate it first.")
            return
        try:
            self._start(message, self._tolerances, ticket, None)
        except TrajectoryRefused as refusal:
            self.logger.error(f'Refused a trajectory: {refusal}')

    def _start(self, message: Any, tolerances: Tolerances, ticket: int, goal: _Goal | None) -> None:
        """Follow a trajectory message in place of what is being followed, or raise TrajectoryRefused."""
        points = [
            RawPoint(_seconds(p.time_from_start), p.positions, p.velocities, p.accelerations, p.effort)
            for p in message.points
        ]
        waypoints = read_waypoints(self._joints, message.joint_names, points, self._allow_final_velocity)
        plan: Plan = self._follower.prepare(waypoints)  # slow for long trajectories, so without the lock
        with self._lock:
            if self.state is not ControllerState.ACTIVE:
                raise TrajectoryRefused(ErrorCode.INVALID_GOAL, f"'{self.name}' is not active any more: activate it.")
            if ticket < self._newest:
                raise TrajectoryRefused(
                    ErrorCode.INVALID_GOAL, 'A newer trajectory or a deactivation came first: send it again if needed.'
                )
            self._follower.start(plan, self._delay(message.header.stamp, waypoints.duration), tolerances)
            self._newest = ticket
            self._end_goal(Outcome(ErrorCode.INVALID_GOAL, 'Replaced by a newer trajectory.'))
            self._goal = goal

    def _delay(self, stamp: Any, duration: float) -> float:
        """Time from now to the trajectory's start [s]; a stamp of zero means now."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return 0.0
        now = self.node.get_clock().now()
        delay = (Time.from_msg(stamp, clock_type=now.clock_type) - now).nanoseconds * 1e-9
        if delay + duration < 0.0:
            raise TrajectoryRefused(
                ErrorCode.OLD_HEADER_TIMESTAMP,
                f'The trajectory ended {-(delay + duration):.3f} s ago by its header stamp: '
                'leave the stamp zero to start at once.',
            )
        return float(delay)

    def _result(self, goal: _Goal) -> Any:
        while not goal.done.wait(timeout=1.0):
            if self.state is not ControllerState.ACTIVE:
                goal.end(Outcome(ErrorCode.INVALID_GOAL, f"The controller '{self.name}' was deactivated."))
        outcome = goal.outcome or Outcome(ErrorCode.INVALID_GOAL, 'The goal ended without an outcome.')
        if goal.canceled or goal.handle.status == GoalStatus.STATUS_CANCELING:
            goal.handle.canceled()
        elif outcome.code is ErrorCode.SUCCESSFUL:
            goal.handle.succeed()
        else:
            goal.handle.abort()
        return FollowJointTrajectory.Result(error_code=int(outcome.code), error_string=outcome.message)

    @staticmethod
    def _unexpected(_: Any) -> Any:
        raise AssertionError('every goal brings its own execute callback')


def _seconds(duration: Any) -> float:
    return float(Duration.from_msg(duration).nanoseconds * 1e-9)


def _doubles(values: Array) -> array[float]:
    """The form of numbers that messages take without a copy of every element."""
    return array('d', values.tobytes())
