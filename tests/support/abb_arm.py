"""The IRB 1600 on ABB hardware, as its description has it, for a driver that meets a simulator."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

from lfd_description.robots import find_robot, robot_description
from lfd_hardware.description import HardwareDescription, parse_hardware
from lfd_hardware.drivers.abb import AbbDriver
from support.abb_simulator import AbbSimulator

TIMEOUT = 30.0  # [s], generous: a loaded machine must not fail a test


@cache
def _irb1600() -> HardwareDescription:
    return parse_hardware(robot_description(find_robot('irb1600'), hardware='abb', robot_ip='127.0.0.1'))


def abb_hardware(**parameters: object) -> HardwareDescription:
    """The arm's hardware with other parameters of the tag; those that are None are left out."""
    description = _irb1600()
    component = description.components[0]
    changed = {**component.parameters, **{key: str(value) for key, value in parameters.items() if value is not None}}
    kept = {key: value for key, value in changed.items() if key not in parameters or parameters[key] is not None}
    return replace(description, components=(replace(component, parameters=kept),))


def abb_driver(simulator: AbbSimulator, **parameters: object) -> AbbDriver:
    """A driver for a simulator; patient, unless told otherwise, because tests share their machine."""
    usual = {
        'rws_port': simulator.rws.port,
        'rws_version': simulator.rws.version,
        'egm_port': 0,
        'state_limit': 1.0,
        'connect_timeout': 10.0,
    }
    return AbbDriver(abb_hardware(**{**usual, **parameters}).components[0])


def connect(driver: AbbDriver, simulator: AbbSimulator) -> None:
    """Configure the driver, and the controller's UDPUC device for it."""
    driver.configure()
    simulator.send_to(driver.egm_port)


def eventually(condition: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f'waited in vain for {what}'
        time.sleep(0.005)
