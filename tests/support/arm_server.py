"""An arm's trajectory controller as an action server, for what no simulated one does: fall silent, ignore stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

STATE_PERIOD = 0.008  # [s]


class ArmServer:
    """Accepts every trajectory, stays where it is, and ends when it is cancelled; in threads of its own."""

    def __init__(self, domain: int, action: str, joints: Mapping[str, float], *, halts: bool = False) -> None:
        """`joints`: where the arm is [rad]; `halts`: whether it serves stop_motion, which ends goals too."""
        self.joints = dict(joints)
        self.is_silent = False
        """Whether no joint states are published."""
        self.is_deaf = False
        """Whether cancelling is without effect."""
        self.last_state = 0.0
        """When the last joint state was published, by a steady clock [s]."""
        self.cancelled: list[float] = []
        """When cancels came, by the same clock [s]."""
        self.halted = 0
        self.is_running = threading.Event()
        self._halt = threading.Event()
        self._ending = threading.Event()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = rclpy.create_node('arm_server', context=self._context)
        self._states = self._node.create_publisher(JointState, 'joint_states', 10)
        group = ReentrantCallbackGroup()
        self._action = ActionServer(
            self._node,
            FollowJointTrajectory,
            action,
            self._run,
            cancel_callback=self._on_cancel,
            callback_group=group,
        )
        if halts:
            self._node.create_service(Trigger, 'stop_motion', self._on_halt, callback_group=group)
        self._executor = MultiThreadedExecutor(3, context=self._context)
        self._executor.add_node(self._node)
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._serve, self._tell)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join(5.0)
        self._executor.shutdown()
        self._action.destroy()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _serve(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _tell(self) -> None:
        while not self._ending.wait(STATE_PERIOD):
            if not self.is_silent:
                message = JointState(name=list(self.joints), position=list(self.joints.values()))
                message.header.stamp = self._node.get_clock().now().to_msg()
                self.last_state = time.monotonic()
                self._states.publish(message)

    def _on_cancel(self, _: Any) -> CancelResponse:
        self.cancelled.append(time.monotonic())
        return CancelResponse.REJECT if self.is_deaf else CancelResponse.ACCEPT

    def _on_halt(self, _: Any, answer: Trigger.Response) -> Trigger.Response:
        self.halted += 1
        self._halt.set()
        answer.success = True
        return answer

    def _run(self, goal: Any) -> FollowJointTrajectory.Result:
        self.is_running.set()
        self._halt.clear()
        while not self._ending.is_set() and not self._halt.wait(0.002):
            if goal.is_cancel_requested and not self.is_deaf:
                goal.canceled()
                break
        else:
            goal.abort()
        self.is_running.clear()
        return FollowJointTrajectory.Result()
