"""How soon tasks are refused that nobody can do, against similar ones that can be done.

Named cases have one similar task each. Of the crowds, which are alike but for where things stand, the refused ones are
held against the median of those that are solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any

from benchmarks.planner_measure import planner
from support.hopeless_tasks import Problem, crowded, hopeless_tasks

from lfd_planner.planner import TaskFailure

REPEATS = 3


@dataclass(frozen=True)
class Refusal:
    """A task that was refused, or should have been."""

    name: str
    seconds: float
    similar: float
    """What a similar one takes that can be done [s]."""
    why: str
    """What is told; empty: it was not refused."""
    similar_why: str = ''
    """Why the similar one cannot be done either; empty: it can."""

    @property
    def ratio(self) -> float:
        """How many times as long as the similar one it takes."""
        return self.seconds / self.similar


@dataclass(frozen=True)
class Crowds:
    """What became of crowds."""

    solved: tuple[float, ...]
    """The times of those that were solved [s]."""
    refused: tuple[Refusal, ...]


def named_refusals(robot: str) -> tuple[Refusal, ...]:
    """The named cases of a robot."""
    found = []
    for case in hopeless_tasks(robot):
        similar, similar_why = _timed(robot, case.similar)
        found.append(Refusal(case.name, *_pair(_timed(robot, case.problem), similar), similar_why))
    return tuple(found)


def crowds(robot: str, seeds: Sequence[int]) -> Crowds:
    """Crowds of recorded seeds."""
    runs = {seed: _timed(robot, crowded(seed)) for seed in seeds}
    solved = tuple(seconds for seconds, why in runs.values() if not why)
    usual = median(solved) if solved else float('nan')
    refused = [Refusal(f'crowd {seed}', *_pair(run, usual)) for seed, run in runs.items() if run[1]]
    return Crowds(solved, tuple(refused))


def hopeless_row(robot: str, seeds: Sequence[int]) -> dict[str, Any]:
    """The figures of a robot."""
    _timed(robot, crowded(0))  # compiled code is loaded
    named, many = named_refusals(robot), crowds(robot, seeds)
    ratios = sorted(refusal.ratio for refusal in many.refused)
    return {
        'robot': robot,
        'named': [{**asdict(refusal), 'ratio': refusal.ratio} for refusal in named],
        'worst_named': max(refusal.ratio for refusal in named),
        'crowds': len(seeds),
        'solved': list(many.solved),
        'refused': [{**asdict(refusal), 'ratio': refusal.ratio} for refusal in many.refused],
        'median_refused': median(ratios) if ratios else 0.0,
        'worst_refused': ratios[-1] if ratios else 0.0,
    }


def _pair(run: tuple[float, str], similar: float) -> tuple[float, float, str]:
    return run[0], similar, run[1]


def _timed(robot: str, problem: Problem) -> tuple[float, str]:
    """How long a problem takes [s], the median, and why it cannot be done, if so."""
    times, why = [], ''
    for _ in range(REPEATS):
        begin = process_time()
        found = problem.plan(planner(robot))
        times.append(process_time() - begin)
        why = found.message if isinstance(found, TaskFailure) else ''
    return median(times), why
