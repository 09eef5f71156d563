"""Joint positions that carry a link along given poses without a jump.

All solutions of all poses are found at once, and the shortest continuous way through them is taken. Where a joint step
is too large, or the link would leave the line between two poses, poses are put in between: a continuous motion gets
smaller steps by that, a jump does not. What cannot be followed is cut off before the first pose that fails, with the
reason.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.cartesian.branches import Indices, Numbers, best_chain
from lfd_planner.cartesian.deviation import leaves_line
from lfd_planner.cartesian.interpolate import between, distance
from lfd_planner.robot.ik import IkSolver
from lfd_planner.robot.ik.solutions import LOWER, UPPER

IsFree = Callable[[Matrix], npt.NDArray[np.bool_]]
"""Whether configurations, (N, dof) [rad or m], are free of collisions, (N,)."""

# A gap between two poses is split into so many, twice at most.
_PARTS, _SMALLEST_GAP = 8, 1.0 / 64.0
# The start must be at the first pose to this [m, rad].
_AT_START = 1e-4
# Solutions this close [rad or m] are one.
_SAME = 1e-6


class Reason(StrEnum):
    """Why a line could not be followed further."""

    UNREACHABLE = 'unreachable'
    JOINT_LIMIT = 'joint limit'
    JUMP = 'jump'
    COLLISION = 'collision'


@dataclass(frozen=True)
class JumpGuard:
    """What counts as a jump between two consecutive configurations.

    Raises:
        ValueError: an absolute threshold is not positive, or the relative one is negative.
    """

    revolute: float = 0.2
    """The largest step of a turning joint [rad]."""
    prismatic: float = 0.05
    """The largest step of a sliding joint [m]."""
    relative: float = 0.0
    """MoveIt's jump_threshold: a step between two poses, summed over all joints, that is more than so many times as
    large as the average one is a jump; 0 turns this off."""

    def __post_init__(self) -> None:
        if not (self.revolute > 0.0 and self.prismatic > 0.0 and self.relative >= 0.0):
            raise ValueError(
                'Jump thresholds must be positive (the relative one may be 0), not '
                f'{self.revolute} rad, {self.prismatic} m and {self.relative}.'
            )


@dataclass(frozen=True)
class Precision:
    """How far the link may leave the line between two poses, joints moving evenly from one to the next.

    Raises:
        ValueError: one of them is not positive.
    """

    translation: float = 1e-3
    """[m]"""
    rotation: float = 1e-2
    """[rad]"""

    def __post_init__(self) -> None:
        if not (self.translation > 0.0 and self.rotation > 0.0):
            raise ValueError(f'Precisions must be positive, not {self.translation} m and {self.rotation} rad.')


@dataclass(frozen=True, eq=False)
class FollowResult:
    """How far poses could be followed, and how."""

    q: Matrix
    """Configurations (K, dof) [rad or m], the first is the start; between two poses there may be several."""
    pose: npt.NDArray[np.float64]
    """Where along the poses each configuration is, (K,): 2.5 is half-way between the poses 2 and 3."""
    fraction: float
    """The share of the steps between poses that was followed, 0 to 1."""
    reason: Reason | None
    """Why not further; None if all poses are reached."""
    at_pose: int
    """The first pose that is not reached; the number of poses if all are."""

    @property
    def complete(self) -> bool:
        """Whether all poses are reached."""
        return self.reason is None


def follow(
    solver: IkSolver,
    poses: npt.ArrayLike,
    q0: npt.ArrayLike,
    *,
    tip_to_link: npt.ArrayLike | None = None,
    jump: JumpGuard | None = None,
    precision: Precision | None = None,
    is_free: IsFree | None = None,
) -> FollowResult:
    """Configurations that carry a link along poses, continuously from q0 on.

    The same arguments always give the same result.

    Args:
        solver: for the chain that moves; its base is the frame of the poses.
        poses: of the moved link, (N, 4, 4) [m], close to each other; the first is where it is at q0.
        q0: the start, (dof,) [rad or m].
        tip_to_link: the pose of the moved link in the frame of the solver's tip, (4, 4) [m], if it is not the tip.
        jump: the largest joint steps.
        precision: how far the link may leave the lines between the poses.
        is_free: checks for collisions; asked for those configurations only that would be used. The start is not asked.

    Raises:
        ValueError: a pose is no rigid transform, or q0 is not at the first pose.
    """
    tips = _tip_poses(poses, tip_to_link)
    start: Numbers = np.array(q0, dtype=np.float64, order='C')
    _check_start(solver, tips[0], start)
    guard = jump or JumpGuard()
    search = _Search(solver, tips, start, _largest_steps(solver, guard), precision or Precision(), is_free)
    search.run()
    return _cut_at_jumps(search.result(), guard.relative, len(tips) - 1)


@dataclass
class _Search:
    """The stations to pass in turn, poses and what was put between them, with all their solutions."""

    solver: IkSolver
    tips: Matrix
    start: Numbers
    largest: Numbers
    precision: Precision
    is_free: IsFree | None
    along: Numbers = field(init=False)
    """Where the stations are along the poses, (S,)."""
    stations: Matrix = field(init=False)
    """Their poses, (S, 4, 4)."""
    first: Indices = field(init=False)
    """Station n has the solutions first[n] to first[n + 1], (S + 1,)."""
    q: Matrix = field(init=False)
    """All solutions, (R, dof)."""
    free: npt.NDArray[np.int8] = field(init=False)
    """For each of them: 1 if it is free of collisions, 0 if it is not, -1 if nobody asked yet, (R,)."""
    chain: Matrix = field(init=False)
    """The configurations at the stations that are reached."""
    taken: Indices = field(init=False)
    """The solutions that the chain takes."""
    swept: set[float] = field(default_factory=set)
    jump_at: float = math.inf
    """A gap that stays too wide however finely it is split ends here."""

    def __post_init__(self) -> None:
        self.along, self.stations = np.empty(0), np.empty((0, 4, 4))
        self.first, self.q = np.zeros(1, dtype=np.int64), np.empty((0, len(self.start)))
        self.free = np.empty(0, dtype=np.int8)
        self._insert(0, np.arange(1.0, len(self.tips)), self.tips[1:])

    def run(self) -> None:
        """Search until the chain is complete or nothing helps any more."""
        self._search()
        while self._check_collisions() or self._mend():
            self._search()

    def result(self) -> FollowResult:
        """The chain, cut after the last whole pose."""
        count = len(self.tips)
        reached = min(len(self.chain), int(np.searchsorted(self.along, self.jump_at)))
        reason = None
        if reached < len(self.along):
            reason = Reason.JUMP if reached < len(self.chain) else self._reason(reached)
        last = math.floor(self.along[reached - 1]) if reached else 0
        keep = int(np.searchsorted(self.along, last, side='right'))
        q = np.concatenate((self.start[np.newaxis], self.chain[:keep]))
        pose = np.concatenate((np.zeros(1), self.along[:keep]))
        at_pose = count if reason is None else last + 1
        return FollowResult(q, pose, last / (count - 1) if count > 1 else 1.0, reason, at_pose)

    def _insert(self, place: int, along: Numbers, poses: Matrix) -> None:
        """Put stations before the one at `place`."""
        batch = self.solver.solve_batch(poses, self.start)
        row, number = self.first[place], len(batch.q)
        ends = self.first[place] + np.cumsum(np.bincount(batch.pose, minlength=len(poses)))
        self.along = np.concatenate((self.along[:place], along, self.along[place:]))
        self.stations = np.concatenate((self.stations[:place], poses, self.stations[place:]))
        self.first = np.concatenate((self.first[: place + 1], ends, self.first[place + 1 :] + number))
        self.q = np.concatenate((self.q[:row], batch.q, self.q[row:]))
        self.free = np.concatenate((self.free[:row], np.full(number, -1, dtype=np.int8), self.free[row:]))

    def _add_solution(self, place: int, q: Numbers) -> None:
        row = self.first[place + 1]
        self.first[place + 1 :] += 1
        self.q = np.concatenate((self.q[:row], q[np.newaxis], self.q[row:]))
        self.free = np.concatenate((self.free[:row], np.full(1, -1, dtype=np.int8), self.free[row:]))

    def _solutions(self, place: int) -> slice:
        return slice(int(self.first[place]), int(self.first[place + 1]))

    def _search(self) -> None:
        self.chain, self.taken = best_chain(
            self.q, self.first, self.free != 0, self.start, self.solver.limits, self.largest
        )

    def _check_collisions(self) -> bool:
        """Ask about what the chain takes; whether some of it cannot be used, so that another chain is needed."""
        asked = self.free[self.taken] < 0
        if self.is_free is None or not asked.any():
            return False
        free = np.asarray(self.is_free(np.ascontiguousarray(self.chain[asked])), dtype=np.bool_)
        self.free[self.taken[asked]] = free
        return not free.all()

    def _mend(self) -> bool:
        """Add stations or solutions where the chain breaks or strays; whether there was anything to add."""
        place = len(self.chain)
        breaks = place < len(self.along)
        if breaks and self._sweep(place):
            return True
        gaps = self._straying()
        if breaks and self._reason(place) == Reason.JUMP:
            gaps.append(place)
        split = [n for n in gaps if self.along[n] < self.jump_at and self._gap(n) > 1.5 * _SMALLEST_GAP]
        hopeless = [float(self.along[n]) for n in gaps if self._gap(n) <= 1.5 * _SMALLEST_GAP]
        self.jump_at = min([self.jump_at, *hopeless])
        for n in reversed(split):
            self._split(n)
        return bool(split)

    def _sweep(self, place: int) -> bool:
        """Follow on from the chain's end, each pose from the one before; whether that found anything new.

        Where the seed chooses among endlessly many solutions, at a singularity or with a redundant arm, those near
        the start are not those near here.
        """
        if float(self.along[place]) in self.swept:
            return False
        self.swept.add(float(self.along[place]))
        before, helped = self._before(place), False
        for n in range(place, len(self.along)):
            found = self.solver.solve(self.stations[n], before)
            if not len(found) or (np.abs(found[0] - before) > self.largest).any():
                break
            before = found[0].copy()
            if not (np.abs(self.q[self._solutions(n)] - before) <= _SAME).all(axis=1).any():
                self._add_solution(n, before)
                helped = True
        return helped

    def _straying(self) -> list[int]:
        """The stations before which the link leaves the line by more than the precision."""
        q = np.concatenate((self.start[np.newaxis], self.chain))
        halfway = self.solver.chain.poses(0.5 * (q[:-1] + q[1:]))
        passed = np.concatenate((self.tips[:1], self.stations[: len(self.chain)]))
        leaves = leaves_line(halfway, passed, self.precision.translation, self.precision.rotation)
        gaps: list[int] = np.flatnonzero(leaves).tolist()
        return gaps

    def _gap(self, place: int) -> float:
        return float(self.along[place] - (self.along[place - 1] if place else 0.0))

    def _before(self, place: int) -> Numbers:
        before: Numbers = self.chain[place - 1] if place else self.start
        return before

    def _split(self, place: int) -> None:
        shares = np.arange(1, _PARTS) / _PARTS
        station = self.stations[place - 1] if place else self.tips[0]
        since = self.along[place] - self._gap(place)
        poses = between(station, self.stations[place], shares)
        self._insert(place, since + shares * self._gap(place), poses)

    def _reason(self, place: int) -> Reason:
        """Why the chain ends before a station."""
        solutions = self._solutions(place)
        if (self.free[solutions] == 0).any():
            return Reason.COLLISION
        before, has_solutions = self._before(place), solutions.stop > solutions.start
        found = _without_limits(self.solver).solve(self.stations[place], before)
        outside = ((found < self.solver.lower) | (found > self.solver.upper)).any(axis=1)
        near = (np.abs(found - before) <= self.largest).all(axis=1)
        if (outside & near).any() or (outside.any() and not has_solutions):
            return Reason.JOINT_LIMIT
        return Reason.JUMP if has_solutions else Reason.UNREACHABLE


def warm_up() -> None:
    """Compile what following lines needs beyond inverse kinematics, or load it if that was done before."""
    none = np.empty((0, 2))
    best_chain(
        none, np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.bool_), np.zeros(2), np.zeros((4, 2)), np.ones(2)
    )
    leaves_line(np.empty((0, 4, 4)), np.zeros((1, 4, 4)), 1.0, 1.0)


def _tip_poses(poses: npt.ArrayLike, tip_to_link: npt.ArrayLike | None) -> Matrix:
    """The poses of the solver's tip while the link is at the given ones."""
    given: Matrix = np.array(poses, dtype=np.float64, order='C')
    if given.ndim != 3 or given.shape[1:] != (4, 4) or not len(given):
        raise ValueError(f'The poses to follow must have the shape (N, 4, 4) with N > 0, not {given.shape}.')
    if tip_to_link is None:
        return given
    offset = np.asarray(tip_to_link, dtype=np.float64)
    if offset.shape != (4, 4) or not np.isfinite(offset).all():
        raise ValueError('The pose of the moved link in the frame of the tip must be a rigid 4x4 transform.')
    tips: Matrix = np.ascontiguousarray(given @ np.linalg.inv(offset))
    return tips


