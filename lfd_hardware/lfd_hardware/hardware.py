"""All devices of the robot as one table of interfaces, and who may command which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lfd_hardware.description import Component, HardwareDescription, JointLimit
from lfd_hardware.drivers import Driver, DriverError, make_driver


class ClaimRefused(ValueError):  # noqa: N818  (reads as what happened)
    """Interfaces that a controller asked for are missing or belong to another controller."""


@dataclass
class Device:
    """A component, its driver, and whether it still works."""

    component: Component
    driver: Driver
    active: bool = True


class Hardware:
    """The table of state and command interfaces, named ``<part>/<interface>`` (``joint_1/position`` in rad).

    Not thread-safe: the controller manager holds one lock around the cycle and around every change of claims.
    """

    def __init__(self, description: HardwareDescription) -> None:
        self.description = description
        self.limits: Mapping[str, JointLimit] = description.limits
        self.devices = tuple(Device(component, make_driver(component)) for component in description.components)
        self.states: dict[str, float] = {}
        self.commands: dict[str, float] = {}
        self.refused_commands = 0  # commands that were NaN or infinite and never left this table
        self._owners: dict[str, str] = {}
        for device in self.devices:
            for part in device.component.parts:
                self.states.update({f'{part.name}/{i.name}': math.nan for i in part.state_interfaces})
                self.commands.update({f'{part.name}/{i.name}': math.nan for i in part.command_interfaces})

    def read(self, period: float) -> None:
        """Refresh the states; ``period`` is the time since the last call [s]."""
        for device in self._active():
            try:
                self.states.update(device.driver.read(period))
            except DriverError:
                device.active = False
                raise

    def write(self) -> None:
        """Send what the owners commanded; a value that is NaN or infinite stays here and is counted."""
        for device in self._active():
            finite: dict[str, float] = {}
            for name in self._commands_of(device):
                if name not in self._owners:
                    continue
                if math.isfinite(self.commands[name]):
                    finite[name] = self.commands[name]
                else:
                    self.refused_commands += 1
            try:
                device.driver.write(finite)
            except DriverError:
                device.active = False
                raise

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
        """Raise ClaimRefused when a command interface does not exist or, by ``owners``, is another's."""
        for name in names:
            if name not in self.commands:
                raise ClaimRefused(
                    f"'{owner}' needs the command interface '{name}', which the hardware does not have: "
                    f'it has {", ".join(self.commands) or "none"}.'
                )
            if owners.get(name, owner) != owner:
                raise ClaimRefused(
                    f"'{owner}' needs the command interface '{name}', which '{owners[name]}' has claimed: "
                    'deactivate that controller first.'
                )

    def release(self, owner: str) -> None:
        """Take all command interfaces back from an owner."""
        self._owners = {name: who for name, who in self._owners.items() if who != owner}

    def check_states(self, owner: str, names: Iterable[str]) -> None:
        """Raise ClaimRefused when a state interface does not exist."""
        for name in names:
            if name not in self.states:
                raise ClaimRefused(
                    f"'{owner}' needs the state interface '{name}', which the hardware does not have: "
                    f'it has {", ".join(self.states) or "none"}.'
                )

    def claimed_by(self, owner: str) -> tuple[str, ...]:
        """The command interfaces of an owner, in the hardware's order."""
        return tuple(name for name in self.commands if self._owners.get(name) == owner)

    def is_claimed(self, name: str) -> bool:
        """Whether some controller owns this command interface."""
        return name in self._owners

    def close(self) -> None:
        """Close every driver."""
        for device in self.devices:
            device.driver.close()

    def _active(self) -> tuple[Device, ...]:
        return tuple(device for device in self.devices if device.active)

    @staticmethod
    def _commands_of(device: Device) -> tuple[str, ...]:
        return tuple(f'{p.name}/{i.name}' for p in device.component.parts for i in p.command_interfaces)
