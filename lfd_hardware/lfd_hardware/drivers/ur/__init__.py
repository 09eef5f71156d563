"""Universal Robots arms: state and set-points over RTDE, and a program of our own that follows the set-points."""

from __future__ import annotations

from lfd_hardware.drivers.ur.driver import URDriver

__all__ = ['URDriver']
