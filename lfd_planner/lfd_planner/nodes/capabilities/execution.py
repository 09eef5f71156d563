"""move_action and execute_trajectory, and trajectory_execution_event, which stops them."""

from __future__ import annotations

import itertools
import threading
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import MotionPlanRequest
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.messages import (
    apply_planning_scene,
    robot_state_to_message,
    trajectory_from_message,
    trajectory_to_message,
)
from lfd_planner.scene import PlanningScene, SceneFault
from lfd_planner.server.motion_planner import Motion
from lfd_planner.timing import path_samples

from .controllers import ControllerClients, ControllerSpec, choose
from .planning import Planned, PlanningCapability
from .server import Server, error_code

STOP = 'stop'
CHECK_STEP = 0.05  # [rad or m] between two samples of a running motion that are checked against a changed scene
MOST_REPLANS = 100


@dataclass(frozen=True)
class ExecutionRules:
    """When an execution is refused or given up; MoveIt's parameters below trajectory_execution."""

    duration_scaling: float = 1.2
    duration_margin: float = 0.5
    """[s]"""
    start_tolerance: float = 0.01
    """[rad or m]; 0: the start is not compared."""
    monitor_duration: bool = True

    def allowed(self, duration: float) -> float | None:
        """How long a motion of a duration may take [s]."""
        return self.duration_scaling * duration + self.duration_margin if self.monitor_duration else None


@dataclass(eq=False)
class _Running:
    """An execution under way."""

    controllers: frozenset[str]
    stop: threading.Event
    done: threading.Event


