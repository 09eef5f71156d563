"""Plans demonstrated tasks over ROS: MTDF in, a checked motion or the reason why there is none out.

compute_motion_plan_from_task (service), plan_task (action)
    ──► synchronize_scene ──► get_planning_scene ──► planner ──► trajectory, segments
                                                       └──► display_planned_path, task_markers, description,
                                                            statistics, solution, for RViz
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from lfd_msgs.action import PlanTask
from lfd_msgs.srv import TaskPlanning
from moveit_msgs.msg import DisplayTrajectory, MoveItErrorCodes, RobotTrajectory
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from visualization_msgs.msg import MarkerArray

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import BUSY_SERVICE_QOS
from lfd_description.robots import RobotError, find_robot
from lfd_description.urdf import UrdfError
from lfd_planner import kernels
from lfd_planner.backends.moveit import MoveItBackend, MoveItMissing
from lfd_planner.error_codes import Code
from lfd_planner.messages import pose_from_message, robot_state_to_message, trajectory_to_message
from lfd_planner.messages.checks import Report
from lfd_planner.messages.introspection import motions_to_message
from lfd_planner.messages.solutions import failure_to_message, solution_to_message
from lfd_planner.messages.task_markers import failure_markers, no_markers, solution_markers
from lfd_planner.mtdf import MtdfError, Task, parse_task
from lfd_planner.planner import Planned, PlanOptions, TaskFailure, TaskPlanner, at_speed, explain
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import PlanningScene, SceneFault
from lfd_planner.scene.faults import quoted
from lfd_planner.stages.arm import Arm
from lfd_planner.task import Record, Stage, Step

from .prompt_answers import PromptAnswers
from .showing import LazyTopic, Showing
from .task_introspection import TaskIntrospection
from .task_planner_scene import OLDEST_STATE, SceneSource

NAME = 'task_planner'
EMBEDDED, MOVEIT = 'embedded', 'moveit'
THREADS = 24
MOST_AT_ONCE = 16  # requests; more are sent away
LONGEST_BUDGET = 600.0  # [s]
MOST_SOLUTIONS = 100
SLOWEST = 0.01  # of the fastest motion
PROMPT = 0.001  # [s] after which a thread that plans lets others have a word, so that cancels are heard at once
FEEDBACK_EVERY = 0.02  # [s], unless a keyframe or a solution is new

Found = tuple[Planned, ...] | TaskFailure
_STOPPED = TaskFailure(Code.PREEMPTED, 'Planning was stopped.')


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


@dataclass(frozen=True)
class Request:
    """What a client asks for."""

    text: str
    """MTDF."""
    origin: PoseMessage
    should_stop: Callable[[], bool]
    seed: int = 0
    budget: float = 0.0
    solutions: int = 1
    speed: float = 0.0
    """Of the fastest motion; 0: as usual."""
    end_pose: str = ''
    """Of the robot; empty: as usual."""
    feedback: Callable[[PlanTask.Feedback], None] = lambda _: None

    def checked(self, poses: Collection[str]) -> None:
        """Look at the numbers, and whether the end pose is one of the robot's `poses`.

        Raises:
            SceneFault: one of them cannot be meant; there is a sentence for each.
        """
        report = Report('Goal')
        if not 0.0 <= self.budget <= LONGEST_BUDGET:
            report.problem(f'time_budget is {self.budget:g}; send 0 to {LONGEST_BUDGET:g} s.')
        if self.solutions > MOST_SOLUTIONS:
            report.problem(f'max_solutions is {self.solutions}; send up to {MOST_SOLUTIONS}.')
        if not (self.speed == 0.0 or SLOWEST <= self.speed <= 1.0):
            report.problem(f'speed is {self.speed:g}; send {SLOWEST:g} to 1, or 0 for the usual one.')
        if self.end_pose and self.end_pose not in poses:
            report.problem(f'end_pose is {_no_pose(self.end_pose, poses)}.')
        report.finish()


class TaskPlannerNode(Node):
    """Plans tasks for one robot, in the scene that the planning server has at that moment.

    Raises:
        ParameterError: there is no such robot, gripper or backend, or they cannot be planned with.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        self._planner = self._make_planner()
        self._declare_habits()
        oldest: float = self._declared(
            'joint_state_max_age', OLDEST_STATE, 'How old the newest joint states may be [s].', (0.05, 3600.0)
        )
        self._loading = kernels.load_beside()
        self._ending = threading.Event()
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._answers = PromptAnswers(THREADS + MOST_AT_ONCE)
        group = ReentrantCallbackGroup()
        robot, model = self._planner.backend.robot, self._planner.model
        self._arm = Arm.of(model, self._planner.backend)
        self._scenes = SceneSource(self, robot, group, oldest)
        self._showing = Showing(self)
        self._introspection = TaskIntrospection(self, self._showing, self._arm.group.joints, group)
        self._display = LazyTopic(
            self, self._showing, DisplayTrajectory, 'display_planned_path', DisplayTrajectory(), group
        )
        self._markers = LazyTopic(self, self._showing, MarkerArray, 'task_markers', no_markers(), group)
        self.create_service(
            TaskPlanning,
            'compute_motion_plan_from_task',
            self._on_service,
            qos_profile=BUSY_SERVICE_QOS,
            callback_group=group,
        )
        self._action = ActionServer(
            self,
            PlanTask,
            'plan_task',
            self._on_goal,
            callback_group=group,
            goal_callback=lambda _: GoalResponse.REJECT if self._ending.is_set() else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        hand = model.gripper.name if model.gripper else 'no gripper'
        self.get_logger().info(f"Planning tasks for robot '{model.robot.name}' with {hand}.")

    def stop(self) -> None:
        """End what is under way."""
        self._ending.set()

    def destroy_node(self) -> None:
        """Take everything down."""
        self.stop()
        self._loading.join()
        self._answers.close()
        self._showing.close()
        self._action.destroy()
        super().destroy_node()
        if isinstance(self._planner.backend, MoveItBackend):
            self._planner.backend.close()

    def _make_planner(self) -> TaskPlanner:
        name = self._declared('robot', '', 'The name of the robot to plan for.')
        hand = self._declared('gripper', '', 'The name of the gripper that it carries; empty: none, or its own.')
        backend = self._declared('backend', EMBEDDED, f'What computes: {EMBEDDED}, or {MOVEIT} through moveit_py.')
        if not name:
            raise ParameterError('The parameter robot is empty; set it to the name of the robot to plan for.')
        if backend not in (EMBEDDED, MOVEIT):
            raise ParameterError(f"The parameter backend is '{backend}'; set it to {EMBEDDED} or {MOVEIT}.")
        try:
            model = build_model(find_robot(name), gripper=find_gripper(hand) if hand else None)
            return TaskPlanner(model, MoveItBackend(planning_robot(model)) if backend == MOVEIT else None)
        except (RobotError, GripperError, UrdfError, ModelError, MeshError, MoveItMissing) as error:
            raise ParameterError(str(error)) from None

    def _declare_habits(self) -> None:
        """What counts where a request says nothing; it may be set while the node runs."""
        self._declared('speed', 1.0, 'Of the fastest motion, where a request says nothing.', (SLOWEST, 1.0))
        self._declared(
            'end_pose', '', 'The pose to which the arm goes at the end, where a request says nothing; empty: it stays.'
        )
        problem = self._wrong_end_pose(self.get_parameter('end_pose').value)
        if problem:
            raise ParameterError(problem)
        self.add_on_set_parameters_callback(self._on_parameters)

    def _on_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        for parameter in parameters:
            if parameter.name == 'end_pose' and (problem := self._wrong_end_pose(parameter.value)):
                return SetParametersResult(successful=False, reason=problem)
        return SetParametersResult(successful=True)

    def _wrong_end_pose(self, pose: str) -> str:
        poses = self._planner.model.poses
        return f'The parameter end_pose is {_no_pose(pose, poses)}.' if pose and pose not in poses else ''

    def _declared(self, name: str, default: Any, description: str, bounds: tuple[float, float] | None = None) -> Any:
        ranges = [FloatingPointRange(from_value=bounds[0], to_value=bounds[1])] if bounds else []
        descriptor = ParameterDescriptor(description=description, floating_point_range=ranges)
        return self.declare_parameter(name, default, descriptor).value

    # Requests

    def _on_service(self, request: TaskPlanning.Request, answer: TaskPlanning.Response) -> TaskPlanning.Response:
        found = self._plan(Request(request.task_description, request.task_origin, self._ending.is_set))
        answer.error_code = _error_code(found)
        answer.message = answer.error_code.message
        if not isinstance(found, TaskFailure):
            answer.message += f'\n{explain(found[0])}'
            solution = found[0].solution
            answer.trajectory = trajectory_to_message(
                solution.trajectory, solution.joints, self._planner.backend.robot.frame
            ).joint_trajectory
        return answer

    def _on_goal(self, goal: ServerGoalHandle) -> PlanTask.Result:
        asked, result = goal.request, PlanTask.Result()

        def should_stop() -> bool:
            return bool(goal.is_cancel_requested) or self._ending.is_set()

        def feedback(message: PlanTask.Feedback) -> None:
            if not should_stop():
                goal.publish_feedback(message)

        request = Request(
            asked.task_description,
            asked.task_origin,
            should_stop,
            asked.seed,
            asked.time_budget,
            max(asked.max_solutions, 1),
            asked.speed,
            asked.end_pose,
            feedback,
        )
        found = self._answers.answer(lambda: self._plan(request), should_stop) or _STOPPED
        result.error_code = _error_code(found)
        if isinstance(found, TaskFailure):
            result.failure = failure_to_message(found)
        else:
            frame = self._planner.backend.robot.frame
            result.solutions = [
                solution_to_message(planned.solution, frame, planned.seconds, explain(planned)) for planned in found
            ]
        if goal.is_cancel_requested:
            if not isinstance(found, TaskFailure):
                result.error_code.message = f'Planning was stopped. Until then: {result.error_code.message}'
            result.error_code.val = int(Code.PREEMPTED)
            goal.canceled()
        elif isinstance(found, TaskFailure):
            goal.abort()
        else:
            goal.succeed()
        result.message = result.error_code.message
        return result

    def _plan(self, request: Request) -> Found:
        """Solutions, or why there are none; whatever goes wrong here is told to the client too."""
        if not self._places.acquire(blocking=False):
            return TaskFailure(Code.FAILURE, f'{MOST_AT_ONCE} tasks are being planned already; ask again in a moment.')
        try:
            found = self._planned(request)
        except MtdfError as error:
            found = TaskFailure(Code.FAILURE, f'The task cannot be used: {error}')
        except SceneFault as fault:
            found = TaskFailure(fault.code, str(fault))
        except Exception as error:
            self.get_logger().error(f'Planning failed: {error!r}\n{traceback.format_exc()}')
            found = TaskFailure(Code.FAILURE, f'Planning failed here: {error!r}; see the log of {NAME}.')
        finally:
            self._places.release()
        if isinstance(found, TaskFailure):
            self.get_logger().warning(f'{found.code.name}: {found.message}')
        return found

    def _planned(self, request: Request) -> Found:
        request.checked(self._planner.model.poses)
        task = parse_task(request.text)
        report = Report('Task origin')
        origin = pose_from_message(request.origin, report)
        report.finish()
        if origin == Pose() and task.origin is not None:  # nobody told one: the task's own hint counts
            origin = task.origin.pose
        scene = self._planner.start_scene(self._scenes.newest(request.should_stop))
        watch = _Watch(self._introspection, scene, len(task.keyframes), request.feedback)
        options = PlanOptions(
            seed=request.seed,
            budget=request.budget,
            solutions=request.solutions,
            scaling=at_speed(request.speed or self.get_parameter('speed').value),
            end_pose=request.end_pose or self.get_parameter('end_pose').value or None,
            should_stop=request.should_stop,
            progress=watch.progress,
            observe=watch.observe,
        )
        found = self._planner.plan(task, scene, origin, options)
        if isinstance(found, TaskFailure):
            watch.end(None)
            self._show_failure(found, task, scene, origin)
        else:
            watch.end(found[0].step)
            self._show(found[0].step)
        return found

    # What RViz shows

    def _show(self, step: Step) -> None:
        self._display.show(lambda: self._displayed(step))
        self._markers.show(lambda: solution_markers(step, self._arm))

    def _show_failure(self, failure: TaskFailure, task: Task, scene: PlanningScene, origin: Pose) -> None:
        if failure.code is not Code.PREEMPTED:
            self._markers.show(lambda: failure_markers(failure, task, scene, origin))

    def _displayed(self, step: Step) -> DisplayTrajectory:
        """The whole motion of arm and hand, and the robot at its start."""
        whole = dataclasses.replace(step, motions=step.all_motions(), parts=())
        motion = RobotTrajectory(joint_trajectory=motions_to_message(whole, self._arm.group.joints))
        return DisplayTrajectory(
            model_id=step.start.scene.robot,
            trajectory=[motion],
            trajectory_start=robot_state_to_message(step.start.scene),
        )


class _Watch:
    """Looks at one search, for its client and for RViz."""

    def __init__(
        self,
        introspection: TaskIntrospection,
        scene: PlanningScene,
        keyframes: int,
        feedback: Callable[[PlanTask.Feedback], None],
    ) -> None:
        self._introspection, self._scene, self._keyframes, self._feedback = introspection, scene, keyframes, feedback
        self._record: Record | None = None
        self._told = (-1, 0)
        self._next = 0.0

    def observe(self, stage: Stage) -> Record:
        """Who is told what stages do."""
        self._record = self._introspection.begin(stage, self._scene)
        return self._record

    def progress(self, keyframe: int, stage: str) -> None:
        """A stage begins."""
        if self._record is not None:
            self._introspection.go_on(self._record)
        now, told = time.monotonic(), (keyframe, self._solutions)
        if now >= self._next or told != self._told:
            self._next, self._told = now + FEEDBACK_EVERY, told
            self._tell(keyframe, stage)

    def end(self, step: Step | None) -> None:
        """The search has ended."""
        if self._record is not None:
            self._introspection.end(self._record, step)
            self._tell(self._told[0], '')

    @property
    def _solutions(self) -> int:
        return self._record.solutions if self._record is not None else 0

    def _tell(self, keyframe: int, stage: str) -> None:
        self._feedback(
            PlanTask.Feedback(
                keyframe=keyframe, keyframe_count=self._keyframes, stage=stage, solution_count=self._solutions
            )
        )


def _error_code(found: Found) -> MoveItErrorCodes:
    if isinstance(found, TaskFailure):
        return MoveItErrorCodes(val=int(found.code), message=found.message, source=NAME)
    solution = found[0].solution
    told = f'{len(solution.segments)} segments, {solution.trajectory.duration:.2f} s of motion.'
    return MoveItErrorCodes(val=int(Code.SUCCESS), message=told)


def _no_pose(wrong: str, poses: Collection[str]) -> str:
    return f'{quoted(wrong)}, which is no pose of the robot; its poses are {", ".join(sorted(poses))}'


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if a parameter cannot be used."""
    refusals = (ParameterError, ParameterException)
    sys.setswitchinterval(PROMPT)
    return run_until_signal(NAME, TaskPlannerNode, args, refusals, threads=THREADS, on_stop=TaskPlannerNode.stop)


if __name__ == '__main__':
    sys.exit(main())
