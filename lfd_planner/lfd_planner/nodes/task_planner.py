"""Plans demonstrated tasks over ROS: MTDF in, a checked motion or the reason why there is none out.

compute_motion_plan_from_task (service), plan_task (action)
    ──► synchronize_scene ──► get_planning_scene ──► planner ──► trajectory, segments, display_planned_path
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from geometry_msgs.msg import Pose as PoseMessage
from lfd_msgs.action import PlanTask
from lfd_msgs.srv import TaskPlanning
from moveit_msgs.msg import DisplayTrajectory, MoveItErrorCodes
from moveit_msgs.srv import GetPlanningScene
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.node import Node

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import BUSY_SERVICE_QOS, LATCHED_QOS
from lfd_description.robots import RobotError, find_robot
from lfd_description.urdf import UrdfError
from lfd_planner.error_codes import Code
from lfd_planner.messages import (
    apply_planning_scene,
    pose_from_message,
    robot_state_to_message,
    trajectory_to_message,
)
from lfd_planner.messages.checks import Report
from lfd_planner.messages.solutions import failure_to_message, solution_to_message
from lfd_planner.mtdf import MtdfError, parse_task
from lfd_planner.planner import Planned, PlanOptions, TaskFailure, TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, SceneFault

from .scene_sync_client import SceneSyncClient

NAME = 'task_planner'
THREADS = 24
MOST_AT_ONCE = 16  # requests; more are sent away
SCENE_WITHIN = 15.0  # [s] that the planning server has to answer
LONGEST_BUDGET = 600.0  # [s]
MOST_SOLUTIONS = 100


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


class TaskPlannerNode(Node):
    """Plans tasks for one robot, in the scene that the planning server has at that moment.

    Raises:
        ParameterError: there is no such robot or gripper, or they cannot be planned for.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        self._planner = self._make_planner()
        self._ending = threading.Event()
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)
        group = ReentrantCallbackGroup()
        self._sync = SceneSyncClient(self)
        self._get_scene = self.create_client(GetPlanningScene, 'get_planning_scene', callback_group=group)
        self._display = self.create_publisher(DisplayTrajectory, 'display_planned_path', LATCHED_QOS)
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
        model = self._planner.model
        hand = model.gripper.name if model.gripper else 'no gripper'
        self.get_logger().info(f"Planning tasks for robot '{model.robot.name}' with {hand}.")

    def stop(self) -> None:
        """End what is under way."""
        self._ending.set()

    def destroy_node(self) -> None:
        """Take everything down."""
        self.stop()
        self._action.destroy()
        super().destroy_node()

    def _make_planner(self) -> TaskPlanner:
        robot = self._declared('robot', 'The name of the robot to plan for.')
        gripper = self._declared('gripper', 'The name of the gripper that it carries.')
        try:
            return TaskPlanner(build_model(find_robot(robot), gripper=find_gripper(gripper)))
        except (RobotError, GripperError, UrdfError, ModelError, MeshError) as error:
            raise ParameterError(str(error)) from None

    def _declared(self, name: str, description: str) -> str:
        value: str = self.declare_parameter(name, '', ParameterDescriptor(description=description)).value
        if not value:
            raise ParameterError(f'The parameter {name} is empty; set it. {description}')
        return value

    # Requests

    def _on_service(self, request: TaskPlanning.Request, answer: TaskPlanning.Response) -> TaskPlanning.Response:
        found = self._plan(request.task_description, request.task_origin, PlanOptions(should_stop=self._ending.is_set))
        answer.error_code = _error_code(found)
        answer.message = answer.error_code.message
        if not isinstance(found, TaskFailure):
            solution = found[0].solution
            answer.trajectory = trajectory_to_message(
                solution.trajectory, solution.joints, self._planner.backend.robot.frame
            ).joint_trajectory
        return answer

    def _on_goal(self, goal: ServerGoalHandle) -> PlanTask.Result:
        request, result = goal.request, PlanTask.Result()

        def should_stop() -> bool:
            return bool(goal.is_cancel_requested) or self._ending.is_set()

        options = PlanOptions(
            seed=request.seed,
            budget=min(max(request.time_budget, 0.0), LONGEST_BUDGET),
            solutions=min(max(request.max_solutions, 1), MOST_SOLUTIONS),
            should_stop=should_stop,
            progress=lambda keyframe, stage: goal.publish_feedback(PlanTask.Feedback(keyframe=keyframe, stage=stage)),
        )
        found = self._plan(request.task_description, request.task_origin, options)
        result.error_code = _error_code(found)
        result.message = result.error_code.message
        if isinstance(found, TaskFailure):
            result.failure = failure_to_message(found)
        else:
            frame = self._planner.backend.robot.frame
            result.solutions = [solution_to_message(planned.solution, frame) for planned in found]
        if not isinstance(found, TaskFailure):
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return result

    def _plan(self, text: str, origin: PoseMessage, options: PlanOptions) -> tuple[Planned, ...] | TaskFailure:
        """Solutions, or why there are none; whatever goes wrong here is told to the client too."""
        if not self._places.acquire(blocking=False):
            return TaskFailure(Code.FAILURE, f'{MOST_AT_ONCE} tasks are being planned already; ask again in a moment.')
        try:
            found = self._planned(text, origin, options)
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

    def _planned(self, text: str, origin: PoseMessage, options: PlanOptions) -> tuple[Planned, ...] | TaskFailure:
        task = parse_task(text)
        report = Report('Task origin')
        at = pose_from_message(origin, report)
        report.finish()
        if at == Pose() and task.origin is not None:  # nobody told one: the task's own hint counts
            at = task.origin.pose
        scene = self._scene(options.should_stop)
        found = self._planner.plan(task, scene, at, options)
        if not isinstance(found, TaskFailure):
            self._show(scene, found[0])
        return found

    def _show(self, scene: PlanningScene, planned: Planned) -> None:
        solution, frame = planned.solution, self._planner.backend.robot.frame
        self._display.publish(
            DisplayTrajectory(
                model_id=solution.robot,
                trajectory=[trajectory_to_message(solution.trajectory, solution.joints, frame)],
                trajectory_start=robot_state_to_message(self._planner.start_scene(scene)),
            )
        )

    # The scene

    def _scene(self, should_stop: Callable[[], bool]) -> PlanningScene:
        """The world as the planning server has it, after the twin's newest objects were brought there.

        Raises:
            SceneFault: it cannot be had, or is not what can be planned in.
        """
        if self._sync.is_there:
            told = self._wait_for(self._sync.synchronize(), 'synchronize_scene', should_stop)
            if not told.success:
                raise SceneFault(Code.FAILURE, f'The planning scene is not up to date: {told.message}')
        if not self._get_scene.wait_for_service(SCENE_WITHIN):
            raise SceneFault(Code.FAILURE, "Nobody serves 'get_planning_scene'; start move_group.")
        answer = self._wait_for(
            self._get_scene.call_async(GetPlanningScene.Request()), 'get_planning_scene', should_stop
        )
        robot = self._planner.backend.robot
        empty = PlanningScene(robot.frame)
        applied = apply_planning_scene(empty, self._own_joints(answer.scene), robot.frames)
        if applied.faults:
            raise SceneFault(applied.faults[0].code, *applied.faults[0].problems)
        scene = applied.scene
        if scene.attached:
            held = next(iter(scene.attached))
            raise SceneFault(Code.FAILURE, f"The robot holds '{held}'; put it down before a task is planned.")
        return PlanningScene(
            scene.frame,
            objects=scene.objects,
            colours=scene.colours,
            joints=scene.joints,
            fixed_frames=scene.fixed_frames,
        )

    def _own_joints(self, message: Any) -> Any:
        """A scene without the joints that our robot has not, such as those of another hand."""
        state, own = message.robot_state.joint_state, self._planner.backend.robot.frames.joints
        kept = [(name, value) for name, value in zip(state.name, state.position, strict=True) if name in own]
        state.name, state.position = [name for name, _ in kept], [value for _, value in kept]
        state.velocity, state.effort = [], []
        return message

    def _wait_for(self, future: Any, name: str, should_stop: Callable[[], bool]) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        deadline = time.monotonic() + SCENE_WITHIN
        while not done.wait(0.02):
            if should_stop():
                raise SceneFault(Code.PREEMPTED, 'Planning was stopped on request.')
            if time.monotonic() > deadline:
                raise SceneFault(Code.FAILURE, f"'{name}' did not answer within {SCENE_WITHIN:g} s.")
        return future.result()


def _error_code(found: tuple[Planned, ...] | TaskFailure) -> MoveItErrorCodes:
    if isinstance(found, TaskFailure):
        return MoveItErrorCodes(val=int(found.code), message=found.message, source=NAME)
    solution = found[0].solution
    told = f'{len(solution.segments)} segments, {solution.trajectory.duration:.2f} s of motion.'
    return MoveItErrorCodes(val=int(Code.SUCCESS), message=told)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if a parameter cannot be used."""
    refusals = (ParameterError, ParameterException)
    return run_until_signal(NAME, TaskPlannerNode, args, refusals, threads=THREADS, on_stop=TaskPlannerNode.stop)


if __name__ == '__main__':
    sys.exit(main())
