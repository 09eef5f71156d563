"""Which of many hand poses an arm reaches, and why not the others: all of them at once."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import LOWER, UPPER
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Rejection

from .arm import Arm

MOST_NAMED = 5  # positions whose contacts are looked up for an explanation


@dataclass(frozen=True, eq=False)
class Reached:
    """Positions that reach poses: row m of q reaches pose number `pose[m]`."""

    q: Matrix
    """(M, dof) [rad or m]"""
    pose: npt.NDArray[np.int64]
    """(M,)"""

    def of(self, number: int) -> Matrix:
        """The positions that reach one of the poses, (k, dof)."""
        return np.ascontiguousarray(self.q[self.pose == number])


def reach(arm: Arm, scene: PlanningScene, poses: Matrix, near: Matrix, *, free: bool = True) -> Reached:
    """All positions within limits that bring the tcp to the poses, (N, 4, 4) [m]; of these the free ones."""
    found = _solved(arm, poses, near)
    if free and len(found.q):
        good = arm.backend.free(scene, arm.group, found.q)
        return Reached(np.ascontiguousarray(found.q[good]), found.pose[good])
    return found


def soonest(arm: Arm, scene: PlanningScene, poses: Matrix, now: Matrix) -> Iterator[Matrix | Rejection]:
    """Free positions, (dof,), that bring the tcp to one of the poses, (N, 4, 4) [m], those first that are nearest."""
    found = reach(arm, scene, poses, now).q
    if not len(found):
        yield from why_not(arm, scene, poses, now)
    yield from found[np.argsort(arm.travel_times(now, found), kind='stable')]


def why_not(arm: Arm, scene: PlanningScene, poses: Matrix, near: Matrix) -> Iterator[Rejection]:
    """Why poses, (N, 4, 4) [m], cannot be taken: counts by reason over the poses.

    What is in the way at a pose is what the position touches that is nearest to `near`.
    """
    found = _solved(arm, poses, near)
    reached = np.unique(found.pose)
    if len(reached) < len(poses):
        missed = np.setdiff1d(np.arange(len(poses)), reached)
        yield from _out_of_reach(arm, poses[missed], near)
    if len(reached):
        nearest = [found.of(n)[np.argmin(arm.travel_times(near, found.of(n)))] for n in reached.tolist()]
        yield from _collisions(arm, scene, np.array(nearest))


def _solved(arm: Arm, poses: Matrix, near: Matrix) -> Reached:
    tips = arm.solver.to_tip(np.linalg.inv(arm.base) @ poses)
    batch = arm.solver.solver.solve_batch(tips, near)
    low, high = arm.group.bounds
    inside = ((batch.q >= low) & (batch.q <= high)).all(axis=1)
    return Reached(np.ascontiguousarray(batch.q[inside]), batch.pose[inside])


def _out_of_reach(arm: Arm, poses: Matrix, near: Matrix) -> Iterator[Rejection]:
    """Whether it is a joint's limit or the arm's length that forbids poses."""
    boundless = copy.copy(arm.solver.solver)
    boundless.limits = boundless.limits.copy()
    boundless.limits[LOWER], boundless.limits[UPPER] = -math.inf, math.inf
    tips = arm.solver.to_tip(np.linalg.inv(arm.base) @ poses)
    batch = boundless.solve_batch(tips, near)
    limited = set(batch.pose.tolist())
    if len(poses) > len(limited):
        missed = np.setdiff1d(np.arange(len(poses)), batch.pose)
        away = float(np.linalg.norm(poses[missed, :3, 3] - arm.base[:3, 3], axis=1).min())
        detail = f"The hand would have to be {away:.2f} m away from '{arm.group.base}'."
        yield Rejection('unreachable', count=len(missed), detail=detail)
    if limited:
        low, high = arm.group.bounds
        excess = np.maximum(np.maximum(low - batch.q, batch.q - high), 0.0)
        nearest = excess[np.argmin(excess.max(axis=1))]
        joint = int(np.argmax(nearest))
        yield Rejection(
            'joint_limit',
            (arm.group.joints[joint],),
            len(limited),
            f"Joint '{arm.group.joints[joint]}' would have to go {nearest[joint]:.2f} rad or m beyond its limit.",
        )


def _collisions(arm: Arm, scene: PlanningScene, rows: Matrix) -> Iterator[Rejection]:
    """Who touches whom at positions; where there are many, at some of them, and counted for all."""
    shown = rows[:: math.ceil(len(rows) / MOST_NAMED)]
    pairs: Counter[tuple[str, str]] = Counter()
    for q in shown:
        contact = arm.backend.first_contact(scene, arm.group, np.ascontiguousarray(q))
        pairs.update([(contact.a, contact.b)] if contact else [])
    share = len(rows) / len(shown)
    for pair, count in pairs.most_common():
        yield Rejection('collision', pair, round(count * share))
