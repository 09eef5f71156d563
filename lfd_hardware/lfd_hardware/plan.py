"""A checked trajectory, and the path that leads from where the arm is commanded into it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lfd_hardware.spline import JointSample, Spline
from lfd_hardware.trajectory import Array, Waypoints


@dataclass(frozen=True)
class Plan:
    """Waypoints whose own motion was found to be within the limits."""

    waypoints: Waypoints
    spline: Spline

    def at(self, time: float) -> JointSample:
        """Where the plan is at a time [s]; before its first point it is there."""
        if len(self.waypoints.times) == 1:
            return at_rest(self.waypoints.positions[0])
        return self.spline.at(max(time, float(self.waypoints.times[0])))

    def shifted(self, offset: Array) -> Plan:
        """The same motion elsewhere; ``offset`` [rad or m] has a value for every joint."""
        if not offset.any():
            return self
        return Plan(
            replace(self.waypoints, positions=self.waypoints.positions + offset),
            replace(self.spline, control=self.spline.control + offset),
        )

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which joints the trajectory does not name."""
        return self.waypoints.held


@dataclass(frozen=True)
class Path:
    """A lead followed by a spline from one of its knots on, which is where the lead ends; time starts at zero."""

    lead: Spline
    rest: Spline
    knot: int
    _shift: float = field(init=False)  # [s] from this path's time to that of ``rest``
    duration: float = field(init=False)  # [s]

    def __post_init__(self) -> None:
        object.__setattr__(self, '_shift', float(self.rest.times[self.knot]) - self.lead.duration)
        object.__setattr__(self, 'duration', self.rest.duration - self._shift)

    def at(self, time: float) -> JointSample:
        """Where the path is at a time [s], and how it goes on there; after its end the joints stand still."""
        if time <= self.lead.duration or self.knot >= len(self.rest.control):
            return self.lead.at(time)
        return self.rest.at(time + self._shift)


def at_rest(positions: Array) -> JointSample:
    """A state without motion."""
    return JointSample(positions, np.zeros(len(positions)), np.zeros(len(positions)))


def lead_to(origin: Waypoints, target: Waypoints, time: float) -> Spline:
    """The segment from one waypoint to another, ``time`` seconds long."""
    return Spline.through(
        Waypoints(
            times=np.array([0.0, time]),
            positions=np.vstack((origin.positions, target.positions)),
            velocities=np.vstack((origin.velocities, target.velocities)),
            accelerations=np.vstack((origin.accelerations, target.accelerations)),
            has_velocity=np.concatenate((origin.has_velocity, target.has_velocity)),
            has_acceleration=np.concatenate((origin.has_acceleration, target.has_acceleration)),
            held=origin.held,
        )
    )
