"""Follows the planning scene: what the robot takes and puts down, and what others than the twin added to it.

```
get_planning_scene ──► whole, at the start and after a restart of the planning server ─┐
monitored_planning_scene ──► changes ──────────────────────────────────────────────────┴─► PlanningScene ──► listener
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import GetPlanningScene
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.task import Future

from lfd_description.nodes.qos import MONITORED_SCENE_QOS
from lfd_planner.messages import apply_planning_scene
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import PlanningRobot
from lfd_planner.scene import PersistentMap, PlanningScene, WorldObject
from lfd_planner.sync.target import MARK, unmarked

LOOK_EVERY = 0.5  # [s] whether another process serves the planning scene now
ASK_AGAIN = 3.0  # [s] after which a question may have gone to a server that is no more


@dataclass(frozen=True)
class Holding:
    """Something in the robot's hand."""

    link: str
    pose: Pose
    """In the link's frame."""


@dataclass(frozen=True)
class Seen:
    """What the planning server has."""

    scene: PlanningScene
    """In the robot's frame; the twin's objects carry its mark."""
    others: PersistentMap[str, WorldObject]
    """What stands in the world and is none of the twin's."""

    @property
    def held(self) -> Mapping[str, Holding]:
        """What the robot holds, by object."""
        return {id: Holding(each.link, each.pose) for id, each in self.scene.attached.items()}

    @property
    def twin(self) -> PlanningScene:
        """The twin's objects that stand in the world, as the twin has them."""
        twins = {id: thing for id, thing in self.scene.objects.items() if id not in self.others}
        return unmarked(PlanningScene(self.scene.frame, objects=PersistentMap(twins), colours=self.scene.colours))


class SceneWatch:
    """Keeps a copy of the planning server's scene; all of it happens in the node's thread.

    Args:
        node: that listens.
        robot: whose frames and joints count.
        listener: told of every change.
    """

    def __init__(self, node: Node, robot: PlanningRobot, listener: Callable[[Seen], None]) -> None:
        self._node, self._robot, self._listener = node, robot, listener
        self._scene: PlanningScene | None = None  # None: it is to be asked for
        self._told = PlanningScene(robot.frame)
        self._others: PersistentMap[str, WorldObject] = PersistentMap()
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._client = node.create_client(GetPlanningScene, 'get_planning_scene')
        self._call: Future | None = None
        self._asked = 0  # [ns]
        self._waiting: list[SceneMessage] = []  # changes that came while the whole was on its way
        subscription = node.create_subscription(
            SceneMessage, 'monitored_planning_scene', self._on_change, MONITORED_SCENE_QOS
        )
        self._topic = subscription.topic_name
        self._servers: frozenset[bytes] = frozenset()
        node.create_timer(LOOK_EVERY, self._look, clock=self._steady)

    def _look(self) -> None:
        """Ask for the whole scene where it is not known, or where another process has one now."""
        found = frozenset(bytes(each.endpoint_gid) for each in self._node.get_publishers_info_by_topic(self._topic))
        if found - self._servers:
            self._scene = None
            self._waiting.clear()
            self._drop()
        self._servers = found or self._servers
        overdue = self._steady.now().nanoseconds - self._asked > ASK_AGAIN * 1e9
        if self._scene is None and self._client.service_is_ready() and (self._call is None or overdue):
            self._ask()

    def _ask(self) -> None:
        self._drop()
        self._asked = self._steady.now().nanoseconds
        self._call = self._client.call_async(GetPlanningScene.Request())
        self._call.add_done_callback(self._on_whole)

    def _drop(self) -> None:
        if self._call is not None:
            self._client.remove_pending_request(self._call)
            self._call = None

    def _on_whole(self, done: Future) -> None:
        if self._call is None or self._call is not done:
            return
        self._call = None
        if done.cancelled() or done.exception() is not None:
            return
        message: SceneMessage = done.result().scene
        message.is_diff = False
        self._scene = self._applied(PlanningScene(self._robot.frame), message)
        for change in self._waiting:
            self._scene = self._applied(self._scene, change)
        self._waiting.clear()
        self._tell()

    def _on_change(self, message: SceneMessage) -> None:
        if self._scene is None:
            if self._call is not None:
                self._waiting.append(message)
            return
        before = self._scene
        self._scene = self._applied(before, message)
        if self._scene.objects is not before.objects or self._scene.attached is not before.attached:
            self._tell()

    def _applied(self, scene: PlanningScene, message: SceneMessage) -> PlanningScene:
        own = self._robot.frames.joints
        state = message.robot_state.joint_state
        kept = [(name, at) for name, at in zip(state.name, state.position, strict=False) if name in own]
        state.name, state.position = [name for name, _ in kept], [at for _, at in kept]
        applied = apply_planning_scene(scene, message, self._robot.frames)
        for fault in applied.faults[:1]:
            self._node.get_logger().warning(
                f'A part of the planning scene is not shown: {fault}', throttle_duration_sec=10.0
            )
        return applied.scene

    def _tell(self) -> None:
        assert self._scene is not None
        changes = self._scene.objects.changes_from(self._told.objects)
        self._others = self._others.edit((id, _other(after)) for id, (_, after) in changes.items())
        self._told = self._scene
        self._listener(Seen(self._scene, self._others))


def _other(thing: WorldObject | None) -> WorldObject | None:
    """An object that is none of the twin's; None of any other."""
    return None if thing is None or MARK in thing.body.tags else thing
