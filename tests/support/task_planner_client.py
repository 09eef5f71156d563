"""A client of the task planner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import Pose
from lfd_msgs.action import PlanTask
from lfd_msgs.srv import TaskPlanning
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile

from .peer import TIMEOUT, Peer

LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass
class Sent:
    """A goal that is being planned, and what was heard of it."""

    handle: Any
    result: Any
    """The future of the result."""
    feedback: list[PlanTask.Feedback] = field(default_factory=list)


class TaskPlannerClient:
    def __init__(self, domain: int) -> None:
        self.peer = Peer('client', domain)
        self.service = self.peer.node.create_client(TaskPlanning, 'compute_motion_plan_from_task')
        self.action = ActionClient(self.peer.node, PlanTask, 'plan_task')
        self.peer.eventually(self.service.service_is_ready, 'the service')
        self.parameters = self.peer.node.create_client(
            SetParametersAtomically, 'task_planner/set_parameters_atomically'
        )
        self.peer.eventually(self.action.server_is_ready, 'the action')

    def plan(self, text: str, origin: Pose | None = None) -> TaskPlanning.Response:
        """The service's answer."""
        return self.peer.result(self.ask(text, origin))

    def ask(self, text: str, origin: Pose | None = None) -> Any:
        """The future of the service's answer."""
        return self.service.call_async(TaskPlanning.Request(task_description=text, task_origin=origin or Pose()))

    def send(self, text: str, **wishes: Any) -> Sent:
        """Send a goal that is accepted."""
        heard: list[PlanTask.Feedback] = []
        goal = PlanTask.Goal(task_description=text, **wishes)
        sending = self.action.send_goal_async(goal, feedback_callback=lambda message: heard.append(message.feedback))
        handle = self.peer.result(sending)
        assert handle.accepted
        return Sent(handle, handle.get_result_async(), heard)

    def act(self, text: str, timeout: float = TIMEOUT, **wishes: Any) -> Any:
        """The action's answer: its status and its result."""
        return self.peer.result(self.send(text, **wishes).result, timeout)

    def set_parameters(self, **values: Any) -> str:
        """Set parameters of the node at once; returns why not, or nothing."""
        parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
        request = SetParametersAtomically.Request(parameters=parameters)
        answer = self.peer.result(self.parameters.call_async(request)).result
        return '' if answer.successful else answer.reason

    def listen(self, type: Any, topic: str) -> list[Any]:
        """What is on a latched topic, from now on."""
        heard: list[Any] = []
        self.peer.node.create_subscription(type, topic, heard.append, LATCHED)
        return heard
