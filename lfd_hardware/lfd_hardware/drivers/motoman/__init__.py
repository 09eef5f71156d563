"""Yaskawa Motoman controllers that run MotoROS: ROS-Industrial's simple messages over TCP."""

from lfd_hardware.drivers.motoman.driver import MotomanDriver

__all__ = ['MotomanDriver']
