import random

import pytest
from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix

from lfd_planner.messages import allowed_from_message, allowed_to_message
from lfd_planner.scene import AllowedCollisions, SceneFault

NAMES = ('a', 'b', 'c', 'd')


def decisions(allowed):
    return [[allowed.allows(a, b) for b in (*NAMES, 'stranger')] for a in NAMES]


def test_the_matrix_is_square_symmetric_and_sorted():
    message = allowed_to_message(AllowedCollisions().allow('b', 'a').forbid('a', 'c').with_default('d', True))
    assert list(message.entry_names) == ['a', 'b', 'c', 'd']
    assert [list(row.enabled) for row in message.entry_values] == [
        [False, True, False, True],
        [True, False, False, True],
        [False, False, False, True],
        [True, True, True, True],
    ]
    assert list(message.default_entry_names) == ['d']
    assert list(message.default_entry_values) == [True]


@pytest.mark.parametrize('seed', range(50))
def test_what_comes_back_decides_the_same(seed, sent):
    rng = random.Random(seed)
    edits = [(*rng.sample(NAMES, 2), rng.choice([True, False, None])) for _ in range(rng.randint(0, 10))]
    allowed = AllowedCollisions().edited(edits)
    for name in rng.sample(NAMES, rng.randint(0, 3)):
        allowed = allowed.with_default(name, rng.choice([True, False]))
    again = allowed_from_message(sent(allowed_to_message(allowed)))
    pairs = [(a, b) for a in NAMES for b in (*NAMES, 'stranger') if a != b]
    assert [again.allows(a, b) for a, b in pairs] == [allowed.allows(a, b) for a, b in pairs]
    assert again.defaults == allowed.defaults
    assert allowed_from_message(allowed_to_message(again)) == again


def test_a_matrix_of_one_value_for_each_pair_is_read():
    rows = [AllowedCollisionEntry(enabled=row) for row in ([False, True], [True, False])]
    assert list(allowed_from_message(AllowedCollisionMatrix(entry_names=['x', 'y'], entry_values=rows)).pairs()) == [
        ('x', 'y', True)
    ]


@pytest.mark.parametrize(
    ('fields', 'says'),
    [
        ({'entry_names': ['a', 'b'], 'entry_values': [AllowedCollisionEntry()]}, '2 names and 1 rows'),
        ({'entry_names': ['a'], 'entry_values': [AllowedCollisionEntry()]}, "row of 'a' has 0 entries"),
        ({'entry_names': ['a', 'a']}, 'twice'),
        ({'default_entry_names': ['a']}, 'defaults'),
    ],
)
def test_a_matrix_that_is_none_is_refused(fields, says):
    with pytest.raises(SceneFault, match=says):
        allowed_from_message(AllowedCollisionMatrix(**fields))
