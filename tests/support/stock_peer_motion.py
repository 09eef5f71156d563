"""Free motions and their timing by stock libraries: OMPL's RRT-Connect and path simplification, then TOPP-RA."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from time import process_time

import numpy as np
import numpy.typing as npt
import toppra
import toppra.algorithm
import toppra.constraint
import toppra.interpolator
from ompl import base as ob
from ompl import geometric as og
from ompl import util as ou

from lfd_planner.timing import Trajectory

from .stock_peer_arm import StockArm

Array = npt.NDArray[np.float64]

STEP = 0.02  # [rad] between two states that are checked, of an edge and of the motion as executed; as in our search
DENSE = 0.1  # [rad] between the points that a spline is laid through, so that it stays near the checked path
ou.setLogLevel(ou.LOG_NONE)
logging.getLogger('toppra').setLevel(logging.CRITICAL)


def seed_search(seed: int) -> None:
    """The same seed gives the same searches; to be called before the first."""
    ou.RNG.setSeed(seed)


def search(
    arm: StockArm,
    collides: Callable[[Array], bool],
    start: Array,
    goal: Array,
    until: float,
    step: float = STEP,
) -> tuple[Array | None, og.SimpleSetup]:
    """A path, (N, dof), as RRT-Connect found it, and the set-up that can simplify it.

    None if there was none `until` the process has used so much time of the CPU [s].
    """
    dof = len(start)
    space = ob.RealVectorStateSpace(dof)
    bounds = ob.RealVectorBounds(dof)
    for joint in range(dof):
        bounds.setLow(joint, float(arm.lower[joint]) - 1e-9)
        bounds.setHigh(joint, float(arm.upper[joint]) + 1e-9)
    space.setBounds(bounds)
    setup = og.SimpleSetup(space)
    setup.setStateValidityChecker(lambda state: not collides(_row(state, dof)))
    information = setup.getSpaceInformation()
    information.setStateValidityCheckingResolution(step / space.getMaximumExtent())
    setup.setPlanner(og.RRTConnect(information))
    setup.setStartAndGoalStates(_state(space, start), _state(space, goal))
    setup.solve(ob.PlannerTerminationCondition(lambda: process_time() > until))
    return (_rows(setup.getSolutionPath(), dof) if setup.haveExactSolutionPath() else None), setup


def simplified(setup: og.SimpleSetup, dof: int) -> Array:
    """The path of a set-up after OMPL has shortened and smoothed it."""
    setup.simplifySolution()
    return _rows(setup.getSolutionPath(), dof)


def densified(path: Array, spacing: float) -> Array:
    """The same straight pieces with points no farther apart than `spacing` [rad], and no two the same."""
    rows = [path[0]]
    for row in path[1:]:
        count = int(np.ceil(np.linalg.norm(row - rows[-1]) / spacing))
        if np.linalg.norm(row - rows[-1]) > 1e-6:
            rows.extend(np.linspace(rows[-1], row, count + 1)[1:])
    return np.array(rows)


def timed(arm: StockArm, path: Array, spacing: float = DENSE) -> Trajectory | None:
    """The fastest motion along a spline through points of a path, by TOPP-RA; None if that fails."""
    rows = densified(path, spacing)
    if len(rows) < 2:
        return Trajectory.at(rows[0])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rows, axis=0), axis=1))])
    way = toppra.SplineInterpolator(along, rows)
    grid = _grid(along)
    speeds = _speeds(arm, way, grid, 0.0)
    if speeds is None:
        return None
    middle = 0.5 * (speeds[1:] + speeds[:-1])
    if (middle <= 0.0).any():
        return None
    times = np.concatenate([[0.0], np.cumsum(np.diff(grid) / middle)])
    q, v = way(grid), way(grid, 1) * speeds[:, np.newaxis]
    q[0], q[-1], v[0], v[-1] = rows[0], rows[-1], 0.0, 0.0
    return Trajectory(times, q, v)


class _Executed(toppra.interpolator.AbstractGeometricPath):
    """The exact path of a motion; its parameter is the motion's time [s]."""

    def __init__(self, motion: Trajectory) -> None:
        self._motion = motion

    @property
    def dof(self) -> int:
        return self._motion.dof

    @property
    def path_interval(self) -> Array:
        return np.array([0.0, self._motion.duration])

    @property
    def waypoints(self) -> tuple[Array, Array]:
        return self._motion.times, self._motion.q

    def __call__(self, at: float | Array, order: int = 0) -> Array:
        return self._motion.sample(at)[order]


def least_time(arm: StockArm, motion: Trajectory) -> float | None:
    """The least time [s] in which the path of a motion can be gone through within the limits, by TOPP-RA.

    The path is taken as executed, because a spline through points of it would bend more than the path itself. None if
    TOPP-RA fails.
    """
    shares = np.arange(8) / 8
    between = motion.times[:-1, np.newaxis] + np.diff(motion.times)[:, np.newaxis] * shares
    grid = np.append(between.ravel(), motion.duration)
    speeds = _speeds(arm, _Executed(motion), grid, 1.0)  # the motion itself has the speed 1 all the way
    return None if speeds is None else float((2.0 * np.diff(grid) / (speeds[1:] + speeds[:-1])).sum())


def _speeds(arm: StockArm, way: toppra.interpolator.AbstractGeometricPath, grid: Array, ends: float) -> Array | None:
    """The fastest speeds of the path's parameter that the limits allow, at points of a grid."""
    limits = [
        toppra.constraint.JointVelocityConstraint(np.column_stack([-arm.velocities, arm.velocities])),
        toppra.constraint.JointAccelerationConstraint(np.column_stack([-arm.accelerations, arm.accelerations])),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of toppra's own arithmetic
        speeds = toppra.algorithm.TOPPRA(limits, way, gridpoints=grid).compute_parameterization(ends, ends)[1]
    return None if speeds is None or not np.isfinite(speeds).all() else np.asarray(speeds)


def _grid(along: Array) -> Array:
    """Where TOPP-RA looks at the limits: at the spline's points, and in between for at least a hundred in all."""
    parts = max(1, int(np.ceil(100 / (len(along) - 1))))
    steps = np.arange(parts) / parts
    return np.append((along[:-1, np.newaxis] + np.diff(along)[:, np.newaxis] * steps).ravel(), along[-1])


def _state(space: ob.RealVectorStateSpace, q: Array) -> ob.State:
    state = space.allocState()
    for joint, position in enumerate(q.tolist()):
        state[joint] = position
    return state


def _row(state: ob.State, dof: int) -> Array:
    return np.array([state[joint] for joint in range(dof)])


def _rows(path: og.PathGeometric, dof: int) -> Array:
    return np.array([_row(path.getState(number), dof) for number in range(path.getStateCount())])
