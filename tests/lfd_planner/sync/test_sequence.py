import random

import pytest

from lfd_planner.sync import Revision, Sequence
from lfd_planner.sync.sequence import MOST_APPLIED, MOST_BYTES, MOST_WAITING


@pytest.mark.parametrize(
    ('name', 'revision'),
    [
        ('1718/42', Revision('1718', 42)),
        ('42', Revision('', 42)),
        ('a/b/3', Revision('a/b', 3)),
        ('', None),
        ('twin', None),
        ('a/-1', None),
        ('a/1.5', None),
        ('a/٣', None),
        ('a/' + '9' * 5000, None),
    ],
)
def test_the_number_is_in_the_name(name: str, revision: Revision | None) -> None:
    assert Revision.parse(name) == revision


def test_updates_after_a_whole_scene_are_applied_as_they_come() -> None:
    sequence: Sequence[int] = Sequence()

    assert sequence.whole(Revision('a', 5)) == (True, [])
    assert sequence.update(Revision('a', 6), 6) == [6]
    assert sequence.update(Revision('a', 6), 6) == []
    assert sequence.gap == ''


def test_updates_that_come_before_the_whole_scene_wait_for_it() -> None:
    sequence: Sequence[int] = Sequence()

    assert sequence.update(Revision('a', 7), 7) == []
    assert sequence.gap == 'Update a/7 came before any whole scene.'
    assert sequence.whole(Revision('a', 6)) == (True, [7])
    assert sequence.gap == ''


def test_a_gap_is_told_and_ended_by_a_whole_scene() -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision('a', 5))

    assert sequence.update(Revision('a', 9), 9) == []
    assert sequence.gap == 'Updates 6 to 8 of the twin are missing.'
    assert sequence.whole(Revision('a', 8)) == (True, [9])
    assert sequence.gap == ''


@pytest.mark.parametrize('session', ['a', ''])
def test_after_a_whole_scene_that_updates_have_overtaken_they_are_applied_again(session: str) -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision(session, 1))
    sequence.update(Revision(session, 2), 2)
    sequence.update(Revision(session, 3), 3)

    assert sequence.whole(Revision(session, 1)) == (True, [2, 3])
    assert sequence.current == Revision(session, 3)
    assert sequence.whole(Revision(session, 2)) == (True, [3])
    assert sequence.gap == ''


def test_a_whole_scene_that_is_older_than_the_updates_that_were_kept_is_left() -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision('a', 0))
    for number in range(1, MOST_APPLIED + 10):
        sequence.update(Revision('a', number), number)

    assert sequence.whole(Revision('a', 5)) == (False, [])
    assert sequence.current == Revision('a', MOST_APPLIED + 9)


def test_a_restarted_twin_without_sessions_is_known_by_an_update_that_counts_anew() -> None:
    sequence: Sequence[str] = Sequence()
    sequence.whole(Revision('', 0))
    sequence.update(Revision('', 1), 'monday')
    assert sequence.update(Revision('', 1), 'monday') == []
    assert sequence.gap == ''

    assert sequence.update(Revision('', 1), 'tuesday') == []
    assert sequence.gap == 'Update 1 came before any whole scene.'
    assert sequence.whole(Revision('', 1)) == (True, [])
    assert sequence.gap == ''


def test_a_late_update_of_an_old_session_does_not_block() -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision('new', 5))
    sequence.update(Revision('old', 9), 9)
    assert 'started anew' in sequence.gap

    assert sequence.update(Revision('new', 6), 6) == [6]
    assert sequence.gap == ''


def test_a_late_update_of_a_session_that_is_known_to_be_over_is_no_gap() -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision('old', 8))
    sequence.whole(Revision('new', 5))

    assert sequence.update(Revision('old', 9), 9) == []
    assert sequence.gap == ''


def test_a_restarted_twin_counts_anew() -> None:
    sequence: Sequence[int] = Sequence()
    sequence.whole(Revision('monday', 57))

    assert sequence.update(Revision('tuesday', 2), 2) == []
    assert 'started anew' in sequence.gap
    assert sequence.whole(Revision('tuesday', 1)) == (True, [2])


@pytest.mark.parametrize('session', ['a', ''])
def test_the_first_update_waits_for_the_whole_scene_too(session: str) -> None:
    sequence: Sequence[int] = Sequence()

    assert sequence.update(Revision(session, 1), 1) == []
    assert not sequence.started
    assert sequence.whole(Revision(session, 0)) == (True, [1])
    assert sequence.update(Revision(session, 2), 2) == [2]


def test_an_update_without_a_number_is_not_believed_before_a_whole_scene() -> None:
    sequence: Sequence[int] = Sequence()

    assert sequence.update(None, 1) == []
    assert not sequence.started


def test_a_twin_that_does_not_number_is_believed() -> None:
    sequence: Sequence[int] = Sequence()

    assert sequence.whole(None) == (True, [])
    assert sequence.update(None, 1) == [1]
    assert sequence.update(Revision('', 12), 12) == [12]
    assert sequence.whole(Revision('', 3)) == (True, [])


def test_endless_updates_without_a_whole_scene_take_no_endless_memory() -> None:
    sequence: Sequence[int] = Sequence()
    for number in range(2, MOST_WAITING + 100):
        sequence.update(Revision('a', number), number)

    taken, following = sequence.whole(Revision('a', 50))

    assert taken
    assert following == []
    assert sequence.gap == 'Updates 51 to 99 of the twin are missing.'


def test_big_updates_without_a_whole_scene_take_no_endless_memory() -> None:
    sequence: Sequence[int] = Sequence()
    for number in range(2, 12):
        sequence.update(Revision('a', number), number, MOST_BYTES // 4)

    assert sequence.whole(Revision('a', 7)) == (True, [8, 9, 10, 11])
    assert sequence.whole(Revision('a', 6)) == (False, [])


@pytest.mark.parametrize('seed', range(20))
def test_whatever_is_lost_or_overtaken_a_later_whole_scene_makes_it_right(seed: int) -> None:
    rng = random.Random(seed)
    sequence: Sequence[int] = Sequence()
    state = -1  # the number of updates that are in it

    def take(updates: list[int]) -> None:
        nonlocal state
        for update in updates:
            assert update == state + 1
            state = update

    def whole(number: int) -> None:
        nonlocal state
        taken, following = sequence.whole(Revision('s', number))
        state = number if taken else state
        take(following)

    messages = [(number, rng.random() < 0.2) for number in range(2, 60) if rng.random() < 0.8]
    messages.sort(key=lambda message: message[0] + rng.uniform(0, 5))
    for number, is_whole in messages:
        if is_whole:
            whole(number)
        else:
            take(sequence.update(Revision('s', number), number))
    whole(60)

    assert state == 60
    assert sequence.gap == ''
