"""Solutions and failures of the task planner as lfd_msgs."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from lfd_msgs.msg import ContactPair, SignalValue, TaskSolution
from lfd_msgs.msg import RejectionCount as RejectionMessage
from lfd_msgs.msg import Segment as SegmentMessage
from lfd_msgs.msg import TaskFailure as FailureMessage

from lfd_planner.planner import TaskFailure
from lfd_planner.scene import Code
from lfd_planner.scene.faults import quoted
from lfd_planner.solution import Attachment, Awaited, Segment, Solution

from .checks import Report
from .trajectories import trajectory_from_message, trajectory_to_message


def solution_to_message(
    solution: Solution, frame: str, stage_times: Mapping[str, float] | None = None, explanation: str = ''
) -> TaskSolution:
    """A solution as a message; `frame` is the scene's, `stage_times` [s] are those of the planner's stages.

    `explanation` says why this motion.

    Raises:
        SceneFault: the motion is longer than a message can tell.
    """
    times = stage_times or {}
    return TaskSolution(
        robot=solution.robot,
        gripper=solution.gripper or '',
        trajectory=trajectory_to_message(solution.trajectory, solution.joints, frame).joint_trajectory,
        segments=[_segment_to_message(segment) for segment in solution.segments],
        cost=solution.cost,
        planning_time=solution.planning_time,
        stages=list(times),
        stage_times=list(times.values()),
        seed=solution.seed,
        explanation=explanation,
    )


def solution_from_message(
    message: TaskSolution, known: Collection[str], in_hand: Collection[Attachment] = ()
) -> Solution:
    """The solution that a message tells; its trajectory's joints must be among the `known` ones.

    `in_hand` is what is held before its first segment; it may be let go of like what the segments attach.

    Raises:
        SceneFault: the message is no solution; there is a sentence for each fault.
    """
    trajectory = trajectory_from_message(message.trajectory, known)
    report = Report('Solution')
    report.name(message.robot, 'name of a robot')
    if not all(map(math.isfinite, (message.cost, message.planning_time))):
        report.problem('its cost or planning time is no finite number; send numbers.')
    if len(trajectory.times) != len(message.trajectory.points):
        report.problem('its motion does not start at 0 s, so that segments and points do not fit together.')
    report.finish(Code.INVALID_MOTION_PLAN)
    held = {attachment.object: attachment for attachment in in_hand}
    segments = tuple(
        _segment_from_message(segment, len(trajectory.times), held, Report(f'Segment {number}'))
        for number, segment in enumerate(message.segments)
    )
    return Solution(
        robot=message.robot,
        gripper=message.gripper or None,
        joints=tuple(message.trajectory.joint_names),
        trajectory=trajectory,
        segments=segments,
        cost=message.cost,
        planning_time=message.planning_time,
        seed=message.seed,
    )


def failure_to_message(failure: TaskFailure) -> FailureMessage:
    """Why a task could not be planned, as a message."""
    return FailureMessage(
        keyframe=failure.keyframe,
        stage=failure.stage,
        rejections=[
            RejectionMessage(reason=count.reason, subjects=list(count.subjects), count=count.count, detail=count.detail)
            for count in failure.rejections
        ],
        suggestion=failure.suggestion,
    )


def _segment_to_message(segment: Segment) -> SegmentMessage:
    awaited = segment.awaits
    return SegmentMessage(
        name=segment.name,
        keyframe=segment.keyframe,
        first=segment.first,
        last=segment.last,
        attached_object=segment.attach.object if segment.attach else '',
        attached_link=segment.attach.link if segment.attach else '',
        detached_object=segment.detach.object if segment.detach else '',
        touch_links=list(segment.attach.touch_links) if segment.attach else [],
        gripper_joints=list(segment.gripper),
        gripper_positions=list(segment.gripper.values()),
        contacts=[ContactPair(first=a, second=b) for a, b in segment.contacts],
        outputs=[_signal_to_message(signal, value) for signal, value in segment.outputs.items()],
        awaited=[_signal_to_message(awaited.signal, awaited.value)] if awaited else [],
        await_timeout=(awaited.timeout or 0.0) if awaited else 0.0,
    )


def _signal_to_message(signal: str, value: bool | float) -> SignalValue:
    return SignalValue(signal=signal, is_digital=isinstance(value, bool), value=float(value))


def _value_from_message(message: SignalValue) -> bool | float:
    return message.value != 0.0 if message.is_digital else float(message.value)


def _segment_from_message(message: SegmentMessage, points: int, held: dict[str, Attachment], report: Report) -> Segment:
    """A segment of a motion with so many points; `held` is what the hand holds before it, and after it."""
    _check_segment(message, points, report)
    detach = held.pop(message.detached_object, None)
    if message.detached_object and detach is None:
        report.problem(f'it lets go of {quoted(message.detached_object)}, which no segment before it attached.')
    attach = None
    if message.attached_object:
        attach = Attachment(message.attached_object, message.attached_link, tuple(message.touch_links))
        held[attach.object] = attach
    report.finish(Code.INVALID_MOTION_PLAN)
    return Segment(
        name=message.name,
        keyframe=message.keyframe,
        first=message.first,
        last=message.last,
        attach=attach,
        detach=detach,
        gripper=dict(zip(message.gripper_joints, message.gripper_positions, strict=True)),
        contacts=tuple((pair.first, pair.second) for pair in message.contacts),
        outputs={output.signal: _value_from_message(output) for output in message.outputs},
        awaits=_awaited_from_message(message),
    )


def _awaited_from_message(message: SegmentMessage) -> Awaited | None:
    if not message.awaited:
        return None
    (awaited,) = message.awaited
    return Awaited(awaited.signal, _value_from_message(awaited), message.await_timeout or None)


def _check_segment(message: SegmentMessage, points: int, report: Report) -> None:
    report.name(message.name, 'name of a segment')
    if message.keyframe < 0:
        report.problem(f'its keyframe is {message.keyframe}; send an index from 0 on.')
    if not message.first <= message.last < points:
        report.problem(f'it goes from point {message.first} to {message.last}; there are {points} points.')
    if message.attached_object:
        report.name(message.attached_link, 'link to attach to')
    if len(message.gripper_joints) != len(message.gripper_positions):
        report.problem('it has not one position for each joint of the gripper.')
    if len(message.awaited) > 1:
        report.problem(f'it awaits {len(message.awaited)} inputs; send one at most.')
    signals = [signal.value for signal in (*message.outputs, *message.awaited)]
    if not all(map(math.isfinite, (*message.gripper_positions, *signals, message.await_timeout))):
        report.problem('a position of the gripper, a signal or a time is no finite number; send numbers.')
    if message.await_timeout < 0.0:
        report.problem(f'it waits for {message.await_timeout:g} s; send a time, or 0 to wait for ever.')
