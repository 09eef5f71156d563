"""What a Yaskawa controller with MotoROS2 wants beside goals: trajectory mode before them, and its codes in words.

start_traj_mode ◄── before every motion; <robot>/follow_joint_trajectory ──► error codes
"""

from __future__ import annotations

import threading
import time
from typing import Any

from motoros2_interfaces.srv import StartTrajMode
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution.devices import ShouldStop
from lfd_planner.execution.motoros2 import SERVICE_READY, explain, explain_reason

LOOK_EVERY = 0.02  # [s] between two looks whether to stop
ANSWER_WITHIN = 10.0  # [s] that the controller has to switch the servo power on


class MotoRos2Mode:
    """Brings one controller into trajectory mode; it leaves that by itself after errors and stops."""

    def __init__(self, node: Node, namespace: str) -> None:
        self._client = node.create_client(
            StartTrajMode, f'{namespace}/start_traj_mode', callback_group=ReentrantCallbackGroup()
        )

    def start(self, should_stop: ShouldStop) -> Failure | None:
        """Have the controller take goals; None when it does, else why not. It is harmless when it does already."""
        name, deadline = self._client.srv_name, time.monotonic() + ANSWER_WITHIN
        while not self._client.service_is_ready():
            if (reason := should_stop()) or time.monotonic() > deadline:
                missing = f"Nobody answers on '{name}'; is MotoROS2 connected to its micro-ROS agent?"
                return reason or Failure(Code.CONTROL_FAILED, missing)
            time.sleep(LOOK_EVERY)
        answered = threading.Event()
        future = self._client.call_async(StartTrajMode.Request())
        future.add_done_callback(lambda _: answered.set())
        while not answered.wait(LOOK_EVERY):
            if (reason := should_stop()) or time.monotonic() > deadline:
                self._client.remove_pending_request(future)
                late = f"'{name}' gave no answer within {ANSWER_WITHIN:g} s; look at the teach pendant."
                return reason or Failure(Code.CONTROL_FAILED, late)
        code = int(future.result().result_code.value)
        if code == SERVICE_READY:
            return None
        return Failure(Code.CONTROL_FAILED, f'MotoROS2 cannot move the arm: {explain_reason(code)}.')


def explained(failed: Failure, result: Any) -> Failure:
    """A failure of a motion with what the controller's error code means, which MotoROS2 gives as a number."""
    code = int(result.error_code)
    return failed if code == 0 else Failure(failed.code, f'{failed.message} {explain(code)}')
