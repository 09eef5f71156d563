"""From what a goal asks for to joint positions that fulfil it.

A goal names joints, or where a link is to be and how it is turned, or both. Poses are drawn from its regions and
tolerances, the middle first; the inverse kinematics gives all positions for each, and those that keep to limits,
constraints and distance are the goals of the search. What was rejected is counted by reason.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from lfd_description.shapes import Box, Cylinder, Sphere
from lfd_description.urdf import Matrix, axis_rotations
from lfd_planner.backends.backend import Failure, PlanningBackend
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import NoKinematics, PlanningGroup
from lfd_planner.scene import PlanningScene, Pose
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import (
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
)
from lfd_planner.search.projection import keeps, make_projection_room

ENOUGH = 16  # goal states; more make the search no faster
ROUNDS = 6
POSES_A_ROUND = 32
EXPLAINED = 5  # rejected states of which the contacts or the broken constraints are named
MOST_GOALS = 1000  # each may cost hundreds of inverse kinematics


@dataclass
class _Tally:
    """What became of the candidates."""

    poses: int = 0
    unreachable: int = 0
    candidates: int = 0
    outside_limits: int = 0
    against_constraints: list[tuple[ConstraintChecker, Matrix]] = field(default_factory=list)
    colliding: list[Matrix] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def goal_states(
    backend: PlanningBackend,
    scene: PlanningScene,
    group: PlanningGroup,
    start: Matrix,
    goals: Sequence[PathConstraints],
    path: PathConstraints,
    seed: int,
    *,
    deadline: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Matrix | Failure:
    """Positions that fulfil any of the goals, (k, dof) [rad or m], the nearest to the start first; or why none do.

    `path` is kept to as well, and nothing touches. Past the `deadline`, a time of time.monotonic() [s], or when it
    should stop, what was found by then is taken; if that is nothing, the failure says so.
    """
    if len(goals) > MOST_GOALS:
        return Failure(
            Code.INVALID_GOAL_CONSTRAINTS,
            f'There are {len(goals)} goals to choose from, more than {MOST_GOALS}; send fewer.',
        )
    search = _GoalSearch(backend, scene, group, start, path, np.random.default_rng(seed), deadline, should_stop)
    found: list[Matrix] = []
    for goal in goals:
        found += search.states(goal)
        if search.ended is not None:
            break
    if not found:
        return search.ended or search.failure()
    rows = np.array(found)
    order = np.argsort(np.linalg.norm(rows - start, axis=1), kind='stable')
    return np.ascontiguousarray(rows[order])


class _GoalSearch:
    """One search for goal states."""

    def __init__(
        self,
        backend: PlanningBackend,
        scene: PlanningScene,
        group: PlanningGroup,
        start: Matrix,
        path: PathConstraints,
        random: np.random.Generator,
        deadline: float | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self.backend = backend
        self.scene = scene
        self.group = group
        self.start = start
        self.path = path
        self.random = random
        self.deadline = deadline
        self.should_stop = should_stop
        self.tally = _Tally()
        self.ended: Failure | None = None
        """Why the search was given up before all goals were looked at."""
        self.link_poses = backend.robot.frames.link_poses(scene.joints)

    def states(self, goal: PathConstraints) -> list[Matrix]:
        """Positions that fulfil one goal, some that are near the start."""
        found: list[Matrix] = []
        if self._is_over():
            return found
        checker = self._checker(goal)
        try:
            for candidates in self._candidates(goal):
                found += self._accepted(candidates, checker)
                if len(found) >= ENOUGH or self._is_over():
                    break
        except NoKinematics as error:
            self.tally.refused.append(str(error))
        return found[:ENOUGH]

    def _is_over(self) -> bool:
        if self.should_stop():
            self.ended = Failure(Code.PREEMPTED, 'The search for positions that reach the goal was stopped.')
        elif self.deadline is not None and time.monotonic() > self.deadline:
            self.ended = Failure(
                Code.TIMED_OUT,
                f'The time for planning was over before any of {self.tally.candidates} joint positions was found to '
                f'reach the goal; allow more time, or send fewer goals.',
            )
        return self.ended is not None

    def _checker(self, goal: PathConstraints) -> ConstraintChecker:
        both = PathConstraints(
            (*goal.joints, *self.path.joints),
            (*goal.positions, *self.path.positions),
            (*goal.orientations, *self.path.orientations),
        )
        robot = self.backend.robot
        return ConstraintChecker(robot.tree, robot.frame, self.group.joints, both, self.scene.joints)

    def _candidates(self, goal: PathConstraints) -> Iterator[Matrix]:
        """Rounds of positions, (n, dof), that may fulfil the goal."""
        if not goal.positions and not goal.orientations:
            yield from self._joint_candidates(goal)
            return
        link = goal.positions[0].link if goal.positions else goal.orientations[0].link
        ik = self.group.solver_for(link)
        to_base = np.linalg.inv(self.link_poses[self.group.base])
        for number in range(ROUNDS):
            poses = self._poses(goal, link, 1 if number == 0 else POSES_A_ROUND)
            batch = ik.solver.solve_batch(np.ascontiguousarray(ik.to_tip(to_base @ poses)), self.start)
            self.tally.poses += len(poses)
            self.tally.unreachable += len(poses) - len(np.unique(batch.pose))
            yield np.concatenate([batch.q, *self._turned(batch.q)])
            if _is_exact(goal):  # every further pose would be the same
                return

    def _turned(self, q: Matrix) -> Iterator[Matrix]:
        """The same positions with one joint a full turn away, where its limits allow that: they are other goals."""
        lower, upper = self.group.bounds
        for k, name in enumerate(self.group.joints):
            if self.group.tree.joint[name].turns and 2.0 * np.pi < upper[k] - lower[k] < np.inf:
                for turn in (-2.0 * np.pi, 2.0 * np.pi):
                    rows = q[(lower[k] <= q[:, k] + turn) & (q[:, k] + turn <= upper[k])].copy()
                    rows[:, k] += turn
                    yield rows

    def _joint_candidates(self, goal: PathConstraints) -> Iterator[Matrix]:
        lower, upper = self.group.bounds
        wanted = self.start.copy()
        free = np.ones(len(wanted), dtype=np.bool_)
        for constraint in goal.joints:
            if constraint.joint not in self.group.joints:
                continue
            k = self.group.joints.index(constraint.joint)
            low, high = constraint.position - constraint.below, constraint.position + constraint.above
            if high < lower[k] or low > upper[k]:
                self.tally.refused.append(
                    f"The goal has joint '{constraint.joint}' at {constraint.position:g}, "
                    f'and its limits are {lower[k]:g} and {upper[k]:g}.'
                )
                return
            wanted[k], free[k] = np.clip(constraint.position, lower[k], upper[k]), False
        yield wanted[np.newaxis]
        if free.any():
            rows = np.tile(wanted, (POSES_A_ROUND * ROUNDS, 1))
            lowest, highest = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
            rows[:, free] = self.random.uniform(lowest, np.maximum(highest, lowest), rows.shape)[:, free]
            yield rows

    def _accepted(self, candidates: Matrix, checker: ConstraintChecker) -> list[Matrix]:
        """Those that are within limits, keep to the constraints and are free: the nearest to the start, ENOUGH of them.

        Further ones are looked at only if the nearer are not enough.
        """
        lower, upper = self.group.bounds
        inside = ((candidates >= lower - 1e-9) & (candidates <= upper + 1e-9)).all(axis=1)
        self.tally.candidates += len(candidates)
        self.tally.outside_limits += int((~inside).sum())
        rows = candidates[inside]
        rows = rows[np.argsort(np.linalg.norm(rows - self.start, axis=1), kind='stable')]
        found: list[Matrix] = []
        for first in range(0, len(rows), ENOUGH):
            found += self._free(self._keeping(rows[first : first + ENOUGH], checker))
            if len(found) >= ENOUGH:
                break
        return found

    def _keeping(self, candidates: Matrix, checker: ConstraintChecker) -> list[Matrix]:
        """Those that keep to the constraints."""
        room = make_projection_room(checker.data, len(self.start))
        kept: list[Matrix] = []
        for q in np.ascontiguousarray(candidates):
            if keeps(q, checker.data, room):
                kept.append(q)
            elif len(self.tally.against_constraints) < EXPLAINED:
                self.tally.against_constraints.append((checker, q))
        return kept

    def _free(self, candidates: list[Matrix]) -> list[Matrix]:
        """Those that touch nothing."""
        if not candidates:
            return []
        free = self.backend.free(self.scene, self.group, np.array(candidates))
        self.tally.colliding += [q for q, is_free in zip(candidates, free, strict=True) if not is_free]
        return [q for q, is_free in zip(candidates, free, strict=True) if is_free]

    def _poses(self, goal: PathConstraints, link: str, count: int) -> Matrix:
        """Poses of the link in the scene's frame, (count, 4, 4); the first round is the middle of everything."""
        poses = np.tile(np.eye(4), (count, 1, 1))
        here = self.link_poses[link]
        middle = count == 1
        for pose in poses:
            turn = _random_rotation(self.random) if not middle else here[:3, :3]
            if goal.orientations:
                turn = _orientation(goal.orientations[0], middle, self.random)
            pose[:3, :3] = turn
            if goal.positions:
                pose[:3, 3] = _position(goal.positions[0], middle, self.random) - turn @ goal.positions[0].offset
            else:
                pose[:3, 3] = here[:3, 3] if middle else self._reachable_point(link)
        return poses

    def _reachable_point(self, link: str) -> Matrix:
        lower, upper = np.maximum(self.group.bounds[0], -np.pi), np.minimum(self.group.bounds[1], np.pi)
        positions = {**self.scene.joints, **self.group.by_name(self.random.uniform(lower, upper))}
        point: Matrix = self.backend.robot.frames.link_poses(positions)[link][:3, 3]
        return point

    def failure(self) -> Failure:
        """Why nothing was found, by the reason that is nearest to success."""
        tally = self.tally
        if tally.colliding:
            contacts: Counter[str] = Counter()
            for q in tally.colliding[:EXPLAINED]:
                contact = self.backend.first_contact(self.scene, self.group, q)
                contacts.update([str(contact)] if contact else [])
            worst = f' ({contacts.most_common(1)[0][0]})' if contacts else ''
            return Failure(
                Code.GOAL_IN_COLLISION,
                f'All {len(tally.colliding)} joint positions that reach the goal are in collision{worst}.',
            )
        if tally.against_constraints:
            reasons = Counter(why for checker, q in tally.against_constraints for why in checker.violations(q)[:1])
            reason = reasons.most_common(1)[0][0] if reasons else 'they leave too little room.'
            code = Code.GOAL_VIOLATES_PATH_CONSTRAINTS if self.path else Code.GOAL_CONSTRAINTS_VIOLATED
            return Failure(code, f'No joint positions fulfil goal and path constraints: {reason}')
        if tally.outside_limits:
            return Failure(
                Code.NO_IK_SOLUTION,
                f'All {tally.outside_limits} joint positions that reach the goal are beyond joint limits.',
            )
        if tally.refused:
            return Failure(Code.INVALID_GOAL_CONSTRAINTS, ' '.join(dict.fromkeys(tally.refused)))
        return Failure(
            Code.NO_IK_SOLUTION,
            f'The goal is out of reach: none of {tally.poses} poses within its tolerances has a solution of the '
            f'inverse kinematics.',
        )


