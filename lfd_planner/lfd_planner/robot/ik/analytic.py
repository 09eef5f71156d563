"""All solutions of a six-axis arm in closed form, from the lines of its joint axes.

The motion that brings the tip from its pose at zero to the wanted one is split into turns about the joint axes:
for a spherical wrist the first three axes place the wrist's centre and the last three turn it; with parallel axes
the first, fifth and sixth follow from what turns about the parallel ones cannot change, and those are a plane's
two-bar linkage. Where an angle is free (a singularity), it is taken from the seed, so that the pose is still reached.

The lines are idealised: exactly meeting, exactly parallel. Solutions are measured against the true lines and, where
a description's rounded numbers are off, brought onto the pose by a few steps of descent.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.kinematic_family import AxisPair, KinematicFamily, common_direction, common_point
from lfd_description.kinematics import Chain, JointAxes
from lfd_description.shapes import Vector
from lfd_description.urdf import Matrix, RobotTree
from lfd_planner.robot.ik.descent import Arm, Workspace, arm_of, descend, workspace
from lfd_planner.robot.ik.solutions import BEYOND, Numbers, keep, place, placed
from lfd_planner.robot.ik.solver import ACCURACY, IkSolver, is_rigid, make_orthonormal
from lfd_planner.robot.ik.subproblems import (
    ANY,
    EXACT,
    Angle,
    across,
    after,
    any_across,
    back,
    dot,
    length,
    minus,
    plus,
    row,
    turn,
    turn_about,
    turn_onto,
    turn_to_distance,
    turn_to_level,
)

MOST = 8
"""No such arm has more solutions."""
# Values tried for a free angle where the seed's leads out of a limit.
_FREE_SAMPLES = 24
# A description's rounding grows along the arm: what is out of the ideal arm's reach by so many times as much is tried.
_SLACK = 30.0
# At a fold of the workspace slack becomes its square root [rad]; so many times that may an angle shift when polished.
_SHIFT = 10.0
_POLISH_STEPS = 20
# Two roots that fall together are found this far from each other [rad].
_APART = 1e-6

_PARALLEL_AXES, _WRIST_23_PARALLEL, _WRIST_12_PARALLEL, _WRIST_12_MEET, _WRIST_23_MEET = range(5)
_SHAPES = {
    None: _PARALLEL_AXES,
    AxisPair(2, 'parallel'): _WRIST_23_PARALLEL,
    AxisPair(1, 'parallel'): _WRIST_12_PARALLEL,
    AxisPair(1, 'intersecting'): _WRIST_12_MEET,
    AxisPair(2, 'intersecting'): _WRIST_23_MEET,
}
# Candidates are rows of six cosines, six sines, and whether they must be measured: their closed form went through a
# level just out of reach or an angle that was free. The rows behind the first MOST hold positions of the wrist.
_DOUBT = 12
_ROWS = MOST + 4
# Rows of Ideal.point after those of the six axes.
_CENTRE, _PAIR = 6, 7


class Ideal(NamedTuple):
    """An arm's axes at position zero, base frame, exactly meeting or parallel where they should be."""

    direction: Matrix
    """Unit vectors of the six axes, then one at right angles to the sixth, (7, 3)."""
    point: Matrix
    """A point on each of the six axes, the point where the last axes meet, that of the pair of axes, (8, 3) [m]."""
    shape: int
    slack: float
    """How far out of reach [m, rad] of the ideal arm the true one may still get."""


class AnalyticSolver(IkSolver):
    """All solutions of an arm with a spherical wrist or with parallel axes."""

    def __init__(self, tree: RobotTree, chain: Chain, family: KinematicFamily) -> None:
        super().__init__(tree, chain, family)
        axes = chain.joint_axes()
        self._arm = arm_of(axes)
        self._ideal = _ideal(axes, family)

    @property
    def _most(self) -> int:
        return MOST

    def _fill(self, poses: Matrix, seed: Numbers, q: Matrix, pose: npt.NDArray[np.int64]) -> int:
        return _solve_many(poses, *self._ideal, *self._arm, self.limits, seed, q, pose)


