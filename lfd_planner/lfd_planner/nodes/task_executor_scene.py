"""The planning server's scene for an execution: asked for, watched, and changed when something is taken or put down."""

from __future__ import annotations

import threading
from collections.abc import Callable

from moveit_msgs.msg import AttachedCollisionObject, CollisionObject
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from lfd_description.nodes.qos import MONITORED_SCENE_QOS
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import ExecutionRules
from lfd_planner.messages import attached_to_message, detach_message
from lfd_planner.robot.planning_robot import PlanningRobot
from lfd_planner.scene import AttachedObject, PlanningScene
from lfd_planner.solution import Attachment

from .task_planner_scene import SceneSource

MONITORED = 'monitored_planning_scene'


class RosScene:
    """The scene of move_group, or of its stand-in."""

    def __init__(
        self, node: Node, robot: PlanningRobot, rules: ExecutionRules, should_stop: Callable[[], bool]
    ) -> None:
        self._node, self._rules, self._should_stop = node, rules, should_stop
        group = ReentrantCallbackGroup()
        self._source = SceneSource(node, robot, group)
        self._apply = node.create_client(ApplyPlanningScene, 'apply_planning_scene', callback_group=group)
        self._edits = 0
        watching = MutuallyExclusiveCallbackGroup()
        node.create_subscription(SceneMessage, MONITORED, self._on_scene, MONITORED_SCENE_QOS, callback_group=watching)

    def newest(self) -> PlanningScene:
        """The scene after scene sync has had its say."""
        return self._source.newest(self._should_stop)

    def current(self) -> PlanningScene:
        """The scene as the planning server has it."""
        return self._source.current(self._should_stop)

    def edits(self) -> int:
        """How often somebody, we included, may have changed objects."""
        return self._edits

    def servers(self) -> frozenset[str]:
        """Who publishes the scene: another one after a restart."""
        infos = self._node.get_publishers_info_by_topic(MONITORED)
        return frozenset(bytes(info.endpoint_gid).hex() for info in infos)

    def attach(self, attachment: Attachment) -> Failure | None:
        """From now on an object of the world moves with a link."""
        message = AttachedCollisionObject(link_name=attachment.link, touch_links=list(attachment.touch_links))
        message.object.id, message.object.operation = attachment.object, CollisionObject.ADD
        return self._told(message, f"'{attachment.object}' was taken")

    def hold(self, held: AttachedObject) -> Failure | None:
        """The same of an object that the server may not have any more."""
        return self._told(attached_to_message(held), f"'{held.id}' is held")

    def detach(self, attachment: Attachment) -> Failure | None:
        """An object stays where it is from now on."""
        return self._told(detach_message(attachment.object), f"'{attachment.object}' was put down")

    def _told(self, change: AttachedCollisionObject, what: str) -> Failure | None:
        """Have the planning server take over what happened to an object."""
        scene = SceneMessage(is_diff=True)
        scene.robot_state.is_diff = True
        scene.robot_state.attached_collision_objects = [change]
        done, answers = threading.Event(), list[bool]()

        def take(future: Future) -> None:
            if not future.cancelled():
                answers.append(bool(future.result().success))
                done.set()

        call = self._apply.call_async(ApplyPlanningScene.Request(scene=scene))
        call.add_done_callback(take)
        if not done.wait(self._rules.scene_within):
            self._apply.remove_pending_request(call)
            return Failure(
                Code.FAILURE,
                f'{what[0].upper()}{what[1:]}, and the planning server did not take note within '
                f'{self._rules.scene_within:g} s; start move_group.',
            )
        if not answers[0]:
            return Failure(Code.FAILURE, f'The planning server refused to know that {what}; see the log of move_group.')
        return None

    def _on_scene(self, message: SceneMessage) -> None:
        """A diff of joints alone, which comes all the time, changes no object."""
        state = message.robot_state
        if not message.is_diff or message.world.collision_objects or state.attached_collision_objects:
            self._edits += 1
