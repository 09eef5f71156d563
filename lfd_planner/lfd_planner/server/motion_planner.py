"""A motion from a start to a goal, from request to trajectory: what move_group's planning pipeline does.

::

    start ──► within limits? free? ─┐
    goal  ──► goal states ──────────┼─► search ──► timing ──► motion
    path constraints ───────────────┘
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.backends.backend import Failure, PlanningBackend, SearchOptions, SpeedScaling
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import PlanningGroup
from lfd_planner.scene import PlanningScene
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import PathConstraints
from lfd_planner.timing.trajectory import Trajectory

from .goals import goal_states

OUTSIDE_BY_NOISE = 0.01
"""[rad or m] by which a measured start may be beyond a limit; it is then taken to be on it."""


@dataclass(frozen=True)
class MotionRequest:
    """What is to be planned: the group's joints start where they are in the scene."""

    group: PlanningGroup
    goals: tuple[PathConstraints, ...]
    """Any of them will do."""
    scaling: SpeedScaling = field(default_factory=SpeedScaling)
    options: SearchOptions = field(default_factory=SearchOptions)


@dataclass(frozen=True, eq=False)
class Motion:
    """A planned motion."""

    group: PlanningGroup
    trajectory: Trajectory
    planning_time: float
    """[s]"""


def plan_motion(backend: PlanningBackend, scene: PlanningScene, request: MotionRequest) -> Motion | Failure:
    """Plan a motion, or say why there is none."""
    began = time.monotonic()
    group, path = request.group, request.options.constraints
    start = valid_start(backend, scene, group, path)
    if isinstance(start, Failure):
        return start
    goals = goal_states(
        backend,
        scene,
        group,
        start,
        request.goals,
        path,
        request.options.seed,
        deadline=began + request.options.budget,
        should_stop=request.options.should_stop,
    )
    if isinstance(goals, Failure):
        return goals
    options = replace(request.options, budget=request.options.budget - (time.monotonic() - began))
    found = backend.plan_joint(scene, group, start, goals, options)
    if isinstance(found, Failure):
        return found
    timed = backend.time(scene, group, found, request.scaling, constraints=path)
    if isinstance(timed, Failure):
        return timed
    return Motion(group, timed, time.monotonic() - began)


def valid_start(
    backend: PlanningBackend, scene: PlanningScene, group: PlanningGroup, path: PathConstraints
) -> Matrix | Failure:
    """The group's positions in the scene, (dof,) [rad or m], if a motion can start there."""
    start = within_limits(group, group.positions(scene.joints))
    if isinstance(start, Failure):
        return start
    contacts = backend.contacts(scene, group, start)
    if contacts:
        told = ', '.join(map(str, contacts[:3]))
        return Failure(Code.START_STATE_IN_COLLISION, f'The start state is in collision: {told}.')
    if path:
        robot = backend.robot
        checker = ConstraintChecker(robot.tree, robot.frame, group.joints, path, scene.joints)
        if broken := checker.violations(start):
            return Failure(Code.START_STATE_VIOLATES_PATH_CONSTRAINTS, f'The start state breaks them: {broken[0]}')
    return start


def within_limits(group: PlanningGroup, q: Matrix) -> Matrix | Failure:
    """Positions, (dof,) [rad or m], that are within the limits, or were but for noise; or what is wrong with them."""
    lower, upper = group.bounds
    beyond = np.maximum(lower - q, q - upper)
    if (beyond > OUTSIDE_BY_NOISE).any():
        k = int(np.argmax(beyond))
        return Failure(
            Code.START_STATE_INVALID,
            f"The start state has joint '{group.joints[k]}' at {q[k]:.4g}, beyond its limits {lower[k]:.4g} and "
            f'{upper[k]:.4g}; move it back first.',
        )
    return np.clip(q, lower, upper)
