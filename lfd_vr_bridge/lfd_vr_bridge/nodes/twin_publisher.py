"""Tells the world of the twin: `twin_scene`, `twin_scene_updates` and `publish_twin_scene`, as scene sync expects them.

A thread of its own converts and sends, because a scene of thousands of objects takes its time and a slow listener must
not hold up whoever moves objects. Of many changes in a moment one message is sent, and the last state always is.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any

from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.node import Node
from std_srvs.srv import Trigger

from lfd_description.nodes.qos import LATCHED_QOS, TWIN_UPDATES_QOS
from lfd_planner.messages import diff_to_message, scene_to_message
from lfd_planner.scene import PlanningScene, SceneFault
from lfd_planner.sync import Revision

RATE = 20.0
"""Updates at most [Hz]."""


class TwinPublisher:
    """Publishes the twin's objects; nothing before the first `follow`. All methods may be called from any thread."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._session = uuid.uuid4().hex[:12]
        self._number = 0
        self._told: PlanningScene | None = None
        self._newest: PlanningScene | None = None
        self._is_asked = False
        self._ending = False
        self._changed = threading.Condition()
        self._whole = node.create_publisher(SceneMessage, 'twin_scene', LATCHED_QOS)
        self._updates = node.create_publisher(SceneMessage, 'twin_scene_updates', TWIN_UPDATES_QOS)
        node.create_service(Trigger, 'publish_twin_scene', self._on_asked)
        self._thread = threading.Thread(target=self._serve, name='twin_publisher', daemon=True)
        self._thread.start()

    def follow(self, twin: PlanningScene) -> None:
        """Take this for the twin from now on; it is published as soon as the rate allows."""
        with self._changed:
            newest = self._newest
            if newest is None or twin.objects != newest.objects or twin.colours != newest.colours:
                self._newest = twin
                self._changed.notify()

    def close(self) -> None:
        """Publish what is left, and end."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join(5.0)

    def _on_asked(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        with self._changed:
            answer.success = self._newest is not None
            answer.message = "The whole scene comes on 'twin_scene'." if answer.success else 'There is no twin yet.'
            self._is_asked = True
            self._changed.notify()
        return answer

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ending or self._is_due())
                twin, asked, ending = self._newest, self._is_asked, self._ending
                self._is_asked = False
            if twin is not None:
                self._publish(twin, asked)
            if ending:
                return
            with self._changed:
                self._changed.wait_for(lambda: self._ending, 1.0 / RATE)

    def _is_due(self) -> bool:
        return self._newest is not None and (self._is_asked or self._newest is not self._told)

    def _publish(self, twin: PlanningScene, asked: bool) -> None:
        try:
            if self._told is None:
                asked = True
            elif twin is not self._told:
                update = diff_to_message(self._told, twin)
                self._number += 1
                self._send(self._updates, update)
            self._told = twin
            if asked:
                self._send(self._whole, scene_to_message(twin))
        except SceneFault as fault:
            self._told = twin  # not again and again; the next whole scene tells, if it can
            self._node.get_logger().error(f'The twin cannot be published: {" ".join(fault.problems)}')

    def _send(self, publisher: Any, message: SceneMessage) -> None:
        message.name = str(Revision(self._session, self._number))
        publisher.publish(message)
