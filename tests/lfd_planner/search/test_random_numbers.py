from __future__ import annotations

import numpy as np

from lfd_planner.search.random_numbers import random_state, uniform


def numbers(seed: int, count: int = 20_000) -> list[float]:
    state = random_state(seed)
    return [uniform(state) for _ in range(count)]


def test_numbers_fill_the_unit_evenly() -> None:
    drawn = np.array(numbers(1))

    assert drawn.min() >= 0.0
    assert drawn.max() < 1.0
    counts, _ = np.histogram(drawn, bins=20, range=(0.0, 1.0))
    assert np.abs(counts - 1000).max() < 150  # five standard deviations
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.03


def test_a_seed_is_a_sequence_and_any_integer_is_one() -> None:
    assert numbers(5, 10) == numbers(5, 10)
    assert numbers(5, 10) != numbers(6, 10)
    assert numbers(-1, 10) == numbers(2**64 - 1, 10)
