"""The demo's ROS side: has the task planned and the motion executed, and records what the graph says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import rclpy
from geometry_msgs.msg import TransformStamped
from lfd_msgs.action import ExecuteTask, PlanTask
from moveit_msgs.srv import GetPlanningScene
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from rclpy.time import Time
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from lfd_description.model.model import RobotModel
from lfd_planner.error_codes import Code
from lfd_planner.messages import apply_planning_scene, pose_to_message
from lfd_planner.messages.solutions import solution_from_message, solution_to_message
from lfd_planner.nodes.scene_sync_client import SceneSyncClient
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import PlanningScene, SceneFault
from lfd_planner.solution import Solution
from lfd_planner.solution_file import PlanningError, Rejection

from .execution import Execution, Progress, execution_of, progress_of
from .job import Job

ANSWER_TIMEOUT = 60.0  # [s] for a node to be found and to answer, on a busy machine
PLAN_TIMEOUT = 180.0  # [s]
TRIES = 6  # to be answered: a server that has not discovered its client yet loses its answer
EXECUTION_TIMEOUT = 180.0  # [s] for checks and gripping, beyond the motion's own time, and for a slow machine
VIEW_PERIOD = 0.1  # [s]
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DYNAMIC = QoSProfile(depth=1000)

View = Callable[[list[float]], None]
"""Told the arm's joint positions [rad] from time to time while it moves."""
Follow = Callable[[Progress], None]
"""Told how far the execution is, many times a second."""


class GraphFailed(Exception):
    """The graph did not do what it was asked; the message is one sentence for the user."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What the graph's task planner said."""

    outcome: Solution | PlanningError
    seconds: float
    """[s] from the request to the answer, scene and messages included"""
    stage_times: dict[str, float] = field(default_factory=dict)
    """[s] by the planner's stages"""


@dataclass
class Recording:
    """What was heard.

    states: time [s] and joint positions [rad], in the robot's order of joints.
    transforms: time [s] -> child frame -> parent frame, translation xyz [m], rotation xyzw. Static ones have time None.
    hand: positions of the hand's joint [rad or m], one after the other; empty if it has none.
    joints: all joints' newest positions [rad or m] by name, the hand's too.
    """

    states: list[tuple[float, list[float]]] = field(default_factory=list)
    hand: list[float] = field(default_factory=list)
    transforms: dict[float | None, dict[str, tuple[str, tuple[float, ...], tuple[float, ...]]]] = field(
        default_factory=dict
    )
    joints: dict[str, float] = field(default_factory=dict)


