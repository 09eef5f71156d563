"""The VR bridge: serves the page on which people show tasks, and brings what they do to the graph and back.

```
browser, headset ◄──► BridgeServer ◄──► Studio ──► twin_scene, twin_scene_updates ──► scene sync
                          │               ▲  └───► demonstrated_task, NAME.mcap, collision_object (removals)
                          ▼               └────── monitored_planning_scene, joint_states
                      RobotLink ──► plan_task, execute_task, abort_execution ...
```

The server's thread owns the studio; the node's thread speaks ROS. `start_recording` and `complete_recording`
(std_srvs/Trigger) do what the page's buttons do.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import fcntl
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from moveit_msgs.msg import CollisionObject
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from lfd_description.model.builder import mesh_finder
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import JOINT_STATES_QOS, LATCHED_QOS
from lfd_description.robots import robot_names
from lfd_description.urdf import UrdfError
from lfd_planner.messages import remove_message
from lfd_planner.mtdf import dump_task
from lfd_planner.robot.planning_robot import planning_robot
from lfd_vr_bridge.console import PageLine
from lfd_vr_bridge.demo_log.logger import DemoLogger
from lfd_vr_bridge.nodes.bridge_parameters import ParameterError, Parameters, read_parameters
from lfd_vr_bridge.nodes.cell_view import CellView
from lfd_vr_bridge.nodes.robot_link import RobotLink
from lfd_vr_bridge.nodes.ros_thread import RosThread
from lfd_vr_bridge.nodes.scene_watch import SceneWatch, Seen
from lfd_vr_bridge.nodes.twin_publisher import TwinPublisher
from lfd_vr_bridge.server.assets import Assets
from lfd_vr_bridge.server.bridge_server import PORT, BridgeServer, Options
from lfd_vr_bridge.server.site import PortTaken
from lfd_vr_bridge.studio import RecordingState, Refusal, Studio, events

NAME = 'vr_bridge'
JOINTS_EVERY = 1.0 / 30.0  # [s]
OPEN_AFTER = 10.0  # [s] without a planning server, after which the twin is published all the same
ANSWER_WITHIN = 5.0  # [s] of the studio
MOST_PORTS = 40  # that are tried, from the usual one on
LOCK = '.lock'
OTHERS_DEPTH = 100  # removals that may wait


class VrBridge(Node):
    """Serves the page of one robot.

    Raises:
        ParameterError: a parameter cannot be used.
        ParameterException: a parameter has a value of the wrong type or out of bounds.
        PortTaken: nobody can listen on the port.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        told = self._told = read_parameters(self)
        self._lock = _locked(told.folder)
        self._robot = planning_robot(told.model)
        self._ros = RosThread(self)
        self._studio = Studio(told.scene, told.folder, origin=told.origin)
        self._twin = TwinPublisher(self)
        others = self.create_publisher(CollisionObject, 'collision_object', OTHERS_DEPTH)
        self._view = CellView(
            self._studio, self._robot.frames, self._twin.follow, lambda name: others.publish(remove_message(name))
        )
        self._link = RobotLink(
            self,
            self._ros,
            told.model,
            tuple(robot_names()),
            world=lambda: self._studio.twin.world,
        )
        self._task = self.create_publisher(String, 'demonstrated_task', LATCHED_QOS)
        self._studio.watch(self._on_event)
        self._logger = DemoLogger(self._studio, told.folder, self._complain)
        self._server = self._serving(told)
        self._joints: dict[str, float] = {}
        self._is_fresh = False
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._listen()

    def destroy_node(self) -> None:
        """Take everything down: pages are told, and what is unfinished stays on the disk."""
        self._server.stop()
        self._link.close()
        self._logger.close()
        self._studio.close()
        self._twin.close()
        self._link.destroy()
        super().destroy_node()
        os.close(self._lock)

    # The page ---------------------------------------------------------------------------------------------------------

    def _serving(self, told: Parameters) -> BridgeServer:
        """The server, on the port that was told, or else on the first that is free."""
        ports = [told.port] if told.port else range(PORT, PORT + MOST_PORTS, 2)
        gripper = told.model.gripper.name if told.model.gripper else ''
        problem: PortTaken | None = None
        for port in ports:
            options = Options(told.folder, port, told.lan, told.model.robot.title)
            server = BridgeServer(
                self._studio, self._link, options, Assets(gripper), lambda _: self._ros.post(self._say)
            )
            try:
                server.start()
                return server
            except PortTaken as error:
                problem = error
                server.stop()
        self._logger.close()
        self._twin.close()
        assert problem is not None
        raise problem

    def _say(self) -> None:
        """Tell people where the page is, and which code pairs the next device."""
        server = self._server
        print(PageLine(f'http://127.0.0.1:{server.port}/', server.code, server.lan_pages), flush=True)

    def _complain(self, text: str) -> None:
        self.get_logger().warning(text)

    # ROS --------------------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        self.create_subscription(String, 'robot_description', self._on_description, LATCHED_QOS)
        self.create_subscription(JointState, 'joint_states', self._on_joints, JOINT_STATES_QOS)
        self.create_timer(JOINTS_EVERY, self._tell_joints, clock=self._steady)
        self._opening = self.create_timer(OPEN_AFTER, self._open, clock=self._steady)
        self.create_service(Trigger, 'start_recording', self._on_start)
        self.create_service(Trigger, 'complete_recording', self._on_complete)
        SceneWatch(self, self._robot, self._on_seen)

    def _open(self) -> None:
        self._opening.cancel()
        self._server.post(self._view.open)

    def _on_seen(self, seen: Seen) -> None:
        self._server.post(lambda: self._view.seen(seen))

    def _on_description(self, message: String) -> None:
        model = self._told.model
        joints = tuple(joint.name for joint in model.tree.joints if joint.moves)
        try:
            self._server.publish_robot(
                message.data,
                model.robot.name,
                base=model.robot.base,
                tip=model.group.tip,
                joints=joints,
                find=mesh_finder(model.robot),
            )
        except UrdfError as error:
            self.get_logger().error(f"The robot on 'robot_description' cannot be shown: {error}")

    def _on_joints(self, message: JointState) -> None:
        for name, position in zip(message.name, message.position, strict=False):
            if name in self._robot.frames.joints and math.isfinite(position):
                self._joints[name] = position
                self._is_fresh = True

    def _tell_joints(self) -> None:
        if not self._is_fresh:
            return
        self._is_fresh = False
        positions = self._robot.with_followers(self._joints)
        self._server.publish_joints(positions)
        self._server.post(lambda: self._view.joints(positions))

    # Recording --------------------------------------------------------------------------------------------------------

    def _on_start(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        return self._asked(answer, lambda: f"Recording '{self._studio.start_recording()}'.")

    def _on_complete(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        return self._asked(answer, self._complete)

    def _complete(self) -> str:
        recording = self._studio.complete_recording()
        if recording.state is RecordingState.IDLE:
            raise Refusal('nothing', 'Nothing was recorded: no object was moved.')
        count = len(recording.keyframes)
        return f"'{recording.name}' has {count} keyframes; the task is on '{self._task.topic_name}'."

    def _asked(self, answer: Trigger.Response, do: Callable[[], str]) -> Trigger.Response:
        """Have the studio do something, and answer with how it went."""

        async def job() -> str:
            return do()

        try:
            answer.message = self._server.call(job()).result(ANSWER_WITHIN)
            answer.success = True
        except Refusal as refusal:
            answer.success, answer.message = False, str(refusal)
        except concurrent.futures.TimeoutError:
            answer.success, answer.message = False, f'The studio did not answer; see the log of {NAME}.'
        return answer

    def _on_event(self, event: events.Event) -> None:
        """Publish a task when its recording is complete; in the server's thread."""
        if isinstance(event, events.Completed):
            with contextlib.suppress(Refusal):  # nothing was recorded
                self._task.publish(String(data=dump_task(self._studio.task())))


def _locked(folder: Path) -> int:
    """A lock on a folder: two bridges that record into the same one would lose what either records.

    Raises:
        ParameterError: another has it.
    """
    try:
        handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ParameterError(
            f'The folder {folder} cannot be written to ({error.strerror}); set the parameter folder to another.'
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise ParameterError(
            f'Another bridge keeps its tasks in {folder}; end that one, or set folder (--folder DIR) to another.'
        ) from None
    return handle


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if an argument cannot be used."""
    return run_until_signal(NAME, VrBridge, args, refusals=(ParameterError, ParameterException, PortTaken))


if __name__ == '__main__':
    sys.exit(main())
