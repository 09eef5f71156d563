"""Straight moves of the hand, which approach, lift, lower and retreat have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Rejection
from lfd_planner.timing import Trajectory

from .arm import Arm


@dataclass(frozen=True, eq=False)
class StraightMotion:
    """A timed straight motion that begins or ends where it was asked to."""

    trajectory: Trajectory
    far: Matrix
    """Where the arm is at its other end, (dof,)."""


def straight(
    arm: Arm, scene: PlanningScene, q: Matrix, way: Matrix, least: float, *, backwards: bool = False
) -> StraightMotion | Rejection:
    """A motion that leads the tcp straight on by `way`, (3,) [m] in the scene's frame, or back from there to q.

    It may be shorter, but has at least `least` [m].
    """
    goal = arm.pose(q)
    goal[:3, 3] += way
    found = arm.line(scene, q, goal[np.newaxis])
    if found.fraction < 1.0 and found.fraction * float(np.linalg.norm(way)) < least:
        return arm.why_line_ends(scene, found, goal)
    timed = arm.timed(scene, found.q[::-1] if backwards else found.q, keep_away=False)
    return timed if isinstance(timed, Rejection) else StraightMotion(timed, found.q[-1])


def along_tcp(arm: Arm, q: Matrix, distance: float) -> Matrix:
    """The way of so many metres along the tcp's z axis, (3,) [m] in the scene's frame."""
    way: Matrix = arm.pose(q)[:3, 2] * distance
    return way


def upwards(distance: float) -> Matrix:
    """The way straight up, (3,) [m]."""
    return np.array([0.0, 0.0, distance])
