"""move_action and execute_trajectory, and trajectory_execution_event, which stops them."""

from __future__ import annotations

import copy
import math
import threading
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import MoveItErrorCodes, RobotState
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.messages import (
    apply_planning_scene,
    trajectory_from_message,
    trajectory_to_message,
)
from lfd_planner.scene import PlanningScene, SceneFault
from lfd_planner.server.motion_planner import Motion
from lfd_planner.timing import path_samples

from .controllers import ControllerClients, ControllerSpec, choose
from .planning import PlanningCapability, needed_joints
from .server import Server, error_code, is_empty

STOP = 'stop'
CHECK_STEP = 0.05  # [rad or m] between two samples of a running motion that are checked against a changed scene
AHEAD = 1.0  # [rad or m] along the path, within which the arm is looked for on its way
MOST_GOALS = 16  # that are planned or executed at once; more are rejected
DEFAULT_ATTEMPTS = 5  # of replanning, MoveIt's own for requests that tell none
MOST_ATTEMPTS = 100
WORTH_ANOTHER_TRY = (
    Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE,
    Code.PLANNING_FAILED,
    Code.TIMED_OUT,
    Code.INVALID_MOTION_PLAN,
)
Change = Callable[[PlanningScene], PlanningScene]
"""What a request wants changed in the scene while it is planned and executed."""


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


