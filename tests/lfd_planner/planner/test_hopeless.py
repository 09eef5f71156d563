"""Tasks that nobody can do: each is refused with its own explanation, and its similar one can be done."""

from __future__ import annotations

import statistics

import pytest
from support.hopeless_tasks import HopelessTask, counted_work, crowded, framed, hopeless_tasks, one_pair
from support.task_cells import planner

from lfd_planner.planner import TaskFailure
from lfd_planner.validate import validate

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


@every_case
def test_it_takes_at_most_twice_the_work_of_a_similar_one(case: HopelessTask) -> None:
    """Counted and not timed, so that a busy machine does not decide."""
    assert counted_work(case.problem, planner()).cost <= 2.0 * counted_work(case.similar, planner()).cost


@pytest.mark.parametrize('robot', ['gp8', 'irb1600', 'ur5e'])
def test_a_frame_that_no_hand_gets_through_takes_at_most_twice_the_work_of_no_frame(robot: str) -> None:
    hopeless = counted_work(framed(0.075), planner(robot))
    assert hopeless.cost <= 2.0 * counted_work(one_pair(), planner(robot)).cost


@pytest.mark.parametrize('robot', ['gp8', 'irb1600', 'ur5e'])
@pytest.mark.parametrize('hole', [0.09, 0.1, 0.11, 0.12, 0.14])
def test_a_hand_gets_through_a_frame_that_is_wide_enough(robot: str, hole: float) -> None:
    """Without a budget of time: it gets straight out of the frame before a way is searched."""
    problem = framed(hole)
    found = problem.plan(planner(robot))
    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner(robot).model, problem.scene, problem.task, problem.origin)
    assert report.ok, report.text


@pytest.mark.parametrize('robot', ['gp8', 'irb1600', 'ur5e'])
def test_crowds_that_leave_no_room_take_at_most_twice_the_work_of_those_that_do(robot: str) -> None:
    solved, refused = [], []
    for seed in range(40):
        work = counted_work(problem := crowded(seed), planner(robot))
        (refused if isinstance(problem.plan(planner(robot)), TaskFailure) else solved).append(work.cost)
    assert len(solved) > 5
    assert len(refused) > 5
    assert max(refused) <= 2.0 * statistics.median(solved)


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
