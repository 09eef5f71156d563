"""What all capabilities of a planning server share: the node, the scene, the backend, and how requests are answered."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import MoveItErrorCodes, RobotState
from rclpy.callback_groups import CallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node

from lfd_description.nodes.qos import BUSY_SERVICE_QOS
from lfd_planner.backends import PlanningBackend
from lfd_planner.error_codes import Code
from lfd_planner.messages import apply_robot_state, pose_from_message
from lfd_planner.messages.checks import Report
from lfd_planner.scene import LinkPoses, PlanningScene, Pose, SceneFault, frame_pose
from lfd_planner.server.scene_monitor import SceneMonitor

NAME = 'move_group'
STATE_WITHIN = 1.0  # [s] that a request waits for the first joint states


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

    def snapshot(self, state: RobotState | None = None) -> PlanningScene:
        """The scene as it is now, with the robot in the state that a request tells, if it tells one.

        Raises:
            SceneFault: the state is wrong.
        """
        self._wait_for_joints(state)
        scene = self.monitor.scene
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
                if hasattr(response, 'error_code'):
                    response.error_code = error_code(Code.FAILURE, f'{name} failed here: {error!r}; see the log.')
                return response

        self.node.create_service(
            kind, name, answer, qos_profile=BUSY_SERVICE_QOS, callback_group=group or self.requests
        )

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

    def _wait_for_joints(self, state: RobotState | None) -> None:
        """Give joint states that are on their way a moment to come, unless the request brings its own."""
        if state is not None and state.joint_state.name and not state.is_diff:
            return
        deadline = time.monotonic() + STATE_WITHIN
        while self.monitor.missing_joints and not self.ending.is_set() and (left := deadline - time.monotonic()) > 0.0:
            self.monitor.wait_for_change(self.monitor.snapshot()[1], left)
        if missing := self.monitor.missing_joints:
            self.log.warning(
                f"Nobody publishes the joints {', '.join(missing)} on 'joint_states'; they are taken to be at home.",
                throttle_duration_sec=10.0,
            )


def is_empty(state: RobotState) -> bool:
    """Whether a robot state tells nothing."""
    return not (state.joint_state.name or state.multi_dof_joint_state.joint_names or state.attached_collision_objects)


def error_code(code: Code, message: str = '') -> MoveItErrorCodes:
    """How a request ended, as a message; `message` is a sentence for people."""
    return MoveItErrorCodes(val=int(code), message=message, source='' if code == Code.SUCCESS else NAME)


SUCCESS = error_code(Code.SUCCESS)
