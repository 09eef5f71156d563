"""The node ``controller_manager``: hardware from ``robot_description``, controllers by service, one update loop."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from controller_manager_msgs.msg import ControllerState as ControllerStateMessage
from controller_manager_msgs.msg import HardwareComponentState, HardwareInterface
from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllers,
    ListControllerTypes,
    ListHardwareComponents,
    ListHardwareInterfaces,
    LoadController,
    SwitchController,
    UnloadController,
)
from lifecycle_msgs.msg import State
from rcl_interfaces.msg import IntegerRange, ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException, ParameterException
from rclpy.node import Node
from std_msgs.msg import String

from lfd_description.nodes.executor import BackgroundExecutor
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import LATCHED_QOS
from lfd_hardware.controllers import CONTROLLERS, Controller, ControllerError, ControllerState
from lfd_hardware.description import DescriptionError, parse_hardware
from lfd_hardware.drivers import DriverError
from lfd_hardware.hardware import ClaimRefused, Device, Hardware
from lfd_hardware.loop import ControlLoop, LoopStatistics

REMIND_EVERY = 10.0  # [s] between two warnings about the same thing
MISSED_SHARE = 0.01  # of all cycles; more is worth a warning
# Each running trajectory goal keeps one of these waiting, and a waiting thread costs nothing.
EXECUTOR_THREADS = 12
ANSWER_WITHIN = 2.0  # [s] that goals have, at the end of the node, to tell their clients how they ended


class ControllerManager(Node):
    """Loads, configures, switches and updates controllers, with the services of the official controller manager.

    Three kinds of threads: this node's services, one at a time; the controllers' goals and topics; and the loop.
    """

    def __init__(self) -> None:
        super().__init__('controller_manager')
        self._logger = self.get_logger()
        rate = self.declare_parameter(
            'update_rate',
            100,
            ParameterDescriptor(
                description='Rate of the update loop [Hz].',
                integer_range=[IntegerRange(from_value=1, to_value=1000, step=1)],
                read_only=True,
            ),
        ).value
        self._period = 1.0 / rate  # [s]
        self._hardware: Hardware | None = None
        self._urdf = ''
        self._controllers: dict[str, Controller] = {}
        self._active: tuple[Controller, ...] = ()
        self._lock = threading.Lock()  # held by the loop during a cycle, and by whoever changes what a cycle uses
        self._loop = ControlLoop(self._period, self._cycle, self._on_loop_error)
        self._callbacks = BackgroundExecutor(EXECUTOR_THREADS, self._on_callback_error)
        self._last_statistics = LoopStatistics(0, 0)
        self._refused_commands = 0
        self._description = self.create_subscription(String, 'robot_description', self._on_description, LATCHED_QOS)
        self.create_timer(REMIND_EVERY, self._remind)
        self._logger.info(f"Waiting for the URDF on '{self._description.topic_name}'.")

    def destroy_node(self) -> None:
        """Stop the loop, end and answer all goals, and let go of the hardware."""
        self._loop.stop()
        with self._lock:
            self._deactivate(self._active, 'ros2_control_node is ending')
        if not self._callbacks.close(ANSWER_WITHIN):
            self._logger.warning(f'Some goals were not answered within {ANSWER_WITHIN:g} s.')
        for controller in self._controllers.values():
            controller.destroy()
        if self._hardware is not None:
            self._report(self._hardware.close())
        super().destroy_node()

    # Hardware

    def _on_description(self, message: Any) -> None:
        if self._hardware is not None:
            if message.data != self._urdf:
                self._logger.warning('Ignored a new robot_description: restart this node to change the hardware.')
            return
        try:
            hardware = Hardware(parse_hardware(message.data))
        except (DescriptionError, DriverError) as error:
            self._logger.error(f'{error} (Waiting for a better robot_description.)')
            return
        if failed := hardware.read(self._period):
            self._report(failed)
            self._report(hardware.close())
            return
        self._hardware, self._urdf = hardware, message.data
        self._make_services()
        self._loop.start()
        names = ', '.join(f"'{d.component.name}' ({d.component.plugin})" for d in hardware.devices)
        self._logger.info(f'Hardware {names} is active, updated at {1.0 / self._period:g} Hz.')

    def _remind(self) -> None:
        if self._hardware is None:
            self._logger.warning(
                f"Still waiting for a usable URDF on '{self._description.topic_name}' (std_msgs/String, transient "
                'local): is robot_state_publisher running?'
            )
            return
        now, before = self._loop.statistics, self._last_statistics
        self._last_statistics = now
        cycles, missed = now.cycles - before.cycles, now.missed - before.missed
        if missed > MISSED_SHARE * (cycles + missed):
            self._logger.warning(
                f'The loop missed {missed} of {cycles + missed} cycles in the last {REMIND_EVERY:g} s '
                '(trajectories run late by as much): the machine is too busy for the update_rate.'
            )
        refused = self._hardware.refused_commands
        if refused > self._refused_commands:
            self._logger.warning(
                f'{refused - self._refused_commands} commands were NaN or infinite and did not reach the hardware.'
            )
            self._refused_commands = refused

    # The loop

    def _cycle(self) -> None:
        hardware = self._hardware
        if hardware is None:
            return
        with self._lock:
            self._give_up(hardware.read(self._period))
            self._deactivate([each for each in self._active if not self._update(each)], 'its update failed')
            self._give_up(hardware.write())

    def _update(self, controller: Controller) -> bool:
        try:
            controller.update()
        except Exception as error:  # one controller's mistake must not stop the others
            self._logger.error(f"'{controller.name}' failed and is deactivated: {error}\n{traceback.format_exc()}")
            return False
        return True

    def _give_up(self, failed: Sequence[Device]) -> None:
        """Deactivate the controllers that use devices which failed; the lock is held."""
        self._report(failed)
        for device in failed:
            component = device.component
            lost = {*component.state_interfaces, *component.command_interfaces}
            users = [each for each in self._active if lost & {*each.state_interfaces(), *each.command_interfaces()}]
            self._deactivate(users, f"hardware '{component.name}' failed")

    def _report(self, failed: Sequence[Device]) -> None:
        for device in failed:
            self._logger.error(f"Hardware '{device.component.name}' failed: {device.failure}")

    def _on_callback_error(self, error: Exception) -> None:
        self._logger.error(f'A callback failed: {error}')

    def _on_loop_error(self, error: Exception) -> None:
        self._logger.error(f'The update loop failed in a cycle and goes on: {error}')

    def _activate(self, controller: Controller, hardware: Hardware) -> None:
        """Make active; the lock is held."""
        controller.activate()
        hardware.claim(controller.name, controller.command_interfaces())
        controller.state = ControllerState.ACTIVE
        self._active = (*self._active, controller)
        self._logger.info(f"Activated '{controller.name}'.")

    def _deactivate(self, controllers: Sequence[Controller], reason: str) -> None:
        """Make inactive, and send what they command last while it is still theirs to command; the lock is held."""
        if not controllers:
            return
        hardware = self._ready_hardware()
        self._active = tuple(each for each in self._active if each not in controllers)
        for controller in controllers:
            controller.state = ControllerState.INACTIVE
            try:
                controller.deactivate(reason)
            except Exception as error:  # the others must stop all the same
                self._logger.error(f"'{controller.name}' failed to stop: {error}\n{traceback.format_exc()}")
        failed = hardware.write()
        for controller in controllers:
            hardware.release(controller.name)
            self._logger.info(f"Deactivated '{controller.name}': {reason}.")
        self._give_up(failed)

    # Services; they share one mutually exclusive callback group, so that they never overlap

    def _make_services(self) -> None:
        self._serve(ListControllers, 'list_controllers', self._on_list_controllers)
        self._serve(ListControllerTypes, 'list_controller_types', self._on_list_types)
        self._serve(ListHardwareComponents, 'list_hardware_components', self._on_list_components)
        self._serve(ListHardwareInterfaces, 'list_hardware_interfaces', self._on_list_interfaces)
        self._serve(LoadController, 'load_controller', self._on_load)
        self._serve(ConfigureController, 'configure_controller', self._on_configure)
        self._serve(SwitchController, 'switch_controller', self._on_switch)
        self._serve(UnloadController, 'unload_controller', self._on_unload)

    def _serve(self, kind: Any, name: str, answer: Callable[[Any, Any], Any]) -> None:
        def guarded(request: Any, response: Any) -> Any:
            try:
                return answer(request, response)
            except Exception as error:  # a mistake in a service must not end the node under a moving robot
                self._logger.error(f"'{name}' failed: {error}\n{traceback.format_exc()}")
                return response

        self.create_service(kind, f'~/{name}', guarded)

    def _on_load(self, request: Any, response: Any) -> Any:
        response.ok = self._try(lambda: self._load(request.name))
        return response

    def _on_configure(self, request: Any, response: Any) -> Any:
        response.ok = self._try(lambda: self._configure(request.name))
        return response

    def _on_unload(self, request: Any, response: Any) -> Any:
        response.ok = self._try(lambda: self._unload(request.name))
        return response

    def _on_switch(self, request: Any, response: Any) -> Any:
        best_effort = request.strictness in (0, SwitchController.Request.BEST_EFFORT)
        problems = self._switch(request.deactivate_controllers, request.activate_controllers, best_effort)
        for problem in problems:
            self._logger.error(problem)
        response.ok = not problems or best_effort
        response.message = ' '.join(problems)
        return response

    def _on_list_controllers(self, _: Any, response: Any) -> Any:
        with self._lock:
            response.controller = [self._describe(controller) for controller in self._controllers.values()]
        return response

    def _on_list_types(self, _: Any, response: Any) -> Any:
        response.types = list(CONTROLLERS)
        response.base_classes = ['controller_interface::ControllerInterface'] * len(CONTROLLERS)
        return response

    def _on_list_components(self, _: Any, response: Any) -> Any:
        hardware = self._ready_hardware()
        for device in hardware.devices:
            component = device.component
            state = (
                State(id=State.PRIMARY_STATE_ACTIVE, label='active')
                if device.active
                else State(id=State.PRIMARY_STATE_UNCONFIGURED, label='unconfigured')
            )
            response.component.append(
                HardwareComponentState(
                    name=component.name,
                    type=component.type,
                    plugin_name=component.plugin,
                    rw_rate=round(1.0 / self._period),
                    state=state,
                    command_interfaces=[_command_interface(hardware, name) for name in component.command_interfaces],
                    state_interfaces=[_state_interface(hardware, name) for name in component.state_interfaces],
                )
            )
        return response

    def _on_list_interfaces(self, _: Any, response: Any) -> Any:
        hardware = self._ready_hardware()
        response.command_interfaces = [_command_interface(hardware, name) for name in hardware.commands]
        response.state_interfaces = [_state_interface(hardware, name) for name in hardware.states]
        return response

    def _describe(self, controller: Controller) -> Any:
        hardware = self._ready_hardware()
        configured = controller.state is not ControllerState.UNCONFIGURED
        return ControllerStateMessage(
            name=controller.name,
            type=controller.type_name,
            state=controller.state.value,
            update_rate=round(1.0 / self._period),
            claimed_interfaces=list(hardware.claimed_by(controller.name)),
            required_command_interfaces=list(controller.command_interfaces()) if configured else [],
            required_state_interfaces=list(controller.state_interfaces()) if configured else [],
        )

    # The steps behind the services; each raises ControllerError with one sentence

    def _try(self, step: Any) -> bool:
        try:
            step()
        except ControllerError as error:
            self._logger.error(str(error))
            return False
        return True

    def _load(self, name: str) -> None:
        if name in self._controllers:
            raise ControllerError(f"'{name}' is loaded already: unload it first.")
        parameter = f'{name}.type'
        try:
            if not self.has_parameter(parameter):
                self.declare_parameter(parameter, '', ParameterDescriptor(description=f"Plugin of '{name}'."))
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise ControllerError(f"'{parameter}' of controller_manager is not a string: correct it.") from error
        kind = self.get_parameter(parameter).value
        if kind not in CONTROLLERS:
            given = f"is '{kind}'" if kind else 'is not in the parameter file'
            raise ControllerError(f"'{parameter}' of controller_manager {given}: use one of {', '.join(CONTROLLERS)}.")
        controller = CONTROLLERS[kind](name, self._ready_hardware(), self._period)
        self._controllers[name] = controller
        self._callbacks.add_node(controller.node)
        self._logger.info(f"Loaded '{name}' ({kind}).")

    def _configure(self, name: str) -> None:
        controller = self._find(name)
        if controller.state is ControllerState.ACTIVE:
            raise ControllerError(f"'{name}' is active: deactivate it before configuring it.")
        if controller.state is ControllerState.INACTIVE:
            with self._lock:
                controller.state = ControllerState.UNCONFIGURED
            controller.cleanup()
        controller.configure()
        with self._lock:
            controller.state = ControllerState.INACTIVE
        self._logger.info(f"Configured '{name}'.")
        if ignored := controller.ignored_parameters():
            self._logger.warning(f"'{name}' does not know these parameters and ignores them: {', '.join(ignored)}.")

    def _switch(self, stop: Sequence[str], start: Sequence[str], best_effort: bool) -> list[str]:
        """Deactivate, then activate; return what was wrong. Unless ``best_effort``, all happens or nothing does.

        A controller that is to do both is restarted.
        """
        hardware = self._ready_hardware()
        problems: list[str] = []
        with self._lock:
            leaving = [each for each in self._switchable(stop, problems) if each in self._active]
            staying = [each for each in self._active if each not in leaving]
            coming = [each for each in self._switchable(start, problems) if each not in staying]
            coming = self._admitted(hardware, leaving, coming, problems)
            if problems and not best_effort:
                return problems
            self._deactivate(leaving, 'a switch of controllers asked for it')
            for controller in coming:
                self._activate(controller, hardware)
        return problems

    @staticmethod
    def _admitted(
        hardware: Hardware, leaving: Sequence[Controller], coming: Sequence[Controller], problems: list[str]
    ) -> list[Controller]:
        """Those of ``coming`` whose interfaces will be there and free once ``leaving`` have left."""
        gone = {controller.name for controller in leaving}
        owners = {name: owner for name, owner in hardware.owners.items() if owner not in gone}
        admitted: list[Controller] = []
        for controller in coming:
            try:
                hardware.check_states(
                    controller.name, controller.state_interfaces(), finite=controller.needs_finite_states
                )
                hardware.check_claim(controller.name, controller.command_interfaces(), owners)
            except ClaimRefused as refusal:
                problems.append(str(refusal))
            else:
                owners.update(dict.fromkeys(controller.command_interfaces(), controller.name))
                admitted.append(controller)
        return admitted

    def _switchable(self, names: Sequence[str], problems: list[str]) -> list[Controller]:
        """The controllers of these names, each once, that can be switched at all."""
        found: list[Controller] = []
        for name in dict.fromkeys(names):
            controller = self._controllers.get(name)
            if controller is None:
                problems.append(f"There is no controller '{name}': load it first.")
            elif controller.state is ControllerState.UNCONFIGURED:
                problems.append(f"'{name}' is not configured: configure it first.")
            else:
                found.append(controller)
        return found

    def _unload(self, name: str) -> None:
        controller = self._find(name)
        if controller.state is ControllerState.ACTIVE:
            raise ControllerError(f"'{name}' is active: deactivate it before unloading it.")
        with self._lock:
            configured = controller.state is ControllerState.INACTIVE
            controller.state = ControllerState.UNCONFIGURED
            del self._controllers[name]
        self._callbacks.remove_node(controller.node)
        if configured:
            controller.cleanup()
        controller.destroy()
        self._logger.info(f"Unloaded '{name}'.")

    def _find(self, name: str) -> Controller:
        controller = self._controllers.get(name)
        if controller is None:
            raise ControllerError(f"There is no controller '{name}': load it first.")
        return controller

    def _ready_hardware(self) -> Hardware:
        if self._hardware is None:
            raise ControllerError('There is no hardware yet: publish robot_description first.')
        return self._hardware


def _command_interface(hardware: Hardware, name: str) -> Any:
    return HardwareInterface(
        name=name, data_type='double', is_available=hardware.is_available(name), is_claimed=hardware.is_claimed(name)
    )


def _state_interface(hardware: Hardware, name: str) -> Any:
    return HardwareInterface(name=name, data_type='double', is_available=hardware.is_available(name))


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code."""
    return run_until_signal('ros2_control_node', ControllerManager, args, refusals=(ParameterException,))


if __name__ == '__main__':
    sys.exit(main())
