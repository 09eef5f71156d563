"""What a driver of a hardware component must offer to the controller manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from lfd_hardware.description import Component


class DriverError(RuntimeError):
    """The device cannot be used, or was lost; the message is one sentence that says what to do."""


class Driver(ABC):
    """The only way to a device: one driver object per ``<ros2_control>`` tag.

    Interfaces are named ``<part>/<interface>``, for example ``joint_1/position`` in rad. The update loop calls
    ``read`` and ``write`` once per cycle, and a switch of controllers calls ``write`` once more, from another thread
    but never at the same time; both must return well within the period. A driver that raises is not called again,
    but for ``close``.
    """

    def __init__(self, component: Component) -> None:
        self.component = component

    @abstractmethod
    def read(self, period: float) -> Mapping[str, float]:
        """Return every state interface's value; ``period`` is the time since the last call [s]."""

    @abstractmethod
    def write(self, commands: Mapping[str, float]) -> None:
        """Send commands, all of them finite; interfaces that nobody commands are left out."""

    def close(self) -> None:  # noqa: B027  (a driver without a connection has nothing to do)
        """Leave the device in a safe state and let go of it."""
