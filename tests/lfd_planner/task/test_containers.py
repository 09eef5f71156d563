"""Composition without a robot: which solutions there are, what they cost, and what is tried to find them."""

from __future__ import annotations

import math

import pytest
from support.stage_mockups import BackwardMockup, ConnectMockup, ForwardMockup, GeneratorMockup

from lfd_planner.task import Alternatives, Context, Fallbacks, Serial, Stage, StructureError, TaskConstructor


def costs(*stages: Stage) -> list[float]:
    return [step.cost for step in TaskConstructor(Serial('task', *stages)).plan()]


def test_every_state_of_a_generator_is_a_solution_the_cheapest_first() -> None:
    assert costs(GeneratorMockup([2.0, 1.0, 3.0])) == [1.0, 2.0, 3.0]


def test_costs_of_propagators_add_up_in_both_directions() -> None:
    assert costs(BackwardMockup([10.0, 20.0]), GeneratorMockup([1.0]), ForwardMockup([100.0])) == [111.0, 121.0]


def test_a_connector_joins_all_it_is_between() -> None:
    found = costs(GeneratorMockup([1.0, 2.0]), ConnectMockup([0.5]), GeneratorMockup([10.0, 20.0]))
    assert found == [11.5, 12.5, 21.5, 22.5]


def test_what_a_stage_cannot_do_is_left_out_and_counted() -> None:
    task = TaskConstructor(Serial('task', GeneratorMockup(), ForwardMockup([math.inf, 1.0, math.inf])))
    assert [step.cost for step in task.plan()] == [1.0]
    assert task.explain_failure() == 'forward: 2 x endless'


def test_parts_come_in_the_order_of_the_motion_whatever_was_searched_first() -> None:
    stages = (GeneratorMockup(name='a'), ConnectMockup(name='b'), BackwardMockup(name='c'), GeneratorMockup(name='d'))
    (found,) = TaskConstructor(Serial('task', *stages)).plan()
    assert [leaf.stage for leaf in found.leaves()] == ['a', 'b', 'c', 'd']


def test_alternatives_are_all_tried() -> None:
    choice = Alternatives('choice', ForwardMockup([1.0, 4.0]), ForwardMockup([2.0, 3.0]))
    assert costs(GeneratorMockup(), choice) == [1.0, 2.0, 3.0, 4.0]


def test_a_fallback_is_tried_only_where_the_one_before_found_nothing() -> None:
    last = ForwardMockup([3.0])
    assert costs(GeneratorMockup(), Fallbacks('choice', ForwardMockup([math.inf]), ForwardMockup([2.0]), last)) == [2.0]
    assert last.runs == 0


def test_containers_nest_and_read_what_their_ends_read() -> None:
    pick = Serial('pick', ConnectMockup([1.0]), GeneratorMockup([10.0]), ForwardMockup([100.0]))
    assert costs(GeneratorMockup(), pick, ForwardMockup([1000.0])) == [1111.0]


def test_only_so_many_steps_are_taken_of_a_stage_as_it_says() -> None:
    inner = Serial('inner', ForwardMockup([1.0, 2.0, 3.0]), most=2)
    assert costs(GeneratorMockup(), inner) == [1.0, 2.0]


def test_the_first_solution_runs_no_stage_twice() -> None:
    stages = [ForwardMockup([1.0, 2.0, 3.0]) for _ in range(6)]
    task = TaskConstructor(Serial('task', GeneratorMockup(), *stages))
    assert len(task.plan(most=1)) == 1
    assert [stage.runs for stage in stages] == [1] * 6


def test_a_failure_goes_back_only_to_what_it_depends_on() -> None:
    """The last connector depends on both generators beside it, not on the first connector between others."""
    unrelated = ConnectMockup([1.0, 2.0, 3.0])
    picky = ConnectMockup(refuse=(1, 2))
    stages = (
        GeneratorMockup([0.0]),
        unrelated,
        GeneratorMockup([0.0]),
        picky,
        GeneratorMockup([1.0, 2.0, 3.0]),
    )
    found = TaskConstructor(Serial('task', *stages)).plan(most=1)
    assert [step.cost for step in found] == [4.0]
    assert unrelated.runs == 1  # asked once, and remembered
    assert picky.runs == 3


