"""What is written and said of a robot's performance: report.json for programs, lines and a table for people.

report.json has SI units (m, rad, s), and poses as `position` x y z and `orientation` x y z w, in the scene's frame:

- `ok`: whether all robots that were `asked` for did what was asked.
- `task`, `scene`: what was played where; `notes`: where the numbers are from; `overview`: the picture of all robots.
- `robots`: those that had their turn, as follows. What is not known is null or empty.
  - `robot`, `ok`, `message`: its name, whether it did what was asked, and why not.
  - `planning`: `time` in the planner, `time_over_ros`, time by `stages`, and the `error`.
  - `motion`: as planned: `segments`, `points`, `cycle_time`, `gripper`.
  - `validation`: the judge's report.
  - `planned_final_poses`: where the judge's replay of the planned motion leaves each `object`: `planned`, `wanted`,
    and the `distance` and `angle` between them.
  - `execution`: what execute_task answered: `ok`, `code` and `code_name` of MoveItErrorCodes, `message`,
    `next_keyframe` to resume from, and `cycle_time` as executed, gripping included.
  - `final_poses`: where the planning scene has each `object` after the execution, well ended or not: `found` (null:
    it stands nowhere), `held_by` (the link, if any), `wanted`, and the `distance` and `angle` between the two.
  - `tracking`: the fields of `measure.Tracking`; null if the execution did not reach its end.
  - `page`: where people could watch while it moved; null if headless.
  - `solution`, `picture`: names of files beside the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from lfd_planner.solution_file import Json, PlanningError, error_data

from .boxes import EndPose, worst
from .execution import Progress, spoken
from .job import Job
from .judge import Judgement
from .measure import Tracking
from .play import Performance
from .ros import Answer

NOTES = {
    'planning': 'plan_task of the running graph, over ROS; times in seconds',
    'validation': 'lfd_planner.validate, which shares no code with the planner; a motion it refuses is not executed',
    'planned_final_poses': (
        "where the validator's replay of the planned motion leaves the objects, in the scene's frame [m]"
    ),
    'execution': 'execute_task of the running graph, over ROS, on simulated controllers; times in seconds',
    'final_poses': (
        'where get_planning_scene of the running graph has the objects after the execution: taken and put down where '
        "the measured joints had the hand, in the scene's frame [m]; how they slip, tip or fall is not simulated"
    ),
    'tracking': (
        "the arm's joints on simulated controllers, from recorded joint_states and tf, and joint_errors from the "
        "executor's result; rad, m and seconds"
    ),
}
DONE = 'the motion was planned, accepted and executed, and every object is in its place'
TOLD = ('states', 'grasps', 'places')  # of what was checked
HEADER = ('robot', 'planned', 'motion', 'executed', 'judged', 'nearest', 'strayed', 'boxes')


@dataclass(frozen=True, eq=False)
class Result:
    """One robot's part of the report."""

    robot: str
    performance: Performance
    picture: str | None = None
    solution: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the robot did what was asked."""
        return not self.performance.problem

    def data(self) -> dict[str, object]:
        """For report.json."""
        show = self.performance
        return {
            'robot': self.robot,
            'ok': self.ok,
            'message': show.problem or DONE,
            'planning': _planning_data(show.answer),
            'motion': _motion_data(show),
            'validation': show.judgement.report.data() if show.judgement else None,
            'planned_final_poses': [pose.data() for pose in show.judgement.final_poses] if show.judgement else [],
            'execution': show.execution.data() if show.execution else None,
            'final_poses': [end.data() for end in show.end_poses],
            'tracking': asdict(show.tracking) if show.tracking else None,
            'page': show.page or None,
            'solution': self.solution,
            'picture': self.picture,
        }

    def row(self) -> tuple[str, ...]:
        """For the table."""
        show, moves = self.performance, self.performance.solution
        return (
            self.robot,
            f'{moves.planning_time:.2f} s' if moves else 'no',
            f'{moves.trajectory.duration:.1f} s' if moves else '-',
            f'{show.execution.cycle_time:.1f} s' if show.execution and show.execution.ok else '-',
            _verdict(show.judgement),
            _nearest(show.judgement),
            f'{1000 * show.tracking.path_error:.2f} mrad' if show.tracking else '-',
            boxes_text(show.end_poses),
        )


def report_data(job: Job, asked: Sequence[str], results: Sequence[Result], overview: str | None) -> dict[str, object]:
    """All of report.json; it is ok when all robots that were asked for have done what was asked."""
    return {
        'ok': len(results) == len(asked) and all(result.ok for result in results),
        'asked': list(asked),
        'task': job.task_name,
        'scene': job.scene_name,
        'notes': NOTES,
        'overview': overview,
        'robots': [result.data() for result in results],
    }


def table(results: Sequence[Result]) -> str:
    """All robots, one line each."""
    rows = [HEADER, *(result.row() for result in results)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    lines = ['  '.join(f'{cell:{width}}' for cell, width in zip(row, widths, strict=True)) for row in rows]
    return '\n'.join(line.rstrip() for line in lines)


def planned_line(answer: Answer) -> str:
    """What the planner said, for a person."""
    if isinstance(answer.outcome, PlanningError):
        return f'no motion, after {answer.seconds:.2f} s'
    moves = answer.outcome
    return (
        f'{moves.planning_time:.2f} s ({answer.seconds:.2f} s over ROS): {len(moves.segments)} segments, '
        f'{moves.trajectory.duration:.1f} s of motion'
    )


def judged_line(judgement: Judgement) -> str:
    """What the judge said, for a person."""
    report = judgement.report
    counts = ', '.join(f'{number} {name}' for name, number in report.checked.items() if name in TOLD)
    return f'{_verdict(judgement)}: {counts}; nearest {_nearest(judgement)}'


def progress_line(job: Job, progress: Progress) -> str:
    """How far it is, for a person."""
    keyframes = job.task.keyframes
    what = spoken(keyframes[progress.keyframe]) if 0 <= progress.keyframe < len(keyframes) else progress.segment
    return f'{100 * progress.share:3.0f} %  keyframe {progress.keyframe + 1} of {len(keyframes)}: {what}'


def executed_lines(show: Performance) -> list[tuple[str, str]]:
    """What was measured, for a person: of what, and the text."""
    lines = []
    if show.tracking is not None and show.execution is not None and show.solution is not None:
        planned = show.solution.trajectory.duration
        lines.append(('arm', f'{show.execution.cycle_time:.1f} s (planned {planned:.1f} s), {_tracked(show.tracking)}'))
        lines.append(('joints', _joints(show.tracking)))
    if show.end_poses:
        lines.append(('boxes', f'off their places: {", ".join(map(_ended, show.end_poses))}'))
    return lines


def boxes_text(ends: Sequence[EndPose]) -> str:
    """Where all objects ended, in short."""
    if not ends:
        return '-'
    placed = sum(not end.problem for end in ends)
    count = f'{placed}' if placed == len(ends) else f'{placed} of {len(ends)}'
    return f'{count} placed, {1000 * worst(ends):.2f} mm off at most'


def _tracked(tracking: Tracking) -> str:
    return (
        f'strayed {1000 * tracking.path_error:.2f} mrad at most, {1000 * tracking.goal_error:.2f} at the end; '
        f'{tracking.joint_states} joint states, tool {tracking.tool_path:.2f} m'
    )


def _joints(tracking: Tracking) -> str:
    errors = ' '.join(f'{1000 * error:.1f}' for error in tracking.joint_errors.values())
    return f'behind their commands by {errors} mrad at most'


def _ended(end: EndPose) -> str:
    if end.found is None:
        return end.problem
    return f'{end.object} {1000 * end.distance:.2f} mm {math.degrees(end.angle):.2f}°'


def _planning_data(answer: Answer | None) -> Json:
    if answer is None:
        return None
    error = answer.outcome if isinstance(answer.outcome, PlanningError) else None
    return {
        'time': None if isinstance(answer.outcome, PlanningError) else answer.outcome.planning_time,
        'time_over_ros': answer.seconds,
        'stages': {name: round(taken, 6) for name, taken in answer.stage_times.items()},
        'error': error_data(error) if error else None,
    }


def _motion_data(show: Performance) -> Json:
    if show.solution is None:
        return None
    return {
        'segments': len(show.solution.segments),
        'points': len(show.solution.trajectory.times),
        'cycle_time': show.solution.trajectory.duration,
        'gripper': show.solution.gripper,
    }


def _verdict(judgement: Judgement | None) -> str:
    if judgement is None:
        return '-'
    return 'accepted' if judgement.report.ok else f'refused ({len(judgement.report.findings)})'


def _nearest(judgement: Judgement | None) -> str:
    clearance = judgement.report.clearance if judgement else None
    return f'{1000 * clearance.distance:.1f} mm' if clearance else '-'
