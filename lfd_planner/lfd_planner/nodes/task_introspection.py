"""Shows tasks to RViz's panel "Motion Planning Tasks" as MoveIt Task Constructor does: same topics, service and types.

description   TaskDescription   the stages of the newest task; none: the task before it is gone
statistics    TaskStatistics    what each stage found and rejected so far
solution      Solution          the best motion, stage by stage
get_solution_<task id>          whatever has a number in the statistics

The panel shows one task of this node, the newest that was begun.
"""

from __future__ import annotations

import os
import re
import socket
import time

from moveit_task_constructor_msgs.msg import Solution, TaskDescription, TaskStatistics
from moveit_task_constructor_msgs.srv import GetSolution
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node

from lfd_description.nodes.qos import LATCHED_QOS, TASK_DESCRIPTION_QOS
from lfd_planner.messages.introspection import (
    description_to_message,
    number_to_message,
    parts_to_message,
    statistics_to_message,
)
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Record, Stage, Step

from .showing import LazyTopic, Showing

EVERY = 0.25  # [s] between two statistics of one task


class TaskIntrospection:
    """Publishes records of searches; all of it happens on the thread of `showing`.

    Args:
        node: that plans.
        showing: whose thread is used.
        joints: the columns of trajectories.
        group: of the service.
    """

    def __init__(self, node: Node, showing: Showing, joints: tuple[str, ...], group: CallbackGroup) -> None:
        self.task_id = f'{re.sub("[^A-Za-z0-9]", "_", socket.gethostname())}_{os.getpid()}'
        self._showing, self._joints = showing, joints
        self._record: Record | None = None
        self._scene: PlanningScene | None = None
        self._next = 0.0
        self._description = node.create_publisher(TaskDescription, 'description', TASK_DESCRIPTION_QOS)
        self._statistics = node.create_publisher(TaskStatistics, 'statistics', LATCHED_QOS)
        self._solution = LazyTopic(node, showing, Solution, 'solution', Solution(), group)
        node.create_service(GetSolution, f'get_solution_{self.task_id}', self._on_get_solution, callback_group=group)

    def begin(self, stage: Stage, scene: PlanningScene) -> Record:
        """A search begins in a scene, the robot in it; what it finds is to be told to the record."""
        record = Record(stage)
        self._record, self._scene = record, scene
        self._showing.soon(lambda: self._describe(record))
        return record

    def go_on(self, record: Record) -> None:
        """A search is under way: tell how far it is, if somebody looks and was not told just now."""
        now = time.monotonic()
        if now >= self._next and self._statistics.get_subscription_count():
            self._next = now + EVERY
            self._showing.soon(lambda: self._tell(record))

    def end(self, record: Record, step: Step | None) -> None:
        """A search has ended, with its best solution or without one."""
        self._showing.soon(lambda: self._tell(record))
        if record is not self._record:
            return
        if step is None:
            self._solution.clear()
        else:
            self._solution.show(lambda: parts_to_message(self.task_id, record.parts(step), self._joints))

    def _describe(self, record: Record) -> None:
        self._description.publish(description_to_message(self.task_id))
        self._description.publish(description_to_message(self.task_id, record.entries))

    def _tell(self, record: Record) -> None:
        if record is self._record:
            self._statistics.publish(statistics_to_message(self.task_id, record.statistics()))

    def _on_get_solution(self, request: GetSolution.Request, answer: GetSolution.Response) -> GetSolution.Response:
        record, scene = self._record, self._scene
        if record is not None and scene is not None:
            answer.solution = number_to_message(self.task_id, record, request.solution_id, self._joints, scene)
        return answer
