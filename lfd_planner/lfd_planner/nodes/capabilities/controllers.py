"""Sends trajectories to the controllers that MoveIt's moveit_controllers.yaml names, and waits for how they end.

The clients live in a node and a thread of their own. rclpy's action client loses the answer to a goal that is sent
while another thread handles answers, so goals are sent by the very thread that does.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code

NAME = 'moveit_simple_controller_manager'
FOLLOW, GRIPPER = 'FollowJointTrajectory', 'GripperCommand'
LOOK_EVERY = 0.01  # [s] between two looks whether to stop
CONNECT_WITHIN = 5.0  # [s]
END_WITHIN = 5.0  # [s] that a controller has to stop
HALT_WITHIN = 2.0  # [s] that it has when it is told by another way


class ControllerFault(ValueError):
    """The parameters name a controller that cannot be used; the message says which and why."""


@dataclass(frozen=True)
class ControllerSpec:
    """One controller and the joints it moves."""

    name: str
    action: str
    """The name of its action."""
    kind: str
    joints: tuple[str, ...]
    is_default: bool = False


def read_controllers(parameters: Mapping[str, Any]) -> tuple[ControllerSpec, ...]:
    """The controllers that the parameters below moveit_simple_controller_manager name.

    Raises:
        ControllerFault: one of them cannot be used.
    """
    found = []
    for name in parameters.get('controller_names', []):
        kind = parameters.get(f'{name}.type')
        joints = tuple(parameters.get(f'{name}.joints', ()))
        if kind not in (FOLLOW, GRIPPER):
            raise ControllerFault(f"Controller '{name}' has the type '{kind}'; use {FOLLOW} or {GRIPPER}.")
        if not joints:
            raise ControllerFault(f"Controller '{name}' has no joints; list them below {NAME}.{name}.joints.")
        namespace = parameters.get(f'{name}.action_ns', '')
        action = f'{name}/{namespace}' if namespace else name
        found.append(ControllerSpec(name, action, kind, joints, bool(parameters.get(f'{name}.default', False))))
    return tuple(found)


def choose(
    controllers: Sequence[ControllerSpec], joints: Collection[str], asked: Collection[str] = ()
) -> tuple[ControllerSpec, ...] | Failure:
    """The controllers that together move these joints; of several that could, those asked for, then default ones.

    All joints must be moved, and no two controllers move the same.
    """
    if unknown := [name for name in asked if name not in {spec.name for spec in controllers}]:
        known = ', '.join(spec.name for spec in controllers) or 'none'
        return Failure(Code.CONTROL_FAILED, f"There is no controller '{unknown[0]}'; there are {known}.")
    usable = [spec for spec in controllers if not asked or spec.name in asked]
    left, chosen = set(joints), []
    taken: set[str] = set()
    for spec in sorted(usable, key=lambda spec: (not spec.is_default, -len(left & set(spec.joints)))):
        if left & set(spec.joints) and not taken & set(spec.joints):
            chosen.append(spec)
            taken |= set(spec.joints)
            left -= set(spec.joints)
    if left:
        return Failure(
            Code.CONTROL_FAILED, f"No controller moves the joint '{min(left)}'; name one in moveit_controllers.yaml."
        )
    return tuple(chosen)


def part_for(spec: ControllerSpec, trajectory: JointTrajectory) -> JointTrajectory:
    """The columns of a trajectory that a controller is to move."""
    columns = [k for k, name in enumerate(trajectory.joint_names) if name in spec.joints]
    part = JointTrajectory(joint_names=[trajectory.joint_names[k] for k in columns])
    part.header = trajectory.header
    for point in trajectory.points:
        part.points.append(
            JointTrajectoryPoint(
                positions=[point.positions[k] for k in columns],
                velocities=[point.velocities[k] for k in columns] if point.velocities else [],
                accelerations=[point.accelerations[k] for k in columns] if point.accelerations else [],
                effort=[point.effort[k] for k in columns] if point.effort else [],
                time_from_start=point.time_from_start,
            )
        )
    return part


class ControllerClients:
    """The controllers' clients; `execute` may be called from any thread."""

    def __init__(self, controllers: Sequence[ControllerSpec], name: str = NAME) -> None:
        self.controllers = tuple(controllers)
        self._node = rclpy.create_node(name, use_global_arguments=False)
        kinds = {FOLLOW: FollowJointTrajectory, GRIPPER: GripperCommand}
        self._halt = self._node.create_client(Trigger, 'stop_motion')
        self._clients = {spec.name: ActionClient(self._node, kinds[spec.kind], spec.action) for spec in controllers}
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def execute(
        self,
        controllers: Sequence[ControllerSpec],
        trajectory: JointTrajectory,
        should_stop: Callable[[], Failure | None],
        allowed: float | None,
        on_result: Callable[[ControllerSpec, Any], object] = lambda spec, result: None,
    ) -> Failure | None:
        """Have controllers follow a trajectory; None when all came to its end, else why not.

        `should_stop` is looked at all the time; when it gives a reason, the controllers are stopped. They are too when
        they take longer than `allowed` [s]. `on_result` is given what each of them answered in the end. A controller
        that does not confirm that it stopped is told of in the failure's message.
        """
        refusal = self._wait_until_ready(controllers, should_stop) or should_stop()
        if refusal is not None:
            return refusal
        goals = [_Goal(spec, self._clients[spec.name], self._do) for spec in controllers]
        for goal in goals:
            goal.send(part_for(goal.spec, trajectory))
        deadline = None if allowed is None else time.monotonic() + allowed
        reason: Failure | None = None
        while not all(goal.is_done for goal in goals) and reason is None:
            goals[0].changed.wait(LOOK_EVERY)
            goals[0].changed.clear()
            reason = should_stop() or next((goal.failure for goal in goals if goal.failure), None)
            if reason is None and deadline is not None and time.monotonic() > deadline:
                reason = Failure(
                    Code.TIMED_OUT,
                    f'The controllers were not done after {allowed:.3g} s, the allowed time, and were stopped.',
                )
        if reason is not None and (going := self._stop(goals)):
            reason = replace(reason, message=f'{reason.message} {_unconfirmed(going)}')
        for goal in goals:
            if goal.result is not None:
                on_result(goal.spec, goal.result)
        if reason is not None:
            return reason
        return next((goal.failure for goal in goals if goal.failure), None)

    def missing(self, controllers: Sequence[ControllerSpec]) -> Failure | None:
        """Why controllers cannot be used; those that have just come are waited for."""
        return self._wait_until_ready(controllers, lambda: None)

    def close(self) -> None:
        """End the clients' thread and node."""
        self._ending.set()
        self._thread.join(2.0)
        self._executor.shutdown(timeout_sec=0.0)
        self._node.destroy_node()

    def _stop(self, goals: Sequence[_Goal]) -> list[str]:
        """Have controllers stop; the names of those that do not confirm it, whichever way they are told."""
        for goal in goals:
            goal.cancel()
        _wait_for(goals, END_WITHIN)
        if not all(goal.is_done for goal in goals) and self._halt.service_is_ready():
            self._do(lambda: self._halt.call_async(Trigger.Request()))
            _wait_for(goals, HALT_WITHIN)
        return [goal.spec.name for goal in goals if not goal.is_done]

    def _wait_until_ready(
        self, controllers: Sequence[ControllerSpec], should_stop: Callable[[], Failure | None]
    ) -> Failure | None:
        deadline = time.monotonic() + CONNECT_WITHIN
        while True:
            missing = [spec for spec in controllers if not self._clients[spec.name].server_is_ready()]
            if not missing:
                return None
            if reason := should_stop():
                return reason
            if time.monotonic() > deadline:
                action = missing[0].action
                return Failure(
                    Code.CONTROL_FAILED,
                    f"Controller '{missing[0].name}' does not answer on '{action}'; is it running and active?",
                )
            self._ending.wait(LOOK_EVERY)

    def _do(self, task: Callable[[], object]) -> None:
        """Have something done by the clients' own thread."""
        self._executor.create_task(task)

    def _serve(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.1)


