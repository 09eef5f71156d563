"""What a controller must offer to the controller manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.exceptions import InvalidParameterTypeException, ParameterUninitializedException
from rclpy.node import Node
from rclpy.parameter import Parameter

from lfd_hardware.hardware import Hardware
from lfd_hardware.manager import ControllerState

__all__ = ['Controller', 'ControllerError', 'ControllerState']


class ControllerError(RuntimeError):
    """A controller that cannot do the step asked for; the message is one sentence naming the parameter and the fix."""


class Controller(ABC):
    """A controller with a ROS node of its own name, so that it finds its own section of the parameter file.

    The manager calls ``activate``, ``update``, ``halt`` and ``deactivate`` under the lock of its cycle, ``configure``
    and ``cleanup`` without it; ``update`` runs in the loop's thread, once per ``period`` seconds, while the controller
    is active. A controller that is to end is halted, updated until it is ``at_rest``, and then deactivated.
    """

    type_name = ''  # the official plugin's name
    needs_finite_states = False  # whether it can only begin when every state interface has a value

    def __init__(self, name: str, hardware: Hardware, period: float) -> None:
        self.name = name
        self.hardware = hardware
        self.period = period  # [s]
        self.state = ControllerState.UNCONFIGURED
        # A rule of its own, because the process's `-r __node:=controller_manager` is meant for the manager alone.
        self.node = Node(name, cli_args=['--ros-args', '-r', f'__node:={name}'])
        self.logger = self.node.get_logger()

    @abstractmethod
    def configure(self) -> None:
        """Read the parameters and make publishers and servers, or raise ControllerError."""

    @abstractmethod
    def command_interfaces(self) -> Sequence[str]:
        """Interfaces to claim while active; known after ``configure``."""

    @abstractmethod
    def state_interfaces(self) -> Sequence[str]:
        """Interfaces to read while active; known after ``configure``."""

    @abstractmethod
    def activate(self) -> None:
        """Begin at the present state of the hardware."""

    @abstractmethod
    def update(self) -> None:
        """Read ``hardware.states``, write ``hardware.commands``; must return well within the period."""

    def halt(self, why: str) -> bool:
        """Give up what is going on, for this reason (a sentence), and come to rest; return whether anything was."""
        return False

    @property
    def at_rest(self) -> bool:
        """Whether it commands no motion."""
        return True

    @abstractmethod
    def deactivate(self, reason: str) -> None:
        """End; if it is not at rest by now, it never will be. The reason is part of a sentence."""

    @abstractmethod
    def cleanup(self) -> None:
        """Undo ``configure``."""

    def parameter(self, name: str, default: Any, description: str) -> Any:
        """The value of a parameter, declared when needed; its type is that of ``default``.

        A ``list`` default stands for a list of strings.
        """
        if not self.node.has_parameter(name):
            # An empty list has no type of its own, so lists are declared by type and may stay unset.
            kind = (
                Parameter.Type.STRING_ARRAY
                if isinstance(default, list)
                else Parameter.Type.from_parameter_value(default)
            )
            fallback = kind if isinstance(default, list) else default
            descriptor = ParameterDescriptor(description=description, type=kind.value)
            try:
                self.node.declare_parameter(name, fallback, descriptor)
            except InvalidParameterTypeException as error:
                raise ControllerError(
                    f"The parameter '{name}' of '{self.name}' must be of the type {kind.name.lower()}: "
                    'correct it in the parameter file.'
                ) from error
        try:
            return self.node.get_parameter(name).value
        except ParameterUninitializedException:
            return default

    def ignored_parameters(self) -> list[str]:
        """Names of the parameters that it was given but does not know; of use after ``configure``."""
        given: dict[str, Any] = self.node._parameter_overrides  # rclpy tells them nowhere else
        return sorted(name for name in given if not self.node.has_parameter(name))

    def destroy(self) -> None:
        """Let go of the node."""
        self.node.destroy_node()