def _check_start(solver: IkSolver, tip: Matrix, start: Numbers) -> None:
    if start.shape != (solver.chain.dof,) or not np.isfinite(start).all():
        raise ValueError(f'The start must be one finite number for each of {", ".join(solver.joints)}.')
    way, turn = distance(tip, solver.chain.pose(start))
    if not (way <= _AT_START and turn <= _AT_START):
        raise ValueError(
            f'The first pose is {way:.3g} m and {turn:.3g} rad away from where the link is at the start; '
            'begin the poses there.'
        )


def _largest_steps(solver: IkSolver, guard: JumpGuard) -> Numbers:
    axes = solver.chain.joint_axes()
    turns = [bool(axes.turns[axes.column == k].all()) for k in range(solver.chain.dof)]
    return np.array([guard.revolute if turn else guard.prismatic for turn in turns], dtype=np.float64)


def _without_limits(solver: IkSolver) -> IkSolver:
    """The same arm, free to go anywhere: what it reaches and the arm does not, the limits forbid."""
    free = copy.copy(solver)
    free.limits = solver.limits.copy()
    free.limits[LOWER], free.limits[UPPER] = -math.inf, math.inf
    return free


def _cut_at_jumps(result: FollowResult, relative: float, steps: int) -> FollowResult:
    """The result, of `steps` between all poses, cut before the first that is `relative` times the average one."""
    whole = result.pose == np.floor(result.pose)
    sizes = np.abs(np.diff(result.q[whole], axis=0)).sum(axis=1)
    if relative == 0.0 or not len(sizes) or not (sizes > relative * sizes.mean()).any():
        return result
    last = int(np.argmax(sizes > relative * sizes.mean()))
    keep = result.pose <= last
    return FollowResult(result.q[keep], result.pose[keep], last / steps, Reason.JUMP, last + 1)
