"""What planning gave, as the page is told."""

from __future__ import annotations

from collections.abc import Sequence

from lfd_planner.mtdf import Task
from lfd_planner.mtdf.task import object_of
from lfd_planner.planner import TaskFailure
from lfd_planner.solution import Attachment, Segment, Solution

from ..studio.values import PlannedSegment, PlanResult


def planned(solution: Solution) -> PlanResult:
    """The result that a motion is."""
    moves = solution.trajectory
    told = f'{len(solution.segments)} segments, {moves.duration:.2f} s of motion.'
    return PlanResult(
        ok=True,
        robot=solution.robot,
        message=told,
        joints=solution.joints,
        times=moves.times.tolist(),
        q=moves.q.tolist(),
        segments=tuple(map(_segment, solution.segments)),
        planning_time=solution.planning_time,
    )


def failed(
    robot: str,
    message: str,
    task: Task | None = None,
    keyframe: int = -1,
    stage: str = '',
    reasons: Sequence[tuple[str, tuple[str, ...], int]] = (),
    suggestion: str = '',
) -> PlanResult:
    """The result that there is no motion."""
    known = task is not None and 0 <= keyframe < len(task.keyframes)
    return PlanResult(
        ok=False,
        robot=robot,
        message=message,
        keyframe=keyframe,
        object=(object_of(task.keyframes[keyframe]) or '') if known and task is not None else '',
        stage=stage,
        reasons=tuple(reasons),
        suggestion=suggestion,
    )


def failure(robot: str, found: TaskFailure, task: Task) -> PlanResult:
    """The result that the planner's own reasons are."""
    reasons = [(count.reason, count.subjects, count.count) for count in found.rejections]
    return failed(robot, found.message, task, found.keyframe, found.stage, reasons, found.suggestion)


def _segment(segment: Segment) -> PlannedSegment:
    return PlannedSegment(
        name=segment.name,
        keyframe=segment.keyframe,
        first=segment.first,
        last=segment.last,
        attach=_attachment(segment.attach),
        detach=_attachment(segment.detach),
        gripper=dict(segment.gripper),
    )


def _attachment(attachment: Attachment | None) -> tuple[str, str] | None:
    return None if attachment is None else (attachment.object, attachment.link)
