"""What an execution must keep to: tolerances and times, and how a controller wants its goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lfd_planner.timing import Trajectory


@dataclass(frozen=True)
class ExecutionRules:
    """When an execution is refused, and when it is given up."""

    start_tolerance: float = 0.01
    """Between the first point and where the arm is, and of the fingers before they move [rad or m]."""
    off_path: float = 0.15
    """Between the path and where the arm stands when it is resumed [rad or m]."""
    grip_tolerance: float = 0.002
    """Between where the fingers are and where they should be, when they have closed or opened [rad or m]."""
    states_within: float = 0.1
    """The longest time between two joint states while the arm moves [s]."""
    duration_scaling: float = 2.0
    duration_margin: float = 5.0
    """[s]"""
    hand_within: float = 10.0
    """The longest time that the hand may take [s]."""
    rest_within: float = 3.0
    """The longest time that the arm may take to stand still after it was stopped [s]."""
    scene_within: float = 5.0
    """The longest time that the planning server may take to take over a change [s]."""
    object_moved: float = 0.001
    """By how much an object may be elsewhere than it was, before the rest of the motion is checked again [m]."""
    object_turned: float = 0.01
    """The same of a turn [rad]."""

    def allowed(self, duration: float) -> float:
        """How long a motion of a duration may take [s]."""
        return self.duration_scaling * duration + self.duration_margin


class GoalRules(Protocol):
    """How a controller wants a motion: as one goal, or cut into several that are sent one after the other."""

    def goals(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """The motion as goals; each begins where the one before ended."""


class WholeGoals:
    """A motion is one goal."""

    def goals(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """The motion itself."""
        return (trajectory,)
