"""Simulated hardware for the plugin ``mock_components/GenericSystem``: the state follows the command."""

from __future__ import annotations

import math
from collections.abc import Mapping

from lfd_description.urdf import finite_number
from lfd_hardware.description import Component, Part
from lfd_hardware.drivers.driver import Driver, DriverError

POSITION = 'position'
VELOCITY = 'velocity'


class MockDriver(Driver):
    """Every command becomes the state of the same name in the next cycle.

    A velocity state without a velocity command is the change of position per second [rad/s or m/s]. Understands these
    parameters of the official mock: ``position_state_following_offset`` [rad or m] and ``disable_commands``.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self._offset = _number(component, 'position_state_following_offset')
        self._follows = component.parameters.get('disable_commands', 'false').lower() != 'true'
        self._commands: dict[str, float] = {}
        self._states = {
            f'{part.name}/{interface.name}': interface.initial_value or 0.0
            for part in component.parts
            for interface in part.state_interfaces
        }
        for part in component.parts:
            self._follow_mimic(part)
            self._check_start(part)

    def read(self, period: float) -> Mapping[str, float]:
        """Return every state interface's value, ``period`` seconds after the last call."""
        if self._follows:
            before = dict(self._states)
            for name in self._states.keys() & self._commands.keys():
                self._states[name] = self._commands[name] + (self._offset if name.endswith(f'/{POSITION}') else 0.0)
            for part in self.component.parts:
                self._follow_mimic(part)
                self._derive_velocity(part, before, period)
        return self._states

    def write(self, commands: Mapping[str, float]) -> None:
        """Remember the commands for the next read; NaN and infinity are a programming error and refused."""
        for name, value in commands.items():
            if not math.isfinite(value):
                raise DriverError(f"The command for '{name}' is {value}: only finite commands may reach the hardware.")
        self._commands.update(commands)

    def _check_start(self, part: Part) -> None:
        start, limit = self._states.get(f'{part.name}/{POSITION}'), part.limit
        if start is None or limit is None or part.mimic is not None or limit.lower <= start <= limit.upper:
            return
        raise DriverError(
            f"Joint '{part.name}' of mock hardware '{self.component.name}' starts at {start:g}, outside of its limits "
            f'{limit.lower:g} to {limit.upper:g}: set initial_value of its position state interface to a value '
            'between them.'
        )

    def _follow_mimic(self, part: Part) -> None:
        position, driver = f'{part.name}/{POSITION}', part.mimic and f'{part.mimic.joint}/{POSITION}'
        if part.mimic is not None and driver in self._states and position in self._states:
            self._states[position] = part.mimic.multiplier * self._states[driver] + part.mimic.offset

    def _derive_velocity(self, part: Part, before: Mapping[str, float], period: float) -> None:
        position, velocity = f'{part.name}/{POSITION}', f'{part.name}/{VELOCITY}'
        if velocity in self._commands or velocity not in self._states or position not in self._states:
            return
        self._states[velocity] = (self._states[position] - before[position]) / period


def _number(component: Component, name: str) -> float:
    text = component.parameters.get(name, '0')
    value = finite_number(text)
    if value is None:
        raise DriverError(f"The parameter '{name}' of hardware '{component.name}' is '{text}': write a finite number.")
    return value
