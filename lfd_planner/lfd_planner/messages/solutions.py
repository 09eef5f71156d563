"""Solutions and failures of the task planner as lfd_msgs."""

from __future__ import annotations

from lfd_msgs.msg import RejectionCount as RejectionMessage
from lfd_msgs.msg import Segment as SegmentMessage
from lfd_msgs.msg import TaskFailure as FailureMessage
from lfd_msgs.msg import TaskSolution

from lfd_planner.planner import TaskFailure
from lfd_planner.solution import Segment, Solution

from .trajectories import trajectory_to_message


def solution_to_message(solution: Solution, frame: str) -> TaskSolution:
    """A solution as a message; `frame` is the scene's.

    Raises:
        SceneFault: the motion is longer than a message can tell.
    """
    return TaskSolution(
        robot=solution.robot,
        trajectory=trajectory_to_message(solution.trajectory, solution.joints, frame).joint_trajectory,
        segments=[_segment_to_message(segment) for segment in solution.segments],
        cost=solution.cost,
        planning_time=solution.planning_time,
    )


def failure_to_message(failure: TaskFailure) -> FailureMessage:
    """Why a task could not be planned, as a message."""
    return FailureMessage(
        keyframe=failure.keyframe,
        stage=failure.stage,
        rejections=[
            RejectionMessage(reason=count.reason, subjects=list(count.subjects), count=count.count)
            for count in failure.rejections
        ],
        suggestion=failure.suggestion,
    )


def _segment_to_message(segment: Segment) -> SegmentMessage:
    return SegmentMessage(
        name=segment.name,
        keyframe=segment.keyframe,
        first=segment.first,
        last=segment.last,
        attached_object=segment.attach.object if segment.attach else '',
        attached_link=segment.attach.link if segment.attach else '',
        detached_object=segment.detach.object if segment.detach else '',
    )
