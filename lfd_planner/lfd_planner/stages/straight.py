"""Straight moves of the hand, which approach, lift, lower and retreat have in common."""

from __future__ import annotations

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Rejection

from .arm import Arm


def straight(arm: Arm, scene: PlanningScene, q: Matrix, way: Matrix, least: float) -> Matrix | Rejection:
    """A path, (N, dof), that leads the tcp straight on by `way`, (3,) [m] in the scene's frame.

    It may end early, but goes on for `least` [m].
    """
    here = arm.pose(q)
    goal = here.copy()
    goal[:3, 3] += way
    found = arm.line(scene, q, goal[np.newaxis])
    if found.fraction < 1.0 and found.fraction * float(np.linalg.norm(way)) < least:
        return arm.why_line_ends(scene, found, goal)
    return found.q


def along_tcp(arm: Arm, q: Matrix, distance: float) -> Matrix:
    """The way of so many metres along the tcp's z axis, (3,) [m] in the scene's frame."""
    way: Matrix = arm.pose(q)[:3, 2] * distance
    return way


def upwards(distance: float) -> Matrix:
    """The way straight up, (3,) [m]."""
    return np.array([0.0, 0.0, distance])
