"""Hand values on to the hardware: the topic ``~/commands``, for example for the valve of a suction gripper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rclpy.qos import QoSProfile
from std_msgs.msg import Float64MultiArray

from lfd_hardware.controllers.controller import Controller, ControllerError, ControllerState

COMMANDS_QOS = QoSProfile(depth=10)


class ForwardCommandController(Controller):
    """Commands one interface of some joints or gpios (``joints``, ``interface_name``) to the values it was sent last.

    Nothing is smoothed here, so it is meant for valves and the like. A joint that it would make jump is protected: the
    hardware refuses the command and this controller ends.
    """

    type_name = 'forward_command_controller/ForwardCommandController'
    needs_finite_states = True

    def configure(self) -> None:
        """Read the parameters and listen."""
        parts = self.parameter('joints', [], 'Joints or gpios to command.')
        interface = self.parameter('interface_name', '', 'Which of their interfaces.')
        if not parts or not interface or len(set(parts)) != len(parts):
            raise ControllerError(
                f"'{self.name}' has the joints {list(parts)} and the interface_name '{interface}': name at least one "
                'joint or gpio, each once, and the interface.'
            )
        self._names = tuple(f'{part}/{interface}' for part in parts)
        for name in self._names:
            if name not in self.hardware.commands or name not in self.hardware.states:
                raise ControllerError(
                    f"'{self.name}' commands '{name}', which the hardware does not have both as a state and as a "
                    f'command interface: use some of {", ".join(self.hardware.commands)}.'
                )
        self._values: tuple[float, ...] | None = None
        self._subscription = self.node.create_subscription(
            Float64MultiArray, '~/commands', self._on_commands, COMMANDS_QOS
        )

    def command_interfaces(self) -> Sequence[str]:
        """The interface of every part."""
        return self._names

    def state_interfaces(self) -> Sequence[str]:
        """The same, as states: they tell what to begin with."""
        return self._names

    def activate(self) -> None:
        """Leave everything as it is."""
        self._values = tuple(self.hardware.standing(name) for name in self._names)
        self.update()

    def update(self) -> None:
        """Command the newest values."""
        if self._values is not None:
            self.hardware.commands.update(zip(self._names, self._values, strict=True))

    def deactivate(self, reason: str) -> None:
        """Command no more; the hardware stays as it is."""
        self._values = None

    def cleanup(self) -> None:
        """Listen no more."""
        self.node.destroy_subscription(self._subscription)

    def _on_commands(self, message: Any) -> None:
        values = tuple(float(value) for value in message.data)
        if self.state is not ControllerState.ACTIVE:
            self.logger.error(f"Ignored a command: '{self.name}' is {self.state.value}, activate it first.")
        elif len(values) != len(self._names) or not all(math.isfinite(value) for value in values):
            self.logger.error(
                f'Ignored a command of {list(values)}: give one finite number for each of {", ".join(self._names)}.'
            )
        else:
            self._values = values
