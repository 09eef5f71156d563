"""Path constraints as compiled code sees them: how far joint positions break them, and the way back to keeping them.

The residual is what is missing, in rows: one for each joint constraint [rad or m], three for each constraint of a link
([m] in the scene's frame, or [rad] about the three axes). It is zero where all constraints hold. `project` follows its
Jacobian by damped least squares, as inverse kinematics does, to a place a little inside the tolerances, so that the
way between two such places is inside too.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.descent import Arm, Workspace, fill_jacobian, move_tip, solve_damped, workspace
from lfd_planner.robot.ik.solutions import LOWER, UPPER, Numbers

Integers = npt.NDArray[np.int64]

SLACK = 1e-9
"""Constraints count as kept if they are broken by no more than this rounding error [rad or m]."""
POSITION, EULER_ANGLES, ROTATION_VECTOR = range(3)
BOX, BALL, CYLINDER = range(3)
COLUMN, MULTIPLIER, OFFSET, WANTED, ABOVE, BELOW, ENDLESS = range(7)
_KIND = 0
# Projected positions are inside the tolerance by this share of it, but by no more than this [rad or m].
_INSIDE, _MOST_INSIDE = 0.1, 0.01
_TURN = 2.0 * math.pi
_STEPS, _TRIALS = 40, 8
_DAMPING, _LEAST_DAMPING = 1e-2, 1e-12
_CONVERGED = 1e-20  # Squared residual.
_STEEPEST = 0.05  # The smallest cosine of the middle Euler angle that is divided by.


class Constraints(NamedTuple):
    """All constraints of a path; links have chains from the scene's frame, as `Arm` has them, one after the other."""

    joints: Matrix
    """COLUMN of q (-1: none, stays at OFFSET), MULTIPLIER, OFFSET, WANTED, ABOVE, BELOW, ENDLESS, (n, 7)."""
    links: Matrix
    """Kind, then the point in the link's frame [m], or the tolerances about x, y, z [rad], (m, 4)."""
    target: Matrix
    """The wanted rotation scene frame -> link, (m, 3, 3)."""
    arm_joints: Matrix
    """The rows of `Arm.joints` of all links, (., 10)."""
    arm_first: Integers
    """Where each link's rows begin, and the end, (m + 1,)."""
    arm_home: Matrix
    """(m, 4, 4)."""
    regions: Matrix
    """Kind, then half of the size along x, y, z [m], (., 4)."""
    region_first: Integers
    """(m + 1,)."""
    region_pose: Matrix
    """Scene frame -> region, (., 4, 4)."""


def no_constraints() -> Constraints:
    """That everything keeps."""
    none = np.zeros(1, dtype=np.int64)
    return Constraints(
        joints=np.empty((0, 7)),
        links=np.empty((0, 4)),
        target=np.empty((0, 3, 3)),
        arm_joints=np.empty((0, 10)),
        arm_first=none,
        arm_home=np.empty((0, 4, 4)),
        regions=np.empty((0, 4)),
        region_first=none,
        region_pose=np.empty((0, 4, 4)),
    )


class ProjectionRoom(NamedTuple):
    """What judging and projecting write; one for each thread."""

    work: Workspace
    residual: Numbers
    jacobian: Matrix
    told: Matrix
    """For each link: the point in the scene's frame [m], or the three numbers of the orientation error [rad]."""
    tried: Numbers


@compiled
def make_projection_room(constraints: Constraints, dof: int) -> ProjectionRoom:
    """Room for these constraints on so many joints."""
    links = constraints.links.shape[0]
    longest = 0
    for i in range(links):
        longest = max(longest, constraints.arm_first[i + 1] - constraints.arm_first[i])
    rows = constraints.joints.shape[0] + 3 * links
    return ProjectionRoom(
        workspace(longest, dof), np.zeros(rows), np.zeros((rows, dof)), np.zeros((links, 3)), np.empty(dof)
    )


@compiled
def is_constrained(constraints: Constraints) -> bool:
    """Whether there is anything to keep to."""
    return bool(constraints.joints.shape[0] + constraints.links.shape[0] > 0)


@compiled
def keeps(q: Numbers, constraints: Constraints, room: ProjectionRoom) -> bool:
    """Whether joint positions q keep all constraints."""
    return bool(missing(q, constraints, 0.0, room) <= SLACK * SLACK)


