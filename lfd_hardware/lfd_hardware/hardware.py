"""All devices of the robot as one table of interfaces, and who may command which."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lfd_hardware.description import Component, HardwareDescription, JointLimit
from lfd_hardware.drivers import Driver, DriverError, make_driver


class ClaimRefused(ValueError):
    """Interfaces that a controller asked for are missing, out of order, or belong to another controller."""


@dataclass
class Device:
    """A component and its driver."""

    component: Component
    driver: Driver
    failure: str | None = None  # why it is not used any more

    @property
    def active(self) -> bool:
        """Whether it still works."""
        return self.failure is None


class Hardware:
    """The table of state and command interfaces, named ``<part>/<interface>`` (``joint_1/position`` in rad).

    A device that fails is not used again, and the others go on. Not thread-safe: the controller manager holds one lock
    around the cycle and around every change of claims.
    """

    def __init__(self, description: HardwareDescription) -> None:
        self.description = description
        self.limits: Mapping[str, JointLimit] = description.limits
        self.devices = tuple(Device(component, make_driver(component)) for component in description.components)
        self.states: dict[str, float] = {}
        self.commands: dict[str, float] = {}
        self.refused_commands = 0  # commands that were NaN or infinite and never left this table
        self._owners: dict[str, str] = {}
        self._device_of: dict[str, Device] = {}
        for device in self.devices:
            component = device.component
            self.states.update(dict.fromkeys(component.state_interfaces, math.nan))
            self.commands.update(dict.fromkeys(component.command_interfaces, math.nan))
            self._device_of.update(dict.fromkeys((*component.state_interfaces, *component.command_interfaces), device))

    def read(self, period: float) -> list[Device]:
        """Refresh the states and return the devices that failed; ``period`` is the time since the last call [s]."""
        return _failing(self._active(), lambda device: self.states.update(device.driver.read(period)))

    def write(self) -> list[Device]:
        """Send what the owners commanded and return the devices that failed.

        A value that is NaN or infinite stays here and is counted.
        """
        return _failing(self._active(), self._write)

    def close(self) -> list[Device]:
        """Close every driver and return the devices that failed."""
        return _failing(self.devices, lambda device: device.driver.close())

    def claim(self, owner: str, names: Iterable[str]) -> None:
        """Give the command interfaces to one owner, all or none."""
        wanted = tuple(names)
        self.check_claim(owner, wanted, self._owners)
        self._owners.update(dict.fromkeys(wanted, owner))

    @property
    def owners(self) -> dict[str, str]:
        """Who has claimed which command interface."""
        return dict(self._owners)

    def check_claim(self, owner: str, names: Iterable[str], owners: Mapping[str, str]) -> None:
        """Raise ClaimRefused when a command interface cannot be used or, by ``owners``, is another's."""
        for name in names:
            self._check_usable(owner, 'command', name, self.commands)
            if owners.get(name, owner) != owner:
                raise ClaimRefused(
                    f"'{owner}' needs the command interface '{name}', which '{owners[name]}' has claimed: "
                    'deactivate that controller first.'
                )

    def release(self, owner: str) -> None:
        """Take all command interfaces back from an owner."""
        self._owners = {name: who for name, who in self._owners.items() if who != owner}

    def check_states(self, owner: str, names: Iterable[str], finite: bool = False) -> None:
        """Raise ClaimRefused when a state interface cannot be used or, if they must be ``finite``, has no value."""
        for name in names:
            self._check_usable(owner, 'state', name, self.states)
            if finite and not math.isfinite(self.states[name]):
                raise ClaimRefused(
                    f"'{owner}' needs the state interface '{name}', which is {self.states[name]}: "
                    'wait until the device reports a number.'
                )

    def claimed_by(self, owner: str) -> tuple[str, ...]:
        """The command interfaces of an owner, in the hardware's order."""
        return tuple(name for name in self.commands if self._owners.get(name) == owner)

    def is_claimed(self, name: str) -> bool:
        """Whether some controller owns this command interface."""
        return name in self._owners

    def is_available(self, name: str) -> bool:
        """Whether the device of this interface works."""
        return self._device_of[name].active

    def _active(self) -> tuple[Device, ...]:
        return tuple(device for device in self.devices if device.active)

    def _write(self, device: Device) -> None:
        finite: dict[str, float] = {}
        for name in device.component.command_interfaces:
            if name not in self._owners:
                continue
            if math.isfinite(self.commands[name]):
                finite[name] = self.commands[name]
            else:
                self.refused_commands += 1
        device.driver.write(finite)

    def _check_usable(self, owner: str, kind: str, name: str, table: Mapping[str, float]) -> None:
        if name not in table:
            raise ClaimRefused(
                f"'{owner}' needs the {kind} interface '{name}', which the hardware does not have: "
                f'it has {", ".join(table) or "none"}.'
            )
        device = self._device_of[name]
        if not device.active:
            raise ClaimRefused(
                f"'{owner}' needs the {kind} interface '{name}', but hardware '{device.component.name}' failed: "
                f'mend it and restart ros2_control_node. ({device.failure})'
            )


def _failing(devices: Iterable[Device], step: Callable[[Device], None]) -> list[Device]:
    """Take a step with every device; return those that failed in it, marked as failed."""
    failed: list[Device] = []
    for device in devices:
        try:
            step(device)
        except Exception as error:  # whatever one driver raises, the other devices must go on
            device.failure = str(error) if isinstance(error, DriverError) else repr(error)
            failed.append(device)
    return failed
