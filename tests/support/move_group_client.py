"""A client of a planning server, and what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import Constraints, JointConstraint, PlanningSceneComponents
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import (
    ApplyPlanningScene,
    GetCartesianPath,
    GetMotionPlan,
    GetPlanningScene,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
)
from rclpy.action import ActionClient
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from lfd_planner.messages import remove_message

from .peer import Peer

GROUP = 'manipulator'
HOME = (0.0, -1.8, 1.9, -1.6708, -1.5708, 0.0)
SERVICES = {
    'apply_planning_scene': ApplyPlanningScene,
    'get_planning_scene': GetPlanningScene,
    'compute_ik': GetPositionIK,
    'compute_fk': GetPositionFK,
    'check_state_validity': GetStateValidity,
    'plan_kinematic_path': GetMotionPlan,
    'compute_cartesian_path': GetCartesianPath,
}


class MoveGroupClient:
    """Calls a planning server as MoveIt's clients do."""

    def __init__(self, domain: int, *, with_joints: bool = True) -> None:
        self.peer = Peer('client', domain)
        node = self.peer.node
        self.services = {name: node.create_client(kind, name) for name, kind in SERVICES.items()}
        self.move_action = ActionClient(node, MoveGroup, 'move_action')
        self.execute_trajectory = ActionClient(node, ExecuteTrajectory, 'execute_trajectory')
        self.joints: dict[str, float] = {}
        node.create_subscription(JointState, 'joint_states', self._on_joints, qos_profile_sensor_data)
        self.wait_until_ready()
        if with_joints:
            self.peer.eventually(lambda: self.joints, 'joint states')

    def _on_joints(self, message: JointState) -> None:
        self.joints = dict(zip(message.name, message.position, strict=True))

    def wait_until_ready(self) -> None:
        for name, client in self.services.items():
            self.peer.eventually(client.service_is_ready, name)
        for name, action in (('move_action', self.move_action), ('execute_trajectory', self.execute_trajectory)):
            self.peer.eventually(action.server_is_ready, name)

    def call(self, name: str, request: Any) -> Any:
        return self.peer.result(self.services[name].call_async(request))

    def apply(self, scene: SceneMessage) -> bool:
        return self.call('apply_planning_scene', ApplyPlanningScene.Request(scene=scene)).success

    def scene(self, components: int = 0) -> SceneMessage:
        mask = PlanningSceneComponents(components=components)
        return self.peer.ask(self.services['get_planning_scene'], GetPlanningScene.Request(components=mask)).scene

    def send(self, action: ActionClient, goal: Any, feedback: Any = None) -> Any:
        """Send a goal; return its handle."""
        return self.peer.result(action.send_goal_async(goal, feedback_callback=feedback))

    def result(self, handle: Any) -> Any:
        return self.peer.result(handle.get_result_async())

    def clear(self) -> None:
        """An empty scene, as at the start."""
        scene = SceneMessage(is_diff=True)
        scene.robot_state.is_diff = True
        held = self.scene(PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS).robot_state.attached_collision_objects
        for thing in held:
            thing.object.operation = thing.object.REMOVE
        scene.robot_state.attached_collision_objects = held
        assert self.apply(scene)
        ids = [thing.id for thing in self.scene(PlanningSceneComponents.WORLD_OBJECT_NAMES).world.collision_objects]
        scene = SceneMessage(is_diff=True)
        for id in ids:
            scene.world.collision_objects.append(remove_message(id))
        assert self.apply(scene)


def joint_goal(joints: Sequence[str], positions: Sequence[float], tolerance: float = 1e-3) -> Constraints:
    return Constraints(
        joint_constraints=[
            JointConstraint(
                joint_name=name, position=value, tolerance_above=tolerance, tolerance_below=tolerance, weight=1.0
            )
            for name, value in zip(joints, positions, strict=True)
        ]
    )