def _ideal(axes: JointAxes, family: KinematicFamily) -> Ideal:
    direction, point = axes.direction.copy(), np.vstack([axes.point, np.zeros((2, 3))])
    point[_CENTRE] = common_point(axes, (4, 5) if family.pair is None else (3, 4, 5))
    if family.pair is None:
        _straighten(axes, (1, 2, 3), direction)
    elif family.pair.relation == 'parallel':
        _straighten(axes, (family.pair.first - 1, family.pair.first), direction)
    else:
        point[_PAIR] = common_point(axes, (family.pair.first - 1, family.pair.first))
    reach = float(np.abs(point - axes.home[:3, 3]).sum(axis=1).max())
    rounding = max((reach if fact.unit == 'rad' else 1.0) * fact.value for fact in family.evidence)
    across_tool = any_across(axes.direction[5])
    return Ideal(np.vstack([direction, across_tool]), point, _SHAPES[family.pair], 1e-9 + _SLACK * rounding)


def _straighten(axes: JointAxes, joints: tuple[int, ...], direction: Matrix) -> None:
    """Make axes that are parallel but for rounding exactly so."""
    mean, signs = common_direction(axes, joints)
    direction[list(joints)] = signs[:, np.newaxis] * mean


# One pose -------------------------------------------------------------------------------------------------------------


@compiled
def _solve_many(
    poses: Matrix,
    direction: Matrix,
    point: Matrix,
    shape: int,
    slack: float,
    joints: Matrix,
    home: Matrix,
    limits: Matrix,
    seed: Numbers,
    q: Matrix,
    number: npt.NDArray[np.int64],
) -> int:
    """Fill the rows of q and the number of the pose each reaches; gives their count, or -1 - n if pose n is no pose."""
    candidates, distance, work = np.empty((_ROWS, 13)), np.empty(MOST), workspace(6, 6)
    ideal, arm = Ideal(direction, point, shape, slack), Arm(joints, home)
    total = 0
    for n in range(poses.shape[0]):
        if not is_rigid(poses[n]):
            return -1 - n
        count = _solutions(poses[n], ideal, arm, limits, seed, candidates, q[total:], distance, work)
        for m in range(total, total + count):
            number[m] = n
        total += count
    return total


@compiled
def _solutions(
    pose: Matrix,
    ideal: Ideal,
    arm: Arm,
    limits: Matrix,
    seed: Numbers,
    candidates: Matrix,
    kept: Matrix,
    distance: Numbers,
    work: Workspace,
) -> int:
    """Fill the rows of `kept` with the solutions for one pose and give their count.

    At a singularity the seed's value of the free angle may lead out of a limit; then others are tried.
    """
    goal, motion = work.goal, work.motion
    make_orthonormal(pose, goal)
    _motion_from_home(goal, arm.home, motion)
    found, singular = _candidates(motion, ideal, seed, candidates)
    count = _accept(found, candidates, goal, ideal.slack, arm, limits, seed, kept, distance, work)
    if count == 0 and ideal.slack > EXACT:
        # Near a fold a small error of the axes becomes its square root in the angles.
        wide = Ideal(ideal.direction, ideal.point, ideal.shape, math.sqrt(ideal.slack))
        found, singular = _candidates(motion, wide, seed, candidates)
        count = _accept(found, candidates, goal, ideal.slack, arm, limits, seed, kept, distance, work)
    if count > 0 or not singular:
        return count
    free = seed.copy()
    for _ in range(1, _FREE_SAMPLES):
        free += 2.0 * math.pi / _FREE_SAMPLES
        found, singular = _candidates(motion, ideal, free, candidates)
        count = _accept(found, candidates, goal, ideal.slack, arm, limits, seed, kept, distance, work)
        if count > 0:
            break
    return count


@compiled
def _motion_from_home(goal: Matrix, home: Matrix, out: Matrix) -> None:
    """Goal * home^-1: the motion that the joints must make together, base frame."""
    for i in range(3):
        for j in range(3):
            out[i, j] = goal[i, 0] * home[j, 0] + goal[i, 1] * home[j, 1] + goal[i, 2] * home[j, 2]
        out[i, 3] = goal[i, 3] - (out[i, 0] * home[0, 3] + out[i, 1] * home[1, 3] + out[i, 2] * home[2, 3])


