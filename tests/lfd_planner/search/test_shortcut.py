"""Shorter paths, as a user of the function sees them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from lfd_planner.search.motion import Problem, first_fault
from lfd_planner.search.patience import Patience
from lfd_planner.search.projection import no_constraints
from lfd_planner.search.shortcut import path_length, shorten

from .conftest import Maze, between

Array = npt.NDArray[np.float64]

POST = Maze({'post': ((0.0, 0.0, 0.0), (0.4, 0.4, 0.2))})
AROUND = np.array([[-0.8, 0.0], [-0.8, 0.9], [-0.1, 0.7], [0.0, 0.95], [0.8, 0.9], [0.8, 0.0]])


def problem(maze: Maze) -> Problem:
    return Problem(maze.world, maze.limits, np.ones(2), np.zeros(2, dtype=np.bool_), no_constraints(), 0.01)


def shorter(maze: Maze, path: Array, seed: int = 0, attempts: int = 200, budget_s: float = 60.0) -> Array:
    return shorten(problem(maze), path, hop=0.5, seed=seed, attempts=attempts, patience=Patience.of(budget_s))


@pytest.mark.parametrize('seed', range(5))
def test_a_way_around_hugs_what_it_goes_around(seed: int) -> None:
    path = shorter(POST, AROUND, seed)

    assert path[[0, -1]].tolist() == AROUND[[0, -1]].tolist()
    assert (POST.distances(between(path, 0.002)) > 0.0).all()
    assert path_length(path) < 1.85  # the shortest is 1.75 m
    assert first_fault(problem(POST), path) == -1


def test_nothing_in_the_way_leaves_a_straight_line() -> None:
    assert shorter(Maze({}), AROUND, attempts=0).tolist() == AROUND[[0, -1]].tolist()


def test_with_no_time_left_the_path_stays_free() -> None:
    path = shorter(POST, AROUND, budget_s=0.0)

    assert path_length(path) <= path_length(AROUND)
    assert first_fault(problem(POST), path) == -1


def test_the_same_seed_gives_the_same_path() -> None:
    assert np.array_equal(shorter(POST, AROUND, 3), shorter(POST, AROUND, 3))
    assert not np.array_equal(shorter(POST, AROUND, 3), shorter(POST, AROUND, 4))


def test_the_first_piece_that_is_not_free_is_named() -> None:
    assert first_fault(problem(POST), np.array([[-0.8, 0.0], [-0.8, 0.5], [0.8, -0.5]])) == 1


def test_lengths_are_weighted() -> None:
    assert path_length(np.array([[0.0, 0.0], [3.0, 4.0]])) == 5.0
    assert path_length(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([1.0, 0.0])) == 3.0