def _wait_for(goals: Sequence[_Goal], timeout: float) -> None:
    """Wait until all goals have ended, at most [s]."""
    deadline = time.monotonic() + timeout
    while not all(goal.is_done for goal in goals) and time.monotonic() < deadline:
        goals[0].changed.wait(LOOK_EVERY)
        goals[0].changed.clear()


def _unconfirmed(names: Sequence[str]) -> str:
    told = ' and '.join(f"'{name}'" for name in names)
    return f'Controller {told} did not confirm that it stopped: use the emergency stop if anything still moves.'


class _Goal:
    """One goal of one controller; its callbacks run in the clients' thread."""

    def __init__(self, spec: ControllerSpec, client: ActionClient, do: Callable[[Callable[[], object]], None]) -> None:
        self.spec = spec
        self.changed = threading.Event()
        self.is_done = False
        self.failure: Failure | None = None
        self.result: Any = None
        self._client = client
        self._do = do
        self._handle: Any = None
        self._is_cancelled = False

    def send(self, part: JointTrajectory) -> None:
        """Send the goal."""
        if self.spec.kind == FOLLOW:
            goal: Any = FollowJointTrajectory.Goal(trajectory=part)
        else:
            goal = GripperCommand.Goal()
            goal.command.position = part.points[-1].positions[0]
            goal.command.max_effort = part.points[-1].effort[0] if part.points[-1].effort else 0.0
        self._do(lambda: self._client.send_goal_async(goal).add_done_callback(self._on_answer))

    def cancel(self) -> None:
        """Have the controller stop."""
        self._do(self._cancel)

    def _cancel(self) -> None:
        self._is_cancelled = True
        if self._handle is not None and not self.is_done:
            self._handle.cancel_goal_async()

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        if handle is None or not handle.accepted:
            self._finish(f"Controller '{self.spec.name}' refused the trajectory; its log says why.")
            return
        self._handle = handle
        handle.get_result_async().add_done_callback(self._on_result)
        if self._is_cancelled:
            self._cancel()

    def _on_result(self, future: Any) -> None:
        answer = future.result()
        self.result = answer.result
        if answer.status == GoalStatus.STATUS_SUCCEEDED:
            self._finish('')
            return
        told = getattr(answer.result, 'error_string', '')
        ending = {GoalStatus.STATUS_CANCELED: 'was stopped', GoalStatus.STATUS_ABORTED: 'gave up'}
        how = ending.get(answer.status, f'ended with the status {answer.status}')
        self._finish(f"Controller '{self.spec.name}' {how}{f': {told}' if told else '.'}")

    def _finish(self, problem: str) -> None:
        self.failure = Failure(Code.CONTROL_FAILED, problem) if problem else None
        self.is_done = True
        self.changed.set()
