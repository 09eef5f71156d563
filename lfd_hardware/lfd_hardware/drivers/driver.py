"""What a driver of a hardware component must offer to the controller manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from lfd_hardware.description import Component


class DriverError(RuntimeError):
    """The device cannot be used, or was lost; the message is one sentence that says what to do."""


class Driver(ABC):
    """The only way to a device: one driver object per ``<ros2_control>`` tag.

    Its life is that of ros2_control's hardware components::

        made ── configure ──► connected ── activate ──► following ── deactivate ──► connected ── close ──► made

    The steps run outside of the update loop, one at a time, and may take seconds; each raises DriverError with one
    sentence when it cannot be done. After ``close`` a driver may be configured again.

    Interfaces are named ``<part>/<interface>``, for example ``joint_1/position`` in rad. While the device is connected,
    the update loop calls ``read`` once per cycle; while it is following also ``write``. Neither is called while a step
    is under way. Both must return well within the period and never wait for the network. A driver that raises is not
    called again but for ``close``, until it is configured anew. At the end of the node, ``close`` is also called while
    another step or ``read`` hangs.
    """

    def __init__(self, component: Component) -> None:
        """Check the parameters of the tag; no device is touched yet."""
        self.component = component

    def configure(self) -> None:  # noqa: B027  (a driver without a connection has nothing to do)
        """Connect to the device and wait for its first state."""

    def activate(self) -> None:  # noqa: B027
        """Make the device follow commands, beginning where it stands: motors on, program started."""

    @property
    def is_holding(self) -> bool:
        """Whether the device was stopped, and ``read`` will raise as soon as the reason is known, or before long.

        Until then the controllers that command the device are not updated: the arm stands, and a trajectory that went
        on without it would be left, which is not what happened.
        """
        return False

    @abstractmethod
    def read(self, period: float) -> Mapping[str, float]:
        """Return every state interface's newest value; ``period`` [s] is that of the update loop.

        After a cycle that came late, or was left out, more time than that has passed since the last call.

        Raises DriverError when the device is lost, stopped by its safety system, or its newest state is older than
        the driver's limit: the arm must have been told to stop within 0.1 s of the last state.
        """

    @abstractmethod
    def write(self, commands: Mapping[str, float]) -> None:
        """Send commands, all of them finite; interfaces that nobody commands are left out."""

    def deactivate(self) -> None:  # noqa: B027
        """Make the device stand still and follow no more; it stays connected."""

    def close(self) -> None:  # noqa: B027
        """Leave the device in a safe state and let go of it; harmless when there is nothing to let go of."""