@compiled
def missing(q: Numbers, constraints: Constraints, inside: float, room: ProjectionRoom) -> float:
    """Fill the residual, and give its squared length.

    Constraints count as kept only if they are by a share `inside` of their tolerances, or by a centimetre or 0.01 rad.
    """
    _judge_joints(q, constraints, inside, room)
    for i in range(constraints.links.shape[0]):
        row = constraints.joints.shape[0] + 3 * i
        _move_link(q, constraints, i, room.work)
        if constraints.links[i, _KIND] == POSITION:
            _judge_position(constraints, i, row, inside, room)
        else:
            _judge_orientation(constraints, i, row, inside, room)
    total = 0.0
    for row in range(room.residual.shape[0]):
        total += room.residual[row] * room.residual[row]
    return total


@compiled
def _narrowed(tolerance: float, inside: float) -> float:
    return tolerance - min(inside * tolerance, _MOST_INSIDE)


@compiled
def _back(value: float, lowest: float, highest: float) -> float:
    """What brings a value into its range."""
    return min(max(value, lowest), highest) - value


@compiled
def _judge_joints(q: Numbers, constraints: Constraints, inside: float, room: ProjectionRoom) -> None:
    for i in range(constraints.joints.shape[0]):
        joint = constraints.joints[i]
        column = int(joint[COLUMN])
        value = joint[OFFSET] - joint[WANTED]
        if column >= 0:
            value += joint[MULTIPLIER] * q[column]
        if joint[ENDLESS] != 0.0:
            value -= _TURN * math.floor(value / _TURN + 0.5)
        room.residual[i] = _back(value, -_narrowed(joint[BELOW], inside), _narrowed(joint[ABOVE], inside))


@compiled
def _move_link(q: Numbers, constraints: Constraints, i: int, work: Workspace) -> None:
    """The pose scene frame -> link i, and the axes of its chain, into the workspace."""
    arm = _arm(constraints, i)
    for j in range(arm.joints.shape[0]):
        position = arm.joints[j, 8] * q[int(arm.joints[j, 7])] + arm.joints[j, 9]
        if arm.joints[j, 6] != 0.0:
            work.cosine[j], work.sine[j] = math.cos(position), math.sin(position)
        else:
            work.cosine[j] = position
    move_tip(arm, work)


@compiled
def _arm(constraints: Constraints, i: int) -> Arm:
    first, end = constraints.arm_first[i], constraints.arm_first[i + 1]
    return Arm(constraints.arm_joints[first:end], constraints.arm_home[i])


@compiled
def _judge_position(constraints: Constraints, i: int, row: int, inside: float, room: ProjectionRoom) -> None:
    tip, point = room.work.tip, room.told[i]
    for k in range(3):
        point[k] = tip[k, 3]
        for m in range(3):
            point[k] += tip[k, m] * constraints.links[i, 1 + m]
    nearest = math.inf
    for n in range(constraints.region_first[i], constraints.region_first[i + 1]):
        x, y, z = _into_region(point, constraints.regions[n], constraints.region_pose[n], inside)
        squared = x * x + y * y + z * z
        if squared < nearest:
            nearest = squared
            room.residual[row], room.residual[row + 1], room.residual[row + 2] = x, y, z


@compiled
def _into_region(point: Numbers, region: Numbers, pose: Matrix, inside: float) -> tuple[float, float, float]:
    """The shortest way from a point into a region, in the scene's frame [m]."""
    dx, dy, dz = point[0] - pose[0, 3], point[1] - pose[1, 3], point[2] - pose[2, 3]
    x = pose[0, 0] * dx + pose[1, 0] * dy + pose[2, 0] * dz
    y = pose[0, 1] * dx + pose[1, 1] * dy + pose[2, 1] * dz
    z = pose[0, 2] * dx + pose[1, 2] * dy + pose[2, 2] * dz
    a, b, c = _narrowed(region[1], inside), _narrowed(region[2], inside), _narrowed(region[3], inside)
    if region[_KIND] == BOX:
        wx, wy, wz = _back(x, -a, a), _back(y, -b, b), _back(z, -c, c)
    elif region[_KIND] == BALL:
        far = math.sqrt(x * x + y * y + z * z)
        share = 0.0 if far <= a else a / far - 1.0
        wx, wy, wz = share * x, share * y, share * z
    else:
        far = math.sqrt(x * x + y * y)
        share = 0.0 if far <= a else a / far - 1.0
        wx, wy, wz = share * x, share * y, _back(z, -c, c)
    return (
        pose[0, 0] * wx + pose[0, 1] * wy + pose[0, 2] * wz,
        pose[1, 0] * wx + pose[1, 1] * wy + pose[1, 2] * wz,
        pose[2, 0] * wx + pose[2, 1] * wy + pose[2, 2] * wz,
    )