@compiled
def _candidates(motion: Matrix, ideal: Ideal, free: Numbers, out: Matrix) -> tuple[int, bool]:
    if ideal.shape == _PARALLEL_AXES:
        return _parallel_axes(motion, ideal, free, out)
    return _spherical_wrist(motion, ideal, free, out)


@compiled
def _accept(
    found: int,
    candidates: Matrix,
    goal: Matrix,
    slack: float,
    arm: Arm,
    limits: Matrix,
    seed: Numbers,
    kept: Matrix,
    distance: Numbers,
    work: Workspace,
) -> int:
    """Keep the candidates that are within limits and reach the goal with the arm's true axes."""
    count, q = 0, work.q
    # The ideal arm's angle may be a little beyond a limit that the true one's keeps.
    beyond = BEYOND if slack < EXACT else _SHIFT * math.sqrt(slack)
    known = 0
    for n in range(found):
        known = _angles(candidates, n, known, limits, seed, beyond, q)
        if known < 6:
            continue
        if candidates[n, _DOUBT] != 0.0 or slack > EXACT:
            known = 0
            residual = descend(q, arm, goal, limits, _POLISH_STEPS, work)
            if residual > ACCURACY or not place(q, limits, seed, BEYOND):
                continue
        count = keep(q, seed, limits, _APART, kept, distance, count)
    return count


@compiled
def _angles(candidates: Matrix, n: int, known: int, limits: Matrix, seed: Numbers, beyond: float, q: Numbers) -> int:
    """Fill q from a candidate up to the first joint beyond its limits; gives how many joints are filled.

    Candidates that follow each other share angles: as many as are `known` from the one before are not computed again.
    """
    for k in range(6):
        cosine, sine = candidates[n, k], candidates[n, 6 + k]
        if k < known and cosine == candidates[n - 1, k] and sine == candidates[n - 1, 6 + k]:
            continue
        q[k] = placed(math.atan2(sine, cosine), k, limits, seed, beyond)
        if math.isnan(q[k]):
            return k
    return 6


@compiled
def _set(out: Matrix, n: int, joint: int, angle: Angle) -> None:
    out[n, joint], out[n, 6 + joint] = angle


@compiled
def _write(out: Matrix, n: int, one: Angle, two: Angle, three: Angle, four: Angle, five: Angle, six: Angle) -> None:
    _set(out, n, 0, one)
    _set(out, n, 1, two)
    _set(out, n, 2, three)
    _set(out, n, 3, four)
    _set(out, n, 4, five)
    _set(out, n, 5, six)


@compiled
def _get(out: Matrix, n: int, joint: int) -> Angle:
    return out[n, joint], out[n, 6 + joint]


@compiled
def _free(free: Numbers, joint: int, sign: float) -> Angle:
    return math.cos(free[joint]), sign * math.sin(free[joint])


# Spherical wrist ------------------------------------------------------------------------------------------------------


@compiled
def _spherical_wrist(motion: Matrix, ideal: Ideal, free: Numbers, out: Matrix) -> tuple[int, bool]:
    """Candidates for axes 4, 5 and 6 that meet in a point, and whether an angle was free."""
    centre = row(ideal.point, _CENTRE)
    goal = _moved(motion, centre)
    forwards = ideal.shape == _WRIST_23_PARALLEL or ideal.shape == _WRIST_12_MEET
    a, c = (0, 2) if forwards else (2, 0)
    # Seen backwards, from where the wrist shall be to where it is, axes 1 and 3 change places and angles their sign.
    start, end = (centre, goal) if forwards else (goal, centre)
    sign = 1.0 if forwards else -1.0
    if ideal.shape == _WRIST_23_PARALLEL or ideal.shape == _WRIST_12_PARALLEL:
        placed, singular = _place_parallel(ideal, a, c, start, end, free, sign, out)
    else:
        placed, singular = _place_meeting(ideal, a, c, start, end, free, sign, out)
    count = 0
    for n in range(MOST, MOST + placed):
        out[n, 6], out[n, 7], out[n, 8] = sign * out[n, 6], sign * out[n, 7], sign * out[n, 8]
        turns, loose = _turn_wrist(motion, ideal, free, out, n, count)
        count += turns
        singular = singular or loose
    return count, singular


