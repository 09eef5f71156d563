"""From joint positions to joint positions without collision: the search, and the shortening of what it finds."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.collision.world import World, collides
from lfd_planner.robot.ik.solutions import LOWER, UPPER, Numbers
from lfd_planner.stopping import ShouldStop, never

from .constraint_checker import ConstraintChecker
from .motion import Problem, first_fault, make_motion_room
from .patience import Patience
from .projection import Integers, is_constrained, keeps, no_constraints
from .results import Fault, Found, NotFound
from .rrt_connect import rrt_connect
from .shortcut import shorten

_HOP = 0.5
"""The longest straight piece that the trees grow by [rad or m]; and along constraints, where pieces must be short."""
_CONSTRAINED_HOP = 0.1
_COARSE, _COARSEST = 4.0, 0.05
"""The search takes steps so many times as long as those asked for, but no longer than this [rad or m]."""
_BEYOND = 1e-6
"""Starts and goals may be beyond a limit by this much [rad or m]: encoders and rounding are no better."""
_GOOD, _OUTSIDE_LIMITS, _BREAKS_CONSTRAINTS, _IN_COLLISION = range(4)
_START_FAULTS: dict[int, Fault] = {
    _OUTSIDE_LIMITS: 'start outside limits',
    _BREAKS_CONSTRAINTS: 'start breaks constraints',
    _IN_COLLISION: 'start in collision',
}
_GOAL_FAULTS: dict[int, Fault] = {
    _OUTSIDE_LIMITS: 'goal outside limits',
    _BREAKS_CONSTRAINTS: 'goal breaks constraints',
    _IN_COLLISION: 'goal in collision',
}


def plan_path(
    world: World,
    limits: npt.ArrayLike,
    starts: npt.ArrayLike,
    goals: npt.ArrayLike,
    *,
    constraints: ConstraintChecker | None = None,
    step: float = 0.02,
    seed: int = 0,
    budget_s: float = 5.0,
    should_stop: ShouldStop = never,
    weights: npt.ArrayLike | None = None,
    iterations: int = 1_000_000,
    shortcuts: int = 60,
) -> Found | NotFound:
    """Find a path from any of the starts to any of the goals; it may be called from several threads at once.

    Args:
        world: robot and scene, `CollisionWorld.data`.
        limits: lower and upper, (2, dof) [rad or m]; infinite ones mean a joint that turns without end.
        starts: joint positions, (dof,) or (N, dof) [rad or m].
        goals: the same. Starts and goals that are in collision, outside the limits, or break the constraints, are
            passed over; only if none is left, the reason is given.
        constraints: what must be kept all the way, the ends included.
        step: between two states that are checked for collision no joint moves more than this [rad or m].
        seed: the same seed gives the same path, unless time runs out.
        budget_s: gives up after this time [s].
        should_stop: looked at every few milliseconds; the search ends when it says yes.
        weights: of the joints in distances, (dof,); without, a metre counts like a radian.
        iterations: gives up after so many random samples.
        shortcuts: how often it is tried to make a piece of the path shorter.

    Raises:
        ValueError: shapes do not fit, or numbers are not finite or not above zero where they must be.
    """
    patience = Patience.of(budget_s, should_stop)
    problem = _problem(world, limits, constraints, step, weights)
    begin, end = _rows(starts, problem, 'starts'), _rows(goals, problem, 'goals')
    begin_faults, end_faults = _faults_of(problem, begin), _faults_of(problem, end)
    if begin_faults.all():
        return NotFound(_START_FAULTS[int(begin_faults.max())])
    if end_faults.all():
        return NotFound(_GOAL_FAULTS[int(end_faults.max())])
    good_begin, good_end = np.flatnonzero(begin_faults == _GOOD), np.flatnonzero(end_faults == _GOOD)
    search = _Search(begin[good_begin], end[good_end], seed, iterations, shortcuts, patience)
    found = search.run(problem)
    if isinstance(found, NotFound):
        return found
    return replace(found, start=int(good_begin[found.start]), goal=int(good_end[found.goal]))


@dataclass(frozen=True, eq=False)
class _Search:
    """What is searched, and how hard."""

    starts: Matrix
    goals: Matrix
    seed: int
    iterations: int
    shortcuts: int
    patience: Patience

    def run(self, problem: Problem) -> Found | NotFound:
        """Search and shorten with long steps; redo with the step asked for what then does not hold."""
        coarse = problem._replace(step=max(problem.step, min(_COARSE * problem.step, _COARSEST)))
        rough = self._searched(coarse)
        if isinstance(rough, NotFound):
            return rough
        short = self._shortened(coarse, rough)
        if coarse.step == problem.step or first_fault(problem, short.path) < 0:
            return short
        if first_fault(problem, rough.path) >= 0:
            rough = self._searched(problem)
        return rough if isinstance(rough, NotFound) else self._shortened(problem, rough)

    def _searched(self, problem: Problem) -> Found | NotFound:
        effort = {'seed': self.seed, 'iterations': self.iterations}
        return rrt_connect(problem, self.starts, self.goals, hop=_hop(problem), **effort, patience=self.patience)

    def _shortened(self, problem: Problem, found: Found) -> Found:
        effort = {'seed': self.seed, 'attempts': self.shortcuts}
        return replace(found, path=shorten(problem, found.path, hop=_hop(problem), **effort, patience=self.patience))


def _hop(problem: Problem) -> float:
    return _CONSTRAINED_HOP if is_constrained(problem.constraints) else _HOP


def _problem(
    world: World,
    limits: npt.ArrayLike,
    constraints: ConstraintChecker | None,
    step: float,
    weights: npt.ArrayLike | None,
) -> Problem:
    bounds: Matrix = np.ascontiguousarray(limits, dtype=np.float64)
    if bounds.ndim != 2 or len(bounds) != 2 or not (bounds[LOWER] <= bounds[UPPER]).all():
        raise ValueError('Limits must be two rows, lower and upper, the lower ones not above the upper ones.')
    dof = bounds.shape[1]
    if not 0.0 < step < np.inf:
        raise ValueError(f'The step must be a number above zero [rad or m], not {step}.')
    if constraints is not None and len(constraints.joints) != dof:
        raise ValueError(f'The constraints are for {len(constraints.joints)} joints, the limits for {dof}.')
    scale: Numbers = np.ones(dof) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if scale.shape != (dof,) or not ((scale > 0.0) & (scale < np.inf)).all():
        raise ValueError(f'Weights must be {dof} numbers above zero.')
    endless = ~np.isfinite(bounds[UPPER] - bounds[LOWER])
    if constraints is None or not constraints.constraints:
        return Problem(world, bounds, scale, endless, no_constraints(), step)
    return Problem(world, bounds, scale, endless, constraints.data, step)


def _rows(q: npt.ArrayLike, problem: Problem, name: str) -> Matrix:
    rows: Matrix = np.ascontiguousarray(np.atleast_2d(np.asarray(q, dtype=np.float64)))
    dof = len(problem.weights)
    if rows.ndim != 2 or rows.shape[1] != dof or not len(rows) or not np.isfinite(rows).all():
        raise ValueError(f'The {name} must be rows of {dof} finite numbers, at least one row.')
    return rows


def _faults_of(problem: Problem, rows: Matrix) -> Integers:
    faults = np.zeros(len(rows), dtype=np.int64)
    _fill_faults(problem, rows, faults)
    return faults


@compiled
def _fill_faults(problem: Problem, rows: Matrix, faults: Integers) -> None:
    """What is wrong with each state."""
    room = make_motion_room(problem)
    for n in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            if not problem.limits[LOWER, k] - _BEYOND <= rows[n, k] <= problem.limits[UPPER, k] + _BEYOND:
                faults[n] = _OUTSIDE_LIMITS
        if faults[n] == _GOOD and not keeps(rows[n], problem.constraints, room.projection):
            faults[n] = _BREAKS_CONSTRAINTS
        if faults[n] == _GOOD and collides(problem.world, rows[n], room.collision):
            faults[n] = _IN_COLLISION
