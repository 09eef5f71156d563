"""A small planning server: the services and the topic that keep a planning scene, over real DDS, for tests to spoil.

As a program it serves until it is ended: `scene_server.py [NAMESPACE]`.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable

import rclpy
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.executors import SingleThreadedExecutor
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions

from lfd_description.urdf import Joint, RobotTree
from lfd_planner.messages import apply_planning_scene, diff_to_message, scene_to_message
from lfd_planner.scene import PlanningScene, RobotFrames


def _wrist(frame: str) -> Joint:
    return Joint('wrist', 'fixed', frame, 'hand', (0.0, 0.0, 1.0))


class Silence(Exception):
    """Raised in a callback: the caller gets no answer."""


class SceneServer:
    """Keeps a planning scene in a thread and a DDS participant of its own."""

    def __init__(self, domain: int | None = None, namespace: str = '', frame: str = 'world') -> None:
        self.scene = PlanningScene(frame)
        self.robot = RobotFrames(RobotTree('arm', (frame, 'hand'), (_wrist(frame),), frame), frame)
        self.requests: list[SceneMessage] = []
        self.looks: list[int] = []
        self.silent = False
        """Requests are done, and nobody is told."""
        self.failing = False
        """Requests are not done."""
        self.answering = threading.Event()
        """While it is cleared, requests wait."""
        self.answering.set()
        self._ending = threading.Event()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node('move_group', context=self._context, namespace=namespace)
        self._monitored = self.node.create_publisher(SceneMessage, 'monitored_planning_scene', 10)
        self.node.create_service(ApplyPlanningScene, 'apply_planning_scene', self._apply)
        self.node.create_service(GetPlanningScene, 'get_planning_scene', self._get)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def bytes(self) -> list[int]:
        """How big the requests were."""
        return [len(serialize_message(request)) for request in self.requests]

    def edit(self, change: Callable[[PlanningScene], PlanningScene]) -> None:
        """Somebody else changes the scene; that is published as move_group does."""
        self._become(change(self.scene))

    def attach(self, id: str) -> None:
        self.edit(lambda scene: scene.attach(id, 'hand', self._links()))

    def detach(self, id: str) -> None:
        self.edit(lambda scene: scene.detach(id, self._links()))

    def close(self) -> None:
        self.answering.set()
        self._ending.set()
        self._thread.join(10.0)
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _links(self) -> dict[str, object]:
        return dict(self.robot.link_poses(self.scene.joints))

    def _serve(self) -> None:
        while not self._ending.is_set():
            try:
                self._executor.spin_once(timeout_sec=0.05)
            except Silence:
                continue

    def _become(self, scene: PlanningScene) -> None:
        diff = diff_to_message(self.scene, scene)
        self.scene = scene
        self._monitored.publish(diff)

    def _apply(
        self, request: ApplyPlanningScene.Request, response: ApplyPlanningScene.Response
    ) -> ApplyPlanningScene.Response:
        self.answering.wait(60.0)
        self.requests.append(request.scene)
        if self.failing:
            response.success = False
            return response
        applied = apply_planning_scene(self.scene, request.scene, self.robot)
        self._become(applied.scene)
        if self.silent:
            raise Silence
        response.success = not applied.faults
        return response

    def _get(self, request: GetPlanningScene.Request, response: GetPlanningScene.Response) -> GetPlanningScene.Response:
        self.answering.wait(60.0)
        self.looks.append(request.components.components)
        response.scene = scene_to_message(self.scene, request.components.components)
        return response


def main() -> int:
    """Serve until SIGTERM or SIGINT."""
    namespace, frame = (*sys.argv[1:], '', 'world')[:2] if len(sys.argv) < 3 else sys.argv[1:3]
    server = SceneServer(None, namespace, frame)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    print('serving', flush=True)
    try:
        threading.Event().wait()
    finally:
        server.close()
    return 0


if __name__ == '__main__':
    sys.exit(main())
