"""The services of the controller manager that are about hardware, and the topic ``~/activity``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controller_manager_msgs.msg import (
    ControllerManagerActivity,
    HardwareComponentState,
    HardwareInterface,
    NamedLifecycleState,
)
from controller_manager_msgs.srv import ListHardwareComponents, ListHardwareInterfaces, SetHardwareComponentState
from lifecycle_msgs.msg import State
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from lfd_description.nodes.qos import LATCHED_QOS
from lfd_hardware.chores import Chores
from lfd_hardware.controllers import ControllerState
from lfd_hardware.device import Device, DeviceState
from lfd_hardware.manager import Manager
from lfd_hardware.nodes.controller_services import ControllerServices, serve

CHANGE_WITHIN = 15.0  # [s] after which a change of state is answered, done or not
LOOK_EVERY = 0.2  # [s] between two looks whether the activity changed
STATE_IDS = {
    ControllerState.UNCONFIGURED: State.PRIMARY_STATE_UNCONFIGURED,
    ControllerState.INACTIVE: State.PRIMARY_STATE_INACTIVE,
    ControllerState.ACTIVE: State.PRIMARY_STATE_ACTIVE,
}


class HardwareServices:
    """Lists hardware and brings it from state to state; a device that hangs keeps no other from being changed."""

    def __init__(
        self,
        node: Node,
        manager: Manager,
        controllers: ControllerServices,
        chores: Chores,
        is_ending: Callable[[], bool],
    ) -> None:
        """``is_ending`` tells whether the node ends, so that nothing is waited for any more."""
        self._node = node
        self._manager = manager
        self._controllers = controllers
        self._is_ending = is_ending
        self._activity: list[tuple[str, str]] = []
        self._publisher = node.create_publisher(ControllerManagerActivity, '~/activity', LATCHED_QOS)
        serve(node, ListHardwareComponents, '~/list_hardware_components', self._on_list_components)
        serve(node, ListHardwareInterfaces, '~/list_hardware_interfaces', self._on_list_interfaces)
        serve(
            node,
            SetHardwareComponentState,
            '~/set_hardware_component_state',
            self._on_set_state,
            ReentrantCallbackGroup(),
        )
        chores.every(LOOK_EVERY, self._publish_activity)

    def _on_set_state(self, request: Any, response: Any) -> Any:
        hardware = self._manager.hardware
        device = next((each for each in hardware.devices if each.name == request.name), None)
        if device is None:
            names = ', '.join(each.name for each in hardware.devices)
            self._node.get_logger().error(f"There is no hardware '{request.name}': there is {names}.")
            return response
        asked = request.target_state
        target = next((each for each in DeviceState if each.id == asked.id or each.label == asked.label), None)
        if target is None or (asked.id and asked.id != target.id):
            problem = (
                f"There is no state '{asked.label}' ({asked.id}): use unconfigured (1), inactive (2) or active (3)."
            )
        else:
            problem = self._manager.change(device, target, CHANGE_WITHIN, self._is_ending)
        if problem:
            self._node.get_logger().error(problem)
        response.ok = not problem
        response.state = _state(device)
        return response

    def _on_list_components(self, _: Any, response: Any) -> Any:
        hardware = self._manager.hardware
        for device in hardware.devices:
            component = device.component
            response.component.append(
                HardwareComponentState(
                    name=component.name,
                    type=component.type,
                    plugin_name=component.plugin,
                    rw_rate=round(1.0 / self._manager.period),
                    state=_state(device),
                    command_interfaces=[self._command_interface(name) for name in component.command_interfaces],
                    state_interfaces=[self._state_interface(name) for name in component.state_interfaces],
                )
            )
        return response

    def _on_list_interfaces(self, _: Any, response: Any) -> Any:
        hardware = self._manager.hardware
        response.command_interfaces = [self._command_interface(name) for name in hardware.commands]
        response.state_interfaces = [self._state_interface(name) for name in hardware.states]
        return response

    def _command_interface(self, name: str) -> Any:
        hardware = self._manager.hardware
        return HardwareInterface(
            name=name,
            data_type='double',
            is_available=hardware.is_commandable(name),
            is_claimed=hardware.is_claimed(name),
        )

    def _state_interface(self, name: str) -> Any:
        return HardwareInterface(name=name, data_type='double', is_available=self._manager.hardware.is_readable(name))

    def _publish_activity(self) -> None:
        """Tell the states of all controllers and devices when one changed."""
        controllers = [(each.name, each.state) for each in self._controllers.controllers.values()]
        devices = self._manager.hardware.devices
        activity = [(name, state.value) for name, state in controllers]
        activity += [(device.name, device.state.label) for device in devices]
        if activity == self._activity:
            return
        self._activity = activity
        message = ControllerManagerActivity(
            controllers=[
                NamedLifecycleState(name=name, state=State(id=STATE_IDS[state], label=state.value))
                for name, state in controllers
            ],
            hardware_components=[NamedLifecycleState(name=each.name, state=_state(each)) for each in devices],
        )
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)


def _state(device: Device) -> Any:
    return State(id=device.state.id, label=device.state.label)