def _is_exact(goal: PathConstraints) -> bool:
    """Whether there is but one pose that fulfils the goal, tolerances of a hair aside."""
    hair = 1e-6
    sizes = [size for constraint in goal.positions for region in constraint.regions for size in region.size]
    turns = [turn for constraint in goal.orientations for turn in constraint.tolerance]
    return bool(sizes and turns) and max(sizes) <= hair and max(turns) <= hair


def _position(constraint: PositionConstraint, middle: bool, random: np.random.Generator) -> Matrix:
    """A point of one of the regions, in the scene's frame [m]."""
    region = constraint.regions[0 if middle else int(random.integers(len(constraint.regions)))]
    inside = np.zeros(3) if middle else _point_inside(region, random)
    point: Matrix = region.pose.matrix[:3, :3] @ inside + region.pose.matrix[:3, 3]
    return point


def _point_inside(region: Region, random: np.random.Generator) -> Matrix:
    match region.shape:
        case Box(size):
            return random.uniform(-0.5, 0.5, 3) * size
        case Sphere(radius):
            direction = random.normal(size=3)
            ball: Matrix = direction / np.linalg.norm(direction) * radius * random.uniform() ** (1.0 / 3.0)
            return ball
        case Cylinder(radius, height):
            angle, distance = random.uniform(0.0, 2.0 * np.pi), radius * np.sqrt(random.uniform())
            return np.array([distance * np.cos(angle), distance * np.sin(angle), random.uniform(-0.5, 0.5) * height])


def _orientation(constraint: OrientationConstraint, middle: bool, random: np.random.Generator) -> Matrix:
    """A rotation within the tolerances, in the scene's frame."""
    target = Pose(orientation=constraint.orientation).matrix[:3, :3]
    if middle:
        return target
    limits = np.minimum(constraint.tolerance, np.pi)
    error = random.uniform(-limits, limits)
    if constraint.parameterization == Parameterization.ROTATION_VECTOR:
        turned: Matrix = target @ _rotation_of_vector(error)
        return turned
    for k in range(3):
        axis = np.zeros(3)
        axis[k] = error[k]
        target = target @ _rotation_of_vector(axis)
    return target


def _rotation_of_vector(vector: Matrix) -> Matrix:
    """The rotation about a vector by its length [rad]."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-12:
        return np.eye(3)
    turn: Matrix = axis_rotations(vector / angle, [angle])[0]
    return turn


def _random_rotation(random: np.random.Generator) -> Matrix:
    x, y, z, w = random.normal(size=4)
    norm = float(np.sqrt(x * x + y * y + z * z + w * w))
    turn: Matrix = Pose(orientation=(x / norm, y / norm, z / norm, w / norm)).matrix[:3, :3]
    return turn
