"""Open and close a gripper: the action ``~/gripper_cmd``."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup

from lfd_hardware.controllers.controller import Controller, ControllerState
from lfd_hardware.controllers.trajectory_parameters import known_limit, read_number, read_rate
from lfd_hardware.description import JointLimit
from lfd_hardware.limits import POSITION_ROUNDING, braking
from lfd_hardware.slide import Slide

UNLIMITED = 1.0  # [rad/s or m/s] of a joint whose velocity has no limit


@dataclass
class _Goal:
    """A goal on its way to its result."""

    handle: Any
    position: float  # [rad] or [m]
    effort: float  # [N m] or [N]
    canceling: bool = False
    still: float = 0.0  # [s] since the joint moved
    status: int = GoalStatus.STATUS_ABORTED
    reached: bool = False
    stalled: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def end(self, status: int, reached: bool = False, stalled: bool = False) -> None:
        self.status, self.reached, self.stalled = status, reached, stalled
        self.done.set()


class GripperActionController(Controller):
    """Moves one joint to a position [rad or m], smoothly and within its limits.

    As officially, a goal ends well when the joint is within ``goal_tolerance``, and it has stalled when the joint does
    not move for ``stall_timeout``: something is between the fingers. Then the command stays, to keep hold of it. The
    effort is accepted and told back; a position command cannot carry it.
    """

    type_name = 'position_controllers/GripperActionController'
    needs_finite_states = True

    def configure(self) -> None:
        """Read the parameters and offer the action."""
        self._joint = self.parameter('joint', '', 'The joint to control.')
        self._limit: JointLimit = known_limit(self, self._joint, 'joint')
        self._tolerance = read_number(self, 'goal_tolerance', 0.01, 'Largest error at the end [rad or m].')
        self._max_effort = read_number(self, 'max_effort', 0.0, 'Effort of goals that name none [N m or N].')
        self._allow_stalling = self.parameter('allow_stalling', False, 'A stall is a success.')
        self._stall_velocity = read_number(self, 'stall_velocity_threshold', 0.001, 'Slower than this is a stall.')
        self._stall_timeout = read_number(self, 'stall_timeout', 1.0, 'Time without motion that is a stall [s].')
        self._feedback_every = read_rate(self, 'action_monitor_rate', 'Rate of the action feedback [Hz].')
        top = self._limit.velocity if math.isfinite(self._limit.velocity) else UNLIMITED
        speed = read_number(self, 'max_velocity', 0.0, "Speed of the joint [rad/s or m/s]. Zero: the URDF's limit.")
        self._slide = Slide(min(speed, top) if speed > 0.0 else top, braking(self._limit), self.period)
        self._lock = threading.Lock()  # around the slide and the goal: the loop and the callbacks use both
        self._goal: _Goal | None = None
        self._cycle = 0
        self._server = ActionServer(
            self.node,
            GripperCommand,
            '~/gripper_cmd',
            execute_callback=self._execute,
            goal_callback=self._on_goal,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def command_interfaces(self) -> Sequence[str]:
        """The joint's position."""
        return (f'{self._joint}/position',)

    def state_interfaces(self) -> Sequence[str]:
        """The joint's position and velocity."""
        return (f'{self._joint}/position', f'{self._joint}/velocity')

    def activate(self) -> None:
        """Hold the joint where it stands, or as hard as it was told to by the last command."""
        with self._lock:
            self._slide.hold(self.hardware.standing(f'{self._joint}/position'))
            self._command()

    def update(self) -> None:
        """Command the next position, and see how the goal does."""
        self._cycle += 1
        with self._lock:
            goal = self._goal
            if goal is not None and not goal.canceling and goal.handle.is_cancel_requested:
                goal.canceling = True
                self._slide.stop()
            self._slide.advance()
            self._command()
            if goal is not None:
                self._judge(goal)
        if goal is not None and self._cycle % self._feedback_every == 0:
            goal.handle.publish_feedback(
                GripperCommand.Feedback(
                    position=self._position(), effort=goal.effort, stalled=goal.stalled, reached_goal=goal.reached
                )
            )

    def halt(self, why: str) -> bool:
        """Come to rest, and abort the goal; its result has no room for the reason, so that is logged."""
        with self._lock:
            was_busy = self._goal is not None or not self._slide.at_rest
            if self._goal is not None:
                self.logger.warning(why)
            self._end(GoalStatus.STATUS_ABORTED)
            self._slide.stop()
        return was_busy

    @property
    def at_rest(self) -> bool:
        """Whether the command stands still."""
        return self._slide.at_rest

    def deactivate(self, reason: str) -> None:
        """Hold the last command."""
        self.halt(f"The controller '{self.name}' was deactivated: {reason}.")
        with self._lock:
            self._slide.hold(self._slide.position)
            self._command()

    def cleanup(self) -> None:
        """Take back the action."""
        self._server.destroy()

    # The loop's side; the lock is held

    def _position(self) -> float:
        return self.hardware.states[f'{self._joint}/position']

    def _command(self) -> None:
        self.hardware.commands[f'{self._joint}/position'] = self._slide.position

    def _judge(self, goal: _Goal) -> None:
        if goal.canceling:
            if self._slide.at_rest:
                self._end(GoalStatus.STATUS_CANCELED)
            return
        if abs(goal.position - self._position()) <= self._tolerance:
            self._end(GoalStatus.STATUS_SUCCEEDED, reached=True)
            return
        moves = abs(self.hardware.states[f'{self._joint}/velocity']) > self._stall_velocity
        goal.still = 0.0 if moves else goal.still + self.period
        if goal.still > self._stall_timeout:
            self.logger.info(f"'{self._joint}' stalled at {self._position():.4f} on its way to {goal.position:.4f}.")
            self._end(GoalStatus.STATUS_SUCCEEDED if self._allow_stalling else GoalStatus.STATUS_ABORTED, stalled=True)

    def _end(self, status: int, reached: bool = False, stalled: bool = False) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            goal.end(status, reached, stalled)

    # The callbacks' side

    def _on_goal(self, request: Any) -> Any:
        """Refuse what cannot be done; the action has no room for a sentence, so that is logged."""
        position, effort, limit = request.command.position, request.command.max_effort, self._limit
        if self.state is not ControllerState.ACTIVE:
            problem = f"'{self.name}' is {self.state.value}, activate it first."
        elif not (math.isfinite(position) and math.isfinite(effort)):
            problem = f'its position is {position} and its effort {effort}: use finite numbers.'
        elif not limit.lower - POSITION_ROUNDING <= position <= limit.upper + POSITION_ROUNDING:
            problem = (
                f"joint '{limit.joint}' would be at {position:.4f}, outside of its limits {limit.lower:.4f} to "
                f'{limit.upper:.4f}.'
            )
        else:
            return GoalResponse.ACCEPT
        self.logger.error(f'Rejected a goal: {problem}')
        return GoalResponse.REJECT

    def _execute(self, handle: Any) -> Any:
        """Start a goal, wait for its end and answer; runs in a thread of the executor."""
        command = handle.request.command
        goal = _Goal(handle, command.position, command.max_effort or self._max_effort)
        with self._lock:
            if self._goal is not None:
                self.logger.info('A newer goal replaces the running one.')
            self._end(GoalStatus.STATUS_ABORTED)
            if self.state is ControllerState.ACTIVE:
                self._goal = goal
                self._slide.go(goal.position)
            else:
                goal.end(GoalStatus.STATUS_ABORTED)
        while not goal.done.wait(timeout=1.0):
            if self.state is not ControllerState.ACTIVE:
                goal.end(GoalStatus.STATUS_ABORTED)
        if goal.status == GoalStatus.STATUS_CANCELED or handle.status == GoalStatus.STATUS_CANCELING:
            handle.canceled()
        elif goal.status == GoalStatus.STATUS_SUCCEEDED:
            handle.succeed()
        else:
            handle.abort()
        return GripperCommand.Result(
            position=self._position(), effort=goal.effort, stalled=goal.stalled, reached_goal=goal.reached
        )