@compiled
def _moved(motion: Matrix, point: Vector) -> Vector:
    x, y, z = _turned(motion, point)
    return x + motion[0, 3], y + motion[1, 3], z + motion[2, 3]


@compiled
def _turned(motion: Matrix, vector: Vector) -> Vector:
    return (
        motion[0, 0] * vector[0] + motion[0, 1] * vector[1] + motion[0, 2] * vector[2],
        motion[1, 0] * vector[0] + motion[1, 1] * vector[1] + motion[1, 2] * vector[2],
        motion[2, 0] * vector[0] + motion[2, 1] * vector[1] + motion[2, 2] * vector[2],
    )


@compiled
def _place_parallel(
    ideal: Ideal, a: int, c: int, start: Vector, goal: Vector, free: Numbers, sign: float, out: Matrix
) -> tuple[int, bool]:
    """Angles of axes a, 2 and c, the last two parallel, that bring a point from `start` to `goal`, c turning first.

    Turning about the parallel axes keeps the height along them: that gives a's angle.
    """
    ka, kb, kc = row(ideal.direction, a), row(ideal.direction, 1), row(ideal.direction, c)
    pa, pb, pc = row(ideal.point, a), row(ideal.point, 1), row(ideal.point, c)
    count, singular = MOST, False
    backwards = (-ka[0], -ka[1], -ka[2])
    number, first, second = turn_to_level(backwards, minus(goal, pa), kb, dot(kb, minus(start, pa)), ideal.slack)
    if number == ANY:
        singular = True
        number, first = 1, _free(free, a, sign)
    arm, shoulder = across(kc, minus(start, pc)), across(kc, minus(pb, pc))
    for i in range(number):
        angle_a = first if i == 0 else second
        wanted = across(kb, minus(turn_about(backwards, pa, angle_a, goal), pb))
        bends, up, down = turn_to_distance(kc, arm, shoulder, length(wanted), ideal.slack)
        doubt = number == 1 or bends == 1
        for j in range(bends):
            angle_c = up if j == 0 else down
            angle_b, loose = turn_onto(kb, minus(turn(kc, angle_c, arm), shoulder), wanted)
            if loose:
                singular = True
                angle_b = _free(free, 1, sign)
            _set(out, count, a, angle_a)
            _set(out, count, 1, angle_b)
            _set(out, count, c, angle_c)
            out[count, _DOUBT] = doubt or loose
            count += 1
    return count - MOST, singular


@compiled
def _place_meeting(
    ideal: Ideal, a: int, c: int, start: Vector, goal: Vector, free: Numbers, sign: float, out: Matrix
) -> tuple[int, bool]:
    """The same for axes a and 2 that meet: turning about them keeps the distance from where they do."""
    ka, kb, kc = row(ideal.direction, a), row(ideal.direction, 1), row(ideal.direction, c)
    pc, meeting = row(ideal.point, c), row(ideal.point, _PAIR)
    wanted = minus(goal, meeting)
    distance = length(wanted)
    count, singular = MOST, False
    bends, up, down = turn_to_distance(kc, minus(start, pc), minus(meeting, pc), distance, ideal.slack)
    for j in range(bends):
        angle_c = up if j == 0 else down
        arm = minus(turn_about(kc, pc, angle_c, start), meeting)
        number, first, second = turn_to_level(kb, arm, ka, dot(ka, wanted), ideal.slack)
        if number == ANY:
            singular = True
            number, first = 1, _free(free, 1, sign)
        doubt = bends == 1 or number == 1
        for i in range(number):
            angle_b = first if i == 0 else second
            angle_a, loose = turn_onto(ka, turn(kb, angle_b, arm), wanted)
            if loose:
                singular = True
                angle_a = _free(free, a, sign)
            _set(out, count, a, angle_a)
            _set(out, count, 1, angle_b)
            _set(out, count, c, angle_c)
            out[count, _DOUBT] = doubt or loose
            count += 1
    return count - MOST, singular


