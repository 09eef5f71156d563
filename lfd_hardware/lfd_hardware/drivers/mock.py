"""Simulated hardware for the plugin ``mock_components/GenericSystem``: the state follows the command."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lfd_hardware.description import Component, Part
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.parameters import number, whole

POSITION = 'position'
VELOCITY = 'velocity'
TIME_CONSTANT = 0.01  # [s] an arm at 1 rad/s is 0.01 rad behind its command
ARRIVED = 1e-9  # [rad or m] from the target, where an approach that never ends is over


@dataclass(frozen=True)
class MockParameters:
    """The parameters of the tag."""

    time_constant: float  # [s] in which a joint makes up for 63 % of what it is behind; zero: all in one cycle
    delay: float  # [s] from a command to its first effect
    noise: float  # [rad or m] standard deviation of the positions that are reported
    noise_seed: int
    offset: float  # [rad or m] by which positions are off what was commanded
    follows: bool

    @classmethod
    def of(cls, component: Component) -> MockParameters:
        """Read and check them, or raise DriverError."""
        disabled = component.parameters.get('disable_commands', 'false').lower()
        if disabled not in ('true', 'false'):
            raise DriverError(
                f"The parameter 'disable_commands' of hardware '{component.name}' is '{disabled}': write true or false."
            )
        return cls(
            time_constant=number(component, 'time_constant', TIME_CONSTANT, least=0.0),
            delay=number(component, 'delay', 0.0, least=0.0),
            noise=number(component, 'noise', 0.0, least=0.0),
            noise_seed=whole(component, 'noise_seed', 0),
            offset=number(component, 'position_state_following_offset', 0.0),
            follows=disabled == 'false',
        )


class MockDriver(Driver):
    """Joints approach the commanded position as a first-order lag, never faster than their limit.

    Every other command becomes the state of the same name in the next cycle. A velocity state without a velocity
    command is the change of position per second [rad/s or m/s]. Parameters of the tag: ``time_constant`` (0.01 s),
    ``delay`` (0 s), ``noise`` (0 rad or m) with its ``noise_seed`` (0), and of the official mock
    ``position_state_following_offset`` [rad or m] and ``disable_commands``.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self._parameters = MockParameters.of(component)
        self._random = np.random.default_rng(self._parameters.noise_seed)
        self._states = {
            f'{part.name}/{interface.name}': interface.initial_value or 0.0
            for part in component.parts
            for interface in part.state_interfaces
        }
        self._time = 0.0  # [s] of the simulation
        self._sent: deque[tuple[float, Mapping[str, float]]] = (
            deque()
        )  # commands that have no effect yet, with their time
        self._commands: dict[str, float] = {}
        self._driven = self._driven_joints()
        self._mimics = [part for part in component.joints if part.mimic is not None]
        self._velocities = [
            (f'{part.name}/{POSITION}', f'{part.name}/{VELOCITY}')
            for part in component.parts
            if {f'{part.name}/{POSITION}', f'{part.name}/{VELOCITY}'} <= self._states.keys()
        ]
        for part in component.parts:
            self._follow_mimic(part)
            self._check_start(part)

    def activate(self) -> None:
        """Stand where it is: what was commanded before has no effect any more."""
        self._sent.clear()
        self._commands.clear()

    def read(self, period: float) -> Mapping[str, float]:
        """Return every state interface's value; simulated time goes on by ``period`` seconds."""
        self._time += period
        while self._sent and self._sent[0][0] <= self._time + 1e-9:
            self._commands.update(self._sent.popleft()[1])
        if self._parameters.follows and self._commands:
            self._move(period)
        if self._parameters.noise == 0.0:
            return self._states
        return self._noisy()

    def write(self, commands: Mapping[str, float]) -> None:
        """Remember the commands for a later read; NaN and infinity are a programming error and refused."""
        for name, value in commands.items():
            if not math.isfinite(value):
                raise DriverError(f"The command for '{name}' is {value}: only finite commands may reach the hardware.")
        self._sent.append((self._time + self._parameters.delay, dict(commands)))

    def _driven_joints(self) -> dict[str, float]:
        """The velocity limits [rad/s or m/s] of the joints that follow a command, by the names of their positions."""
        return {
            f'{part.name}/{POSITION}': part.limit.velocity
            for part in self.component.joints
            if part.limit is not None and part.mimic is None and f'{part.name}/{POSITION}' in self._states
        }

    def _move(self, period: float) -> None:
        states, commands = self._states, self._commands
        before = [states[position] for position, _ in self._velocities]
        states.update({name: value for name, value in commands.items() if name in states and name not in self._driven})
        time_constant = self._parameters.time_constant
        share = 1.0 if time_constant == 0.0 else -math.expm1(-period / time_constant)
        for name, fastest in self._driven.items():
            if name in commands:
                states[name] = self._approach(states[name], commands[name], share, fastest * period)
        for part in self._mimics:
            self._follow_mimic(part)
        for (position, velocity), was in zip(self._velocities, before, strict=True):
            if velocity not in commands:
                states[velocity] = (states[position] - was) / period

    def _approach(self, now: float, command: float, share: float, farthest: float) -> float:
        left = command + self._parameters.offset - now
        if abs(left) <= min(ARRIVED, farthest):
            return command + self._parameters.offset
        return now + min(max(share * left, -farthest), farthest)

    def _noisy(self) -> Mapping[str, float]:
        noise = self._random.normal(0.0, self._parameters.noise, len(self._driven)).tolist()
        return self._states | {
            name: self._states[name] + error for name, error in zip(self._driven, noise, strict=True)
        }

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
