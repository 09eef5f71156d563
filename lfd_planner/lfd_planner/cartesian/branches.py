"""The best way through the solutions of consecutive poses.

Every pose has some solutions, its row of stepping stones. The best chain takes one of each, starts at a given
configuration, takes no step larger than allowed, and is as short as possible in total.
"""

import math

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import BEYOND, LOWER, PERIODIC, UPPER, nearest_turn

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@compiled
def _step(q: Numbers, before: Numbers, limits: Matrix, largest: Numbers, out: Numbers) -> float:
    """The squared length of the step to q, its turning joints turned next to where they were; infinite if too large."""
    total = 0.0
    for k in range(q.shape[0]):
        value = q[k]
        if limits[PERIODIC, k] != 0.0:
            value = nearest_turn(value, limits[LOWER, k], limits[UPPER, k], before[k], BEYOND)
        if abs(value - before[k]) > largest[k]:
            return math.inf
        out[k] = value
        total += (value - before[k]) ** 2
    return total


@compiled
def best_chain(
    q: Matrix,
    first: Indices,
    usable: npt.NDArray[np.bool_],
    start: Numbers,
    limits: Matrix,
    largest: Numbers,
) -> tuple[Matrix, Indices]:
    """The shortest chain through the rows of q that gets as far as possible.

    Args:
        q: solutions of all poses, (R, dof) [rad or m]; those of pose n are rows first[n] to first[n + 1].
        first: (N + 1,).
        usable: the rows that may be taken, (R,).
        start: where the chain starts, (dof,); it is no row of q.
        limits: of the joints, as the solver has them, (4, dof).
        largest: the largest step of each joint, (dof,) [rad or m].

    Gives the chain's configurations, (n, dof), and their rows in q, (n,), for the first n poses.
    """
    rows, dof = q.shape
    cost, parent, turned = np.full(rows, math.inf), np.full(rows, -1), np.empty((rows, dof))
    candidate = np.empty(dof)
    reached = 0
    for n in range(first.shape[0] - 1):
        alive = False
        for row in range(first[n], first[n + 1]):
            if not usable[row]:
                continue
            if n == 0:
                squared = _step(q[row], start, limits, largest, candidate)
                if squared < math.inf:
                    cost[row] = math.sqrt(squared)
                    turned[row] = candidate
            else:
                for before in range(first[n - 1], first[n]):
                    if cost[before] >= cost[row]:
                        continue
                    squared = _step(q[row], turned[before], limits, largest, candidate)
                    if squared < math.inf and cost[before] + math.sqrt(squared) < cost[row]:
                        cost[row] = cost[before] + math.sqrt(squared)
                        parent[row] = before
                        turned[row] = candidate
            alive = alive or cost[row] < math.inf
        if not alive:
            break
        reached = n + 1
    chain, numbers = np.empty((reached, dof)), np.empty(reached, dtype=np.int64)
    if reached > 0:
        row = first[reached - 1] + np.argmin(cost[first[reached - 1] : first[reached]])
        for n in range(reached - 1, -1, -1):
            numbers[n] = row
            chain[n] = turned[row]
            row = parent[row]
    return chain, numbers
