"""All devices of the robot as one table of interfaces, and who may command which."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lfd_hardware.description import HardwareDescription, JointLimit
from lfd_hardware.device import Device, wait_for_all
from lfd_hardware.drivers import make_driver
from lfd_hardware.guard import Bounds, CommandRefused, bounds_of

RATES = ('velocity', 'acceleration', 'effort')  # interfaces that are zero at rest


class ClaimRefused(ValueError):
    """Interfaces that a controller asked for are missing, out of order, or belong to another controller."""


@dataclass(frozen=True)
class Trouble:
    """What went wrong with a device in a cycle."""

    device: Device
    message: str
    refused: bool = False  # the device works, but what it was to be told is not allowed


class Hardware:
    """The table of state and command interfaces, named ``<part>/<interface>`` (``joint_1/position`` in rad).

    A device that fails is not used until it is configured again, and the others go on. Not thread-safe: the controller
    manager holds ``lock`` around the cycle and around every change of claims.
    """

    def __init__(self, description: HardwareDescription, period: float, lock: threading.Lock | None = None) -> None:
        """Make the drivers; ``period`` [s] is that of the update loop."""
        self.description = description
        self.limits: Mapping[str, JointLimit] = description.limits
        lock = threading.Lock() if lock is None else lock
        self.devices = tuple(Device(each, make_driver(each), lock) for each in description.components)
        self.states: dict[str, float] = {}
        self.commands: dict[str, float] = {}
        self.refused_commands = 0  # commands that were NaN or infinite and never left this table
        self.waits_for: str | None = None  # the device whose driver is being called
        self._period = period
        self._owners: dict[str, str] = {}
        self._device_of: dict[str, Device] = {}
        self._bounds: dict[str, dict[str, Bounds]] = {device.name: {} for device in self.devices}
        for device in self.devices:
            component = device.component
            self.states.update(dict.fromkeys(component.state_interfaces, math.nan))
            self.commands.update(dict.fromkeys(component.command_interfaces, math.nan))
            self._device_of.update(dict.fromkeys((*component.state_interfaces, *component.command_interfaces), device))

    def read(self, period: float) -> list[Trouble]:
        """Refresh the states and return what failed; ``period`` [s] is that of the update loop."""
        troubles: list[Trouble] = []
        for device in self.devices:
            if not device.connected:
                continue
            self.waits_for = device.name
            try:
                self.states.update(device.driver.read(period))
                device.is_fresh = True
            except Exception as error:  # whatever one driver raises, the other devices must go on
                troubles.append(self._failed(device, error))
        self.waits_for = None
        return troubles

    def write(self) -> list[Trouble]:
        """Send what the owners commanded and return what failed.

        A value that is NaN or infinite stays here and is counted. When a device's commands pass a limit or jump, none
        of them is sent.
        """
        troubles: list[Trouble] = []
        for device in self.devices:
            if not device.active:
                continue
            self.waits_for = device.name
            try:
                allowed = self._allowed(device)
                device.driver.write(allowed)
                device.sent.update(allowed)
            except CommandRefused as refusal:
                troubles.append(Trouble(device, str(refusal), refused=True))
            except Exception as error:
                troubles.append(self._failed(device, error))
        self.waits_for = None
        return troubles

    def close(self, timeout: float) -> list[Device]:
        """Bring every device to rest and let go of it, all at once; return those that take longer than that [s]."""
        for device in self.devices:
            device.shut_down()
        return wait_for_all(self.devices, timeout)

    def forget(self, device: Device) -> None:
        """Know nothing of a device's states any more, until it is read again."""
        self.states.update(dict.fromkeys(device.component.state_interfaces, math.nan))

    def claim(self, owner: str, names: Iterable[str]) -> None:
        """Give the command interfaces to one owner, all or none."""
        wanted = tuple(names)
        self.check_claim(owner, wanted, self._owners)
        for device in {self._device_of[name].name: self._device_of[name] for name in wanted}.values():
            fresh = bounds_of(device.component, self.states, device.sent, self._period)
            self._bounds[device.name].update({name: fresh[name] for name in wanted if name in fresh})
        self._owners.update(dict.fromkeys(wanted, owner))

    def standing(self, name: str) -> float:
        """Where a command interface is held: what its device was told last, or else where it stands.

        An arm that is late, or has not settled, is on its way there: to hold it where it is would be a jump back.
        """
        return self._device_of[name].sent.get(name, self.states.get(name, math.nan))

    @property
    def owners(self) -> dict[str, str]:
        """Who has claimed which command interface."""
        return dict(self._owners)

    def check_claim(self, owner: str, names: Iterable[str], owners: Mapping[str, str]) -> None:
        """Raise ClaimRefused when a command interface cannot be used or, by ``owners``, is another's."""
        for name in names:
            device = self._find(owner, 'command', name, self.commands)
            if not device.active:
                raise _unusable(owner, 'command', name, device)
            if owners.get(name, owner) != owner:
                raise ClaimRefused(
                    f"'{owner}' needs the command interface '{name}', which '{owners[name]}' has claimed: "
                    'deactivate that controller first.'
                )

    def release(self, owner: str) -> None:
        """Take all command interfaces back from an owner."""
        for name in self.claimed_by(owner):
            self._bounds[self._device_of[name].name].pop(name)
            del self._owners[name]

    def stand(self, owner: str) -> None:
        """Command an owner's interfaces to what they were told last, and to no speed: the end of a broken owner."""
        for name in self.claimed_by(owner):
            last = self._bounds[self._device_of[name].name][name].last
            self.commands[name] = 0.0 if name.rpartition('/')[2] in RATES else last

    def check_states(self, owner: str, names: Iterable[str], finite: bool = False) -> None:
        """Raise ClaimRefused when a state interface cannot be used or, if they must be ``finite``, has no value."""
        for name in names:
            device = self._find(owner, 'state', name, self.states)
            if not device.connected:
                raise _unusable(owner, 'state', name, device)
            if finite and not (device.is_fresh and math.isfinite(self.states[name])):
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

    def is_readable(self, name: str) -> bool:
        """Whether this state interface can be used: its device is connected."""
        return self._device_of[name].connected

    def is_commandable(self, name: str) -> bool:
        """Whether this command interface can be used: its device is active."""
        return self._device_of[name].active

    def _failed(self, device: Device, error: Exception) -> Trouble:
        device.fail(error)
        self.forget(device)
        return Trouble(device, device.failure or '')

    def _allowed(self, device: Device) -> dict[str, float]:
        """The claimed commands that are finite; raise CommandRefused when one of them must not be sent."""
        finite: dict[str, float] = {}
        for name, bounds in self._bounds[device.name].items():
            value = self.commands[name]
            if math.isfinite(value):
                bounds.check(value)
                finite[name] = value
            else:
                self.refused_commands += 1
        return finite

    def _find(self, owner: str, kind: str, name: str, table: Mapping[str, float]) -> Device:
        if name not in table:
            raise ClaimRefused(
                f"'{owner}' needs the {kind} interface '{name}', which the hardware does not have: "
                f'it has {", ".join(table) or "none"}.'
            )
        return self._device_of[name]


def _unusable(owner: str, kind: str, name: str, device: Device) -> ClaimRefused:
    return ClaimRefused(
        f"'{owner}' needs the {kind} interface '{name}', but hardware '{device.name}' {device.why_not}."
    )
