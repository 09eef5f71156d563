"""Brings an arm's tip to a pose step by step, from joint positions nearby: bounded, damped least squares.

The residual is six numbers in the base frame: the way still to go [m] and the turn still to make [rad]. Joints stay
within their limits at every step: a joint that would be pushed beyond a limit is held there while the others move.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.kinematics import JointAxes
from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import LOWER, UPPER, Numbers

_TURNS, _COLUMN, _MULTIPLIER, _OFFSET = 6, 7, 8, 9
CONVERGED = 1e-9
"""A residual [m, rad] that needs no further step."""
_DAMPING = 1e-2
_LEAST_DAMPING = 1e-12
_TRIALS = 10
_STALLED = 1e-3
"""A descent that gained less than this share in `_PATIENCE` steps rests in a valley that is not the goal."""
_PATIENCE = 8


class Arm(NamedTuple):
    """`JointAxes` as compiled code takes it."""

    joints: Matrix
    """For each moving joint: direction (3), point (3), 1 if it turns, its column of q, multiplier, offset, (n, 10)."""
    home: Matrix
    """The pose base -> tip at zero, (4, 4)."""


class Workspace(NamedTuple):
    """What a solver writes while it runs; made once for many poses."""

    goal: Matrix
    """The pose to reach, (4, 4)."""
    motion: Matrix
    """(4, 4)."""
    q: Numbers
    tip: Matrix
    """The pose base -> tip, (4, 4)."""
    residual: Numbers
    """Way [m] and turn [rad] to the goal, (6,)."""
    lines: Matrix
    """Direction and point of each moved joint axis, (n, 6)."""
    jacobian: Matrix
    """(6, dof)."""
    normal: Matrix
    """(dof, dof)."""
    gradient: Numbers
    step: Numbers
    trial: Numbers
    cosine: Numbers
    """Of the positions of all moving joints, (n,); a sliding joint's position [m] stands here itself."""
    sine: Numbers
    held: npt.NDArray[np.bool_]


def arm_of(axes: JointAxes) -> Arm:
    """The axes for compiled code."""
    columns = (axes.direction, axes.point, axes.turns, axes.column, axes.multiplier, axes.offset)
    return Arm(np.ascontiguousarray(np.column_stack(columns), dtype=np.float64), axes.home)


@compiled
def workspace(joints: int, dof: int) -> Workspace:
    """Room for descents of a chain with so many moving joints and degrees of freedom."""
    return Workspace(
        np.empty((4, 4)),
        np.empty((4, 4)),
        np.empty(dof),
        np.eye(4),
        np.empty(6),
        np.empty((joints, 6)),
        np.empty((6, dof)),
        np.empty((dof, dof)),
        np.empty(dof),
        np.empty(dof),
        np.empty(dof),
        np.empty(joints),
        np.empty(joints),
        np.empty(dof, dtype=np.bool_),
    )


