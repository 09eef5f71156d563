"""The names of ROS-Industrial's drivers: the topic ``joint_path_command`` and the service ``stop_motion``.

ROS-Industrial's own industrial_msgs/StopMotion has no ROS 2 package, so the service is a std_srvs/Trigger; its message
says what was stopped.
"""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from lfd_hardware.controllers import JointTrajectoryController
from lfd_hardware.manager import REST_WITHIN, Manager
from lfd_hardware.nodes.controller_services import serve

PATH_QOS = QoSProfile(depth=10)
STOPPED = 'Stopped by stop_motion.'


class IndustrialNames:
    """Hands trajectories to the controller that moves their joints, and stops everything."""

    def __init__(self, node: Node, manager: Manager) -> None:
        self._manager = manager
        self._logger = node.get_logger()
        node.create_subscription(
            JointTrajectory,
            'joint_path_command',
            self._on_path,
            PATH_QOS,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        serve(node, Trigger, 'stop_motion', self._on_stop, MutuallyExclusiveCallbackGroup())

    def _on_path(self, message: Any) -> None:
        movers = [each for each in self._manager.active if isinstance(each, JointTrajectoryController)]
        fitting = [each for each in movers if set(each.joints) == set(message.joint_names)]
        if len(movers) != 1 and len(fitting) != 1:
            names = ', '.join(each.name for each in movers) or 'none'
            self._logger.error(
                'Ignored a trajectory on joint_path_command: it takes one active trajectory controller of its joints '
                f'({", ".join(message.joint_names)}), and there is {names}.'
            )
            return
        (fitting[0] if len(fitting) == 1 else movers[0]).follow(message)

    def _on_stop(self, _: Any, response: Any) -> Any:
        halted = self._manager.halt(STOPPED)
        response.success = not halted.moving
        response.message = f'Stopped {", ".join(halted.stopped)}.' if halted.stopped else 'Nothing was moving.'
        if halted.moving:
            response.message = (
                f'{", ".join(halted.moving)} did not come to rest within {REST_WITHIN:g} s: use the emergency stop if '
                'the arm moves.'
            )
            self._logger.error(f'stop_motion: {response.message}')
        else:
            self._logger.info(f'stop_motion: {response.message}')
        return response