class Listener(Node):
    """Records joint states and transforms, and has clients of the task planner, the executor and the planning scene.

    It is spun while somebody waits, in that thread: rclpy's action client loses the answer to a goal that is sent while
    another thread spins.
    """

    def __init__(self, model: RobotModel, context: Context, stop: threading.Event) -> None:
        super().__init__('lfd_demo', context=context)
        self.recording = Recording()
        self._arm = model.group.joints
        hand = model.gripper
        self._hand = f'{model.prefix}{hand.joint}' if hand and hand.joint else None
        self._robot = planning_robot(model)
        self._stop = stop
        self._spinner = SingleThreadedExecutor(context=context)
        self._spinner.add_node(self)
        self.create_subscription(JointState, 'joint_states', self._on_state, DYNAMIC)
        self.create_subscription(TFMessage, 'tf', self._on_tf, DYNAMIC)
        self.create_subscription(TFMessage, 'tf_static', self._on_tf_static, STATIC)
        self._scene = SceneSyncClient(self, ANSWER_TIMEOUT / TRIES)
        self._planning = ActionClient(self, PlanTask, 'plan_task')
        self._executing = ActionClient(self, ExecuteTask, 'execute_task')
        self._get_scene = self.create_client(GetPlanningScene, 'get_planning_scene')

    def wait(self, is_true: Callable[[], bool], timeout: float, what: str) -> None:
        """Listen until a condition holds, at most `timeout` [s].

        Raises:
            GraphFailed: it does not come true in time, or the user has stopped the demo.
        """
        deadline = time.monotonic() + timeout
        while not is_true():
            if self._stop.is_set():
                raise GraphFailed('stopped by the user')
            if time.monotonic() > deadline:
                raise GraphFailed(f'waited {timeout:.0f} s in vain for {what}')
            self._spinner.spin_once(timeout_sec=0.05)

    def wait_ready(self) -> None:
        """Wait until the planner, the executor, the arm and what stands around it are there.

        Raises:
            GraphFailed: they do not come.
        """
        heard = self.recording
        self.wait(
            lambda: bool(heard.states) and None in heard.transforms, ANSWER_TIMEOUT, 'joint states and transforms'
        )
        self.wait(self._planning.server_is_ready, ANSWER_TIMEOUT, 'the task planner')
        self.wait(self._executing.server_is_ready, ANSWER_TIMEOUT, 'the task executor')
        self._wait_for_scene()

    def plan(self, job: Job) -> Answer:
        """Have a task planned by the graph, from where the arm is.

        Raises:
            GraphFailed: the planner does not answer, or not with what can be used.
        """
        goal = PlanTask.Goal(task_description=job.text, task_origin=pose_to_message(job.origin))
        begin = time.monotonic()
        result: PlanTask.Result = self._ask(self._planning, goal, PLAN_TIMEOUT, 'the task planner', TRIES)
        taken = time.monotonic() - begin
        if not result.solutions:
            return Answer(_error(result), taken)
        found = result.solutions[0]
        try:
            solution = solution_from_message(found, self._arm)
        except SceneFault as fault:
            raise GraphFailed(f'the task planner answered with what is no solution: {fault}') from None
        return Answer(solution, taken, dict(zip(found.stages, found.stage_times, strict=False)))

    def execute(self, job: Job, solution: Solution, follow: Follow, view: View | None) -> Execution:
        """Have a motion executed by the graph, and record until it has ended, well or not.

        Raises:
            GraphFailed: the executor does not answer.
        """
        heard = self.recording
        heard.states.clear()
        heard.hand.clear()
        goal = ExecuteTask.Goal(
            solution=solution_to_message(solution, job.scene.frame),
            task_description=job.text,
            task_origin=pose_to_message(job.origin),
        )
        timer = self.create_timer(VIEW_PERIOD, lambda: _show(heard, view))
        allowed = EXECUTION_TIMEOUT + 2.0 * solution.trajectory.duration
        whom = 'the task executor'
        result = self._ask(
            self._executing, goal, allowed, whom, feedback=lambda told: follow(progress_of(told.feedback))
        )
        timer.cancel()
        ended = execution_of(result)
        if ended.ok:
            self._wait_for_states()
        return ended

    def scene(self) -> PlanningScene:
        """What the graph's planning server has, in the robot's frame.

        Raises:
            GraphFailed: it does not answer, or not with what can be used.
        """
        self.wait(self._get_scene.service_is_ready, ANSWER_TIMEOUT, 'the planning server')
        answer = self._tried(
            lambda: self._get_scene.call_async(GetPlanningScene.Request()), 'the planning server', TRIES
        ).result()
        applied = apply_planning_scene(PlanningScene(self._robot.frame), answer.scene, self._robot.frames)
        if applied.faults:
            raise GraphFailed(f'the planning server has a scene that cannot be used: {applied.faults[0]}')
        return applied.scene

    def close(self) -> None:
        """Leave the graph."""
        self._spinner.shutdown()
        self.destroy_node()

    def _wait_for_states(self) -> None:
        """Hear all joint states until now: older ones may still be on their way."""
        now, states = self.get_clock().now().nanoseconds / 1e9, self.recording.states
        self.wait(lambda: bool(states) and states[-1][0] >= now, ANSWER_TIMEOUT, 'the last joint state')

    def _wait_for_scene(self) -> None:
        """Have the planning server know the scene: a planner that has not discovered scene sync plans without it."""
        self.wait(lambda: self._scene.is_there, ANSWER_TIMEOUT, 'scene sync')
        for _ in range(TRIES):
            outcome = self._scene.synchronize()
            self.wait(outcome.done, ANSWER_TIMEOUT, 'an answer of scene sync')
            if outcome.result().success:
                return
        raise GraphFailed(f'the planning scene is not as it should be: {outcome.result().message}')

    def _ask(
        self,
        client: ActionClient,
        goal: Any,
        timeout: float,
        whom: str,
        tries: int = 1,
        feedback: Callable[[Any], None] | None = None,
    ) -> Any:
        """The result of an action; only what does no harm when it is done twice may be tried more than once."""
        handle = self._tried(lambda: client.send_goal_async(goal, feedback_callback=feedback), whom, tries).result()
        if not handle.accepted:
            raise GraphFailed(f'{whom} refused the request')
        result = handle.get_result_async()
        self.wait(result.done, timeout, f'the result of {whom}')
        return result.result().result

    def _tried(self, ask: Callable[[], Future], whom: str, tries: int) -> Future:
        """The answer to a question, which is asked again while there is none."""
        for left in reversed(range(tries)):
            answer = ask()
            try:
                self.wait(answer.done, ANSWER_TIMEOUT / tries, f'an answer of {whom}')
                break
            except GraphFailed:
                if not left or self._stop.is_set():
                    raise
        return answer

    def _on_state(self, message: JointState) -> None:
        by_name = dict(zip(message.name, message.position, strict=True))
        self.recording.joints.update(by_name)
        if all(joint in by_name for joint in self._arm):
            self.recording.states.append((_seconds(message.header.stamp), [by_name[joint] for joint in self._arm]))
        if self._hand in by_name:
            self.recording.hand.append(by_name[self._hand])

    def _on_tf(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._keep(_seconds(transform.header.stamp), transform)

    def _on_tf_static(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._keep(None, transform)

    def _keep(self, stamp: float | None, transform: TransformStamped) -> None:
        p, q = transform.transform.translation, transform.transform.rotation
        frames = self.recording.transforms.setdefault(stamp, {})
        frames[transform.child_frame_id] = (transform.header.frame_id, (p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


@contextmanager
def listening(model: RobotModel, domain_id: int, stop: threading.Event) -> Iterator[Listener]:
    """A listener in a ROS domain; its waits end when `stop` is set."""
    context = Context()
    rclpy.init(context=context, domain_id=domain_id, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    listener = Listener(model, context, stop)
    try:
        yield listener
    finally:
        listener.close()
        rclpy.shutdown(context=context)


def _error(result: PlanTask.Result) -> PlanningError:
    failure = result.failure
    known = result.error_code.val in [int(code) for code in Code if code is not Code.SUCCESS]
    return PlanningError(
        result.error_code.val if known else int(Code.FAILURE),
        result.message,
        failure.keyframe if failure.keyframe >= 0 else None,
        tuple(Rejection(count.reason, tuple(count.subjects), count.count) for count in failure.rejections),
        failure.stage,
        failure.suggestion,
    )


def _show(heard: Recording, view: View | None) -> None:
    if view is not None and heard.states:
        view(heard.states[-1][1])


def _seconds(stamp: Time) -> float:
    return float(stamp.sec + stamp.nanosec / 1e9)