class ExecutionCapability:
    """Executes motions; a new one that needs the same controllers stops the old one first, as in MoveIt."""

    def __init__(
        self, server: Server, planning: PlanningCapability, clients: ControllerClients, rules: ExecutionRules
    ) -> None:
        self._server = server
        self._planning = planning
        self._clients = clients
        self._rules = rules
        self._running: list[_Running] = []
        self._lock = threading.Lock()
        group = ReentrantCallbackGroup()
        self._actions = [
            ActionServer(
                server.node,
                kind,
                name,
                callback,
                callback_group=group,
                cancel_callback=lambda _: CancelResponse.ACCEPT,
            )
            for kind, name, callback in (
                (MoveGroup, 'move_action', self._on_move),
                (ExecuteTrajectory, 'execute_trajectory', self._on_execute),
            )
        ]
        server.node.create_subscription(String, 'trajectory_execution_event', self._on_event, 10, callback_group=group)

    def close(self) -> None:
        """Take the actions down."""
        for action in self._actions:
            action.destroy()

    def _on_event(self, message: String) -> None:
        if message.data != STOP:
            self._server.log.warning(f"trajectory_execution_event: '{message.data}' is no event; publish '{STOP}'.")
            return
        with self._lock:
            for running in self._running:
                running.stop.set()

    # Actions

    def _on_execute(self, goal: ServerGoalHandle) -> ExecuteTrajectory.Result:
        goal.publish_feedback(ExecuteTrajectory.Feedback(state='MONITOR'))
        try:
            ended = self.execute(
                goal.request.trajectory.joint_trajectory,
                lambda: goal.is_cancel_requested,
                asked=goal.request.controller_names,
            )
        except Exception as error:
            ended = self._broken(error)
        result = ExecuteTrajectory.Result(error_code=_outcome(ended))
        self._finish(goal, ended, 'execute_trajectory')
        return result

    def _on_move(self, goal: ServerGoalHandle) -> MoveGroup.Result:
        try:
            result, ended = self._move(goal)
        except Exception as error:
            result, ended = MoveGroup.Result(), self._broken(error)
        result.error_code = _outcome(ended)
        self._finish(goal, ended, 'move_action')
        return result

    def _broken(self, error: Exception) -> Failure:
        """What becomes of a mistake of ours: the client is told, and the log has the whole of it."""
        self._server.log.error(f'An action failed: {error!r}\n{traceback.format_exc()}')
        return Failure(Code.FAILURE, f'The action failed here: {error!r}; see the log of move_group.')

    def _finish(self, goal: ServerGoalHandle, ended: Failure | None, name: str) -> None:
        if ended is None:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        if ended is not None:
            self._server.log.warning(f'{name}: {ended.code.name}: {ended.message}')

    def _move(self, goal: ServerGoalHandle) -> tuple[MoveGroup.Result, Failure | None]:
        """Plan, and execute unless asked not to; again if the scene got in the way and that was asked for."""
        options, result = goal.request.planning_options, MoveGroup.Result()
        replans = min(max(options.replan_attempts, 1), MOST_REPLANS) if options.replan else 0
        ended: Failure | None = None
        for attempt in itertools.count():
            goal.publish_feedback(MoveGroup.Feedback(state='PLANNING'))
            planned = self._plan(goal.request.request, options.planning_scene_diff, lambda: goal.is_cancel_requested)
            if isinstance(planned, Failure):
                return result, planned
            motion = planned.motion
            result.planning_time += motion.planning_time
            result.trajectory_start = robot_state_to_message(planned.scene)
            result.planned_trajectory = trajectory_to_message(
                motion.trajectory, motion.group.joints, planned.scene.frame
            )
            if options.plan_only:
                return result, None
            goal.publish_feedback(MoveGroup.Feedback(state='MONITOR'))
            ended = self.execute(
                result.planned_trajectory.joint_trajectory,
                lambda: goal.is_cancel_requested,
                watch=self._watch(motion),
            )
            changed = ended is not None and ended.code == Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
            if not changed or attempt >= replans:
                break
            self._server.ending.wait(min(max(options.replan_delay, 0.0), 10.0))
        return result, ended

    def _plan(
        self, request: MotionPlanRequest, diff: SceneMessage, should_stop: Callable[[], bool]
    ) -> Planned | Failure:
        try:
            scene = self._with_diff(self._server.snapshot(request.start_state), diff)
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        return self._planning.plan(request, scene, should_stop)

    def _with_diff(self, scene: PlanningScene, diff: SceneMessage) -> PlanningScene:
        if not diff.is_diff and not diff.world.collision_objects:
            return scene
        applied = apply_planning_scene(scene, diff, self._server.monitor.robot.frames)
        if applied.faults:
            raise SceneFault(applied.faults[0].code, *(line for fault in applied.faults for line in fault.problems))
        return applied.scene

    # Execution

    def execute(
        self,
        trajectory: JointTrajectory,
        is_cancelled: Callable[[], bool],
        *,
        asked: Collection[str] = (),
        watch: Callable[[], Failure | None] = lambda: None,
    ) -> Failure | None:
        """Execute a trajectory; None when it came to its end, else why not.

        Args:
            trajectory: what is to be executed.
            is_cancelled: looked at all the time.
            asked: names of the controllers to use; others are chosen by their joints.
            watch: looked at all the time; stops the execution when it gives a reason.
        """
        if not trajectory.points:
            return None
        controllers = self._checked(trajectory, asked)
        if isinstance(controllers, Failure):
            return controllers
        running = self._claim(controllers)

        def should_stop() -> Failure | None:
            if running.stop.is_set() or is_cancelled() or self._server.ending.is_set():
                return Failure(Code.PREEMPTED, 'The execution was stopped on request.')
            return watch()

        try:
            last = trajectory.points[-1].time_from_start
            return self._clients.execute(
                controllers, trajectory, should_stop, self._rules.allowed(last.sec + last.nanosec * 1e-9)
            )
        finally:
            running.done.set()
            with self._lock:
                self._running.remove(running)

    def _checked(self, trajectory: JointTrajectory, asked: Collection[str]) -> tuple[ControllerSpec, ...] | Failure:
        """The controllers for a trajectory, once it is sure that it can be executed."""
        try:
            trajectory_from_message(trajectory, self._server.monitor.robot.frames.joints)
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        joints = self._server.monitor.scene.joints
        for name, position in zip(trajectory.joint_names, trajectory.points[0].positions, strict=True):
            apart = abs(position - joints.get(name, 0.0))
            if 0.0 < self._rules.start_tolerance < apart:
                return Failure(
                    Code.CONTROL_FAILED,
                    f"The trajectory starts with joint '{name}' at {position:.4g}, and it is at "
                    f'{joints.get(name, 0.0):.4g}; plan from the current state.',
                )
        return choose(self._clients.controllers, trajectory.joint_names, asked)

    def _claim(self, controllers: Collection[ControllerSpec]) -> _Running:
        """Register an execution, after all that use the same controllers were stopped."""
        names = frozenset(spec.name for spec in controllers)
        running = _Running(names, threading.Event(), threading.Event())
        while True:
            with self._lock:
                others = [other for other in self._running if other.controllers & names]
                if not others:
                    self._running.append(running)
                    return running
            for other in others:
                other.stop.set()
                other.done.wait(0.1)

    def _watch(self, motion: Motion) -> Callable[[], Failure | None]:
        """Looks whether what is left of a motion is still free, whenever the scene was changed."""
        samples = path_samples(motion.trajectory, CHECK_STEP)
        known = self._server.monitor.snapshot()[1].edits
        here = 0

        def look() -> Failure | None:
            nonlocal known, here
            scene, version = self._server.monitor.snapshot()
            if version.edits == known:
                return None
            known = version.edits
            away = np.abs(samples[here:] - motion.group.positions(scene.joints)).max(axis=1)
            here += int(np.argmin(away))
            left = samples[here:]
            free = self._server.backend.free(scene, motion.group, left)
            if free.all():
                return None
            contacts = self._server.backend.contacts(scene, motion.group, left[int(np.argmin(free))])
            told = ', '.join(map(str, contacts[:2]))
            return Failure(
                Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE,
                f'The scene changed, and the motion would collide: {told}.',
            )

        return look


def _outcome(ended: Failure | None) -> Any:
    return error_code(Code.SUCCESS) if ended is None else error_code(ended.code, ended.message)
