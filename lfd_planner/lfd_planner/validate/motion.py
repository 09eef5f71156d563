"""The motion by itself: joint limits, speeds and accelerations as executed, no jumps, hand and arm take turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from lfd_description.hints import did_you_mean
from lfd_description.model.limits import JointLimits
from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory

from .replay import STILL, Stretch
from .report import Check, Finding
from .solids import Numbers

BEYOND = 1e-6  # [rad or m], by which a position may be outside of its limits: what rounding does
TOO_MUCH = 1e-3  # the share of a limit by which a speed or an acceleration may exceed it
START = 1e-4  # [rad or m], between the first point and where the scene has the joints


def structure(solution: Solution, model: RobotModel, keyframes: int) -> Iterator[Finding]:
    """What makes a solution unreadable: nothing else is checked then."""
    if solution.joints != model.group.joints:
        yield Finding(
            Check.STRUCTURE,
            f'The columns are {", ".join(solution.joints)}, but the joints of {model.robot.name} are '
            f'{", ".join(model.group.joints)}.',
        )
    elif solution.trajectory.dof != len(solution.joints):
        yield Finding(Check.STRUCTURE, f'{len(solution.joints)} joints have {solution.trajectory.dof} columns.')
    gripper = model.gripper.name if model.gripper else None
    if solution.gripper != gripper:
        yield Finding(
            Check.STRUCTURE, f'It was planned with the gripper {solution.gripper}, and the arm has {gripper}.'
        )
    yield from _borders(solution)
    for index, segment in enumerate(solution.segments):
        if not 0 <= segment.keyframe < keyframes:
            message = f'It serves keyframe {segment.keyframe}; the task has {keyframes}.'
            yield Finding(Check.STRUCTURE, message, index)
        yield from _gripper_joints(index, segment, model)


def _borders(solution: Solution) -> Iterator[Finding]:
    """Whether the segments cover all points without gaps."""
    end, last = 0, len(solution.trajectory.times) - 1
    for index, segment in enumerate(solution.segments):
        if not 0 <= segment.first <= segment.last <= last:
            message = f'It goes from point {segment.first} to {segment.last}; there are those from 0 to {last}.'
            yield Finding(Check.STRUCTURE, message, index)
        elif segment.first != end:
            yield Finding(Check.STRUCTURE, f'It begins at point {segment.first}, and the motion was at {end}.', index)
        end = segment.last
    if end != last or not solution.segments:
        yield Finding(Check.STRUCTURE, f'The segments end at point {end}, and the motion at {last}.')


def _gripper_joints(index: int, segment: Segment, model: RobotModel) -> Iterator[Finding]:
    """Joints that there are not, and positions that are none."""
    for joint, position in segment.gripper.items():
        if not np.isfinite(position):
            message = f"'{joint}' of the gripper is to go to {position}, which is no position."
            yield Finding(Check.STRUCTURE, message, index, subjects=(joint,))
        known = [found.name for found in model.tree.joints if found.moves]
        if joint not in known or joint in model.group.joints:
            message = f"The gripper has no joint '{joint}'{did_you_mean(joint, known)}."
            yield Finding(Check.STRUCTURE, message, index, subjects=(joint,))


class Extremes(NamedTuple):
    """The lowest and highest values within each interval of a trajectory, (M - 1, dof)."""

    low: Matrix
    high: Matrix
    speed: Matrix
    acceleration: Matrix


def extremes(trajectory: Trajectory) -> Extremes:
    """The exact extremes of the cubics between the points, in rad or m and seconds; speeds come without sign."""
    span = np.diff(trajectory.times)[:, np.newaxis]
    q0, q1, v0, v1 = trajectory.q[:-1], trajectory.q[1:], trajectory.v[:-1], trajectory.v[1:]
    # q(s) = q0 + b s + c s^2 + d s^3 with s from 0 to 1
    b = v0 * span
    c = 3.0 * (q1 - q0) - (2.0 * v0 + v1) * span
    d = 2.0 * (q0 - q1) + (v0 + v1) * span
    ends = (2.0 * c, 2.0 * c + 6.0 * d)
    with np.errstate(divide='ignore', invalid='ignore'):
        turning = np.sqrt(c * c - 3.0 * b * d)
        roots = [(-c + turning) / (3.0 * d), (-c - turning) / (3.0 * d), -b / (2.0 * c)]
        flat = -c / (3.0 * d)
    at = [np.where((root > 0.0) & (root < 1.0), root, 0.0) for root in roots]
    values = [q0, q1, *(q0 + s * (b + s * (c + s * d)) for s in at)]
    middle = np.where((flat > 0.0) & (flat < 1.0), flat, 0.0)
    speeds = [v0, v1, (b + middle * (2.0 * c + 3.0 * middle * d)) / span]
    return Extremes(
        np.minimum.reduce(values),
        np.maximum.reduce(values),
        np.maximum.reduce([np.abs(speed) for speed in speeds]),
        np.maximum.reduce([np.abs(end) for end in ends]) / (span * span),
    )


def limits(solution: Solution, model: RobotModel) -> Iterator[Finding]:
    """Positions, speeds and accelerations of the arm's joints, the worst of each joint."""
    trajectory = solution.trajectory
    if len(trajectory.times) == 1:
        low = high = trajectory.q
        zero = np.zeros_like(low)
        found = Extremes(low, high, zero, zero)
    else:
        found = extremes(trajectory)
    for column, joint in enumerate(solution.joints):
        limit = model.limits[joint]
        for beyond, bound in (
            (limit.lower - found.low[:, column], limit.lower),
            (found.high[:, column] - limit.upper, limit.upper),
        ):
            row = int(np.argmax(beyond))
            if beyond[row] > BEYOND:
                message = f"'{joint}' is {beyond[row]:.4g} beyond its limit {bound:.4g} [rad or m]."
                yield _at(solution, row, Check.LIMIT, message, joint, float(beyond[row]))
        yield from _rates(solution, joint, limit, found.speed[:, column], found.acceleration[:, column])


