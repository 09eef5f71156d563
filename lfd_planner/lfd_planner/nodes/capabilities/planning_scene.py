"""The planning scene over ROS: apply it, get it, follow it; objects by topic; joints and frames as they are published.

apply_planning_scene, planning_scene, planning_scene_world,
collision_object, attached_collision_object, joint_states, tf ──► scene ──► get_planning_scene, monitored_planning_scene
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial

from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, PlanningSceneWorld
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from sensor_msgs.msg import JointState
from std_srvs.srv import Empty
from tf2_msgs.msg import TFMessage

from lfd_description.nodes.qos import JOINT_STATES_QOS, MONITORED_SCENE_QOS, SCENE_INPUT_QOS, TF_QOS, TF_STATIC_QOS
from lfd_planner.messages import (
    Applied,
    apply_attached_object,
    apply_collision_object,
    apply_planning_scene,
    apply_world,
    diff_to_message,
    pose_of_transform,
    scene_to_message,
)
from lfd_planner.messages.checks import Report
from lfd_planner.scene import PlanningScene, SceneFault

from .server import Server

LOOK_EVERY = 0.5  # [s] between two looks whether the node ends
MOST_TOLD = 5  # faults of one message that are logged


class PlanningSceneCapability:
    """Serves the scene; what comes in is applied in the order in which it comes."""

    def __init__(self, server: Server, publish_rate: float) -> None:
        self._server = server
        self._period = 1.0 / publish_rate
        node = server.node
        inputs = MutuallyExclusiveCallbackGroup()
        server.serve(ApplyPlanningScene, 'apply_planning_scene', self._on_apply, inputs)
        server.serve(GetPlanningScene, 'get_planning_scene', self._on_get)
        server.serve(Empty, 'clear_octomap', lambda _, answer: answer)
        for kind, topic, callback in (
            (SceneMessage, 'planning_scene', self._on_scene),
            (PlanningSceneWorld, 'planning_scene_world', self._on_world),
            (CollisionObject, 'collision_object', self._on_object),
            (AttachedCollisionObject, 'attached_collision_object', self._on_attached),
        ):
            node.create_subscription(kind, topic, callback, SCENE_INPUT_QOS, callback_group=inputs)
        states = MutuallyExclusiveCallbackGroup()
        node.create_subscription(JointState, 'joint_states', self._on_joints, JOINT_STATES_QOS, callback_group=states)
        frames = MutuallyExclusiveCallbackGroup()
        node.create_subscription(TFMessage, 'tf', self._on_transforms, TF_QOS, callback_group=frames)
        node.create_subscription(TFMessage, 'tf_static', self._on_transforms, TF_STATIC_QOS, callback_group=frames)
        self._monitored = node.create_publisher(SceneMessage, 'monitored_planning_scene', MONITORED_SCENE_QOS)
        self._thread = threading.Thread(target=self._publish, name='monitored scene', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop publishing."""
        self._server.monitor.close()
        self._thread.join(2.0 + self._period)

    # What comes in

    def _on_apply(self, request: ApplyPlanningScene.Request, answer: ApplyPlanningScene.Response) -> object:
        answer.success = self._apply('apply_planning_scene', lambda scene: self._applied(scene, request.scene))
        return answer

    def _on_scene(self, message: SceneMessage) -> None:
        self._apply('planning_scene', lambda scene: self._applied(scene, message))

    def _on_world(self, message: PlanningSceneWorld) -> None:
        self._apply('planning_scene_world', lambda scene: apply_world(scene, message, self._server.link_poses(scene)))

    def _on_object(self, message: CollisionObject) -> None:
        self._apply(
            'collision_object',
            lambda scene: Applied(apply_collision_object(scene, message, self._server.link_poses(scene))),
        )

    def _on_attached(self, message: AttachedCollisionObject) -> None:
        self._apply(
            'attached_collision_object',
            lambda scene: Applied(apply_attached_object(scene, message, self._server.link_poses(scene))),
        )

    def _applied(self, scene: PlanningScene, message: SceneMessage) -> Applied:
        return apply_planning_scene(scene, message, self._server.monitor.robot.frames)

    def _apply(self, source: str, change: Callable[[PlanningScene], Applied]) -> bool:
        """Change the scene; what cannot be done is logged, the rest is done. Whether all was done."""
        faults: list[str] = []

        def edit(scene: PlanningScene) -> PlanningScene:
            applied = change(scene)
            faults.extend(line for fault in applied.faults for line in fault.problems)
            for warning in applied.warnings:
                self._server.log.warning(f'{source}: {warning}')
            return applied.scene

        try:
            self._server.monitor.edit(edit)
        except SceneFault as fault:
            faults.extend(fault.problems)
        for line in faults[:MOST_TOLD]:
            self._server.log.error(f'{source}: {line}')
        if len(faults) > MOST_TOLD:
            self._server.log.error(f'{source}: {len(faults) - MOST_TOLD} more faults of this message.')
        return not faults

    def _on_joints(self, message: JointState) -> None:
        positions = dict(zip(message.name, message.position, strict=False))
        self._server.monitor.set_joints({name: value for name, value in positions.items() if math.isfinite(value)})

    def _on_transforms(self, message: TFMessage) -> None:
        for transform in message.transforms:
            report = Report('Transform')
            pose = pose_of_transform(transform, report)
            try:
                report.finish()
            except SceneFault as fault:
                self._server.log.warning(f'tf: {fault}', throttle_duration_sec=10.0)
                continue
            parent, child = transform.header.frame_id.removeprefix('/'), transform.child_frame_id.removeprefix('/')
            self._server.monitor.transforms.set(parent, child, pose)

    # What goes out

    def _on_get(self, request: GetPlanningScene.Request, answer: GetPlanningScene.Response) -> object:
        try:
            answer.scene = scene_to_message(
                self._server.complete(self._server.monitor.scene), request.components.components
            )
        except SceneFault as fault:
            self._server.log.error(f'get_planning_scene: {fault}')
        return answer

    def _publish(self) -> None:
        """Publish the whole scene once, and from then on what changed, at most at the rate that was asked for."""
        monitor = self._server.monitor
        known, version = monitor.snapshot()
        known = self._server.complete(known)
        self._send(partial(scene_to_message, known))
        while not monitor.is_closed:
            now = monitor.wait_for_change(version, LOOK_EVERY)
            if now == version:
                continue
            new, version = monitor.snapshot()
            new = self._server.complete(new)
            if new != known and self._send(partial(diff_to_message, known, new)):
                known = new
            self._server.ending.wait(self._period)

    def _send(self, make: Callable[[], SceneMessage]) -> bool:
        """Publish if anybody listens; whether it was sent."""
        try:
            if self._monitored.get_subscription_count():
                self._monitored.publish(make())
                return True
        except Exception as error:  # the next change is published again
            self._server.log.error(f'monitored_planning_scene: {error!r}', throttle_duration_sec=10.0)
        return False