@compiled
def move_tip(arm: Arm, work: Workspace) -> None:
    """The pose base -> tip for the cosines and sines in the workspace, and the joint axes there, base frame."""
    joints, tip, lines = arm.joints, work.tip, work.lines
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    tx, ty, tz = 0.0, 0.0, 0.0
    for i in range(joints.shape[0]):
        x, y, z = joints[i, 0], joints[i, 1], joints[i, 2]
        px, py, pz = joints[i, 3], joints[i, 4], joints[i, 5]
        c, s = work.cosine[i], work.sine[i]
        dx, dy, dz = r00 * x + r01 * y + r02 * z, r10 * x + r11 * y + r12 * z, r20 * x + r21 * y + r22 * z
        ox = r00 * px + r01 * py + r02 * pz + tx
        oy = r10 * px + r11 * py + r12 * pz + ty
        oz = r20 * px + r21 * py + r22 * pz + tz
        lines[i, 0], lines[i, 1], lines[i, 2], lines[i, 3], lines[i, 4], lines[i, 5] = dx, dy, dz, ox, oy, oz
        if joints[i, _TURNS] == 0.0:
            tx, ty, tz = tx + c * dx, ty + c * dy, tz + c * dz
            continue
        t = 1.0 - c
        a00, a01, a02 = t * x * x + c, t * x * y - s * z, t * x * z + s * y
        a10, a11, a12 = t * x * y + s * z, t * y * y + c, t * y * z - s * x
        a20, a21, a22 = t * x * z - s * y, t * y * z + s * x, t * z * z + c
        r00, r01, r02 = (
            r00 * a00 + r01 * a10 + r02 * a20,
            r00 * a01 + r01 * a11 + r02 * a21,
            r00 * a02 + r01 * a12 + r02 * a22,
        )
        r10, r11, r12 = (
            r10 * a00 + r11 * a10 + r12 * a20,
            r10 * a01 + r11 * a11 + r12 * a21,
            r10 * a02 + r11 * a12 + r12 * a22,
        )
        r20, r21, r22 = (
            r20 * a00 + r21 * a10 + r22 * a20,
            r20 * a01 + r21 * a11 + r22 * a21,
            r20 * a02 + r21 * a12 + r22 * a22,
        )
        # The point on the axis stays where it was.
        tx = ox - (r00 * px + r01 * py + r02 * pz)
        ty = oy - (r10 * px + r11 * py + r12 * pz)
        tz = oz - (r20 * px + r21 * py + r22 * pz)
    h = arm.home
    for j in range(3):
        tip[0, j] = r00 * h[0, j] + r01 * h[1, j] + r02 * h[2, j]
        tip[1, j] = r10 * h[0, j] + r11 * h[1, j] + r12 * h[2, j]
        tip[2, j] = r20 * h[0, j] + r21 * h[1, j] + r22 * h[2, j]
    tip[0, 3] = r00 * h[0, 3] + r01 * h[1, 3] + r02 * h[2, 3] + tx
    tip[1, 3] = r10 * h[0, 3] + r11 * h[1, 3] + r12 * h[2, 3] + ty
    tip[2, 3] = r20 * h[0, 3] + r21 * h[1, 3] + r22 * h[2, 3] + tz


@compiled
def to_goal(tip: Matrix, goal: Matrix, residual: Numbers) -> float:
    """The way and the turn from the tip's pose to the goal's, in the base frame; gives their squared length."""
    for i in range(3):
        residual[i] = goal[i, 3] - tip[i, 3]
    # Half the skew part of goal * tip^T is sin(angle) * axis.
    x = y = z = trace = 0.0
    for j in range(3):
        x += goal[2, j] * tip[1, j] - goal[1, j] * tip[2, j]
        y += goal[0, j] * tip[2, j] - goal[2, j] * tip[0, j]
        z += goal[1, j] * tip[0, j] - goal[0, j] * tip[1, j]
        trace += goal[0, j] * tip[0, j] + goal[1, j] * tip[1, j] + goal[2, j] * tip[2, j]
    sine, cosine = 0.5 * math.sqrt(x * x + y * y + z * z), 0.5 * (trace - 1.0)
    # Near half a turn the axis drowns in rounding; the skew part still points downhill, and the next step is better.
    scale = 0.5 if sine < 1e-12 else 0.5 * math.atan2(sine, cosine) / sine
    residual[3], residual[4], residual[5] = scale * x, scale * y, scale * z
    total = 0.0
    for i in range(6):
        total += residual[i] * residual[i]
    return total


@compiled
def error_at(q: Numbers, arm: Arm, goal: Matrix, work: Workspace) -> float:
    """The squared residual of positions q; leaves the residual and the axes in the workspace."""
    joints = arm.joints
    for i in range(joints.shape[0]):
        position = joints[i, _MULTIPLIER] * q[int(joints[i, _COLUMN])] + joints[i, _OFFSET]
        if joints[i, _TURNS] != 0.0:
            work.cosine[i], work.sine[i] = math.cos(position), math.sin(position)
        else:
            work.cosine[i] = position
    move_tip(arm, work)
    return to_goal(work.tip, goal, work.residual)


