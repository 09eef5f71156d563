"""The interface between planning and whoever does the computing: one promise, whatever home it runs in.

Every call takes the scene, so that a search can branch. Joint positions q are in the order of the group's joints
[rad or m]; poses are 4x4 transforms in the scene's frame [m]. What cannot be done is a value that says why, never an
exception; exceptions are for requests that make no sense (a group that is not there).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import PlanningGroup, PlanningRobot
from lfd_planner.scene import Contact, PlanningScene
from lfd_planner.search.constraints import NO_CONSTRAINTS, PathConstraints
from lfd_planner.stopping import ShouldStop, never
from lfd_planner.timing.trajectory import Trajectory


@dataclass(frozen=True)
class Failure:
    """Why something could not be done: MoveIt's code for scripts, a sentence for people."""

    code: Code
    message: str


@dataclass(frozen=True, eq=False)
class Path:
    """A way through joint space; straight between the rows."""

    q: Matrix
    """(N, dof) [rad or m]"""


@dataclass(frozen=True, eq=False)
class LinearPath:
    """How far a link could be led along straight lines."""

    q: Matrix
    """(N, dof) [rad or m], dense; the first row is the start."""
    fraction: float
    """The share of the way that was done, 0..1."""
    failure: Failure | None = None
    """Why not all of it was done."""


@dataclass(frozen=True)
class SpeedScaling:
    """How much of the joints' velocity and acceleration limits is used, above 0 and up to 1."""

    velocity: float = 1.0
    acceleration: float = 1.0


@dataclass(frozen=True)
class SearchOptions:
    """How a search is done."""

    budget: float = 5.0
    """[s]"""
    seed: int = 1
    """The same seed gives the same path."""
    attempts: int = 1
    """Searches of which the shortest path is kept."""
    iterations: int = 1_000_000
    """Random samples after which a search gives up, whatever the clock says."""
    constraints: PathConstraints = NO_CONSTRAINTS
    should_stop: ShouldStop = field(default=never, compare=False)
    """Looked at during the search, at least every 100 ms; the search ends as preempted when it says yes."""


@dataclass(frozen=True)
class LinearOptions:
    """How a straight line is followed; 0 switches a guard off."""

    max_step: float = 0.01
    """[m] between two solutions of the inverse kinematics."""
    avoid_collisions: bool = True
    constraints: PathConstraints = NO_CONSTRAINTS
    jump_factor: float = 0.0
    """No joint-space step is longer than this many times the mean."""
    largest_turn: float = 0.0
    """[rad] of a turning joint in one step."""
    largest_slide: float = 0.0
    """[m] of a sliding joint in one step."""


class PlanningBackend(ABC):
    """Computes for one robot; several threads may ask at once."""

    repeatable: ClassVar[bool] = True
    """Whether the same seed gives the same path."""

    def __init__(self, robot: PlanningRobot) -> None:
        self.robot = robot

    @abstractmethod
    def ik(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        link: str,
        pose: Matrix,
        seed: Matrix | None = None,
        *,
        avoid_collisions: bool = True,
    ) -> Matrix:
        """All positions, (k, dof), within limits that bring a link to a pose, the nearest to the seed first.

        Raises:
            NoKinematics: nobody can do that for this link.
        """

    @abstractmethod
    def contacts(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> tuple[Contact, ...]:
        """What touches and may not, at one row of positions, (dof,); only what the group's joints move counts."""

    def first_contact(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> Contact | None:
        """One contact of the first two that touch and may not, at one row of positions, (dof,), if any do."""
        return next(iter(self.contacts(scene, group, q)), None)

    @abstractmethod
    def state_contacts(self, scene: PlanningScene) -> tuple[Contact, ...]:
        """What touches and may not, with all joints where the scene has them."""

    @abstractmethod
    def free(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> npt.NDArray[np.bool_]:
        """Which rows of positions, (N, dof), are free of collisions: (N,) of bool."""

    @abstractmethod
    def plan_joint(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        start: Matrix,
        goals: Matrix,
        options: SearchOptions | None = None,
    ) -> Path | Failure:
        """A way from one row of positions to one of several goals, (k, dof)."""

    @abstractmethod
    def plan_linear(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        start: Matrix,
        link: str,
        waypoints: Matrix,
        options: LinearOptions | None = None,
    ) -> LinearPath:
        """A straight way of a link through poses, (N, 4, 4), as far as it goes.

        Raises:
            NoKinematics: nobody can do that for this link.
        """

    @abstractmethod
    def time(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        path: Path,
        scaling: SpeedScaling | None = None,
        *,
        constraints: PathConstraints = NO_CONSTRAINTS,
        avoid_collisions: bool = True,
        keep_away: bool = True,
    ) -> Trajectory | Failure:
        """The fastest motion along a path within the limits; as executed it keeps to the constraints and is free.

        With `keep_away`, corners are cut by less where that keeps some distance; say no for a way to or from a contact.
        """
