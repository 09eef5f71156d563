"""The robot of the running graph, as the studio and the server know it: plan, run, stop, pause, judge.

```
event loop ──► RobotLink ──► plan_task, execute_task, abort_execution ... (in the node's thread)
                    ├──────► a process that plans for a robot that is not there
                    └──────► a thread that judges poses and tasks
```
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from lfd_msgs.action import ExecuteTask, PlanTask
from lfd_msgs.msg import TaskSolution
from rclpy.node import Node

from lfd_description.model.model import RobotModel
from lfd_planner.error_codes import Code
from lfd_planner.messages import pose_to_message
from lfd_planner.messages.solutions import solution_from_message
from lfd_planner.mtdf import Task, dump_task
from lfd_planner.pose import IDENTITY, Pose
from lfd_planner.scene import PlanningScene, SceneFault

from ..planning.explanation import Asked
from ..planning.process import STOPPED, WorkerPlanning
from ..planning.results import failed, planned
from ..planning.worker import Request
from ..studio.values import PlanProgress, PlanResult, Quality, Refusal, RunProgress, RunResult, Verdict
from .action_link import ActionLink
from .judging import Judging
from .ros_thread import NoAnswer, RosThread, TriggerLink

PLANNER, EXECUTOR = 'task_planner', 'task_executor'
PLAN_TRIES = 3
BUSY = 'Another task is being planned; stop that first.'
Value = TypeVar('Value')


@dataclass(frozen=True)
class _Plan:
    """The newest plan."""

    robot: str
    solution: TaskSolution | None = None
    """None: for a robot that is not there."""
    text: str = ''
    origin: Pose = IDENTITY


class RobotLink:
    """A `lfd_vr_bridge.studio.ports.Robot` over ROS; all methods are called in the event loop's thread.

    Args:
        node: whose clients these are.
        thread: that spins it.
        model: of the robot that is there.
        robots: names that can be planned for.
        world: the objects of the cell where they are now.
    """

    def __init__(
        self,
        node: Node,
        thread: RosThread,
        model: RobotModel,
        robots: tuple[str, ...],
        world: Callable[[], PlanningScene],
    ) -> None:
        self.name = model.robot.name
        self.robots = robots
        self._arm = model.group.joints
        self._gripper = model.gripper.name if model.gripper else ''
        self._world = world
        self._planner = ActionLink(node, thread, PlanTask, 'plan_task', PLANNER, PLAN_TRIES)
        self._executor = ActionLink(node, thread, ExecuteTask, 'execute_task', EXECUTOR)
        self._abort, self._pause, self._resume = (
            TriggerLink(node, thread, f'{what}_execution', EXECUTOR) for what in ('abort', 'pause', 'resume')
        )
        self._worker = WorkerPlanning()
        self._judging = Judging(model)
        self._threads = ThreadPoolExecutor(1, 'judge')
        self._is_planning = False
        self._plan: _Plan | None = None

    def close(self) -> None:
        """End what runs beside; in the event loop's thread."""
        self._worker.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def destroy(self) -> None:
        """Take the clients down, in the node's thread."""
        self._planner.destroy()
        self._executor.destroy()

    # Planning ---------------------------------------------------------------------------------------------------------

    async def plan(self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]) -> PlanResult:
        """Plan the task for a robot, the one that is there or another. Never raises: what fails is a result."""
        if self._is_planning:
            return failed(robot, BUSY)
        if robot not in self.robots:
            return failed(robot, f"There is no robot '{robot}'; choose one of {', '.join(self.robots)}.")
        self._is_planning, self._plan = True, None  # a failure leaves nothing to run
        try:
            if robot == self.name:
                return await self._planned_here(task, origin, progress)
            return await self._planned_elsewhere(task, origin, robot, progress)
        finally:
            self._is_planning = False

    async def _planned_here(self, task: Task, origin: Pose, progress: Callable[[PlanProgress], None]) -> PlanResult:
        text = dump_task(task)
        goal = PlanTask.Goal(task_description=text, task_origin=pose_to_message(origin))

        def tell(told: PlanTask.Feedback) -> None:
            counts = (told.keyframe, told.keyframe_count)
            progress(PlanProgress(self.name, *counts, told.stage, told.solution_count))

        try:
            answer: PlanTask.Result = await self._planner.run(goal, tell)
            if answer.error_code.val == Code.PREEMPTED:
                return failed(self.name, STOPPED)
            if not answer.solutions:
                asked = Asked(task, origin, self._world())
                explain = functools.partial(self._judging.explained, _failure(self.name, answer, task), asked)
                return await self._beside(explain)
            found = planned(solution_from_message(answer.solutions[0], self._arm))
        except NoAnswer as error:
            return failed(self.name, str(error))
        except SceneFault as fault:
            return failed(self.name, f'{PLANNER} answered with what is no solution: {fault}')
        self._plan = _Plan(self.name, answer.solutions[0], text, origin)
        return found

    async def _planned_elsewhere(
        self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]
    ) -> PlanResult:
        found = await self._worker.plan(Request(robot, self._gripper, task, origin, self._world()), progress)
        if found.ok:
            self._plan = _Plan(robot)
        return found

    # Motion -----------------------------------------------------------------------------------------------------------

    async def run(self, speed: float, progress: Callable[[RunProgress], None]) -> RunResult:
        """Execute the newest plan of the robot that is there. Never raises: what fails is a result."""
        plan = self._plan
        if plan is None:
            return _not_run('There is no plan yet; plan the task first.')
        if plan.solution is None:
            return _not_run(f'The plan is for {plan.robot}, and the robot here is {self.name}; plan for {self.name}.')
        goal = ExecuteTask.Goal(
            solution=plan.solution,
            task_description=plan.text,
            task_origin=pose_to_message(plan.origin),
            speed=speed,
        )
        return await self._executed(goal, progress)

    async def go_on(
        self, task: Task, origin: Pose, first: int, speed: float, progress: Callable[[RunProgress], None]
    ) -> RunResult:
        """Do a task from one of its keyframes on, planned from where arm and objects are.

        Never raises: what fails is a result.
        """
        goal = ExecuteTask.Goal(
            task_description=dump_task(task), task_origin=pose_to_message(origin), first_keyframe=first, speed=speed
        )
        return await self._executed(goal, progress)

    async def _executed(self, goal: ExecuteTask.Goal, progress: Callable[[RunProgress], None]) -> RunResult:
        if self._executor.is_busy:
            return _not_run('The robot is moving already; wait for it, or stop it.', goal.first_keyframe)

        def tell(told: ExecuteTask.Feedback) -> None:
            progress(RunProgress(told.state, told.keyframe, told.segment, told.progress))

        try:
            answer: ExecuteTask.Result = await self._executor.run(goal, tell)
        except NoAnswer as error:
            return _not_run(str(error), goal.first_keyframe)
        code = int(answer.error_code.val)
        return RunResult(code == Code.SUCCESS, answer.message, answer.next_keyframe, code)

    async def stop(self) -> None:
        """Stop planning and motion at once."""
        self._executor.cancel()
        self._planner.cancel()
        self._worker.stop()
        if self._abort.is_there:
            try:
                await self._abort.call()
            except NoAnswer:
                return  # the goal is cancelled all the same

    async def pause(self) -> None:
        """Stop on the path.

        Raises:
            Refusal: nothing runs.
        """
        await _done(self._pause)

    async def resume(self) -> None:
        """Go on along the path.

        Raises:
            Refusal: nothing is paused.
        """
        await _done(self._resume)

    # Judging ----------------------------------------------------------------------------------------------------------

    async def judge(self, scene: PlanningScene, object: str, pose: Pose) -> Verdict:
        """Whether the robot can hold an object at a pose (in the twin's frame)."""
        thing = self._world().objects.get(object)
        if thing is None:
            return Verdict('unknown', f"There is no object '{object}'.")
        return await self._beside(functools.partial(self._judging.judge, scene, thing, pose))

    async def assess(self, task: Task, origin: Pose, scene: PlanningScene) -> Quality:
        """How good a demonstration is, begun in a scene, before it is planned."""
        return await self._beside(functools.partial(self._judging.assess, task, origin, scene))

    async def _beside(self, work: Callable[[], Value]) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _failure(robot: str, answer: PlanTask.Result, task: Task) -> PlanResult:
    told = answer.failure
    reasons = [(count.reason, tuple(count.subjects), int(count.count)) for count in told.rejections]
    return failed(robot, answer.message, task, told.keyframe, told.stage, reasons, told.suggestion)


def _not_run(message: str, next_keyframe: int = 0) -> RunResult:
    return RunResult(False, message, next_keyframe, int(Code.FAILURE))


async def _done(service: TriggerLink) -> None:
    try:
        success, message = await service.call()
    except NoAnswer as error:
        raise Refusal('no_answer', str(error)) from None
    if not success:
        raise Refusal('not_running', message)
