"""The node ``controller_manager``: hardware from ``robot_description``, controllers by service, one update loop."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import String

from lfd_description.nodes.executor import BackgroundExecutor
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import LATCHED_QOS
from lfd_hardware.chores import Chores
from lfd_hardware.description import DescriptionError, parse_hardware
from lfd_hardware.device import DeviceState
from lfd_hardware.drivers import DriverError
from lfd_hardware.hardware import Hardware
from lfd_hardware.loop import ControlLoop, LoopStatistics
from lfd_hardware.manager import Manager
from lfd_hardware.nodes.controller_services import ControllerServices
from lfd_hardware.nodes.diagnostics import Diagnostics
from lfd_hardware.nodes.hardware_services import HardwareServices
from lfd_hardware.nodes.industrial import IndustrialNames

DEFAULT_RATE = 500  # [Hz]
REMIND_EVERY = 10.0  # [s] between two warnings about the same thing
# Each running trajectory goal keeps one of these waiting, and a waiting thread costs nothing.
EXECUTOR_THREADS = 12
SERVICE_THREADS = 8  # of which some may wait for devices
ANSWER_WITHIN = 2.0  # [s] that goals have, at the end of the node, to tell their clients how they ended
UP_WITHIN = 20.0  # [s] that devices have to come up before the services are offered without them
CLOSE_WITHIN = 3.0  # [s] that devices have to let go at the end
SWITCH_INTERVAL = 0.0005  # [s] after which a busy thread of Python must let the update loop have its turn
ENDING = 'ros2_control_node is ending'


class ControllerManager(Node):
    """Loads, configures, switches and updates controllers, with the services of the official controller manager.

    Five kinds of threads: this node's services; the controllers' goals and topics; the steps of devices; the chores;
    and the loop. The services come when every device is up, or has failed, so that whoever waits for them finds the
    hardware ready.
    """

    def __init__(self) -> None:
        super().__init__('controller_manager')
        self._logger = self.get_logger()
        rate = self.declare_parameter(
            'update_rate',
            DEFAULT_RATE,
            ParameterDescriptor(
                description='Rate of the update loop [Hz].',
                integer_range=[IntegerRange(from_value=1, to_value=1000, step=1)],
                read_only=True,
            ),
        ).value
        self._period = 1.0 / rate  # [s]
        self._first_states = {
            state: self._names_to_be(state) for state in (DeviceState.UNCONFIGURED, DeviceState.INACTIVE)
        }
        self._manager: Manager | None = None
        self._urdf = ''
        self._ending = threading.Event()
        self._lock = threading.Lock()  # held by the loop during a cycle, and by whoever changes what a cycle uses
        self._loop = ControlLoop(self._period, self._cycle, self._on_loop_error)
        self._callbacks = BackgroundExecutor(EXECUTOR_THREADS, self._on_callback_error)
        self._controller_services: ControllerServices | None = None
        self._last_statistics = LoopStatistics(0, 0)
        self._refused_commands = 0
        self._description = self.create_subscription(String, 'robot_description', self._on_description, LATCHED_QOS)
        self._chores = Chores(self._on_callback_error)
        self._chores.every(REMIND_EVERY, self._remind)
        self._logger.info(f"Waiting for the URDF on '{self._description.topic_name}'.")

    def come_to_rest(self) -> None:
        """Bring every controller to rest and end its goals; nothing moves after this."""
        self._ending.set()
        self._chores.stop()
        if self._manager is not None:
            self._manager.shut_down(ENDING)

    def destroy_node(self) -> None:
        """Come to rest, answer all goals, stop the loop and let go of the hardware."""
        self.come_to_rest()
        self._loop.stop()
        if not self._callbacks.close(ANSWER_WITHIN):
            self._logger.warning(f'Some goals were not answered within {ANSWER_WITHIN:g} s.')
        if self._controller_services is not None:
            self._controller_services.destroy()
        if self._manager is not None:
            for device in self._manager.hardware.close(CLOSE_WITHIN):
                self._logger.error(f"Hardware '{device.name}' does not let go: it {device.why_not}.")
        super().destroy_node()

    # Hardware

    def _names_to_be(self, state: DeviceState) -> list[str]:
        """The devices that a parameter of the official name wants in a state other than active at the start."""
        name = f'hardware_components_initial_state.{state.label}'
        kind = Parameter.Type.STRING_ARRAY
        descriptor = ParameterDescriptor(description=f'Hardware to be {state.label} at the start.', type=kind.value)
        return list(self.declare_parameter(name, kind, descriptor).value or [])

    def _on_description(self, message: Any) -> None:
        if self._manager is not None:
            if message.data != self._urdf:
                self._logger.warning('Ignored a new robot_description: restart this node to change the hardware.')
            return
        try:
            hardware = Hardware(parse_hardware(message.data), self._period, self._lock)
        except (DescriptionError, DriverError) as error:
            self._logger.error(f'{error} (Waiting for a better robot_description.)')
            return
        self._urdf = message.data
        self._manager = Manager(hardware, self._period, self._lock, self._logger)
        self._up_until = time.monotonic() + UP_WITHIN
        for device in hardware.devices:
            first = [state for state, names in self._first_states.items() if device.name in names]
            self._manager.bring_up(device, first[0] if first else DeviceState.ACTIVE)
        self._loop.start()
        self._chores.every(0.0, self._when_up)

    def _when_up(self) -> None:
        """Offer the services once no device is on its way up."""
        if self._manager is None or self._controller_services is not None:
            return
        devices = self._manager.hardware.devices
        is_up = all(each.step is None and (each.is_fresh or not each.connected) for each in devices)
        if not is_up and time.monotonic() < self._up_until:
            return
        for device in devices:
            if device.step is not None:
                self._logger.error(f"Hardware '{device.name}' {device.why_not}; going on without it.")
        self._controller_services = ControllerServices(self, self._manager, self._callbacks)
        HardwareServices(self, self._manager, self._controller_services, self._chores, self._ending.is_set)
        IndustrialNames(self, self._manager)
        Diagnostics(self, self._manager, self._loop, self._controller_services, self._chores)
        self._logger.info(f'{len(devices)} hardware components, updated at {1.0 / self._period:g} Hz.')

    def _remind(self) -> None:
        if self._manager is None:
            self._logger.warning(
                f"Still waiting for a usable URDF on '{self._description.topic_name}' (std_msgs/String, transient "
                'local): is robot_state_publisher running?'
            )
            return
        now, before = self._loop.statistics, self._last_statistics
        self._last_statistics = now
        cycles = now.since(before)
        if cycles.misses_much:
            self._logger.warning(
                f'The loop missed {cycles.missed} of {cycles.due} cycles in the last {REMIND_EVERY:g} s '
                '(trajectories run late by as much): the machine is too busy for the update_rate.'
            )
        if cycles.ran == 0 and (stuck := self._manager.hardware.waits_for):
            self._logger.error(f"The update loop hangs in the driver of '{stuck}': restart this node.")
        refused = self._manager.hardware.refused_commands
        if refused > self._refused_commands:
            self._logger.warning(
                f'{refused - self._refused_commands} commands were NaN or infinite and did not reach the hardware.'
            )
            self._refused_commands = refused

    # The loop

    def _cycle(self) -> None:
        if self._manager is not None:
            self._manager.cycle()

    def _on_callback_error(self, error: Exception) -> None:
        self._logger.error(f'A callback failed: {error}')

    def _on_loop_error(self, error: Exception) -> None:
        self._logger.error(f'The update loop failed in a cycle and goes on: {error}')


def main(args: Sequence[str] | None = None) -> int:
    """Run until SIGINT or SIGTERM; return the exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.freeze()  # what is there by now stays: the collector need not look at it in the middle of a cycle
    return run_until_signal(
        'ros2_control_node',
        ControllerManager,
        args,
        refusals=(ParameterException,),
        threads=SERVICE_THREADS,
        on_stop=ControllerManager.come_to_rest,
    )


if __name__ == '__main__':
    sys.exit(main())
