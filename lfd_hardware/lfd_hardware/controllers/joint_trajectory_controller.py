"""Follow joint trajectories: the action ``~/follow_joint_trajectory`` and the topic ``~/joint_trajectory``."""

from __future__ import annotations

import itertools
import math
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import QoSProfile
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory

from lfd_hardware.controllers.controller import Controller, ControllerState
from lfd_hardware.controllers.trajectory_messages import controller_state, point, raw_points, seconds, three_points
from lfd_hardware.controllers.trajectory_parameters import read_parameters
from lfd_hardware.follower import Outcome, Progress, TrajectoryFollower
from lfd_hardware.plan import Plan
from lfd_hardware.spline import JointSample
from lfd_hardware.tolerances import JointTolerance, Tolerances, adapt
from lfd_hardware.trajectory import Array, ErrorCode, TrajectoryRefused, read_waypoints

TRAJECTORY_QOS = QoSProfile(depth=10)
STATE_QOS = QoSProfile(depth=10)
SCALING_QOS = QoSProfile(depth=1)


@dataclass
class _Goal:
    """A goal on its way from acceptance to its result."""

    handle: Any
    ticket: int
    outcome: Outcome | None = None
    canceling: bool = False  # coming to rest because its client asked for that
    canceled: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def end(self, outcome: Outcome, canceled: bool = False) -> None:
        self.outcome, self.canceled = outcome, canceled
        self.done.set()


