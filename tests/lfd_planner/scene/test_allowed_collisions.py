import random

import pytest

from lfd_planner.scene import AllowedCollisions

NAMES = ('a', 'b', 'c', 'd')


def test_says_nothing_of_what_it_was_not_told():
    allowed = AllowedCollisions().allow('a', 'b')
    assert allowed.allows('a', 'b')
    assert allowed.allows('b', 'a')
    assert not allowed.allows('a', 'c')
    assert allowed.decision('a', 'c') is None


def test_the_entry_of_a_pair_outdoes_the_defaults():
    allowed = AllowedCollisions().with_default('a', True).forbid('a', 'b')
    assert not allowed.allows('a', 'b')
    assert allowed.allows('a', 'c')
    assert AllowedCollisions().with_default('a', False).allow('a', 'b').allows('a', 'b')


def test_two_defaults_must_both_allow():
    one = AllowedCollisions().with_default('a', True)
    assert one.allows('a', 'b')
    assert one.with_default('b', True).allows('a', 'b')
    assert not one.with_default('b', False).allows('a', 'b')


def test_a_name_goes_with_its_entries_and_its_default_stays():
    allowed = AllowedCollisions.of([('a', 'b'), ('b', 'c')]).with_default('b', True).without('b')
    assert list(allowed.pairs()) == []
    assert allowed.names == ('b',)


def test_a_pair_may_be_of_one_name():
    allowed = AllowedCollisions().allow('a', 'a')
    assert list(allowed.pairs()) == [('a', 'a', True)]
    assert list(allowed.without('a').pairs()) == []


@pytest.mark.parametrize('seed', range(30))
def test_edits_lead_from_the_old_to_the_new(seed):
    rng = random.Random(seed)

    def some() -> AllowedCollisions:
        edits = [(rng.choice(NAMES), rng.choice(NAMES), rng.choice([True, False, None])) for _ in range(10)]
        return AllowedCollisions().edited(edits)

    old, new = some(), some()
    assert old.edited(new.pairs_changed_from(old)) == new
    assert all(new.entry(a, b) == new.entry(b, a) for a in NAMES for b in NAMES)


def test_newer_ones_count_where_they_say_something():
    old = AllowedCollisions().allow('a', 'b').allow('c', 'd').with_default('e', True)
    new = AllowedCollisions().forbid('a', 'b').allow('a', 'c').with_default('e', False).with_default('f', True)
    both = old.updated(new)
    assert list(both.pairs()) == [('a', 'b', False), ('a', 'c', True), ('c', 'd', True)]
    assert dict(both.defaults) == {'e': False, 'f': True}
    assert both.updated(old).updated(new) == both


def test_nothing_new_is_the_same_value():
    old = AllowedCollisions().allow('a', 'b')
    assert old.updated(AllowedCollisions()) is old
    assert old.updated(AllowedCollisions().allow('b', 'a')) is old
