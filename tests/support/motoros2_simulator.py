"""A MotoROS2 node without a robot: its action, services and topics, with the real one's rules.

    with MotoRos2Simulator(JOINTS, [0.0] * 6, domain, namespace='cell') as controller:
        ...

Goals are always accepted; those that the controller cannot run are aborted at once with an error code that is
ros * 100000 - native, as the real one does because its library cannot refuse with a reason. As a program:
``python -m support.motoros2_simulator --ros-args -r __ns:=/cell`` runs until killed.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from industrial_msgs.msg import RobotMode, RobotStatus, TriState
from motoros2_interfaces.msg import InitTrajEnum, MotionReadyEnum
from motoros2_interfaces.srv import ResetError, StartTrajMode
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from .motoros2_controller import MOST_POINTS, Point, position, refusal

JOINTS = tuple(f'joint_{i}' for i in range(1, 7))
INVALID_GOAL, GOAL_TOLERANCE_VIOLATED = -1, -5
CANCELLED, STOPPED_BY_ALARM = 300, 303
STATE_PERIOD = 0.02  # [s]
STEP = 0.005  # [s]


@dataclass(frozen=True)
class _Motion:
    """A goal that is being run."""

    goal: Any
    order: list[int]  # columns of the goal, in the order of the joints
    points: Sequence[Point]
    began: float  # [s] monotonic
    ended: Future  # of an _End


@dataclass(frozen=True)
class _End:
    """How a goal ends: its new status, and its error code in two parts."""

    mark: Callable[[], None]
    ros: int
    native: int


class MotoRos2Simulator:
    """The node and the arm behind it; the public attributes are switches and records for tests."""

    def __init__(
        self,
        joints: Sequence[str],
        positions: Sequence[float],
        domain: int,
        *,
        namespace: str = '',
        fastest: float = 6.0,
        ros_arguments: Sequence[str] = (),
    ) -> None:
        """The arm stands at ``positions`` [rad]; ``fastest`` [rad/s] is the limit of every joint."""
        self.joints = tuple(joints)
        self.positions = np.array(positions, dtype=float)  # [rad]
        self.velocities = np.zeros(len(joints))  # [rad/s]
        self.e_stopped = False
        self.remote = True
        self.held = False
        self.alarm = 0
        self.alarm_is_permanent = False
        self.servo = False
        self.in_trajectory_mode = False
        self.goals: list[int] = []  # points of the goals that were run
        self.codes: list[int] = []  # error codes of all results
        self._fastest = fastest
        self._motion: _Motion | None = None
        self._context = rclpy.Context()
        rclpy.init(args=['--ros-args', *ros_arguments], context=self._context, domain_id=domain)
        self._node = Node('motoman_ab_cd_ef', namespace=namespace, context=self._context)
        self._serve()
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin, name='motoros2_simulator')

    def __enter__(self) -> MotoRos2Simulator:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._executor.shutdown()
        self._action.destroy()  # else its node stays in the domain until it is collected
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _spin(self) -> None:
        while not self._ending.is_set() or self.moving:
            self._executor.spin_once(timeout_sec=0.05)

    def _serve(self) -> None:
        node = self._node
        self._joint_states = node.create_publisher(JointState, 'joint_states', qos_profile_sensor_data)
        self._status = node.create_publisher(RobotStatus, 'robot_status', qos_profile_sensor_data)
        node.create_timer(STATE_PERIOD, self._publish)
        node.create_timer(STEP, self._step)
        node.create_service(StartTrajMode, 'start_traj_mode', self._start)
        node.create_service(Trigger, 'stop_traj_mode', self._stop)
        node.create_service(ResetError, 'reset_error', self._reset)
        self._action = ActionServer(
            node,
            FollowJointTrajectory,
            'follow_joint_trajectory',
            execute_callback=self._run,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    # Services ---------------------------------------------------------------------------------------------------------

    def _hindrance(self) -> int:
        """Why it is not ready, apart from what start_traj_mode mends; 0 if nothing."""
        reasons = (
            (bool(self.alarm), MotionReadyEnum.NOT_READY_ALARM),
            (self.e_stopped, MotionReadyEnum.NOT_READY_ESTOP),
            (not self.remote, MotionReadyEnum.NOT_READY_NOT_REMOTE),
            (self.held, MotionReadyEnum.NOT_READY_HOLD),
        )
        return next((code for holds, code in reasons if holds), 0)

    def _start(self, _: Any, answer: Any) -> Any:
        code = self._hindrance()
        if not code:
            self.servo = self.in_trajectory_mode = True
        return _filled(answer, code)

    def _stop(self, _: Any, answer: Any) -> Any:
        answer.success = not self.moving
        answer.message = 'The arm is in motion.' if self.moving else ''
        if answer.success:
            self.in_trajectory_mode = False
        return answer

    def _reset(self, _: Any, answer: Any) -> Any:
        if not self.alarm_is_permanent:
            self.alarm = 0
        return _filled(answer, MotionReadyEnum.NOT_READY_ALARM if self.alarm else 0)

    # The action -------------------------------------------------------------------------------------------------------

    async def _run(self, goal: Any) -> Any:
        trajectory = goal.request.trajectory
        points = [
            Point(
                point.time_from_start.sec * 1_000_000_000 + point.time_from_start.nanosec,
                list(point.positions),
                list(point.velocities),
            )
            for point in trajectory.points
        ]
        code = self._refusal(trajectory.joint_names, points)
        end = _End(goal.abort, INVALID_GOAL, code)
        if not code:
            names = list(trajectory.joint_names)
            order = [names.index(joint) for joint in self.joints]
            ended = Future(executor=self._executor)
            self._motion = _Motion(goal, order, points, time.monotonic(), ended)
            self.goals.append(len(points))
            end = await ended
        end.mark()
        code = end.ros * 100000 - end.native
        self.codes.append(code)
        return FollowJointTrajectory.Result(error_code=code, error_string=f'code {end.native}')

    @property
    def moving(self) -> bool:
        """Whether a goal is being run."""
        return self._motion is not None

    def _step(self) -> None:
        """Move the arm on, and end its goal when there is a reason to."""
        motion = self._motion
        if motion is None:
            return
        elapsed = time.monotonic() - motion.began
        end: _End | None = None
        if motion.goal.is_cancel_requested:
            end = _End(motion.goal.canceled, GOAL_TOLERANCE_VIOLATED, CANCELLED)
        elif self._hindrance() or self._ending.is_set():
            self.in_trajectory_mode = self.servo = False
            end = _End(motion.goal.abort, INVALID_GOAL, STOPPED_BY_ALARM)
        else:
            before, self.positions = self.positions, position(motion.points, elapsed)[motion.order]
            self.velocities = (self.positions - before) / STEP
            if elapsed >= motion.points[-1].nanoseconds * 1e-9:
                end = _End(motion.goal.succeed, 0, 0)
        if end is not None:
            self.velocities = np.zeros(len(self.joints))
            self._motion = None
            motion.ended.set_result(end)

    def _refusal(self, names: Sequence[str], points: Sequence[Point]) -> int:
        if len(points) > MOST_POINTS:
            return int(InitTrajEnum.INIT_TRAJ_TOO_BIG)
        if code := self._hindrance():
            return code
        if not self.servo:
            return int(MotionReadyEnum.NOT_READY_SERVO_OFF)
        if not self.in_trajectory_mode:
            return int(InitTrajEnum.INIT_TRAJ_WRONG_MODE)
        if self.moving:
            return int(InitTrajEnum.INIT_TRAJ_ALREADY_IN_MOTION)
        here = dict(zip(self.joints, self.positions, strict=True))
        return refusal(names, points, here, dict.fromkeys(self.joints, self._fastest))

    # Topics -----------------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        now = self._node.get_clock().now().to_msg()
        state = JointState(name=list(self.joints), position=self.positions.tolist(), velocity=self.velocities.tolist())
        state.header.stamp = now
        status = RobotStatus(
            mode=RobotMode(val=RobotMode.AUTO if self.remote else RobotMode.MANUAL),
            e_stopped=_tri(self.e_stopped),
            drives_powered=_tri(self.servo and not self.e_stopped),
            motion_possible=_tri(self.in_trajectory_mode and not self._hindrance()),
            in_motion=_tri(self.moving),
            in_error=_tri(bool(self.alarm)),
            error_codes=[self.alarm] if self.alarm else [],
        )
        status.header.stamp = now
        self._joint_states.publish(state)
        self._status.publish(status)


def _filled(answer: Any, code: int) -> Any:
    answer.result_code.value = code or MotionReadyEnum.READY
    answer.message = f'code {code}' if code else 'ready'
    return answer


def _tri(holds: bool) -> TriState:
    return TriState(val=TriState.TRUE if holds else TriState.FALSE)


def main() -> None:
    """Run until killed."""
    arguments = sys.argv[sys.argv.index('--ros-args') + 1 :] if '--ros-args' in sys.argv else []
    with MotoRos2Simulator(JOINTS, [0.0] * 6, int(os.environ.get('ROS_DOMAIN_ID', '0')), ros_arguments=arguments):
        print('MotoROS2 runs.', flush=True)
        threading.Event().wait()


if __name__ == '__main__':
    main()
