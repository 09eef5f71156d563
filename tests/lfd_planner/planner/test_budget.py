"""How long is searched: little without a budget of time, and with one until it ends or all has been tried."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.hopeless_tasks import framed, one_pair, partitioned
from support.task_cells import planner

from lfd_planner.error_codes import Code
from lfd_planner.planner import Planned, PlanOptions, TaskFailure, task_planner
from lfd_planner.planner.task_planner import HARDEST
from lfd_planner.stages import connect
from lfd_planner.task import Observer, Rejection, Stage, State
from lfd_planner.validate import validate


class Rejections(Observer):
    """Counts what is rejected."""

    def __init__(self, stage: Stage) -> None:
        self.count = 0

    def rejected(self, stage: Stage, rejection: Rejection, state: State | None) -> None:
        self.count += 1


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that end after so few samples that they find no way around a partition."""
    monkeypatch.setattr(task_planner, 'SEARCH', replace(task_planner.SEARCH, iterations=2))
    monkeypatch.setattr(connect, 'LEAST', 2)


@pytest.mark.usefixtures('impatient')
def test_with_a_budget_a_way_is_found_that_few_samples_do_not_find() -> None:
    problem = partitioned(0.25)
    found = planner().plan(problem.task, problem.scene, problem.origin, PlanOptions(budget=300.0))
    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner().model, problem.scene, problem.task, problem.origin)
    assert report.ok, report.text


@pytest.mark.usefixtures('impatient')
def test_what_was_searched_in_vain_is_not_called_impossible() -> None:
    found = partitioned(0.25).plan(planner())
    assert isinstance(found, TaskFailure)
    assert found.rejections[0].reason == 'no_path'
    assert 'was not planned' in found.message
    assert '--budget' in found.message
    assert 'cannot be done' not in found.message


def test_what_cannot_be_done_is_not_searched_again_however_long_the_budget_is() -> None:
    """Nothing was given up: all grasps are out of reach."""
    problem, seen = one_pair(place=(1.6, 0.1, -0.1263)), []

    def observe(stage: Stage) -> Rejections:
        seen.append(Rejections(stage))
        return seen[-1]

    for budget in (0.0, 600.0):
        found = planner().plan(
            problem.task, problem.scene, problem.origin, PlanOptions(budget=budget, observe=observe, suggest=False)
        )
        assert isinstance(found, TaskFailure)
        assert found.code is Code.NO_IK_SOLUTION
        assert 'cannot be done' in found.message
    assert seen[0].count == seen[1].count > 0


@pytest.mark.parametrize('budget', [0.5, 2.0])
def test_a_budget_ends_a_search_in_vain(budget: float) -> None:
    """The partition leaves no way, and nobody can tell; so the search goes on harder and harder until time is up."""
    problem = partitioned(0.2)
    found = planner().plan(problem.task, problem.scene, problem.origin, PlanOptions(budget=budget, suggest=False))
    assert isinstance(found, TaskFailure)
    assert found.code is Code.TIMED_OUT
    assert f'within {budget:g} s' in found.message
    assert 'cannot be done' not in found.message


def test_a_motion_that_was_found_is_improved_and_then_it_ends() -> None:
    problem, efforts = framed(0.14), []

    def progress(keyframe: int, stage: str) -> None:
        efforts.append(stage)

    found = planner().plan(
        problem.task, problem.scene, problem.origin, PlanOptions(budget=600.0, progress=progress, solutions=2)
    )
    assert isinstance(found, tuple)
    assert all(isinstance(one, Planned) for one in found)
    assert efforts.count('current state') == len([effort for effort in (1, 4, 16) if effort <= HARDEST])
