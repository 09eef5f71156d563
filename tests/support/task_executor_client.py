"""A client of the task executor, and the executor itself as a process."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import Pose
from lfd_msgs.action import ExecuteTask, PlanTask
from lfd_msgs.msg import SignalValue
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.action import ActionClient
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger

from lfd_planner.messages import apply_planning_scene, detach_message
from lfd_planner.mtdf import Descriptor, Keyframe, Origin, Pick, Place, Task, dump_task
from lfd_planner.scene import PlanningScene

from .gripper_server import NAME as GRIPPER
from .peer import TIMEOUT, Peer
from .process import Process
from .task_cells import planner, seed_cell, seed_origin, seed_task

LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
FINGER = 'joint_left_finger'
ARM = 'ur5e_controller'
NEAR = 0.02  # [m]
# Whatever else runs on this machine, a test does not fail because its processes slept for a while.
PATIENT = ('joint_states_within:=1.5', 'duration_margin:=60.0')


def executor_process(domain: int, *parameters: str) -> Process:
    """The executor of a UR5e, with parameters such as 'start_tolerance:=0.1'."""
    told = ['robot:=ur5e', 'gripper:=two_finger', *parameters]
    words = [word for parameter in told for word in ('-p', parameter)]
    return Process(
        [sys.executable, '-u', '-m', 'lfd_planner.nodes.task_executor', '--ros-args', *words],
        {**os.environ, 'ROS_DOMAIN_ID': str(domain)},
    )


def with_test_gripper(joints: Sequence[str]) -> tuple[str, ...]:
    """Parameters of an executor whose hand is a GripperServer; `joints` are the arm's."""
    below = 'moveit_simple_controller_manager'
    return (
        f'{below}.controller_names:=[{ARM}, {GRIPPER}]',
        f'{below}.{ARM}.type:=FollowJointTrajectory',
        f'{below}.{ARM}.action_ns:=follow_joint_trajectory',
        f'{below}.{ARM}.joints:=[{", ".join(joints)}]',
        f'{below}.{GRIPPER}.type:=GripperCommand',
        f'{below}.{GRIPPER}.action_ns:=gripper_cmd',
        f'{below}.{GRIPPER}.joints:=[{FINGER}]',
    )


@dataclass
class Running:
    """A goal that is being executed, and what was heard of it."""

    handle: Any
    result: Any
    """The future of the result."""
    feedback: list[ExecuteTask.Feedback] = field(default_factory=list)

    def was_in(self, *segments: str, state: str) -> bool:
        """Whether there was feedback about one of these segments, in a state."""
        return any((not segments or told.segment in segments) and told.state == state for told in self.feedback)


class TaskExecutorClient:
    def __init__(self, domain: int) -> None:
        self.peer = Peer('executor_client', domain)
        node = self.peer.node
        self.execute = ActionClient(node, ExecuteTask, 'execute_task')
        self.plans = ActionClient(node, PlanTask, 'plan_task')
        self.triggers = {
            name: node.create_client(Trigger, name)
            for name in ('pause_execution', 'resume_execution', 'abort_execution')
        }
        self._scene = node.create_client(GetPlanningScene, 'get_planning_scene')
        self._apply = node.create_client(ApplyPlanningScene, 'apply_planning_scene')
        self.events = node.create_publisher(String, 'trajectory_execution_event', 10)
        self.inputs = node.create_publisher(SignalValue, 'cell_inputs', LATCHED)
        self.outputs: list[SignalValue] = []
        node.create_subscription(SignalValue, 'cell_outputs', self.outputs.append, LATCHED)
        self._wait_until_ready()

    def reconnect(self) -> None:
        """Begin anew: who was killed still seems to be there to those who knew it."""
        self.peer.close()
        self.__init__(self.peer.domain)

    @property
    def joints(self) -> dict[str, float]:
        """Where the robot is [rad or m]."""
        return dict(self.scene().joints)

    def _wait_until_ready(self) -> None:
        for name, action in (('execute_task', self.execute), ('plan_task', self.plans)):
            self.peer.eventually(action.server_is_ready, name)
        for name, client in (('get_planning_scene', self._scene), *self.triggers.items()):
            self.peer.eventually(client.service_is_ready, name)
        # An answer proves that the executor knows us, too; an action would be begun twice if it were asked again.
        self.peer.ask(self.triggers['resume_execution'], Trigger.Request())

    def plan(self, text: str, origin: Pose | None = None) -> Any:
        """A solution of a task."""
        goal = PlanTask.Goal(task_description=text, task_origin=origin or Pose())
        handle = self.peer.result(self.plans.send_goal_async(goal))
        result = self.peer.result(handle.get_result_async(), 60.0).result
        assert result.solutions, result.message
        return result.solutions[0]

    def send(self, text: str = '', **wishes: Any) -> Running:
        """Send a goal that is accepted."""
        heard: list[ExecuteTask.Feedback] = []
        goal = ExecuteTask.Goal(task_description=text, **wishes)
        sending = self.execute.send_goal_async(goal, feedback_callback=lambda message: heard.append(message.feedback))
        handle = self.peer.result(sending)
        assert handle.accepted
        return Running(handle, handle.get_result_async(), heard)

    def reach(self, running: Running, *segments: str, state: str = 'moving') -> None:
        """Wait until an execution is in one of these segments, in a state."""

        def there() -> bool:
            if running.result.done():
                raise AssertionError(f'It ended before: {running.result.result().result.message}')
            return running.was_in(*segments, state=state)

        self.peer.eventually(there, f'{state} in {" or ".join(segments) or "any segment"}')

    def result(self, running: Running, timeout: float = 90.0) -> Any:
        """How it ended: status and result."""
        return self.peer.result(running.result, timeout)

    def run(self, text: str = '', **wishes: Any) -> Any:
        """Execute to the end; the result."""
        return self.result(self.send(text, **wishes)).result

    def trigger(self, name: str) -> Trigger.Response:
        return self.peer.result(self.triggers[name].call_async(Trigger.Request()))

    def scene(self) -> PlanningScene:
        """What the planning server has."""
        message = self.peer.ask(self._scene, GetPlanningScene.Request()).scene
        robot = planner().backend.robot
        applied = apply_planning_scene(PlanningScene(robot.frame), message, robot.frames)
        assert not applied.faults
        return applied.scene

    def apply(self, scene: SceneMessage) -> None:
        answer = self.peer.result(self._apply.call_async(ApplyPlanningScene.Request(scene=scene)), TIMEOUT)
        assert answer.success

    def let_go(self) -> None:
        """Nothing is in the hand any more."""
        scene = SceneMessage(is_diff=True)
        scene.robot_state.is_diff = True
        scene.robot_state.attached_collision_objects = [detach_message(name) for name in self.scene().attached]
        if scene.robot_state.attached_collision_objects:
            self.apply(scene)

    def close(self) -> None:
        self.peer.close()


def carry(client: TaskExecutorClient, name: str, *between: Keyframe) -> str:
    """A task that brings a box to its recorded place, or back to where it stood at the start."""
    start = seed_cell().objects[name].pose
    recorded = next(key.pose for key in seed_task().keyframes if isinstance(key, Place) and key.object == name)
    there = seed_origin() @ recorded
    scene = client.scene()
    here = scene.objects[name].pose if name in scene.objects else there
    place = there if math.dist(here.position, start.position) < NEAR else start
    keyframes = (Pick(name), *between, Place(name, seed_origin().inverse @ place))
    return dump_task(Task((Descriptor(name),), keyframes, Origin(seed_origin())))
