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

MOST_NAMED = 24  # positions whose contacts are looked up for an explanation


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


def why_not(arm: Arm, scene: PlanningScene, poses: Matrix, near: Matrix) -> Iterator[Rejection]:
    """Why poses, (N, 4, 4) [m], cannot be taken: counts by reason, over the poses, or over positions in collision."""
    found = _solved(arm, poses, near)
    missed = sorted(set(range(len(poses))) - set(found.pose.tolist()))
    if missed:
        yield from _out_of_reach(arm, poses[missed], near)
    if len(found.q):
        blocked = found.q[~arm.backend.free(scene, arm.group, found.q)]
        yield from _collisions(arm, scene, blocked)


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
        yield Rejection('unreachable', count=len(poses) - len(limited))
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
    if not len(rows):
        return
    shown = rows[:: max(1, len(rows) // MOST_NAMED)][:MOST_NAMED]
    pairs: Counter[tuple[str, str]] = Counter()
    for q in shown:
        contacts = arm.backend.contacts(scene, arm.group, np.ascontiguousarray(q))
        pairs.update({(contact.a, contact.b) for contact in contacts[:1]})
    share = len(rows) / len(shown)
    for pair, count in pairs.most_common():
        yield Rejection('collision', pair, round(count * share))
