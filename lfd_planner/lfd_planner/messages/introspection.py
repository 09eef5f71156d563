"""A task's stages and what they found as moveit_task_constructor_msgs, as MoveIt Task Constructor tells of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_task_constructor_msgs.msg import (
    Property,
    Solution,
    SolutionInfo,
    StageDescription,
    SubSolution,
    SubTrajectory,
    TaskDescription,
    TaskStatistics,
)
from moveit_task_constructor_msgs.msg import StageStatistics as StatisticsMessage
from trajectory_msgs.msg import JointTrajectory

from lfd_planner.scene import PlanningScene
from lfd_planner.task import Direction, Part, Record, Rejection, StageEntry, StageStatistics, Step
from lfd_planner.task.record import Refused
from lfd_planner.timing import Trajectory

from .planning_scene import diff_to_message, scene_to_message
from .trajectories import trajectory_to_message

READS_START, READS_END, WRITES_NEXT_START, WRITES_PREV_END = 0x01, 0x02, 0x04, 0x08
FLAGS = {
    Direction.GENERATE: WRITES_NEXT_START | WRITES_PREV_END,
    Direction.FORWARD: READS_START | WRITES_NEXT_START,
    Direction.BACKWARD: READS_END | WRITES_PREV_END,
    Direction.CONNECT: READS_START | READS_END,
}
"""What a stage reads and writes, in the bits of MoveIt Task Constructor."""


def description_to_message(task_id: str, entries: Iterable[StageEntry] = ()) -> TaskDescription:
    """The stages of a task; without any, that the task of this id is gone."""
    return TaskDescription(task_id=task_id, stages=[_entry_to_message(entry) for entry in entries])


def statistics_to_message(task_id: str, statistics: Iterable[StageStatistics]) -> TaskStatistics:
    """What the stages of a task found and rejected."""
    return TaskStatistics(
        task_id=task_id,
        stages=[
            StatisticsMessage(
                id=each.stage,
                solved=each.solved,
                failed=each.failed,
                num_failed=each.rejected,
                total_compute_time=each.seconds,
            )
            for each in statistics
        ],
    )


def parts_to_message(task_id: str, parts: Sequence[Part], joints: Sequence[str]) -> Solution:
    """A step with all its parts, itself first: the scene at its start, then what each stage moved and changed.

    Args:
        task_id: of the task.
        parts: of a step.
        joints: the columns of its trajectories.

    Raises:
        SceneFault: a mesh file cannot be used, or a motion is longer than a message can tell.
    """
    return Solution(
        task_id=task_id,
        start_scene=scene_to_message(parts[0].step.start.scene),
        sub_solution=[
            SubSolution(info=_info(part), sub_solution_id=part.parts) for part in parts if part.parts is not None
        ],
        sub_trajectory=[_sub_trajectory(part, joints) for part in parts if part.parts is None],
    )


def number_to_message(
    task_id: str, record: Record, number: int, joints: Sequence[str], scene: PlanningScene
) -> Solution:
    """What has a number: a step, or a rejection in the scene in which it happened; `scene` where that is not known.

    Raises:
        SceneFault: a mesh file cannot be used, or a motion is longer than a message can tell.
    """
    found = record.get(number)
    if isinstance(found, tuple):
        return parts_to_message(task_id, found, joints)
    if found is None:
        return Solution(task_id=task_id, start_scene=scene_to_message(scene))
    return _refused_to_message(task_id, found, number, scene)


def _entry_to_message(entry: StageEntry) -> StageDescription:
    about = 'Index into the keyframes of the task that the stage serves.'
    keyframe = Property(name='keyframe', description=about, type='int', value=str(entry.keyframe))
    return StageDescription(
        id=entry.number,
        parent_id=entry.parent,
        name=entry.name,
        flags=FLAGS[entry.direction],
        properties=[keyframe] if entry.keyframe >= 0 else [],
    )


def _info(part: Part) -> SolutionInfo:
    return SolutionInfo(id=part.number, cost=part.step.cost, comment=part.step.comment, stage_id=part.stage)


def _sub_trajectory(part: Part, joints: Sequence[str]) -> SubTrajectory:
    step = part.step
    message = SubTrajectory(info=_info(part), scene_diff=diff_to_message(step.start.scene, step.end.scene))
    if step.motions:
        message.trajectory.joint_trajectory = motions_to_message(step, joints)
    return message


def motions_to_message(step: Step, joints: Sequence[str]) -> JointTrajectory:
    """The motions of a stage as one, with those joints of the hand that move meanwhile."""
    trajectory = Trajectory.joined([motion.trajectory for motion in step.motions])
    hand = tuple(dict.fromkeys(joint for motion in step.motions for joint in motion.gripper))
    now = [step.start.scene.joints.get(joint, 0.0) for joint in hand]
    rows = np.array([now])
    for motion in step.motions:
        goal = [motion.gripper.get(joint, before) for joint, before in zip(hand, rows[-1].tolist(), strict=True)]
        times = motion.trajectory.times[1:, np.newaxis]
        rows = np.vstack((rows, rows[-1] + (np.array(goal) - rows[-1]) * times / max(motion.trajectory.duration, 1e-9)))
    whole = Trajectory(
        trajectory.times, np.hstack((trajectory.q, rows)), np.hstack((trajectory.v, np.zeros_like(rows)))
    )
    return trajectory_to_message(whole, (*joints, *hand), step.start.scene.frame).joint_trajectory


def _refused_to_message(task_id: str, refused: Refused, number: int, scene: PlanningScene) -> Solution:
    where = refused.state.scene if refused.state else scene
    info = SolutionInfo(id=number, cost=math.inf, comment=_why(refused.rejection), stage_id=refused.stage)
    nothing = SceneMessage(is_diff=True, robot_model_name=where.robot)
    nothing.robot_state.is_diff = True
    return Solution(
        task_id=task_id,
        start_scene=scene_to_message(where),
        sub_trajectory=[SubTrajectory(info=info, scene_diff=nothing)],
    )


def _why(rejection: Rejection) -> str:
    subjects = f' ({", ".join(rejection.subjects)})' if rejection.subjects else ''
    return f'{rejection.count} x {rejection.reason}{subjects} {rejection.detail}'.strip()
