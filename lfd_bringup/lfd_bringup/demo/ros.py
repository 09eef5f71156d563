"""The demo's ROS side: sends the motion to the controller and records what the graph says meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import TransformStamped
from rclpy.action import ActionClient
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.time import Time
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from lfd_description.robots import Robot

from .motion import Motion

ANSWER_TIMEOUT = 20.0  # [s] for the controller to be found and to answer
LEAD = 0.5  # [s] between sending the goal and the motion's start
VIEW_PERIOD = 0.1  # [s]
STATIC = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DYNAMIC = QoSProfile(depth=1000)


class MotionFailed(Exception):
    """The motion was not performed; the message is one sentence for the user."""


@dataclass
class Recording:
    """What was heard.

    states: time [s] and joint positions [rad], in the robot's order of joints.
    transforms: time [s] -> child frame -> parent frame, translation xyz [m], rotation xyzw. Static ones have time None.
    start: of the motion [s], on the same clock.
    """

    start: float = 0.0
    states: list[tuple[float, list[float]]] = field(default_factory=list)
    transforms: dict[float | None, dict[str, tuple[str, tuple[float, ...], tuple[float, ...]]]] = field(
        default_factory=dict
    )


class Listener(Node):
    """Records joint states and transforms, and has a client of the controller.

    It is spun while somebody waits, in that thread: rclpy's action client loses the answer to a goal that is sent while
    another thread spins.
    """

    def __init__(self, robot: Robot, context: Context, stop: threading.Event) -> None:
        super().__init__('lfd_demo', context=context)
        self.recording = Recording()
        self._joints = robot.joints
        self._stop = stop
        self._spinner = SingleThreadedExecutor(context=context)
        self._spinner.add_node(self)
        self.create_subscription(JointState, 'joint_states', self._on_state, DYNAMIC)
        self.create_subscription(TFMessage, 'tf', self._on_tf, DYNAMIC)
        self.create_subscription(TFMessage, 'tf_static', self._on_tf_static, STATIC)
        self.client = ActionClient(self, FollowJointTrajectory, f'{robot.name}_controller/follow_joint_trajectory')

    def wait(self, is_true: Callable[[], bool], timeout: float, what: str) -> None:
        """Listen until a condition holds, at most `timeout` [s].

        Raises:
            MotionFailed: it does not come true in time, or the user has stopped the demo.
        """
        deadline = time.monotonic() + timeout
        while not is_true():
            if self._stop.is_set():
                raise MotionFailed('stopped by the user')
            if time.monotonic() > deadline:
                raise MotionFailed(f'waited {timeout:.0f} s in vain for {what}')
            self._spinner.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        """Leave the graph."""
        self._spinner.shutdown()
        self.destroy_node()

    def _on_state(self, message: JointState) -> None:
        by_name = dict(zip(message.name, message.position, strict=True))
        if all(joint in by_name for joint in self._joints):
            self.recording.states.append((_seconds(message.header.stamp), [by_name[joint] for joint in self._joints]))

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


def perform(
    robot: Robot, motion: Motion, domain_id: int, view: Callable[[list[float]], None] | None, stop: threading.Event
) -> Recording:
    """Send the motion to the robot's controller and record until it is done, or `stop` is set.

    Raises:
        MotionFailed: the controller was not found, refused the motion, or did not complete it.
    """
    context = Context()
    rclpy.init(context=context, domain_id=domain_id, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    listener = Listener(robot, context, stop)
    if view is not None:
        listener.create_timer(VIEW_PERIOD, lambda: _show(listener, view))
    try:
        _perform(robot, motion, listener)
    finally:
        listener.close()
        rclpy.shutdown(context=context)
    return listener.recording


def _show(listener: Listener, view: Callable[[list[float]], None]) -> None:
    if listener.recording.start and listener.recording.states:
        view(listener.recording.states[-1][1])


def _perform(robot: Robot, motion: Motion, listener: Listener) -> None:
    name = f'{robot.name}_controller'
    heard = listener.recording
    listener.wait(listener.client.server_is_ready, ANSWER_TIMEOUT, name)
    listener.wait(
        lambda: bool(heard.states) and None in heard.transforms, ANSWER_TIMEOUT, 'joint states and transforms'
    )
    start = listener.get_clock().now() + rclpy.duration.Duration(seconds=LEAD)
    heard.start = start.nanoseconds / 1e9
    accepted = listener.client.send_goal_async(_goal(robot, motion, start))
    listener.wait(accepted.done, ANSWER_TIMEOUT, f'an answer of {name}')
    handle = accepted.result()
    if not handle.accepted:
        raise MotionFailed(f'{name} refused the motion')
    result = handle.get_result_async()
    listener.wait(result.done, motion.duration + ANSWER_TIMEOUT, f'the end of the motion by {name}')
    answer = result.result().result
    if answer.error_code != FollowJointTrajectory.Result.SUCCESSFUL:
        raise MotionFailed(f'{name} gave up with code {answer.error_code}: {answer.error_string}')


def _goal(robot: Robot, motion: Motion, start: Time) -> FollowJointTrajectory.Goal:
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.header.stamp = start.to_msg()
    goal.trajectory.joint_names = list(robot.joints)
    for time_, position, velocity in zip(motion.times, motion.positions, motion.velocities, strict=True):
        seconds, nanoseconds = divmod(round(time_ * 1e9), 1_000_000_000)
        stamp = Duration(sec=seconds, nanosec=nanoseconds)
        goal.trajectory.points.append(
            JointTrajectoryPoint(positions=position.tolist(), velocities=velocity.tolist(), time_from_start=stamp)
        )
    return goal


def _seconds(stamp: Time) -> float:
    return float(stamp.sec + stamp.nanosec / 1e9)
