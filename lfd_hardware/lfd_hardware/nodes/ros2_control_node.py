"""The node ``controller_manager``: hardware from ``robot_description``, controllers by service, one update loop."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

import rclpy
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
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from lfd_hardware.controllers import CONTROLLERS, Controller, ControllerError, ControllerState
from lfd_hardware.description import DescriptionError, parse_hardware
from lfd_hardware.drivers import DriverError
from lfd_hardware.hardware import ClaimRefused, Hardware
from lfd_hardware.loop import ControlLoop, LoopStatistics

DESCRIPTION_QOS = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
REMIND_EVERY = 10.0  # [s] between two warnings about the same thing
MISSED_SHARE = 0.01  # of all cycles; more is worth a warning
# Each running trajectory goal keeps one of these waiting, and a waiting thread costs nothing.
EXECUTOR_THREADS = 12


class ControllerManager:
    """Loads, configures, switches and updates controllers, with the services of the official controller manager."""

    def __init__(self) -> None:
        self.node = Node('controller_manager')
        self._logger = self.node.get_logger()
        rate = self.node.declare_parameter(
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
        self._last_statistics = LoopStatistics(0, 0, 0.0)
        self._refused_commands = 0
        self._description = self.node.create_subscription(
            String, 'robot_description', self._on_description, DESCRIPTION_QOS
        )
        self.node.create_timer(REMIND_EVERY, self._remind)
        self._logger.info(f"Waiting for the URDF on '{self._description.topic_name}'.")

    def close(self) -> None:
        """Stop the loop, end all goals and let go of the hardware."""
        self._loop.stop()
        with self._lock:
            for controller in self._active:
                self._deactivate(controller)
        for controller in self._controllers.values():
            controller.destroy()
        if self._hardware is not None:
            self._hardware.close()

    # Hardware

    def _on_description(self, message: Any) -> None:
        if self._hardware is not None:
            if message.data != self._urdf:
                self._logger.warning('Ignored a new robot_description: restart this node to change the hardware.')
            return
        try:
            hardware = Hardware(parse_hardware(message.data))
            hardware.read(self._period)
        except (DescriptionError, DriverError) as error:
            self._logger.error(f'{error} (Waiting for a better robot_description.)')
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
            try:
                hardware.read(self._period)
                for controller in self._active:
                    self._update(controller)
                hardware.write()
            except DriverError as error:
                self._logger.error(f'The hardware failed: {error} All controllers are deactivated.')
                for controller in self._active:
                    self._deactivate(controller)

    def _update(self, controller: Controller) -> None:
        try:
            controller.update()
        except Exception as error:  # one controller's mistake must not stop the others
            self._logger.error(f"'{controller.name}' failed and is deactivated: {error}\n{traceback.format_exc()}")
            self._deactivate(controller)

    def _on_loop_error(self, error: Exception) -> None:
        self._logger.error(f'The update loop failed in a cycle and goes on: {error}')

    def _activate(self, controller: Controller, hardware: Hardware) -> None:
        """Make active; the lock is held."""
        hardware.claim(controller.name, controller.command_interfaces())
        controller.activate()
        controller.state = ControllerState.ACTIVE
        self._active = (*self._active, controller)

    def _deactivate(self, controller: Controller) -> None:
        """Make inactive; the lock is held."""
        controller.state = ControllerState.INACTIVE
        self._active = tuple(other for other in self._active if other is not controller)
        try:
            controller.deactivate()
        finally:
            if self._hardware is not None:
                self._hardware.release(controller.name)

    # Services; they share one mutually exclusive callback group, so that they never overlap

    def _make_services(self) -> None:
        self.node.create_service(ListControllers, '~/list_controllers', self._on_list_controllers)
        self.node.create_service(ListControllerTypes, '~/list_controller_types', self._on_list_types)
        self.node.create_service(ListHardwareComponents, '~/list_hardware_components', self._on_list_components)
        self.node.create_service(ListHardwareInterfaces, '~/list_hardware_interfaces', self._on_list_interfaces)
        self.node.create_service(LoadController, '~/load_controller', self._on_load)
        self.node.create_service(ConfigureController, '~/configure_controller', self._on_configure)
        self.node.create_service(SwitchController, '~/switch_controller', self._on_switch)
        self.node.create_service(UnloadController, '~/unload_controller', self._on_unload)

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
            states = [f'{part.name}/{i.name}' for part in component.parts for i in part.state_interfaces]
            commands = [f'{part.name}/{i.name}' for part in component.parts for i in part.command_interfaces]
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
                    command_interfaces=[self._interface(n, device.active, hardware.is_claimed(n)) for n in commands],
                    state_interfaces=[self._interface(n, device.active, False) for n in states],
                )
            )
        return response

    def _on_list_interfaces(self, _: Any, response: Any) -> Any:
        hardware = self._ready_hardware()
        response.command_interfaces = [self._interface(n, True, hardware.is_claimed(n)) for n in hardware.commands]
        response.state_interfaces = [self._interface(n, True, False) for n in hardware.states]
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

    @staticmethod
    def _interface(name: str, available: bool, claimed: bool) -> Any:
        return HardwareInterface(name=name, data_type='double', is_available=available, is_claimed=claimed)

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
            if not self.node.has_parameter(parameter):
                self.node.declare_parameter(parameter, '', ParameterDescriptor(description=f"Plugin of '{name}'."))
        except (InvalidParameterTypeException, InvalidParameterValueException) as error:
            raise ControllerError(f"'{parameter}' of controller_manager is not a string: correct it.") from error
        kind = self.node.get_parameter(parameter).value
        if kind not in CONTROLLERS:
            given = f"is '{kind}'" if kind else 'is not in the parameter file'
            raise ControllerError(f"'{parameter}' of controller_manager {given}: use one of {', '.join(CONTROLLERS)}.")
        controller = CONTROLLERS[kind](name, self._ready_hardware(), self._period)
        self._controllers[name] = controller
        self.node.executor.add_node(controller.node)
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

    def _switch(self, stop: Sequence[str], start: Sequence[str], best_effort: bool) -> list[str]:
        """Deactivate, then activate; return what was wrong. Unless ``best_effort``, all happens or nothing does."""
        hardware = self._ready_hardware()
        problems: list[str] = []
        with self._lock:
            leaving = [c for name in stop if (c := self._switchable(name, problems)) and c in self._active]
            coming = [c for name in start if (c := self._switchable(name, problems)) and c not in self._active]
            coming = self._admitted(hardware, leaving, coming, problems)
            if problems and not best_effort:
                return problems
            for controller in leaving:
                self._deactivate(controller)
            for controller in coming:
                self._activate(controller, hardware)
        for verb, controllers in (('Deactivated', leaving), ('Activated', coming)):
            for controller in controllers:
                self._logger.info(f"{verb} '{controller.name}'.")
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
                hardware.check_states(controller.name, controller.state_interfaces())
                hardware.check_claim(controller.name, controller.command_interfaces(), owners)
            except ClaimRefused as refusal:
                problems.append(str(refusal))
            else:
                owners.update(dict.fromkeys(controller.command_interfaces(), controller.name))
                admitted.append(controller)
        return admitted

    def _switchable(self, name: str, problems: list[str]) -> Controller | None:
        controller = self._controllers.get(name)
        if controller is None:
            problems.append(f"There is no controller '{name}': load it first.")
        elif controller.state is ControllerState.UNCONFIGURED:
            problems.append(f"'{name}' is not configured: configure it first.")
        else:
            return controller
        return None

    def _unload(self, name: str) -> None:
        controller = self._find(name)
        if controller.state is ControllerState.ACTIVE:
            raise ControllerError(f"'{name}' is active: deactivate it before unloading it.")
        with self._lock:
            configured = controller.state is ControllerState.INACTIVE
            controller.state = ControllerState.UNCONFIGURED
            del self._controllers[name]
        self.node.executor.remove_node(controller.node)
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


def _spin(executor: Any, logger: Any) -> None:
    """Serve callbacks until the executor is shut down; a callback that fails is reported and the others go on."""
    while True:
        try:
            executor.spin()
        except ExternalShutdownException:
            return
        except Exception as error:
            logger.error(f'A callback failed: {error}')
        else:
            return


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        manager = ControllerManager()
    except Exception as error:  # rclpy raises many kinds for a bad command line or parameter file
        print(f'ros2_control_node could not start: {error}', file=sys.stderr)
        rclpy.try_shutdown()
        return 1
    executor = MultiThreadedExecutor(num_threads=EXECUTOR_THREADS)
    executor.add_node(manager.node)
    spinner = threading.Thread(target=_spin, args=(executor, manager.node.get_logger()), name='executor', daemon=True)
    spinner.start()
    stop.wait()
    manager.close()
    executor.shutdown(timeout_sec=1.0)
    spinner.join(timeout=1.0)
    manager.node.destroy_node()
    rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