@compiled
def _turn_wrist(motion: Matrix, ideal: Ideal, free: Numbers, out: Matrix, n: int, first_row: int) -> tuple[int, bool]:
    """Angles of axes 4, 5 and 6 for the first three of row n, appended to `out`: how many, and if one was free."""
    k4, k5, k6 = row(ideal.direction, 3), row(ideal.direction, 4), row(ideal.direction, 5)
    mark = row(ideal.direction, 6)
    one, two, three = _get(out, n, 0), _get(out, n, 1), _get(out, n, 2)
    tool = _turned_before(motion, ideal, one, two, three, k6)
    marked = _turned_before(motion, ideal, one, two, three, mark)
    turns, first, second = turn_to_level(k5, k6, k4, dot(k4, tool), ideal.slack)
    singular = turns == ANY
    if singular:
        turns, first = 1, _free(free, 4, 1.0)
    for i in range(turns):
        five = first if i == 0 else second
        four, loose = turn_onto(k4, turn(k5, five, k6), tool)
        if loose:
            singular = True
            four = _free(free, 3, 1.0)
        six, _ = turn_onto(k6, mark, turn(k5, back(five), turn(k4, back(four), marked)))
        _write(out, first_row + i, one, two, three, four, five, six)
        out[first_row + i, _DOUBT] = out[n, _DOUBT] != 0.0 or loose or turns == 1
    return turns, singular


@compiled
def _turned_before(motion: Matrix, ideal: Ideal, one: Angle, two: Angle, three: Angle, vector: Vector) -> Vector:
    """Where the wrist alone must turn a vector so that the first three axes then turn it as the whole motion does."""
    goal = turn(row(ideal.direction, 0), back(one), _turned(motion, vector))
    goal = turn(row(ideal.direction, 1), back(two), goal)
    return turn(row(ideal.direction, 2), back(three), goal)


# Parallel axes --------------------------------------------------------------------------------------------------------


@compiled
def _parallel_axes(motion: Matrix, ideal: Ideal, free: Numbers, out: Matrix) -> tuple[int, bool]:
    """Candidates for axes 2, 3 and 4 parallel, 5 and 6 meeting, and whether an angle was free."""
    k1, k2 = row(ideal.direction, 0), row(ideal.direction, 1)
    k5, k6 = row(ideal.direction, 4), row(ideal.direction, 5)
    p1, centre = row(ideal.point, 0), row(ideal.point, _CENTRE)
    count, singular = 0, False
    # Axes 5 and 6 leave their common point alone, and 2, 3 and 4 keep its height along them.
    goal = minus(_moved(motion, centre), p1)
    backwards = (-k1[0], -k1[1], -k1[2])
    shoulders, left, right = turn_to_level(backwards, goal, k2, dot(k2, minus(centre, p1)), ideal.slack)
    if shoulders == ANY:
        singular = True
        shoulders, left = 1, _free(free, 0, 1.0)
    tool = _turned(motion, k6)
    for i in range(shoulders):
        one = left if i == 0 else right
        # 2, 3 and 4 also keep the angle between themselves and axis 6, which only axis 5 changes.
        level = dot(k2, turn(k1, back(one), tool))
        wrists, inward, outward = turn_to_level(k5, k6, k2, level, ideal.slack)
        if wrists == ANY:
            singular = True
            wrists, inward = 1, _free(free, 4, 1.0)
        for j in range(wrists):
            five = inward if j == 0 else outward
            six, loose = turn_onto(k6, _turned_back(motion, turn(k1, one, k2)), turn(k5, back(five), k2))
            if loose:
                singular = True
                six = _six_within_reach(motion, ideal, one, five, _free(free, 5, 1.0))
            doubt = loose or shoulders == 1 or wrists == 1
            bends, loose = _bend_elbow(motion, ideal, one, five, six, free, doubt, out, count)
            count += bends
            singular = singular or loose
    return count, singular


