"""``/diagnostics``: how the update loop, the devices and the controllers are, once a second."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile

from lfd_hardware.chores import Chores
from lfd_hardware.device import DeviceState
from lfd_hardware.loop import ControlLoop, LoopStatistics
from lfd_hardware.manager import Manager
from lfd_hardware.nodes.controller_services import ControllerServices

TELL_EVERY = 1.0  # [s]
DIAGNOSTICS_QOS = QoSProfile(depth=10)


class Diagnostics:
    """Publishes three statuses, named as the official controller manager names its own."""

    def __init__(
        self, node: Node, manager: Manager, loop: ControlLoop, controllers: ControllerServices, chores: Chores
    ) -> None:
        self._node = node
        self._manager = manager
        self._loop = loop
        self._controllers = controllers
        self._before = LoopStatistics(0, 0)
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', DIAGNOSTICS_QOS)
        chores.every(TELL_EVERY, self._tell)

    def _tell(self) -> None:
        message = DiagnosticArray(status=[self._of_controllers(), self._of_hardware(), self._of_loop()])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)

    def _of_controllers(self) -> Any:
        states = {each.name: each.state.value for each in self._controllers.controllers.values()}
        level = DiagnosticStatus.OK if states else DiagnosticStatus.WARN
        summary = f'{len(self._manager.active)} of {len(states)} controllers are active'
        return self._status('Controllers Activity', level, summary, states)

    def _of_hardware(self) -> Any:
        devices = self._manager.hardware.devices
        values = {each.name: each.state.label for each in devices}
        values |= {f'{each.name} failure': each.failure for each in devices if each.failure is not None}
        failed = [each.name for each in devices if each.failure is not None]
        idle = [each.name for each in devices if each.state is not DeviceState.ACTIVE]
        if failed:
            return self._status('Hardware Components Activity', DiagnosticStatus.ERROR, f'{failed[0]} failed', values)
        if idle:
            text = f'{idle[0]} is not active'
            return self._status('Hardware Components Activity', DiagnosticStatus.WARN, text, values)
        return self._status('Hardware Components Activity', DiagnosticStatus.OK, 'all hardware is active', values)

    def _of_loop(self) -> Any:
        now, before = self._loop.statistics, self._before
        self._before = now
        cycles = now.since(before)
        level, text = DiagnosticStatus.OK, 'the update loop keeps its rate'
        if cycles.ran == 0:
            level, text = DiagnosticStatus.ERROR, f"the update loop hangs in '{self._manager.hardware.waits_for}'"
        elif cycles.misses_much:
            level, text = DiagnosticStatus.WARN, f'the update loop missed {cycles.missed} of {cycles.due} cycles'
        return self._status('Controller Manager Activity', level, text, loop_values(now, self._manager.period))

    def _status(self, name: str, level: bytes, text: str, values: dict[str, str]) -> Any:
        return DiagnosticStatus(
            level=level,
            name=f'{self._node.get_name()}: {name}',
            message=text,
            hardware_id='',
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )


def loop_values(statistics: LoopStatistics, period: float) -> dict[str, str]:
    """The loop's figures, with their units in the names."""
    spreads = {'period': statistics.period, 'cycle duration': statistics.duration}
    return {
        'update rate [Hz]': f'{1.0 / period:g}',
        'cycles': str(statistics.cycles),
        'missed cycles': str(statistics.missed),
        'overruns': str(statistics.overruns),
        **{
            f'{name} {part} [us]': f'{getattr(spread, part) * 1e6:.1f}'
            for name, spread in spreads.items()
            for part in ('p50', 'p99', 'max')
        },
    }
