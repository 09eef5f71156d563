"""The services of the controller manager that are about controllers."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

from controller_manager_msgs.msg import ControllerState as ControllerStateMessage
from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllers,
    ListControllerTypes,
    LoadController,
    SwitchController,
    UnloadController,
)
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.callback_groups import CallbackGroup
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node

from lfd_description.nodes.executor import BackgroundExecutor
from lfd_hardware.controllers import CONTROLLERS, Controller, ControllerError, ControllerState
from lfd_hardware.manager import LoopStuck, Manager


def serve(
    node: Node, kind: Any, name: str, answer: Callable[[Any, Any], Any], group: CallbackGroup | None = None
) -> None:
    """Offer a service whose mistakes are logged: none may end the node under a moving robot."""

    def guarded(request: Any, response: Any) -> Any:
        try:
            return answer(request, response)
        except LoopStuck as error:
            node.get_logger().error(f"'{name}' was not done. {error}")
            return response
        except Exception as error:
            node.get_logger().error(f"'{name}' failed: {error}\n{traceback.format_exc()}")
            return response

    node.create_service(kind, name, guarded, callback_group=group)


class ControllerServices:
    """Loads, configures, switches, lists and unloads controllers; the services never overlap.

    They share the node's own callback group, which is mutually exclusive.
    """

    def __init__(self, node: Node, manager: Manager, callbacks: BackgroundExecutor) -> None:
        """``callbacks`` serves the nodes of the controllers."""
        self.controllers: dict[str, Controller] = {}
        self._node = node
        self._manager = manager
        self._callbacks = callbacks
        self._logger = node.get_logger()
        serve(node, ListControllers, '~/list_controllers', self._on_list)
        serve(node, ListControllerTypes, '~/list_controller_types', self._on_list_types)
        serve(node, LoadController, '~/load_controller', self._named(self._load))
        serve(node, ConfigureController, '~/configure_controller', self._named(self._configure))
        serve(node, SwitchController, '~/switch_controller', self._on_switch)
        serve(node, UnloadController, '~/unload_controller', self._named(self._unload))

    def destroy(self) -> None:
        """Let go of all controllers' nodes; no executor serves them any more."""
        for controller in self.controllers.values():
            controller.destroy()

    def _named(self, step: Callable[[str], None]) -> Callable[[Any, Any], Any]:
        """A service that takes a step with the controller named in its request."""

        def answer(request: Any, response: Any) -> Any:
            try:
                step(request.name)
                response.ok = True
            except ControllerError as error:
                self._logger.error(str(error))
                response.ok = False
            return response

        return answer

    def _on_switch(self, request: Any, response: Any) -> Any:
        best_effort = request.strictness in (0, SwitchController.Request.BEST_EFFORT)
        problems: list[str] = []
        leaving = self._switchable(request.deactivate_controllers, problems)
        coming = self._switchable(request.activate_controllers, problems)
        self._manager.switch(leaving, coming, problems, best_effort)
        for problem in problems:
            self._logger.error(problem)
        response.ok = not problems or best_effort
        response.message = ' '.join(problems)
        return response

    def _on_list(self, _: Any, response: Any) -> Any:
        response.controller = [self._describe(controller) for controller in self.controllers.values()]
        return response

    @staticmethod
    def _on_list_types(_: Any, response: Any) -> Any:
        response.types = list(CONTROLLERS)
        response.base_classes = ['controller_interface::ControllerInterface'] * len(CONTROLLERS)
        return response

    def _describe(self, controller: Controller) -> Any:
        configured = controller.state is not ControllerState.UNCONFIGURED
        return ControllerStateMessage(
            name=controller.name,
            type=controller.type_name,
            state=controller.state.value,
            update_rate=round(1.0 / self._manager.period),
            claimed_interfaces=list(self._manager.hardware.claimed_by(controller.name)),
            required_command_interfaces=list(controller.command_interfaces()) if configured else [],
            required_state_interfaces=list(controller.state_interfaces()) if configured else [],
        )

    # The steps behind the services; each raises ControllerError with one sentence

    def _load(self, name: str) -> None:
        if name in self.controllers:
            raise ControllerError(f"'{name}' is loaded already: unload it first.")
        parameter = f'{name}.type'
        try:
            if not self._node.has_parameter(parameter):
                self._node.declare_parameter(parameter, '', ParameterDescriptor(description=f"Plugin of '{name}'."))
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise ControllerError(f"'{parameter}' of controller_manager is not a string: correct it.") from error
        kind = self._node.get_parameter(parameter).value
        if kind not in CONTROLLERS:
            given = f"is '{kind}'" if kind else 'is not in the parameter file'
            raise ControllerError(f"'{parameter}' of controller_manager {given}: use one of {', '.join(CONTROLLERS)}.")
        controller = CONTROLLERS[kind](name, self._manager.hardware, self._manager.period)
        self.controllers = {**self.controllers, name: controller}
        self._callbacks.add_node(controller.node)
        self._logger.info(f"Loaded '{name}' ({kind}).")

    def _configure(self, name: str) -> None:
        controller = self._idle(name, 'configuring')
        if controller.state is ControllerState.INACTIVE:
            controller.state = ControllerState.UNCONFIGURED
            controller.cleanup()
        controller.configure()
        controller.state = ControllerState.INACTIVE
        self._logger.info(f"Configured '{name}'.")
        if ignored := controller.ignored_parameters():
            self._logger.warning(f"'{name}' does not know these parameters and ignores them: {', '.join(ignored)}.")

    def _unload(self, name: str) -> None:
        controller = self._idle(name, 'unloading')
        configured = controller.state is ControllerState.INACTIVE
        controller.state = ControllerState.UNCONFIGURED
        self.controllers = {key: each for key, each in self.controllers.items() if key != name}
        self._callbacks.remove_node(controller.node)
        if configured:
            controller.cleanup()
        controller.destroy()
        self._logger.info(f"Unloaded '{name}'.")

    def _idle(self, name: str, verb: str) -> Controller:
        """A controller that the loop does not use."""
        controller = self.controllers.get(name)
        if controller is None:
            raise ControllerError(f"There is no controller '{name}': load it first.")
        self._manager.settle()
        if controller.state is ControllerState.ACTIVE:
            raise ControllerError(f"'{name}' is active: deactivate it before {verb} it.")
        return controller

    def _switchable(self, names: Sequence[str], problems: list[str]) -> list[Controller]:
        """The controllers of these names, each once, that can be switched at all."""
        found: list[Controller] = []
        for name in dict.fromkeys(names):
            controller = self.controllers.get(name)
            if controller is None:
                problems.append(f"There is no controller '{name}': load it first.")
            elif controller.state is ControllerState.UNCONFIGURED:
                problems.append(f"'{name}' is not configured: configure it first.")
            else:
                found.append(controller)
        return found
