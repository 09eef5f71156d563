"""Drivers by the name of their ros2_control plugin."""

from __future__ import annotations

from lfd_hardware.description import Component
from lfd_hardware.drivers.abb import AbbDriver
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.mock import MockDriver
from lfd_hardware.drivers.motoman import MotomanDriver
from lfd_hardware.drivers.ur import URDriver

DRIVERS: dict[str, type[Driver]] = {
    'mock_components/GenericSystem': MockDriver,
    'ur_robot_driver/URPositionHardwareInterface': URDriver,
    'abb_hardware_interface/ABBSystemHardware': AbbDriver,
    'lfd_hardware/MotomanSystem': MotomanDriver,
}

__all__ = ['DRIVERS', 'Driver', 'DriverError', 'make_driver']


def make_driver(component: Component) -> Driver:
    """Make the driver of a ``<ros2_control>`` tag, or raise DriverError when its plugin is not known here."""
    driver = DRIVERS.get(component.plugin)
    if driver is None:
        raise DriverError(
            f"Hardware '{component.name}' wants the plugin '{component.plugin}', but the embedded home knows only "
            f'{", ".join(DRIVERS)}: describe the robot with one of these, or run the official ros2_control_node with '
            'the vendor driver.'
        )
    return driver(component)
