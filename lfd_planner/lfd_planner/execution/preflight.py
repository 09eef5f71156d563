"""Whether a solution may be executed now: it begins where the arm is, and it is free in the scene as it is.

The validator judges, which shares nothing with what planned the motion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from lfd_description.meshes import MeshError
from lfd_description.model.model import RobotModel
from lfd_description.scenes import SceneError
from lfd_description.urdf import UrdfError
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Solution
from lfd_planner.validate import Check, Finding, validate

from .rules import ExecutionRules
from .surgery import renumbered

MOST_TOLD = 2  # findings in a sentence


def wrong_robot(solution: Solution, model: RobotModel) -> Failure | None:
    """Why a solution is not for a robot."""
    if solution.robot != model.robot.name:
        return Failure(
            Code.INVALID_MOTION_PLAN,
            f'The solution was planned for {solution.robot}, and this is {model.robot.name}; plan it for this robot.',
        )
    return None


def wrong_start(
    solution: Solution, joints: Mapping[str, float], model: RobotModel, rules: ExecutionRules
) -> Failure | None:
    """Why a motion cannot begin where the joints are [rad or m]."""
    for name, position in zip(solution.joints, solution.trajectory.q[0].tolist(), strict=True):
        if name not in joints:
            return Failure(
                Code.UNABLE_TO_AQUIRE_SENSOR_DATA,
                f"Nobody publishes joint '{name}' on 'joint_states'; start the joint state broadcaster.",
            )
        apart = position - joints[name]
        if model.tree.joint[name].kind == 'continuous':
            apart = math.remainder(apart, 2.0 * math.pi)
        if not abs(apart) <= rules.start_tolerance:
            return Failure(
                Code.START_STATE_INVALID,
                f"The motion starts with '{name}' at {position:.4f}, and it is at {joints[name]:.4f} [rad or m]; "
                'plan from where the arm is.',
            )
    return None


def refused(
    solution: Solution,
    model: RobotModel,
    scene: PlanningScene,
    task: Task | None = None,
    origin: Pose | None = None,
    *,
    offset: int = 0,
    moving: bool = False,
) -> Failure | None:
    """Why a solution is not to be executed in a scene.

    Args:
        solution: what is to be executed.
        model: the robot.
        scene: the scene as it is.
        task: what is to be done; None: that is not checked.
        origin: of the task's poses in the scene's frame.
        offset: by which the solution's keyframes are higher than the task's.
        moving: whether the arm is under way when it starts, which is no fault then.
    """
    start = dict(zip(solution.joints, solution.trajectory.q[0].tolist(), strict=True))
    placed = _touchable(solution, model, scene).with_joints(start)
    try:
        report = validate(renumbered(solution, -offset), model, placed, task, origin)
    except (UrdfError, MeshError, SceneError) as error:
        return Failure(Code.FAILURE, f'The motion cannot be checked: {error}')
    findings = [finding for finding in report.findings if not (moving and _is_of_motion(finding))]
    if not findings:
        return None
    told = ' '.join(_told(finding, solution) for finding in findings[:MOST_TOLD])
    more = f' ({len(findings) - MOST_TOLD} more)' if len(findings) > MOST_TOLD else ''
    return Failure(_code(findings[0]), f'{told}{more}')


def changes(expected: PlanningScene, found: PlanningScene, rules: ExecutionRules) -> Iterator[str]:
    """The objects that are not as they were expected to be."""
    for name in {*expected.objects, *expected.attached, *found.objects, *found.attached}:
        mine, its = expected.objects.get(name), found.objects.get(name)
        held, there = expected.attached.get(name), found.attached.get(name)
        if (mine is None) is not (its is None) or (held is None) is not (there is None):
            yield name
        elif mine is not None and its is not None:
            if mine.body.parts != its.body.parts or _moved(mine.pose, its.pose, rules):
                yield name
        elif held is not None and there is not None:
            same = held.link == there.link and held.body.parts == there.body.parts
            if not same or _moved(held.pose, there.pose, rules):
                yield name


def _moved(one: Pose, other: Pose, rules: ExecutionRules) -> bool:
    shift = float(np.linalg.norm(np.subtract(one.position, other.position)))
    between = (one.inverse @ other).matrix[:3, :3]
    turn = math.acos(min(1.0, max(-1.0, 0.5 * (float(np.trace(between)) - 1.0))))
    return shift > rules.object_moved or turn > rules.object_turned


def _touchable(solution: Solution, model: RobotModel, scene: PlanningScene) -> PlanningScene:
    """The scene in which a suction cup may leave what it has just let go of, if the motion begins with that."""
    if model.gripper is None or model.gripper.gpio is None or not solution.segments:
        return scene
    cups = {f'{model.prefix}{link}' for link in model.gripper.touch_links}
    for a, b in solution.segments[0].contacts:
        if a in cups or b in cups:
            scene = scene.allow(a, b)
    return scene


def _is_of_motion(finding: Finding) -> bool:
    return finding.check is Check.CONTINUITY and finding.time == 0.0


def _code(finding: Finding) -> Code:
    if finding.check is Check.START:
        return Code.START_STATE_INVALID
    if finding.check in (Check.COLLISION, Check.PLACE, Check.STABILITY, Check.GRASP, Check.MOVED):
        return Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    return Code.INVALID_MOTION_PLAN


def _told(finding: Finding, solution: Solution) -> str:
    if finding.segment is None:
        return finding.message
    segment = solution.segments[finding.segment]
    return f"Keyframe {segment.keyframe}, '{segment.name}': {finding.message}"
