"""What all capabilities of a planning server share: the node, the scene, the backend, and how requests are answered."""

from __future__ import annotations

import math
import os
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import MoveItErrorCodes, RobotState
from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node

from lfd_description.nodes.qos import BUSY_SERVICE_QOS
from lfd_planner.backends import PlanningBackend
from lfd_planner.error_codes import Code
from lfd_planner.messages import apply_robot_state, pose_from_message, robot_state_to_message
from lfd_planner.messages.checks import Report
from lfd_planner.scene import LinkPoses, PlanningScene, Pose, SceneFault, frame_pose
from lfd_planner.server.scene_monitor import SceneMonitor, Version

NAME = 'move_group'
STATES_WITHIN = 5.0  # [s] after the start of the node, in which requests wait for the first joint states
LEAST_AT_ONCE = 4  # planning requests that compute at the same time, however few processors there are
MOST_PLANNING = 32  # requests that are planned or wait for that; more are sent away, so that others are still served


@dataclass(eq=False)
class Server:
    """One planning server; requests run in parallel, each on a snapshot of the scene."""

    node: Node
    monitor: SceneMonitor
    backend: PlanningBackend
    ending: threading.Event = field(default_factory=threading.Event)
    """Set when the node ends: what is under way stops."""

    def __post_init__(self) -> None:
        self.requests = ReentrantCallbackGroup()
        self.log = self.node.get_logger()
        self._states_until = time.monotonic() + STATES_WITHIN
        self._places = threading.BoundedSemaphore(MOST_PLANNING)
        self._processors = threading.BoundedSemaphore(max(LEAST_AT_ONCE, os.cpu_count() or 1))

    @contextmanager
    def planning(self, budget: float = math.inf) -> Iterator[float]:
        """A place for something that computes for long; only a few compute at once, the others wait for their turn.

        Gives what is left of the budget [s], which begins now.

        Raises:
            SceneFault: there are too many requests already, or the budget was used up by waiting.
        """
        began = time.monotonic()
        if not self._places.acquire(blocking=False):
            raise SceneFault(
                Code.FAILURE, f'The server is busy with {MOST_PLANNING} planning requests; ask again in a moment.'
            )
        try:
            if not self._processors.acquire(timeout=min(budget, threading.TIMEOUT_MAX)):
                raise SceneFault(Code.TIMED_OUT, f'All {budget:.3g} s were spent waiting for other planning requests.')
            try:
                yield budget - (time.monotonic() - began)
            finally:
                self._processors.release()
        finally:
            self._places.release()

    def snapshot(self, state: RobotState | None = None, needed: Collection[str] = ()) -> PlanningScene:
        """The scene as it is now, with the robot in the state that a request tells, if it tells one.

        Raises:
            SceneFault: the state is wrong, or nobody knows where a joint is that is `needed`.
        """
        return self.snapshot_and_version(state, needed)[0]

    def snapshot_and_version(
        self, state: RobotState | None = None, needed: Collection[str] = ()
    ) -> tuple[PlanningScene, Version]:
        """The same, and which version of the monitored scene it was made of."""
        told = set(state.joint_state.name) if state is not None else set()
        self._wait_for_joints([joint for joint in needed or self.monitor.robot.joints if joint not in told])
        missing = self.monitor.missing([joint for joint in needed if joint not in told])
        if missing:
            raise SceneFault(
                Code.INVALID_ROBOT_STATE,
                f"Nobody publishes joint '{missing[0]}' on 'joint_states', so that its position is not known; "
                f'start the joint state broadcaster, or send a start state.',
            )
        scene, version = self.monitor.snapshot()
        return self._in_state(scene, state), version

    def _in_state(self, scene: PlanningScene, state: RobotState | None) -> PlanningScene:
        if state is None or is_empty(state):
            return scene
        applied = apply_robot_state(scene, state, self.monitor.robot.frames)
        if applied.faults:
            raise SceneFault(applied.faults[0].code, *(line for fault in applied.faults for line in fault.problems))
        return applied.scene

    def serve(
        self, kind: Any, name: str, callback: Callable[[Any, Any], Any], group: CallbackGroup | None = None
    ) -> None:
        """Create a service whose every request is answered, whatever goes wrong here."""

        def answer(request: Any, response: Any) -> Any:
            try:
                return callback(request, response)
            except Exception as error:  # a client must not wait for ever, and the others are served on
                self.log.error(f'{name} failed: {error!r}\n{traceback.format_exc()}')
                where = getattr(response, 'motion_plan_response', response)
                if hasattr(where, 'error_code'):
                    where.error_code = error_code(Code.FAILURE, f'{name} failed here: {error!r}; see the log.')
                return response

        self.node.create_service(
            kind, name, answer, qos_profile=BUSY_SERVICE_QOS, callback_group=group or self.requests
        )

    def complete(self, scene: PlanningScene) -> PlanningScene:
        """The scene with the joints that follow others where they are, for clients who know nothing of that."""
        return scene.with_joints(self.backend.robot.with_followers(scene.joints))

    def state(self, scene: PlanningScene) -> RobotState:
        """The robot's state in a scene, with all joints and all that is attached.

        Raises:
            SceneFault: a mesh file cannot be used.
        """
        return robot_state_to_message(self.complete(scene))

    def link_poses(self, scene: PlanningScene) -> LinkPoses:
        """The 4x4 transforms scene frame -> link [m] in a scene."""
        return self.monitor.link_poses(scene)

    def pose(self, scene: PlanningScene, message: PoseStamped) -> Pose:
        """A pose in the scene's frame; without a frame it is in that already.

        Raises:
            SceneFault: the pose is wrong, or its frame is not known.
        """
        report = Report('Pose')
        pose = pose_from_message(message.pose, report)
        report.finish()
        return frame_pose(scene, message.header.frame_id or scene.frame, self.link_poses(scene)) @ pose

    def _wait_for_joints(self, joints: Collection[str]) -> None:
        """After the start, give joint states that are on their way a moment to come."""
        while not self.ending.is_set() and (left := self._states_until - time.monotonic()) > 0.0:
            version = self.monitor.snapshot()[1]
            if not self.monitor.missing(joints):
                return
            self.monitor.wait_for_change(version, left)


def is_empty(state: RobotState) -> bool:
    """Whether a robot state tells nothing."""
    return not (state.joint_state.name or state.multi_dof_joint_state.joint_names or state.attached_collision_objects)


def error_code(code: Code, message: str = '') -> MoveItErrorCodes:
    """How a request ended, as a message; `message` is a sentence for people."""
    return MoveItErrorCodes(val=int(code), message=message, source='' if code == Code.SUCCESS else NAME)


SUCCESS = error_code(Code.SUCCESS)
