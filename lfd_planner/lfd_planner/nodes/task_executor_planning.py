"""A client of the task planner, for the rest of a task.

It lives in a node and a thread of its own: rclpy's action client loses the answer to a goal that is sent while another
thread handles answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import Pose
from lfd_msgs.action import PlanTask
from lfd_msgs.msg import TaskSolution
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code

CONNECT_WITHIN = 5.0  # [s]
PLAN_WITHIN = 120.0  # [s]
LOOK_EVERY = 0.02  # [s]
NAME = 'task_executor_planning'


class PlanningClient:
    """Asks `plan_task` for a solution; may be called from any thread."""

    def __init__(self) -> None:
        self._node = rclpy.create_node(NAME, use_global_arguments=False)
        self._client = ActionClient(self._node, PlanTask, 'plan_task')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=NAME, daemon=True)
        self._thread.start()

    def plan(self, text: str, origin: Pose, should_stop: Callable[[], Failure | None]) -> TaskSolution | Failure:
        """A solution of a task from where everything is now, or why there is none."""
        if failed := self._wait_until_ready(should_stop):
            return failed
        asked = _Asked(self._client, PlanTask.Goal(task_description=text, task_origin=origin))
        self._executor.create_task(asked.send)
        until = time.monotonic() + PLAN_WITHIN
        while not asked.done.wait(LOOK_EVERY):
            failed = should_stop()
            if failed is None and time.monotonic() > until:
                failed = Failure(Code.TIMED_OUT, f"'plan_task' did not answer within {PLAN_WITHIN:g} s.")
            if failed is not None:
                self._executor.create_task(asked.cancel)
                return failed
        return asked.found()

    def close(self) -> None:
        """End the client's thread and node."""
        self._ending.set()
        self._thread.join(2.0)
        self._executor.shutdown(timeout_sec=0.0)
        self._node.destroy_node()

    def _wait_until_ready(self, should_stop: Callable[[], Failure | None]) -> Failure | None:
        until = time.monotonic() + CONNECT_WITHIN
        while not self._client.server_is_ready():
            if failed := should_stop():
                return failed
            if time.monotonic() > until:
                return Failure(Code.FAILURE, "Nobody serves 'plan_task'; start task_planner.")
            self._ending.wait(LOOK_EVERY)
        return None

    def _serve(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.1)


class _Asked:
    """One goal; its callbacks run in the client's thread."""

    def __init__(self, client: ActionClient, goal: PlanTask.Goal) -> None:
        self.done = threading.Event()
        self._client, self._goal = client, goal
        self._handle: Any = None
        self._result: PlanTask.Result | None = None
        self._is_cancelled = False

    def send(self) -> None:
        self._client.send_goal_async(self._goal).add_done_callback(self._on_answer)

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def found(self) -> TaskSolution | Failure:
        """What was answered."""
        result = self._result
        if result is None:
            return Failure(Code.FAILURE, "'plan_task' refused the task; see the log of task_planner.")
        if result.error_code.val != Code.SUCCESS or not result.solutions:
            known = result.error_code.val in {int(code) for code in Code} - {int(Code.SUCCESS)}
            code = Code(result.error_code.val) if known else Code.PLANNING_FAILED
            return Failure(code, f'The rest cannot be planned: {result.message}')
        return result.solutions[0]

    def _on_answer(self, future: Any) -> None:
        handle = future.result()
        if handle is None or not handle.accepted:
            self.done.set()
            return
        self._handle = handle
        handle.get_result_async().add_done_callback(self._on_result)
        if self._is_cancelled:
            self.cancel()

    def _on_result(self, future: Any) -> None:
        self._result = future.result().result
        self.done.set()
