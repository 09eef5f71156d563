import random

import pytest

from lfd_planner.scene import PersistentMap


def test_a_change_leaves_the_old_map_as_it_was():
    old = PersistentMap({'a': 1, 'b': 2})
    new = old.set('c', 3).set('a', 10).remove('b')
    assert dict(old) == {'a': 1, 'b': 2}
    assert dict(new) == {'a': 10, 'c': 3}


def test_iterates_in_the_order_of_insertion():
    names = [f'object {number}' for number in range(1000)]
    built = PersistentMap()
    for name in names:
        built = built.set(name, name)
    assert list(built) == names
    assert list(PersistentMap(dict.fromkeys(names, 0))) == names
    assert list(built.set('object 3', 'new')) == names


def test_order_does_not_count_for_equality():
    assert PersistentMap({'a': 1, 'b': 2}) == PersistentMap({'b': 2, 'a': 1})
    assert hash(PersistentMap({'a': 1, 'b': 2})) == hash(PersistentMap({'b': 2, 'a': 1}))
    assert PersistentMap({'a': 1}) != PersistentMap({'a': 2})
    assert PersistentMap({'a': 1}) != {'a': 1}


def test_misses_are_missing():
    with pytest.raises(KeyError):
        PersistentMap({'a': 1})['b']
    assert PersistentMap({'a': 1}).get('b') is None
    assert PersistentMap({'a': 1}).get('b', 7) == 7
    assert PersistentMap({'a': 1}).remove('b') == PersistentMap({'a': 1})


@pytest.mark.parametrize('seed', range(20))
def test_behaves_as_a_dictionary(seed):
    rng = random.Random(seed)
    found, expected = PersistentMap(), {}
    for _ in range(800):
        key, value = rng.randrange(300), rng.random()
        if rng.random() < 0.3:
            found, _ = found.remove(key), expected.pop(key, None)
        elif rng.random() < 0.1:
            edits = [(rng.randrange(300), rng.choice([None, rng.random()])) for _ in range(rng.randrange(100))]
            found = found.edit(edits)
            for edited, new in edits:
                expected.pop(edited, None) if new is None else expected.update({edited: new})
        else:
            found, expected[key] = found.set(key, value), value
    assert dict(found.items()) == expected
    assert len(found) == len(expected)
    assert all(key in found for key in expected)


@pytest.mark.parametrize('seed', range(20))
def test_edits_lead_from_the_old_to_the_new(seed):
    rng = random.Random(seed)
    old = PersistentMap({number: rng.random() for number in range(rng.choice([0, 5, 100, 2000]))})
    new = old.edit((rng.randrange(2000), rng.choice([None, rng.random()])) for _ in range(rng.choice([0, 1, 40, 3000])))
    assert old.edit(new.edits_from(old)) == new
    assert new.edits_from(new) == ()


def test_a_change_shares_all_buckets_but_one():
    old = PersistentMap({f'object {number}': number for number in range(10_000)})
    new = old.set('object 7', -1)
    copied = [a for a, b in zip(old._buckets, new._buckets, strict=True) if a is not b]
    assert len(copied) == 1
    assert len(copied[0]) < 100
    assert len(new._buckets) <= 1024
