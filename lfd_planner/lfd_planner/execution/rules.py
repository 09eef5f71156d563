"""What an execution must keep to: tolerances and times, and how a controller wants its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    grip_squeeze: float = 0.004
    """By how much further than to an object the fingers of a real hand are told to close [rad or m]."""
    states_within: float = 0.06
    """The longest time between two joint states while the arm moves [s]; so that it is told to stop within 0.1 s."""
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


class GoalRefused(ValueError):
    """A motion of which a controller's rules allow no goal; the message is one sentence."""


class GoalRules(Protocol):
    """How a controller wants a motion: as one goal, or cut into several that are sent one after the other."""

    begins_at_rest: bool
    """Whether a goal must begin exactly where the arm stands."""

    def goals(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """The motion as goals; each begins where the one before ended.

        Raises:
            GoalRefused: there are none.
        """

    def starting_at(self, goal: Trajectory, joints: Sequence[str], current: Mapping[str, float]) -> Trajectory:
        """A goal of these joints from where the arm stands now [rad or m].

        Raises:
            GoalRefused: it cannot begin there.
        """


class WholeGoals:
    """A motion is one goal, and its controller finds the way to its begin."""

    begins_at_rest = False

    def goals(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """The motion itself."""
        return (trajectory,)

    def starting_at(self, goal: Trajectory, joints: Sequence[str], current: Mapping[str, float]) -> Trajectory:
        """The goal itself."""
        return goal
