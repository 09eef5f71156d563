"""Solutions made of solutions: slower, from a keyframe on, or from where the arm was stopped on its way.

Segments meet at rest, so that only the one in which the arm was stopped has to be timed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory, path_times, time_path

from .steps import part

STEP = 0.02  # [rad or m] between two waypoints of a path that is timed anew
BLEND = 0.001  # [rad or m] by which its corners may be cut: it is the path that was checked
MARGIN = 0.999  # of the limits


def slowed(solution: Solution, speed: float) -> Solution:
    """The same motion at a share of its speed, above 0 and at most 1.

    Raises:
        ValueError: the speed is not in that range.
    """
    if not 0.0 < speed <= 1.0:
        raise ValueError(f'The speed must be above 0 and at most 1, not {speed}.')
    moves = solution.trajectory
    return replace(solution, trajectory=Trajectory(moves.times / speed, moves.q, moves.v * speed))


def renumbered(solution: Solution, offset: int) -> Solution:
    """The solution of a part of a task as one of the whole, whose keyframes' numbers are higher by `offset`."""
    return replace(
        solution,
        segments=tuple(replace(segment, keyframe=segment.keyframe + offset) for segment in solution.segments),
    )


def from_keyframe(solution: Solution, keyframe: int) -> Solution | None:
    """What is left of a solution from a keyframe on; None: nothing."""
    for index, segment in enumerate(solution.segments):
        if segment.keyframe >= keyframe:
            return from_segment(solution, index)
    return None


def from_segment(solution: Solution, index: int) -> Solution:
    """What is left of a solution from a segment on."""
    moved = part(solution, index, len(solution.segments) - 1)
    return replace(
        solution, trajectory=moved, segments=_shifted(solution.segments[index:], -solution.segments[index].first)
    )


def from_time(solution: Solution, index: int, time: float) -> Solution:
    """What is left of a solution from a time [s] within a segment on, in motion as it is then: for checks only."""
    rest = from_segment(solution, index)
    within = time - float(solution.trajectory.times[solution.segments[index].first])
    own = part(rest, 0, 0)
    if not 0.0 < within < own.duration:
        return rest
    now, later = own.sample(within), own.times > within
    first = Trajectory(
        np.concatenate([[0.0], own.times[later] - within]),
        np.concatenate([now.q[np.newaxis], own.q[later]]),
        np.concatenate([now.v[np.newaxis], own.v[later]]),
    )
    return _with_first(rest, first)


def rest_of(solution: Solution, index: int, time: float, q: Matrix, model: RobotModel, speed: float = 1.0) -> Solution:
    """What is left of a solution for an arm that was stopped in a segment and stands: its path, timed anew from rest.

    Args:
        solution: that was executed.
        index: of the segment in which the arm stands.
        time: where on its way it is, in the time of the solution [s].
        q: where it stands, (dof,) [rad or m].
        model: whose limits count.
        speed: the share of the planned speed.

    Raises:
        ValueError, ArithmeticError: there is no such motion.
    """
    rest = from_segment(solution, index)
    own = part(rest, 0, 0)
    within = min(max(time - float(solution.trajectory.times[solution.segments[index].first]), 0.0), own.duration)
    ahead = path_times(own, STEP)
    way = np.concatenate([q[np.newaxis], own.sample(ahead[ahead > within]).q, own.q[-1:]])
    limits = [model.limits[joint] for joint in solution.joints]
    timed = time_path(
        way,
        [MARGIN * speed * limit.velocity for limit in limits],
        [MARGIN * speed * speed * limit.acceleration for limit in limits],
        blend=BLEND,
    )
    return _with_first(rest, timed)


def _with_first(solution: Solution, first: Trajectory) -> Solution:
    """A solution with another motion for its first segment; the others go on where that one ended."""
    segment, moves = solution.segments[0], solution.trajectory
    after = slice(segment.last + 1, None)
    times = moves.times[after] - moves.times[segment.last] + first.duration
    joined = Trajectory(
        np.concatenate([first.times, times]),
        np.concatenate([first.q, moves.q[after]]),
        np.concatenate([first.v, moves.v[after]]),
    )
    last = len(first.times) - 1
    others = _shifted(solution.segments[1:], last - segment.last)
    return replace(solution, trajectory=joined, segments=(replace(segment, first=0, last=last), *others))


def _shifted(segments: Sequence[Segment], points: int) -> tuple[Segment, ...]:
    return tuple(replace(segment, first=segment.first + points, last=segment.last + points) for segment in segments)
