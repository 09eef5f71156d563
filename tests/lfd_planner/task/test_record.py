"""What a search did, stage by stage, without a robot."""

from __future__ import annotations

import math

import pytest
from support.stage_mockups import SCENE, BackwardMockup, ConnectMockup, ForwardMockup, GeneratorMockup

from lfd_planner.task import Alternatives, Context, Direction, Fallbacks, Record, Serial, Stage, State, Step
from lfd_planner.task import TaskConstructor as Constructor
from lfd_planner.task.record import Refused
from lfd_planner.task.stage import NOBODY, Run


def searched(*stages: Stage, most: int | None = None) -> tuple[Record, tuple[Step, ...]]:
    task = Serial('task', *stages)
    record = Record(task)
    return record, Constructor(task, Context(observer=record)).plan(most)


def counts(record: Record) -> dict[str, tuple[int, int]]:
    names = {entry.number: entry.name for entry in record.entries}
    return {names[each.stage]: (len(each.solved), each.rejected) for each in record.statistics()}


def test_stages_are_numbered_as_they_are_read_below_the_task() -> None:
    pick = Serial('pick', ConnectMockup(name='move'), GeneratorMockup(name='grasp', keyframe=3))
    record, _ = searched(GeneratorMockup(name='now'), pick, ForwardMockup(name='lift'))
    told = [(entry.number, entry.parent, entry.name) for entry in record.entries]
    assert told == [(1, 0, 'task'), (2, 1, 'now'), (3, 1, 'pick'), (4, 3, 'move'), (5, 3, 'grasp'), (6, 1, 'lift')]
    assert record.entries[4].keyframe == 3
    assert [entry.direction for entry in record.entries[3:]] == [
        Direction.CONNECT,
        Direction.GENERATE,
        Direction.FORWARD,
    ]


def test_steps_and_rejections_are_counted_by_stage() -> None:
    record, _ = searched(GeneratorMockup([1.0, 2.0], name='a'), ForwardMockup([math.inf, 1.0], name='b'))
    assert counts(record) == {'task': (2, 0), 'a': (2, 0), 'b': (2, 2)}


def test_solved_are_sorted_by_cost_and_every_number_is_used_once() -> None:
    record, found = searched(GeneratorMockup([3.0, 1.0, 2.0], name='a'), ForwardMockup([math.inf, 5.0], name='b'))
    task, first, second = record.statistics()
    assert task.solved == tuple(record.number(step) for step in found)
    numbers = [*task.solved, *first.solved, *second.solved, *second.failed]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_a_solution_names_the_stages_of_its_parts_in_the_order_of_the_motion() -> None:
    stages = (GeneratorMockup(name='a'), ConnectMockup(name='b'), BackwardMockup(name='c'), GeneratorMockup(name='d'))
    record, (found,) = searched(*stages)
    whole, *parts = record.parts(found)
    assert whole.stage == 1
    assert whole.number == record.number(found)
    assert [part.stage for part in parts] == [2, 3, 4, 5]
    assert whole.parts == tuple(part.number for part in parts)
    assert all(part.parts is None for part in parts)


def test_what_a_choice_of_stages_found_is_of_the_one_that_found_it() -> None:
    for choice in (Alternatives, Fallbacks):
        stages = (ForwardMockup([math.inf], name='no'), ForwardMockup([1.0], name='yes'))
        record, (found,) = searched(GeneratorMockup(), choice('choice', *stages))
        _, _, chosen, leaf = record.parts(found)
        assert [chosen.stage, leaf.stage] == [3, 5]
        assert chosen.parts == (leaf.number,)
        assert counts(record)['no'] == (0, 1)


def test_any_number_of_the_statistics_can_be_looked_up() -> None:
    record, _ = searched(GeneratorMockup(name='a'), ForwardMockup([math.inf, 1.0], name='b'))
    for each in record.statistics():
        for number in each.solved:
            found = record.get(number)
            assert isinstance(found, tuple)
            assert (found[0].number, found[0].stage) == (number, each.stage)
        for number in each.failed:
            refused = record.get(number)
            assert isinstance(refused, Refused)
            assert refused.stage == each.stage
            assert refused.rejection.reason == 'endless'
            assert refused.state is not None
    assert record.get(99) is None


def test_steps_of_stages_that_a_stage_makes_by_itself_are_parts_of_it() -> None:
    class Dynamic(Stage):
        @property
        def direction(self) -> Direction:
            return Direction.FORWARD

        def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
            inner = Serial('inner', ForwardMockup([1.0], name='x'), ForwardMockup([2.0], name='y'))
            yield from inner.run(context, start, end, before)
            return NOBODY

    record, (found,) = searched(GeneratorMockup(), Dynamic('dynamic'))
    _, _, made, *inner = record.parts(found)
    assert made.stage == 3
    assert [(part.stage, part.step.stage) for part in inner] == [(3, 'x'), (3, 'y')]
    assert made.parts == tuple(part.number for part in inner)
    assert len({made.number, *made.parts, 0}) == 4
    assert record.statistics()[2].solved == (made.number,)
    assert record.get(inner[0].number) is not None


def test_containers_take_as_long_as_their_stages() -> None:
    record, _ = searched(GeneratorMockup(), Serial('inner', ForwardMockup([1.0]), ForwardMockup([1.0])))
    task, first, inner, *leaves = (each.seconds for each in record.statistics())
    assert math.isclose(inner, sum(leaves))
    assert math.isclose(task, first + inner)


def test_the_number_of_solutions_is_known_while_searching() -> None:
    task = Serial('task', GeneratorMockup([1.0, 2.0, 3.0]))
    record = Record(task)
    assert record.solutions == 0
    known = [record.solutions for _ in Constructor(task, Context(observer=record)).solutions()]
    assert known == [1, 2, 3]


def test_a_search_that_goes_on_for_long_is_kept_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr('lfd_planner.task.record.MOST_KEPT', 10)
    record, found = searched(GeneratorMockup([1.0] * 50, name='a'), ForwardMockup([math.inf, 1.0], name='b'))
    assert counts(record)['b'][1] == 50  # all are counted
    assert max(number for each in record.statistics() for number in (*each.solved, *each.failed)) == 10
    assert record.number(found[-1]) == 0
    whole, *parts = record.parts(found[-1])
    assert (whole.number, len(parts)) == (0, 2)
    assert {part.step.start.scene for part in parts} == {SCENE}