def _rates(
    solution: Solution, joint: str, limit: JointLimits, speed: Numbers, acceleration: Numbers
) -> Iterator[Finding]:
    for check, values, most, unit in (
        (Check.VELOCITY, speed, limit.velocity, 'rad/s or m/s'),
        (Check.ACCELERATION, acceleration, limit.acceleration, 'rad/s2 or m/s2'),
    ):
        row = int(np.argmax(values))
        if values[row] > most * (1.0 + TOO_MUCH):
            message = f"The {check} of '{joint}' is {values[row]:.4g}, its limit {most:.4g} [{unit}]."
            yield _at(solution, row, check, message, joint, float(values[row] - most))


def start(solution: Solution, scene: PlanningScene) -> Iterator[Finding]:
    """Whether the motion starts where the scene has the joints, and starts and ends at rest."""
    trajectory = solution.trajectory
    for joint, position in zip(solution.joints, trajectory.q[0].tolist(), strict=True):
        if joint in scene.joints and abs(scene.joints[joint] - position) > START:
            message = f"The motion starts with '{joint}' at {position:.5g}, where it is at {scene.joints[joint]:.5g}."
            yield Finding(Check.START, message, 0, 0.0, (joint,), abs(scene.joints[joint] - position))
    for row, word in ((0, 'starts'), (-1, 'ends')):
        column = int(np.argmax(np.abs(trajectory.v[row])))
        speed = float(abs(trajectory.v[row, column]))
        if speed > STILL:
            joint = solution.joints[column]
            message = f"The motion {word} while '{joint}' moves at {speed:.4g} [rad/s or m/s]."
            yield Finding(Check.CONTINUITY, message, None, float(trajectory.times[row]), (joint,), speed)


def turns(
    stretches: tuple[Stretch, ...], solution: Solution, model: RobotModel, gripper: Mapping[str, float]
) -> Iterator[Finding]:
    """Whether hand and arm take turns, and nothing is taken, let go of, switched or waited for while the arm moves.

    `gripper` has the positions of the gripper's joints before the motion [rad or m].
    """
    for stretch in stretches:
        segment = stretch.segment
        if stretch.arm_moves and stretch.gripper_moves:
            yield Finding(Check.GRIPPER, 'The gripper moves while the arm does.', stretch.index, stretch.end)
        speed = float(np.abs(solution.trajectory.v[segment.last]).max(initial=0.0))
        acts = segment.attach or segment.detach or segment.outputs or segment.awaits
        if acts and speed > STILL:
            message = (
                f'Something is taken, let go of, switched or waited for while the arm moves at {speed:.4g} '
                f'[rad/s or m/s].'
            )
            yield Finding(Check.CONTINUITY, message, stretch.index, stretch.end, (), speed)
        yield from _gripper_limits(stretch, gripper, model)
        gripper = {**gripper, **segment.gripper}


def _gripper_limits(stretch: Stretch, before: Mapping[str, float], model: RobotModel) -> Iterator[Finding]:
    duration = stretch.end - float(stretch.times[0])
    for joint, position in stretch.segment.gripper.items():
        found = model.tree.joint[joint]
        if found.mimic is not None and found.mimic.joint in stretch.segment.gripper:
            follows = found.mimic.position(stretch.segment.gripper[found.mimic.joint])
            if abs(follows - position) > START:
                message = (
                    f"'{joint}' is told to be at {position:.4g}, but follows '{found.mimic.joint}' to {follows:.4g}."
                )
                yield Finding(Check.GRIPPER, message, stretch.index, stretch.end, (joint,), abs(follows - position))
            continue
        if found.limits is None:
            continue
        beyond = max(found.limits.lower - position, position - found.limits.upper)
        if beyond > BEYOND:
            message = f"'{joint}' is {beyond:.4g} beyond its limit [rad or m]."
            yield Finding(Check.LIMIT, message, stretch.index, stretch.end, (joint,), beyond)
        way = abs(position - before.get(joint, position))
        if way > STILL and found.limits.velocity > 0.0:
            speed = way / duration if duration > 0.0 else np.inf
            if speed > found.limits.velocity * (1.0 + TOO_MUCH):
                message = f"'{joint}' moves at {speed:.4g}, its limit is {found.limits.velocity:.4g} [rad/s or m/s]."
                yield Finding(Check.VELOCITY, message, stretch.index, stretch.end, (joint,), speed)


def _at(solution: Solution, row: int, check: Check, message: str, joint: str, amount: float) -> Finding:
    """A finding in the interval after a point."""
    inside = [index for index, segment in enumerate(solution.segments) if segment.first <= row < segment.last]
    time = float(solution.trajectory.times[row])
    return Finding(check, message, inside[0] if inside else None, time, (joint,), amount)
