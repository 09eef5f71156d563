"""Controllers by the name of their official plugin."""

from __future__ import annotations

from lfd_hardware.controllers.controller import Controller, ControllerError, ControllerState
from lfd_hardware.controllers.forward_command_controller import ForwardCommandController
from lfd_hardware.controllers.gripper_action_controller import GripperActionController
from lfd_hardware.controllers.joint_state_broadcaster import JointStateBroadcaster
from lfd_hardware.controllers.joint_trajectory_controller import JointTrajectoryController

CONTROLLERS: dict[str, type[Controller]] = {
    controller.type_name: controller
    for controller in (
        JointStateBroadcaster,
        JointTrajectoryController,
        GripperActionController,
        ForwardCommandController,
    )
}

__all__ = ['CONTROLLERS', 'Controller', 'ControllerError', 'ControllerState', 'JointTrajectoryController']