class ExecutionCapability:
    """Executes motions; as in MoveIt, a controller that is moving the arm takes no second motion."""

    def __init__(
        self, server: Server, planning: PlanningCapability, clients: ControllerClients, rules: ExecutionRules
    ) -> None:
        self._server = server
        self._tree = server.backend.robot.tree
        self._planning = planning
        self._clients = clients
        self._rules = rules
        self._running: list[_Running] = []
        self._goals = 0
        self._lock = threading.Lock()
        group = ReentrantCallbackGroup()
        self._actions = [
            ActionServer(
                server.node,
                kind,
                name,
                callback,
                callback_group=group,
                goal_callback=self._on_goal,
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

    def _on_goal(self, _: object) -> GoalResponse:
        with self._lock:
            if self._goals >= MOST_GOALS or self._server.ending.is_set():
                self._server.log.error(f'A goal was rejected: {self._goals} goals are under way.')
                return GoalResponse.REJECT
            self._goals += 1
            return GoalResponse.ACCEPT

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
        goal.publish_feedback(ExecuteTrajectory.Feedback(state='IDLE'))
        result = ExecuteTrajectory.Result(error_code=_outcome(ended))
        self._finish(goal, ended, 'execute_trajectory')
        return result

    def _on_move(self, goal: ServerGoalHandle) -> MoveGroup.Result:
        try:
            result, ended = self._move(goal)
        except Exception as error:
            result, ended = MoveGroup.Result(), self._broken(error)
        goal.publish_feedback(MoveGroup.Feedback(state='IDLE'))
        result.error_code = _outcome(ended)
        self._finish(goal, ended, 'move_action')
        return result

    def _broken(self, error: Exception) -> Failure:
        """What becomes of a mistake of ours: the client is told, and the log has the whole of it."""
        self._server.log.error(f'An action failed: {error!r}\n{traceback.format_exc()}')
        return Failure(Code.FAILURE, f'The action failed here: {error!r}; see the log of move_group.')

    def _finish(self, goal: ServerGoalHandle, ended: Failure | None, name: str) -> None:
        with self._lock:
            self._goals -= 1
        if ended is None:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        if ended is not None:
            self._server.log.warning(f'{name}: {ended.code.name}: {ended.message}')

    def _move(self, goal: ServerGoalHandle) -> tuple[MoveGroup.Result, Failure | None]:
        """Plan, and execute unless asked not to; again if that failed for the moment, and was asked for."""
        options, result = goal.request.planning_options, MoveGroup.Result()
        attempts = min(options.replan_attempts if options.replan_attempts > 0 else DEFAULT_ATTEMPTS, MOST_ATTEMPTS)
        for attempt in range(1, attempts + 1):
            ended = self._attempt(goal, result)
            is_last = not options.replan or attempt == attempts or goal.is_cancel_requested
            if ended is None or is_last or ended.code not in WORTH_ANOTHER_TRY:
                break
            self._server.ending.wait(min(max(options.replan_delay, 0.0), 10.0))
        return result, ended

    def _attempt(self, goal: ServerGoalHandle, result: MoveGroup.Result) -> Failure | None:
        """One round of planning and executing; the result is filled in."""
        request, options = goal.request.request, goal.request.planning_options
        if not options.plan_only and not is_empty(request.start_state):
            # As in MoveIt: what is executed starts where the arm is, whatever a client believes.
            self._server.log.warning('move_action: the start state is not used for a motion that is executed.')
            request.start_state = RobotState(is_diff=True)
        goal.publish_feedback(MoveGroup.Feedback(state='PLANNING'))
        change = self._change(options.planning_scene_diff, options.plan_only)
        try:
            needed = needed_joints(self._server.backend.robot, request.group_name)
            scene, version = self._server.snapshot_and_version(request.start_state, needed)
            scene = change(scene)
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        planned = self._planning.plan(request, scene, lambda: goal.is_cancel_requested)
        if isinstance(planned, Failure):
            return planned
        motion = planned.motion
        result.planning_time += motion.planning_time
        result.trajectory_start = self._server.state(scene)
        result.planned_trajectory = trajectory_to_message(motion.trajectory, motion.group.joints, scene.frame)
        if options.plan_only:
            return None
        goal.publish_feedback(MoveGroup.Feedback(state='MONITOR'))
        return self.execute(
            result.planned_trajectory.joint_trajectory,
            lambda: goal.is_cancel_requested,
            watch=self._watch(motion, version.edits, change),
        )

    def _change(self, diff: SceneMessage, plan_only: bool) -> Change:
        """What a request wants changed in the scene: always a diff, as in MoveIt."""
        asked = copy.deepcopy(diff)
        asked.is_diff = asked.robot_state.is_diff = True
        if not plan_only:
            asked.robot_state = RobotState(is_diff=True)
        nothing = SceneMessage(is_diff=True, robot_state=RobotState(is_diff=True))
        if asked == nothing:
            return lambda scene: scene

        def change(scene: PlanningScene) -> PlanningScene:
            applied = apply_planning_scene(scene, asked, self._server.monitor.robot.frames)
            if applied.faults:
                lines = (line for fault in applied.faults for line in fault.problems)
                raise SceneFault(applied.faults[0].code, *lines)
            return applied.scene

        return change

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
        try:
            trajectory_from_message(trajectory, self._server.monitor.robot.frames.joints)
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        actuated = [name for name in trajectory.joint_names if self._tree.joint[name].mimic is None]
        controllers = choose(self._clients.controllers, actuated, asked)
        if isinstance(controllers, Failure):
            return controllers
        running = self._claim(controllers)
        if isinstance(running, Failure):
            return running

        def should_stop() -> Failure | None:
            if running.stop.is_set() or is_cancelled() or self._server.ending.is_set():
                return Failure(Code.PREEMPTED, 'The execution was stopped on request.')
            return watch()

        try:
            last = trajectory.points[-1].time_from_start
            return self._wrong_start(trajectory) or self._clients.execute(
                controllers, trajectory, should_stop, self._rules.allowed(last.sec + last.nanosec * 1e-9)
            )
        finally:
            with self._lock:
                self._running.remove(running)

    def _wrong_start(self, trajectory: JointTrajectory) -> Failure | None:
        """Why a trajectory cannot begin where the arm is."""
        if self._rules.start_tolerance <= 0.0:
            return None
        joints, unknown = self._server.monitor.scene.joints, self._server.monitor.missing_joints
        for name, position in zip(trajectory.joint_names, trajectory.points[0].positions, strict=True):
            if name in unknown:
                return Failure(
                    Code.CONTROL_FAILED,
                    f"Nobody publishes joint '{name}' on 'joint_states', so that nothing can be moved safely.",
                )
            if self._tree.joint[name].mimic is not None:
                continue
            apart = position - joints.get(name, 0.0)
            if self._tree.joint[name].kind == 'continuous':
                apart = math.remainder(apart, 2.0 * math.pi)
            if abs(apart) > self._rules.start_tolerance:
                return Failure(
                    Code.CONTROL_FAILED,
                    f"The trajectory starts with joint '{name}' at {position:.4g}, and it is at "
                    f'{joints.get(name, 0.0):.4g}; plan from the current state.',
                )
        return None

    def _claim(self, controllers: Collection[ControllerSpec]) -> _Running | Failure:
        """Register an execution, unless one is under way that uses the same controllers."""
        names = frozenset(spec.name for spec in controllers)
        running = _Running(names, threading.Event())
        with self._lock:
            for other in self._running:
                if other.controllers & names:
                    busy = min(other.controllers & names)
                    return Failure(
                        Code.CONTROL_FAILED,
                        f"Controller '{busy}' is executing another trajectory; wait for it, cancel it, or publish "
                        f"'{STOP}' on trajectory_execution_event.",
                    )
            self._running.append(running)
            return running

    def _watch(self, motion: Motion, known: int, change: Change) -> Callable[[], Failure | None]:
        """Looks whether what is left of a motion is still free, whenever the scene was edited after `known`."""
        samples = path_samples(motion.trajectory, CHECK_STEP)
        window = max(int(AHEAD / CHECK_STEP), 1)
        here = 0

        def look() -> Failure | None:
            nonlocal known, here
            scene, version = self._server.monitor.snapshot()
            away = np.abs(samples[here : here + window] - motion.group.positions(scene.joints)).max(axis=1)
            here += int(np.argmin(away))
            if version.edits == known:
                return None
            known = version.edits
            try:
                scene = change(scene)
            except SceneFault as fault:
                return Failure(Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE, str(fault))
            left = np.ascontiguousarray(samples[here:])
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


def _outcome(ended: Failure | None) -> MoveItErrorCodes:
    return error_code(Code.SUCCESS) if ended is None else error_code(ended.code, ended.message)