@compiled
def _judge_orientation(constraints: Constraints, i: int, row: int, inside: float, room: ProjectionRoom) -> None:
    target, tip, error = constraints.target[i], room.work.tip, room.told[i]
    # The rotation from the target to the link, in the target's axes; the room for it is that of the goal.
    turn = room.work.goal
    for k in range(3):
        for m in range(3):
            turn[k, m] = target[0, k] * tip[0, m] + target[1, k] * tip[1, m] + target[2, k] * tip[2, m]
    if constraints.links[i, _KIND] == EULER_ANGLES:
        euler_angles(turn, constraints.links[i, 3], error)
    else:
        rotation_vector(turn, error)
    for k in range(3):
        tolerance = constraints.links[i, 1 + k]
        # No angle is beyond half a turn, so that there is nothing to be inside of.
        narrowed = tolerance if tolerance >= math.pi else _narrowed(tolerance, inside)
        room.residual[row + k] = _back(error[k], -narrowed, narrowed)


@compiled
def _fill_slopes(q: Numbers, constraints: Constraints, room: ProjectionRoom) -> None:
    """The Jacobian of what `missing` judged, at the same joint positions."""
    dof, joints = q.shape[0], constraints.joints.shape[0]
    for i in range(joints):
        for k in range(dof):
            room.jacobian[i, k] = constraints.joints[i, MULTIPLIER] if k == int(constraints.joints[i, COLUMN]) else 0.0
    for i in range(constraints.links.shape[0]):
        row, error, tip = joints + 3 * i, room.told[i], room.work.tip
        _move_link(q, constraints, i, room.work)
        if constraints.links[i, _KIND] == POSITION:
            for k in range(3):
                tip[k, 3] = error[k]
        fill_jacobian(_arm(constraints, i), room.work)
        if constraints.links[i, _KIND] == POSITION:
            for k in range(3):
                for column in range(dof):
                    room.jacobian[row + k, column] = room.work.jacobian[k, column]
        else:
            _fill_turning_rows(constraints.target[i], error, constraints.links[i, _KIND] == EULER_ANGLES, row, room)


@compiled
def _fill_turning_rows(target: Matrix, error: Numbers, euler: bool, row: int, room: ProjectionRoom) -> None:
    """How the three numbers of the orientation error change with the joints."""
    a, b = error[0], error[1]
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    cb = max(cb, _STEEPEST)
    x, y, z = error[0], error[1], error[2]
    squared = x * x + y * y + z * z
    half = 0.5 * math.sqrt(squared)
    bend = 1.0 / 12.0 if squared < 1e-6 else (1.0 - half / math.tan(half)) / squared
    angular = room.work.jacobian
    for column in range(angular.shape[1]):
        j0, j1, j2 = angular[3, column], angular[4, column], angular[5, column]
        u = target[0, 0] * j0 + target[1, 0] * j1 + target[2, 0] * j2
        v = target[0, 1] * j0 + target[1, 1] * j1 + target[2, 1] * j2
        w = target[0, 2] * j0 + target[1, 2] * j1 + target[2, 2] * j2
        if euler:
            about_z = (ca * w - sa * v) / cb
            room.jacobian[row, column] = u - sb * about_z
            room.jacobian[row + 1, column] = ca * v + sa * w
            room.jacobian[row + 2, column] = about_z
        else:
            px, py, pz = y * w - z * v, z * u - x * w, x * v - y * u
            room.jacobian[row, column] = u - 0.5 * px + bend * (y * pz - z * py)
            room.jacobian[row + 1, column] = v - 0.5 * py + bend * (z * px - x * pz)
            room.jacobian[row + 2, column] = w - 0.5 * pz + bend * (x * py - y * px)