def test_a_hopeless_stage_ends_the_search_at_once() -> None:
    """No choice of the many before it can help a generator that finds nothing and blames nobody."""

    class Hopeless(GeneratorMockup):
        blames_before = False

    before = ForwardMockup([1.0] * 1000)
    hopeless = Hopeless([])
    task = TaskConstructor(Serial('task', GeneratorMockup(), before, ConnectMockup(), hopeless))
    assert task.plan() == ()
    assert hopeless.runs == 1


def test_going_back_ends_after_so_many_choices() -> None:
    refused = ForwardMockup([math.inf])
    serial = Serial('task', GeneratorMockup(), ForwardMockup([1.0] * 1000), refused, most_backups=7)
    assert TaskConstructor(serial).plan() == ()
    assert refused.runs == 8


def test_a_stage_that_never_finds_anything_ends_the_search() -> None:
    refused = ForwardMockup([math.inf])
    serial = Serial('task', GeneratorMockup(), ForwardMockup([1.0] * 1000), refused, most_failures=7)
    assert TaskConstructor(serial).plan() == ()
    assert refused.runs == 7


def test_a_stage_that_ever_found_anything_may_fail_as_often_as_it_likes() -> None:
    one = ForwardMockup([1.0] * 20)
    sometimes = ConnectMockup(refuse=range(2, 20))
    serial = Serial('task', GeneratorMockup(), one, sometimes, GeneratorMockup(), most_unconnected=3)
    assert len(TaskConstructor(serial).plan()) == 2


def test_connectors_have_a_limit_of_their_own() -> None:
    never = ConnectMockup(costs=())
    ways = GeneratorMockup([1.0] * 100)
    serial = Serial('task', GeneratorMockup(), never, ways, most_failures=50, most_unconnected=4)
    assert TaskConstructor(serial).plan() == ()
    assert never.runs == 4


def test_more_effort_goes_on_for_longer() -> None:
    refused = ForwardMockup([math.inf])
    serial = Serial('task', GeneratorMockup(), ForwardMockup([1.0] * 1000), refused, most_failures=7)
    assert TaskConstructor(serial, Context(effort=4)).plan() == ()
    assert refused.runs == 28


def test_a_long_task_costs_as_much_as_its_stages() -> None:
    stages = [Serial('part', ForwardMockup([1.0, 2.0])) for _ in range(2000)]
    found = TaskConstructor(Serial('task', GeneratorMockup(), *stages)).plan(most=1)
    assert [step.cost for step in found] == [2000.0]


def test_a_search_ends_when_it_is_told_to() -> None:
    told = iter([False] * 5 + [True] * 100)
    context = Context(should_stop=lambda: next(told))
    found = TaskConstructor(Serial('task', GeneratorMockup([1.0] * 1000)), context).plan()
    assert len(found) < 10


@pytest.mark.parametrize(
    ('stages', 'words'),
    [
        ((), ('no stages',)),
        ((ForwardMockup(name='lift'),), ('read nothing from outside',)),
        ((GeneratorMockup(name='a'), GeneratorMockup(name='b')), ("'b' and 'a' both give the state between them",)),
        (
            (GeneratorMockup(name='a'), ConnectMockup(name='b'), ForwardMockup(name='c')),
            ("'b' reads the state after it", "'c' reads the state before it"),
        ),
        ((GeneratorMockup(), Alternatives('x', ForwardMockup(), BackwardMockup(name='y'))), ("'y' in 'x'",)),
        ((GeneratorMockup(), Fallbacks('x')), ("'x' has no stages",)),
    ],
)
def test_structure_errors_come_before_the_search_all_at_once(stages: tuple[Stage, ...], words: tuple[str, ...]) -> None:
    with pytest.raises(StructureError) as error:
        TaskConstructor(Serial('task', *stages))
    for word in words:
        assert word in str(error.value)


def test_time_is_counted_by_stage() -> None:
    task = TaskConstructor(Serial('task', GeneratorMockup(name='a'), ForwardMockup(name='b')))
    task.plan()
    assert set(task.context.journal.seconds) == {'a', 'b'}
