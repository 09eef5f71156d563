"""A gripper's controller as an action server, for what no simulated hand does: stall, refuse, say nothing."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import rclpy
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor

NAME = 'test_gripper'


@dataclass
class Behaviour:
    """What the gripper does with the next goals."""

    stall_at: float | None = None
    """It does not get below this [m], as when something is between the fingers; None: it reaches every goal."""
    refuse: bool = False
    hang: bool = False
    """It never ends, until it is cancelled."""
    goals: list[float] = field(default_factory=list)
    """What it was sent [m]."""


class GripperServer:
    """Serves gripper_cmd in a ROS domain, in threads of its own."""

    def __init__(self, domain: int, name: str = NAME) -> None:
        self.behaviour = Behaviour()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain)
        self._node = rclpy.create_node(name, context=self._context)
        self._server = ActionServer(
            self._node,
            GripperCommand,
            f'{name}/gripper_cmd',
            self._execute,
            goal_callback=lambda _: GoalResponse.REJECT if self.behaviour.refuse else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )
        self._executor = MultiThreadedExecutor(2, context=self._context)
        self._executor.add_node(self._node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join(5.0)
        self._executor.shutdown()
        self._server.destroy()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _serve(self) -> None:
        while not self._ending.is_set():
            self._executor.spin_once(timeout_sec=0.1)

    def _execute(self, goal):
        behaviour, wanted = self.behaviour, goal.request.command.position
        behaviour.goals.append(wanted)
        while behaviour.hang and not self._ending.wait(0.02):
            if goal.is_cancel_requested:
                goal.canceled()
                return GripperCommand.Result(position=wanted)
        stalled = behaviour.stall_at is not None and wanted < behaviour.stall_at
        if stalled:
            goal.abort()
            return GripperCommand.Result(position=behaviour.stall_at, stalled=True)
        goal.succeed()
        return GripperCommand.Result(position=wanted, reached_goal=True)