@compiled
def euler_angles(turn: Matrix, tolerance_z: float, out: Numbers) -> None:
    """The angles [rad] of turn = Rx(a) Ry(b) Rz(c), b within a quarter turn.

    At a quarter turn only the sum of a and c is known: as MoveIt does, it is given to a, or to c if c would break its
    tolerance.
    """
    squared = turn[0, 0] ** 2 + turn[0, 1] ** 2 + turn[1, 2] ** 2 + turn[2, 2] ** 2
    cosine = math.sqrt(0.5 * squared)
    out[1] = math.atan2(turn[0, 2], cosine)
    if cosine > 1e-15:
        out[0], out[2] = math.atan2(-turn[1, 2], turn[2, 2]), math.atan2(-turn[0, 1], turn[0, 0])
        return
    sign = 1.0 if turn[0, 2] > 0.0 else -1.0
    both = math.atan2(turn[2, 1] + sign * turn[1, 0], turn[1, 1] - sign * turn[2, 0])
    out[0], out[2] = (0.0, both) if abs(both) > tolerance_z else (both, 0.0)


@compiled
def rotation_vector(turn: Matrix, out: Numbers) -> None:
    """The axis of a rotation times its angle, which is at most half a turn [rad]."""
    x, y, z = turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (turn[0, 0] + turn[1, 1] + turn[2, 2] - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.9:
        scale = 0.5 if sine < 1e-12 else 0.5 * angle / sine
        out[0], out[1], out[2] = scale * x, scale * y, scale * z
        return
    # Near half a turn the skew part vanishes; the symmetric part holds the axis, and the skew part its sign.
    k = 0
    for m in range(1, 3):
        if turn[m, m] > turn[k, k]:
            k = m
    length = 0.0
    for m in range(3):
        out[m] = 0.5 * (turn[k, m] + turn[m, k]) - (cosine if m == k else 0.0)
        length += out[m] * out[m]
    scale = angle / math.sqrt(length)
    if out[0] * x + out[1] * y + out[2] * z < 0.0:
        scale = -scale
    for m in range(3):
        out[m] *= scale


@compiled
def _fill_normal(q: Numbers, limits: Matrix, room: ProjectionRoom) -> None:
    """The gradient and J^T J; joints that would be pushed out of their limits are held."""
    work, dof = room.work, q.shape[0]
    rows = room.residual.shape[0]
    for k in range(dof):
        pull = 0.0
        for row in range(rows):
            pull += room.jacobian[row, k] * room.residual[row]
        work.held[k] = (pull > 0.0 and q[k] >= limits[UPPER, k]) or (pull < 0.0 and q[k] <= limits[LOWER, k])
        work.gradient[k] = 0.0 if work.held[k] else pull
    for k in range(dof):
        for m in range(k + 1):
            value = 0.0
            if work.held[k] or work.held[m]:
                value = 1.0 if k == m else 0.0
            else:
                for row in range(rows):
                    # Rows that are kept already do not hold the others back.
                    if room.residual[row] != 0.0:
                        value += room.jacobian[row, k] * room.jacobian[row, m]
            work.normal[k, m] = work.normal[m, k] = value


@compiled
def project(q: Numbers, constraints: Constraints, limits: Matrix, room: ProjectionRoom) -> bool:
    """Move q, in place and within its limits, to a nearby place that keeps all constraints; false if none is found."""
    work = room.work
    error = missing(q, constraints, _INSIDE, room)
    damping = 0.0
    for _ in range(_STEPS):
        if error < _CONVERGED:
            break
        _fill_slopes(q, constraints, room)
        _fill_normal(q, limits, room)
        damping = max(0.1 * damping, _DAMPING * error + _LEAST_DAMPING)
        improved = False
        for _ in range(_TRIALS):
            solve_damped(work, damping)
            for k in range(q.shape[0]):
                room.tried[k] = min(max(q[k] + work.step[k], limits[LOWER, k]), limits[UPPER, k])
            found = missing(room.tried, constraints, _INSIDE, room)
            if found < error:
                improved = True
                break
            damping *= 10.0
        if not improved:
            break
        for k in range(q.shape[0]):
            q[k] = room.tried[k]
        error = found
    return keeps(q, constraints, room)
