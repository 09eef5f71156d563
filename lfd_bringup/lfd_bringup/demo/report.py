"""What is written and said of a robot's performance: report.json for programs, lines and a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from lfd_planner.solution_file import Json, PlanningError, error_data

from .job import Job
from .judge import Judgement
from .measure import Tracking
from .play import Performance
from .ros import Answer

NOTES = {
    'planning': 'plan_task of the running graph, over ROS; times in seconds',
    'validation': 'lfd_planner.validate, which shares no code with the planner; a motion it refuses is not executed',
    'planned_final_poses': (
        "where the validator's replay of the planned motion leaves the objects, in the scene's frame [m]; "
        'the gripper was not moved and the objects were not simulated'
    ),
    'tracking': "the arm's joints on simulated controllers, from recorded joint_states and tf; rad, m and seconds",
}
TOLD = ('states', 'grasps', 'places')  # of what was checked
HEADER = ('robot', 'planned', 'motion', 'judged', 'nearest', 'strayed', 'boxes, as planned')


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
            'message': show.problem or 'the motion was planned and accepted, and the arm followed it',
            'planning': _planning_data(show.answer),
            'motion': _motion_data(show),
            'validation': show.judgement.report.data() if show.judgement else None,
            'planned_final_poses': [pose.data() for pose in show.judgement.final_poses] if show.judgement else [],
            'tracking': asdict(show.tracking) if show.tracking else None,
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
            _verdict(show.judgement),
            _nearest(show.judgement),
            f'{1000 * show.tracking.path_error:.2f} mrad' if show.tracking else '-',
            _boxes(show.judgement),
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


def tracked_line(tracking: Tracking) -> str:
    """How the arm moved, for a person."""
    return (
        f'strayed {1000 * tracking.path_error:.2f} mrad at most, {1000 * tracking.goal_error:.2f} at the end; '
        f'{tracking.joint_states} joint states, tool {tracking.tool_path:.2f} m'
    )


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


def _boxes(judgement: Judgement | None) -> str:
    if judgement is None or not judgement.final_poses:
        return '-'
    worst = max(pose.distance for pose in judgement.final_poses)
    return f'{len(judgement.final_poses)} placed, {1000 * worst:.3f} mm off at most'