@compiled
def _six_within_reach(motion: Matrix, ideal: Ideal, one: Angle, five: Angle, preferred: Angle) -> Angle:
    """The angle of axis 6 when it is parallel to 2, 3 and 4: the preferred one if the elbow can follow, else another.

    Turning about axis 6 then carries axis 4 on a circle, whose distance from axis 2 must suit upper arm and forearm.
    """
    k1, k2, k5, k6 = row(ideal.direction, 0), row(ideal.direction, 1), row(ideal.direction, 4), row(ideal.direction, 5)
    p1, p2, p3, p4 = row(ideal.point, 0), row(ideal.point, 1), row(ideal.point, 2), row(ideal.point, 3)
    centre = row(ideal.point, _CENTRE)
    middle = across(k2, minus(turn_about(k1, p1, back(one), _moved(motion, centre)), p2))
    spoke = across(k6, turn(k5, back(five), minus(p4, centre)))
    spoke = across(k2, turn(k1, back(one), _turned(motion, spoke)))
    axis = turn(k1, back(one), _turned(motion, k6))
    wanted = plus(middle, turn(axis, back(preferred), spoke))
    upper_arm, forearm = length(across(k2, minus(p3, p2))), length(across(k2, minus(p4, p3)))
    nearest, farthest = abs(upper_arm - forearm), upper_arm + forearm
    if nearest <= length(wanted) <= farthest:
        return preferred
    nearest = max(nearest, abs(length(middle) - length(spoke)))
    farthest = min(farthest, length(middle) + length(spoke))
    away = (-middle[0], -middle[1], -middle[2])
    number, angle, _ = turn_to_distance(axis, spoke, away, 0.5 * (nearest + farthest), ideal.slack)
    return back(angle) if number > 0 else preferred


@compiled
def _turned_back(motion: Matrix, vector: Vector) -> Vector:
    return (
        motion[0, 0] * vector[0] + motion[1, 0] * vector[1] + motion[2, 0] * vector[2],
        motion[0, 1] * vector[0] + motion[1, 1] * vector[1] + motion[2, 1] * vector[2],
        motion[0, 2] * vector[0] + motion[1, 2] * vector[1] + motion[2, 2] * vector[2],
    )


@compiled
def _bend_elbow(
    motion: Matrix,
    ideal: Ideal,
    one: Angle,
    five: Angle,
    six: Angle,
    free: Numbers,
    doubt: bool,
    out: Matrix,
    first_row: int,
) -> tuple[int, bool]:
    """Angles of the parallel axes 2, 3 and 4 for the others given, appended to `out`: how many, and if one was free."""
    k1, k2, k3, k4 = row(ideal.direction, 0), row(ideal.direction, 1), row(ideal.direction, 2), row(ideal.direction, 3)
    k5, k6 = row(ideal.direction, 4), row(ideal.direction, 5)
    p1, p2, p3, p4 = row(ideal.point, 0), row(ideal.point, 1), row(ideal.point, 2), row(ideal.point, 3)
    centre = row(ideal.point, _CENTRE)
    # Where axes 2, 3 and 4 together must bring axis 4, and how far they must turn.
    undone = turn_about(k6, centre, back(six), turn_about(k5, centre, back(five), p4))
    wanted = across(k2, minus(turn_about(k1, p1, back(one), _moved(motion, undone)), p2))
    arm, shoulder = across(k2, minus(p4, p3)), across(k2, minus(p2, p3))
    turned = turn(k1, back(one), _turned(motion, turn(k6, back(six), turn(k5, back(five), shoulder))))
    total, _ = turn_onto(k2, shoulder, turned)
    bends, up, down = turn_to_distance(k3, arm, shoulder, length(wanted), ideal.slack)
    singular = False
    for i in range(bends):
        three = up if i == 0 else down
        two, loose = turn_onto(k2, minus(turn(k3, three, arm), shoulder), wanted)
        if loose:
            singular = True
            two = _free(free, 1, 1.0)
        three_along = three if dot(k3, k2) > 0.0 else back(three)
        four = after(total, back(after(two, three_along)))
        four = four if dot(k4, k2) > 0.0 else back(four)
        _write(out, first_row + i, one, two, three, four, five, six)
        out[first_row + i, _DOUBT] = doubt or loose or bends == 1
    return bends, singular
