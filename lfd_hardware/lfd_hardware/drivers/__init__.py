"""Drivers by the name of their ros2_control plugin."""

from __future__ import annotations

from lfd_hardware.description import Component
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.mock import MockDriver

DRIVERS: dict[str, type[Driver]] = {'mock_components/GenericSystem': MockDriver}

__all__ = ['DRIVERS', 'Driver', 'DriverError', 'make_driver']


def make_driver(component: Component) -> Driver:
    """Make the driver of a ``<ros2_control>`` tag, or raise DriverError when its plugin is not known here."""
    driver = DRIVERS.get(component.plugin)
    if driver is None:
        raise DriverError(
            f"Hardware '{component.name}' wants the plugin '{component.plugin}', but the embedded home runs "
            f'{" and ".join(DRIVERS)} only for now: describe the robot with mock hardware, or run the official '
            'ros2_control_node with the vendor driver.'
        )
    return driver(component)
