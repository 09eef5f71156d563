"""The hand of an execution over ROS: fingers behind a gripper controller, simulated or of a real hand.

execution ──► gripper_controller/gripper_cmd ──► joint_states, where nobody else tells of the fingers

A suction cup has no joints; its vacuum is one of the signals.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

from control_msgs.action import GripperCommand
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_description.model.model import RobotModel
from lfd_description.nodes.qos import JOINT_STATES_OUT_QOS, JOINT_STATES_QOS
from lfd_description.robots import EXTERNAL
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import ExecutionRules, Fingers
from lfd_planner.execution.devices import ShouldStop

from .capabilities.controllers import GRIPPER, ControllerClients, ControllerSpec, choose
from .task_executor_devices import safe

FINGERS_EVERY = 0.2  # [s] between two joint states of fingers
OURS = 'task_executor'  # the frame by which joint states are known that we published ourselves


def fingers_of(model: RobotModel) -> Fingers | None:
    """The fingers of a hand with a driver of its own; None: it has none, or they are simulated."""
    if model.hand != EXTERNAL or model.gripper is None or model.gripper.joint is None:
        return None
    data = model.gripper.grasp_data
    index = data.joints.index(model.gripper.joint)
    return Fingers(data.pregrasp_posture[index], data.grasp_posture[index])


_Judge = Callable[[ControllerSpec, str, GripperCommand.Result, Failure | None], Failure | None]
"""Of a controller, its joint, its result, and why it failed: why the hand has not done what it should."""


class RosHand:
    """Fingers behind a gripper controller, simulated or of a real hand."""

    def __init__(
        self,
        clients: ControllerClients,
        rules: ExecutionRules,
        fingers: Fingers | None = None,
        told: Callable[[Mapping[str, float]], None] = lambda _: None,
    ) -> None:
        """`fingers`: of a real hand, which is to press on what it holds; `told`: hears where joints have got."""
        self._clients, self._rules, self._fingers, self._told = clients, rules, fingers, told

    def move(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """Move the hand's joints to positions [rad or m]."""
        return self._moved(
            positions, should_stop, lambda spec, joint, *ended: self._judged(spec, positions[joint], *ended)
        )

    def grip(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """Close on an object, at which the joints are at positions [rad or m]; a real hand presses and must feel it.

        Whether simulated fingers have anything between them, nobody knows.
        """
        if self._fingers is None:
            return self.move(positions, should_stop)
        squeeze = self._rules.grip_squeeze
        pressed = {name: self._fingers.squeezed(position, squeeze) for name, position in positions.items()}
        return self._moved(
            pressed,
            should_stop,
            lambda spec, joint, *ended: self._judged_grip(spec, positions[joint], pressed[joint], *ended),
        )

    def missing(self) -> Failure | None:
        """Why it cannot be moved now."""
        specs = [spec for spec in self._clients.controllers if spec.kind == GRIPPER]
        missing = self._clients.missing(specs)
        if missing is None or self._fingers is None:
            return missing
        return Failure(
            missing.code,
            f"Nobody serves '{specs[0].action}', and the hand is to move; start the hand's driver, or have the hand "
            'simulated with --hand mock.',
        )

    def _moved(self, commanded: Mapping[str, float], should_stop: ShouldStop, judge: _Judge) -> Failure | None:
        """Send joints to where they are commanded [rad or m], and judge where they ended."""
        specs = choose(self._clients.controllers, commanded)
        if isinstance(specs, Failure):
            return specs
        results: dict[str, Any] = {}
        names = list(commanded)
        point = JointTrajectoryPoint(positions=[float(commanded[name]) for name in names])
        failed = self._clients.execute(
            specs,
            JointTrajectory(joint_names=names, points=[point]),
            safe(should_stop),
            self._rules.hand_within,
            on_result=lambda spec, result: results.update({spec.name: result}),
        )
        for spec in specs:
            if spec.kind == GRIPPER and spec.name in results:
                joint, result = next(name for name in names if name in spec.joints), results[spec.name]
                self._told({joint: result.position if math.isfinite(result.position) else commanded[joint]})
                if failed is None or failed.code is Code.CONTROL_FAILED:
                    failed = judge(spec, joint, result, failed)
        return failed

    def _judged(
        self, spec: ControllerSpec, planned: float, result: GripperCommand.Result, failed: Failure | None
    ) -> Failure | None:
        """Whether fingers are where they should be: those that touch what they hold a little early are."""
        near = abs(result.position - planned) <= self._rules.grip_tolerance
        if (result.reached_goal or result.stalled) and (near or (result.reached_goal and failed is None)):
            return None
        return self._elsewhere(spec, planned, result)

    def _judged_grip(
        self,
        spec: ControllerSpec,
        planned: float,
        commanded: float,
        result: GripperCommand.Result,
        failed: Failure | None,
    ) -> Failure | None:
        """Whether real fingers that were told to press have an object between them: it keeps them from closing."""
        assert self._fingers is not None
        if not (result.reached_goal or result.stalled):
            return failed or self._elsewhere(spec, planned, result)
        past, tolerance = self._fingers.past(planned, result.position), self._rules.grip_tolerance
        if past < -tolerance:
            return self._elsewhere(spec, planned, result)
        # Where there was no room to press, as with the narrowest object, only a stall tells.
        is_kept = result.stalled or self._fingers.past(planned, commanded) > tolerance
        if past <= tolerance and is_kept:
            return None
        return Failure(
            Code.CONTROL_FAILED,
            f'The hand ({spec.name}) closed to {result.position:.4f} [rad or m] and met nothing at {planned:.4f}; see '
            'whether the object is where the scene has it.',
        )

    def _elsewhere(self, spec: ControllerSpec, planned: float, result: GripperCommand.Result) -> Failure:
        how = 'stalled' if result.stalled else 'ended'
        return Failure(
            Code.CONTROL_FAILED,
            f'The hand ({spec.name}) {how} at {result.position:.4f} instead of {planned:.4f} [rad or m]; '
            'look at what is between the fingers.',
        )


class ToldFingers:
    """Publishes on 'joint_states' where fingers have got of which nobody else tells, so that all others know.

    The hand's own driver counts: as soon as it publishes them, this is silent.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._positions: dict[str, float] = {}
        self._told_by_others: set[str] = set()
        self._lock = threading.Lock()
        self._out = node.create_publisher(JointState, 'joint_states', JOINT_STATES_OUT_QOS)
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(JointState, 'joint_states', self._on_joints, JOINT_STATES_QOS, callback_group=group)
        node.create_timer(FINGERS_EVERY, self._publish, callback_group=group)

    def tell(self, positions: Mapping[str, float]) -> None:
        """From now on, joints are at positions [rad or m]."""
        with self._lock:
            self._positions.update(positions)
        self._publish()

    def _on_joints(self, message: JointState) -> None:
        if message.header.frame_id != OURS:
            with self._lock:
                self._told_by_others.update(message.name)

    def _publish(self) -> None:
        with self._lock:
            known = {name: at for name, at in self._positions.items() if name not in self._told_by_others}
        if known:
            message = JointState(name=list(known), position=list(known.values()))
            message.header.stamp, message.header.frame_id = self._node.get_clock().now().to_msg(), OURS
            self._out.publish(message)


class NoHand:
    """An arm whose hand has no joints: a suction cup, or nothing."""

    def move(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """There is nothing to move."""
        return Failure(Code.CONTROL_FAILED, f"The hand has no joint '{next(iter(positions), '')}'; plan for this hand.")

    def grip(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """There is nothing to close."""
        return self.move(positions, should_stop)

    def missing(self) -> Failure | None:
        """There is nothing to miss."""
        return None