@compiled
def fill_jacobian(arm: Arm, work: Workspace) -> None:
    """The geometric Jacobian at the tip, base frame, from the axes that `error_at` left."""
    work.jacobian[:] = 0.0
    x, y, z = work.tip[0, 3], work.tip[1, 3], work.tip[2, 3]
    for i in range(arm.joints.shape[0]):
        k, m = int(arm.joints[i, _COLUMN]), arm.joints[i, _MULTIPLIER]
        dx, dy, dz = m * work.lines[i, 0], m * work.lines[i, 1], m * work.lines[i, 2]
        if arm.joints[i, _TURNS] != 0.0:
            ax, ay, az = x - work.lines[i, 3], y - work.lines[i, 4], z - work.lines[i, 5]
            work.jacobian[0, k] += dy * az - dz * ay
            work.jacobian[1, k] += dz * ax - dx * az
            work.jacobian[2, k] += dx * ay - dy * ax
            work.jacobian[3, k] += dx
            work.jacobian[4, k] += dy
            work.jacobian[5, k] += dz
        else:
            work.jacobian[0, k] += dx
            work.jacobian[1, k] += dy
            work.jacobian[2, k] += dz


@compiled
def _hold_joints_at_limits(q: Numbers, limits: Matrix, work: Workspace) -> None:
    """Fill the gradient, and hold the joints that it would push out of their limits."""
    for k in range(q.shape[0]):
        pull = 0.0
        for i in range(6):
            pull += work.jacobian[i, k] * work.residual[i]
        work.held[k] = (pull > 0.0 and q[k] >= limits[UPPER, k]) or (pull < 0.0 and q[k] <= limits[LOWER, k])
        work.gradient[k] = 0.0 if work.held[k] else pull


@compiled
def _fill_normal(work: Workspace) -> None:
    """J^T J of the joints that are free, and the unit matrix for those held."""
    dof = work.gradient.shape[0]
    for k in range(dof):
        for m in range(k + 1):
            value = 0.0
            if work.held[k] or work.held[m]:
                value = 1.0 if k == m else 0.0
            else:
                for i in range(6):
                    value += work.jacobian[i, k] * work.jacobian[i, m]
            work.normal[k, m] = work.normal[m, k] = value


@compiled
def solve_damped(work: Workspace, damping: float) -> None:
    """The step that solves (normal + damping) step = gradient, by Cholesky's factors below the diagonal."""
    a, dof = work.normal, work.gradient.shape[0]
    step = work.step
    diagonal = work.trial
    for k in range(dof):
        value = work.gradient[k]
        pivot = a[k, k] + damping
        for m in range(k):
            factor = a[m, k]
            for i in range(m):
                factor -= a[k, i] * a[m, i]
            factor /= diagonal[m]
            a[k, m] = factor
            pivot -= factor * factor
            value -= factor * step[m]
        diagonal[k] = math.sqrt(max(pivot, 1e-300))
        step[k] = value / diagonal[k]
    for k in range(dof - 1, -1, -1):
        value = step[k]
        for m in range(k + 1, dof):
            value -= a[m, k] * step[m]
        step[k] = value / diagonal[k]


@compiled
def descend(q: Numbers, arm: Arm, goal: Matrix, limits: Matrix, steps: int, work: Workspace) -> float:
    """Move q, in place and within its limits, until the tip is at the goal or no step helps; gives the residual."""
    error = error_at(q, arm, goal, work)
    damping = 0.0
    milestone = error
    for n in range(steps):
        if error < CONVERGED**2:
            break
        if n % _PATIENCE == _PATIENCE - 1:
            if error > (1.0 - _STALLED) * milestone and error > 1e-6:
                break
            milestone = error
        fill_jacobian(arm, work)
        _hold_joints_at_limits(q, limits, work)
        _fill_normal(work)
        improved = False
        # Less damping the closer the goal is, so that the last steps are Newton's; more after a step that did not help.
        damping = max(0.1 * damping, _DAMPING * error + _LEAST_DAMPING)
        for _ in range(_TRIALS):
            solve_damped(work, damping)
            for k in range(q.shape[0]):
                work.trial[k] = min(max(q[k] + work.step[k], limits[LOWER, k]), limits[UPPER, k])
            found = error_at(work.trial, arm, goal, work)
            if found < error:
                improved = True
                break
            damping *= 10.0
        if not improved:
            error_at(q, arm, goal, work)
            break
        error = found
        for k in range(q.shape[0]):
            q[k] = work.trial[k]
    return math.sqrt(error)