class JointTrajectoryController(Controller):
    """Commands positions [rad or m] (and velocities, accelerations where the hardware takes them) along a trajectory.

    A goal that is not valid is accepted and aborted at once, because only a result can carry an error code and a
    sentence (the official controller rejects it without a word); it does not disturb the motion that is going on.
    Every stop is smooth and along the path; a goal that is cancelled is answered when the command is at rest.

    Where the hardware has a speed of its own, such as the slider of a pendant, the trajectory keeps pace with it: the
    parameter ``speed_scaling.state_interface`` names it. What ``~/speed_scaling_input`` asks for is a part of that.
    """

    type_name = 'joint_trajectory_controller/JointTrajectoryController'
    needs_finite_states = True

    def configure(self) -> None:
        """Read the parameters and offer the action, the topics, the service and the state."""
        self._parameters = read_parameters(self)
        self._joints = self._parameters.joints
        self._names = {
            kind: [f'{joint}/{kind}' for joint in self._joints]
            for kind in {*self._parameters.command_kinds, *self._parameters.state_kinds}
        }
        self._lock = threading.Lock()  # around the follower and the goal: the loop and the callbacks use both
        self._follower = TrajectoryFollower(self._parameters.limits, self.period)
        self._scaling = 1.0  # what was asked for
        self._goal: _Goal | None = None
        self._tickets = itertools.count(1)  # in the order in which trajectories come; long ones are ready later
        self._arriving: dict[int, int] = {}  # ticket of a goal between its two callbacks, by the id of its request
        self._preparing: set[int] = set()  # tickets of goals that were accepted and have not begun yet
        self._newest = 0  # ticket of what was started, or stopped, last
        self._cycle = 0
        self._offer()

    def _offer(self) -> None:
        node = self.node
        self._publisher = node.create_publisher(JointTrajectoryControllerState, '~/controller_state', STATE_QOS)
        self._subscriptions = (
            node.create_subscription(JointTrajectory, '~/joint_trajectory', self.follow, TRAJECTORY_QOS),
            node.create_subscription(SpeedScalingFactor, '~/speed_scaling_input', self._on_scaling, SCALING_QOS),
        )
        self._query = node.create_service(QueryTrajectoryState, '~/query_state', self._on_query)
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            '~/follow_joint_trajectory',
            execute_callback=self._unexpected,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that it moves; known after ``configure``."""
        return self._joints

    def command_interfaces(self) -> Sequence[str]:
        """Position of every joint, and what else ``command_interfaces`` names."""
        return [f'{joint}/{kind}' for joint in self._joints for kind in self._parameters.command_kinds]

    def state_interfaces(self) -> Sequence[str]:
        """Position of every joint, what else ``state_interfaces`` names, and the hardware's own speed."""
        names = [f'{joint}/{kind}' for joint in self._joints for kind in self._parameters.state_kinds]
        return [*names, self._parameters.scaling_interface] if self._parameters.scaling_interface else names

    def activate(self) -> None:
        """Hold the joints where they stand, or are on their way to by the last command of whoever had them before."""
        standing = np.array([self.hardware.standing(name) for name in self._names['position']])
        with self._lock:
            self._follower.hold(standing)
            self._scaling = 1.0
            self._follower.scale(self._allowed())
            self._command(self._follower.commanded)

    def update(self) -> None:
        """Command the next point of the trajectory, and tell how it goes."""
        positions = self._read('position')
        velocities = self._read('velocity') if 'velocity' in self._parameters.state_kinds else None
        self._cycle += 1
        with self._lock:
            goal = self._goal
            if goal is not None and not goal.canceling and goal.handle.is_cancel_requested:
                goal.canceling = True
                self._follower.stop()
            self._follower.scale(self._scaling * self._allowed())
            progress = self._follower.update(positions, velocities)
            self._command(progress.desired)
            if progress.outcome is not None:
                self._report(progress.outcome)
                self._end_goal(progress.outcome)
            elif goal is not None and goal.canceling and self._follower.at_rest:
                self._end_goal(Outcome(ErrorCode.SUCCESSFUL, 'Cancelled: the joints came to rest on the path.'), True)
        if goal is not None and (self._cycle % self._parameters.feedback_every == 0 or progress.outcome is not None):
            self._publish_feedback(goal, progress, positions, velocities)
        if self._cycle % self._parameters.state_every == 0:
            self._publish_state(progress, positions, velocities)

    def halt(self, why: str) -> bool:
        """Come to rest along the path, and abort the goal and those that are still being prepared."""
        with self._lock:
            was_busy = self._goal is not None or not self._follower.at_rest or bool(self._preparing)
            self._newest = next(self._tickets)
            self._follower.stop()
            self._end_goal(Outcome(ErrorCode.INVALID_GOAL, why))
        return was_busy

    @property
    def at_rest(self) -> bool:
        """Whether the command stands still."""
        return self._follower.at_rest

    def deactivate(self, reason: str) -> None:
        """Hold the last command, and abort the goal if there is one."""
        self.halt(f"The controller '{self.name}' was deactivated: {reason}.")
        with self._lock:
            self._follower.hold(self._follower.commanded.positions)
            self._command(self._follower.commanded)

    def cleanup(self) -> None:
        """Take back the action, the topics, the service and the state."""
        self._server.destroy()
        self.node.destroy_service(self._query)
        for subscription in self._subscriptions:
            self.node.destroy_subscription(subscription)
        self.node.destroy_publisher(self._publisher)

    # The loop's side

    def _read(self, kind: str) -> Array:
        states = self.hardware.states
        return np.array([states[name] for name in self._names[kind]])

    def _allowed(self) -> float:
        """The hardware's own speed, from 0 to 1; its noise is no reason to change the pace."""
        name = self._parameters.scaling_interface
        value = self.hardware.states[name] if name else 1.0
        return round(min(max(value, 0.0), 1.0), 2) if math.isfinite(value) else 1.0

    def _command(self, sample: JointSample) -> None:
        commands = self.hardware.commands
        for kind in self._parameters.command_kinds:
            values: Array = getattr(sample, _FIELDS[kind])
            commands.update(zip(self._names[kind], values.tolist(), strict=True))

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
        desired, actual, error = three_points(progress, positions, velocities)
        message = FollowJointTrajectory.Feedback(
            joint_names=list(self._joints), desired=desired, actual=actual, error=error
        )
        message.header.stamp = self.node.get_clock().now().to_msg()
        goal.handle.publish_feedback(message)

    def _publish_state(self, progress: Progress, positions: Array, velocities: Array | None) -> None:
        scaling = self._follower.pace if self._follower.moving else self._follower.scaling
        message = controller_state(self._joints, progress, positions, velocities, scaling)
        message.header.stamp = self.node.get_clock().now().to_msg()
        self._publisher.publish(message)

    # The callbacks' side

    def _on_goal(self, request: Any) -> Any:
        if self.state is ControllerState.ACTIVE:
            # Now, because the client does not know yet: whatever it sends after this goal has a higher ticket.
            ticket = self._arriving[id(request)] = next(self._tickets)
            self._preparing.add(ticket)
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
                self._parameters.tolerances,
                self._joints,
                [JointTolerance(t.name, t.position, t.velocity) for t in request.path_tolerance],
                [JointTolerance(t.name, t.position, t.velocity) for t in request.goal_tolerance],
                seconds(request.goal_time_tolerance),
            )
            self._start(request.trajectory, tolerances, goal.ticket, goal)
        except TrajectoryRefused as refusal:
            self.logger.error(f'Refused a goal: {refusal}')
            goal.end(Outcome(refusal.code, str(refusal)))
        except Exception as error:  # a mistake in here must not leave the client waiting for ever
            self.logger.error(f'Failed to start a goal: {error}\n{traceback.format_exc()}')
            goal.end(Outcome(ErrorCode.INVALID_GOAL, f'Internal error: {error}'))
        finally:
            self._preparing.discard(goal.ticket)
        return self._result(goal)

    def follow(self, message: Any) -> None:
        """Follow a trajectory_msgs/JointTrajectory that nobody waits for; what is wrong with it is logged."""
        ticket = next(self._tickets)
        if self.state is not ControllerState.ACTIVE:
            self.logger.error(f"Ignored a trajectory: '{self.name}' is {self.state.value}, activate it first.")
            return
        try:
            self._start(message, self._parameters.tolerances, ticket, None)
        except TrajectoryRefused as refusal:
            self.logger.error(f'Refused a trajectory: {refusal}')

    def _start(self, message: Any, tolerances: Tolerances, ticket: int, goal: _Goal | None) -> None:
        """Follow a trajectory message in place of what is being followed, or raise TrajectoryRefused."""
        waypoints = read_waypoints(
            self._joints,
            message.joint_names,
            raw_points(message),
            self._parameters.allow_final_velocity,
            self._parameters.allow_partial,
        )
        try:
            plan: Plan = self._follower.prepare(waypoints)  # slow for long trajectories, so without the lock
        except TrajectoryRefused:
            self._check_newest(ticket)  # if another moves the joints by now, that is the reason
            raise
        with self._lock:
            if self.state is not ControllerState.ACTIVE:
                raise TrajectoryRefused(ErrorCode.INVALID_GOAL, f"'{self.name}' is not active any more: activate it.")
            self._check_newest(ticket)
            self._follower.start(plan, self._delay(message.header.stamp, waypoints.duration), tolerances)
            self._newest = ticket
            self._end_goal(Outcome(ErrorCode.INVALID_GOAL, 'Replaced by a newer trajectory.'))
            self._goal = goal

    def _check_newest(self, ticket: int) -> None:
        if ticket < self._newest:
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                'A newer trajectory, a stop or a deactivation came first: send it again if needed.',
            )

    def _delay(self, stamp: Any, duration: float) -> float:
        """Time from now to the trajectory's start [s]; a stamp of zero means now."""
        if stamp.sec == 0 and stamp.nanosec == 0:
            return 0.0
        delay = self._ahead(stamp)
        if delay + duration < 0.0:
            raise TrajectoryRefused(
                ErrorCode.OLD_HEADER_TIMESTAMP,
                f'The trajectory ended {-(delay + duration):.3f} s ago by its header stamp: '
                'leave the stamp zero to start at once.',
            )
        return delay

    def _ahead(self, stamp: Any) -> float:
        """Time from now to a stamp of the node's clock [s]."""
        now = self.node.get_clock().now()
        return float((Time.from_msg(stamp, clock_type=now.clock_type) - now).nanoseconds * 1e-9)

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

    def _on_scaling(self, message: Any) -> None:
        if not 0.0 <= message.factor <= 1.0:
            self.logger.error(f'Ignored a speed scaling of {message.factor:g}: give a factor from 0 (pause) to 1.')
            return
        with self._lock:
            self._scaling = message.factor  # followed from the next cycle on

    def _on_query(self, request: Any, response: Any) -> Any:
        if self.state is not ControllerState.ACTIVE:
            response.message = f"'{self.name}' is {self.state.value}: activate it first."
            return response
        with self._lock:
            sample = self._follower.at(self._ahead(request.time))
        if sample is None:
            response.message = 'That time lies before the start of the present motion.'
            return response
        state = point(sample)
        response.success, response.name = True, list(self._joints)
        response.position, response.velocity = state.positions, state.velocities
        response.acceleration = state.accelerations
        return response

    @staticmethod
    def _unexpected(_: Any) -> Any:
        raise AssertionError('every goal brings its own execute callback')


_FIELDS = {'position': 'positions', 'velocity': 'velocities', 'acceleration': 'accelerations'}
