"""Tasks that nobody can do: each is refused with its own explanation, and its similar one can be done."""

from __future__ import annotations

import pytest
from support.hopeless_tasks import HopelessTask, hopeless_tasks
from support.task_cells import planner

from lfd_planner.planner import TaskFailure

CASES = hopeless_tasks()
every_case = pytest.mark.parametrize('case', CASES, ids=[case.name for case in CASES])


@every_case
def test_it_is_refused_with_its_own_explanation(case: HopelessTask) -> None:
    found = case.problem.plan(planner())
    assert isinstance(found, TaskFailure)
    assert (found.keyframe, found.rejections[0].reason) == (case.keyframe, case.reason), found.message
    for fact in case.facts:
        assert fact in found.message


@every_case
def test_a_similar_one_can_be_done(case: HopelessTask) -> None:
    found = case.similar.plan(planner())
    assert not isinstance(found, TaskFailure), found.message


def test_no_two_are_told_the_same() -> None:
    messages = []
    for case in CASES:
        found = case.problem.plan(planner())
        assert isinstance(found, TaskFailure)
        messages.append(found.message)
    assert len(set(messages)) == len(CASES)


def test_where_a_search_gives_up_does_not_depend_on_the_clock() -> None:
    (case,) = (case for case in CASES if case.name == 'partition')
    one, two = (case.problem.plan(planner()) for _ in range(2))
    assert isinstance(one, TaskFailure)
    assert isinstance(two, TaskFailure)
    assert (one.message, one.rejections) == (two.message, two.rejections)
