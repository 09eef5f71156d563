"""The UR5e on UR hardware, as its description has it, for a driver that meets a simulator."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from lfd_bringup import tether
from lfd_description.robots import find_robot, robot_description
from lfd_hardware.description import Component, HardwareDescription, parse_hardware
from lfd_hardware.drivers.ur import URDriver
from lfd_hardware.loop import ControlLoop
from support import ur_simulator
from support.peer import eventually
from support.process import Process, same_paths
from support.ur_simulator import URSimulator


@cache
def _ur5e() -> HardwareDescription:
    return parse_hardware(robot_description(find_robot('ur5e'), hardware='ur', robot_ip='127.0.0.1'))


def ur_hardware(**parameters: object) -> HardwareDescription:
    """The arm's hardware with other parameters of the tag; those that are None are left out."""
    description = _ur5e()
    component = description.components[0]
    changed = {**component.parameters, **{name: str(value) for name, value in parameters.items()}}
    kept = {name: value for name, value in changed.items() if parameters.get(name, '') is not None}
    return replace(description, components=(replace(component, parameters=kept),))


def ur_component(**parameters: object) -> Component:
    """The tag of that hardware."""
    return ur_hardware(**parameters).components[0]


def ports(simulator: URSimulator) -> dict[str, object]:
    """Where a simulator is, and patience, because tests share their machine."""
    return {
        'robot_ip': simulator.host,
        'rtde_port': simulator.rtde_port,
        'script_port': simulator.script_port,
        'dashboard_port': simulator.dashboard_port,
        'state_limit': 5.0,
        'robot_receive_timeout': 5.0,
    }


def ur_driver(simulator: URSimulator, **parameters: object) -> URDriver:
    """A driver for a simulator."""
    return URDriver(ur_component(**{**ports(simulator), **parameters}))


@contextmanager
def active_driver(simulator: URSimulator, **parameters: object) -> Iterator[URDriver]:
    """A driver that the arm follows."""
    driver = ur_driver(simulator, **parameters)
    try:
        driver.configure()
        driver.activate()
        yield driver
    finally:
        driver.close()


def simulator_process(*arguments: str) -> tuple[Process, dict[str, object]]:
    """A simulator as a process of its own that is ready, and the parameters of a tag that leads to it.

    It ends with the tests, however they end.
    """
    command = [sys.executable, '-u', tether.__file__, str(os.getpid()), ur_simulator.__file__, *arguments]
    process = Process(command, same_paths())
    eventually(lambda: 'dashboard' in process.output or not process.is_running, 'the simulator')
    words = process.output.split()
    assert words[::2] == ['rtde', 'script', 'dashboard'], process.output
    return process, {f'{name}_port': int(port) for name, port in zip(words[::2], words[1::2], strict=True)}


class Drive:
    """A driver in a loop of its own, as the controller manager runs it, with one joint that swings or what it is told.

    The loop goes on until the driver raises; ``error`` is what it said.
    """

    def __init__(self, driver: URDriver, rate: float = 500.0, path: Callable[[int], float] | None = None) -> None:
        self.driver = driver
        self.period = 1.0 / rate  # [s]
        self.error: Exception | None = None
        self.states: Mapping[str, float] = {}
        self.cycles = 0
        self.writes = True
        self.commands: dict[str, float] = {}
        self._path = path or self._swing
        self._first: dict[str, float] = {}
        self._raised = threading.Event()
        self._loop = ControlLoop(self.period, self._cycle, self._fail)

    def __enter__(self) -> Drive:
        self._loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop.stop(30.0)

    def moves(self, cycles: int = 50) -> Drive:
        """Wait until it has run for a while."""
        target = self.cycles + cycles
        eventually(lambda: self.cycles >= target or self.error, 'cycles of the loop')
        assert self.error is None, self.error
        return self

    def fails(self) -> str:
        """Wait for the error, and return its sentence."""
        assert self._raised.wait(30.0), 'the driver raised nothing'
        return str(self.error)

    def _swing(self, cycle: int) -> float:
        """How far [rad] the first joint is from its start: 0.4 rad/s at most."""
        return 0.2 * (1.0 - math.cos(2.0 * cycle * self.period))

    def _cycle(self) -> None:
        if self.error is not None:
            return
        self.states = self.driver.read(self.period)
        if not self._first:
            names = [f'{joint.name}/position' for joint in self.driver.component.joints]
            self._first = {name: self.states[name] for name in names}
        commands = dict(self._first)
        commands[next(iter(commands))] += self._path(self.cycles)
        if self.writes:
            self.commands = commands
            self.driver.write(commands)
        self.cycles += 1

    def _fail(self, error: Exception) -> None:
        self.error = error
        self._raised.set()
