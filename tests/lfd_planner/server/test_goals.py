"""Goal states: how much work is done for them, and when it ends."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from support.planning import ur5e_in_seed_cell

from lfd_description.shapes import Sphere
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.scene import Pose
from lfd_planner.search import JointConstraint, PathConstraints, PositionConstraint, Region
from lfd_planner.search.constraints import NO_CONSTRAINTS
from lfd_planner.server.goals import ENOUGH, MOST_GOALS, goal_states

FAR_AWAY = PathConstraints(positions=(PositionConstraint('tool0', (Region(Sphere(0.001), Pose((3.0, 0.0, 0.0))),)),))
NEAR = PathConstraints(positions=(PositionConstraint('tool0', (Region(Sphere(0.001), Pose((0.4, 0.2, 0.3))),)),))


@pytest.fixture(scope='module')
def cell():
    return ur5e_in_seed_cell()


@pytest.fixture
def find(cell):
    backend, scene, group, states = cell

    def find(*goals: PathConstraints, path=NO_CONSTRAINTS, **options):
        return goal_states(backend, scene, group, np.array(states['home']), goals, path, 3, **options)

    return find


def failed(outcome: object, code: Code, *words: str) -> None:
    assert isinstance(outcome, Failure)
    assert outcome.code == code, outcome
    assert all(word in outcome.message for word in words), outcome.message


def asked(answers: list[bool]):
    """Says what the answers say, in their order, and counts how many were given."""
    given: list[bool] = []

    def should_stop() -> bool:
        given.append(answers[min(len(given), len(answers) - 1)])
        return given[-1]

    return should_stop, given


def test_states_are_told_with_the_nearest_first(cell, find):
    backend, scene, group, states = cell
    found = find(NEAR)
    assert 0 < len(found) <= ENOUGH
    away = np.linalg.norm(found - states['home'], axis=1)
    assert (np.diff(away) >= 0.0).all()
    assert backend.free(scene, group, found).all()
    for q in found:
        tip = backend.robot.frames.link_poses({**scene.joints, **group.by_name(q)})['tool0'][:3, 3]
        assert math.dist(tip, (0.4, 0.2, 0.3)) <= 0.0011


def test_too_many_goals_are_refused(find):
    failed(find(*[FAR_AWAY] * (MOST_GOALS + 1)), Code.INVALID_GOAL_CONSTRAINTS, '1001 goals', 'send fewer')


def test_no_goal_is_looked_at_after_the_deadline(find):
    failed(find(*[FAR_AWAY] * MOST_GOALS, deadline=time.monotonic()), Code.TIMED_OUT, 'time for planning')
    failed(find(FAR_AWAY, deadline=time.monotonic() + 600.0), Code.NO_IK_SOLUTION)


def test_stopping_ends_the_search_between_rounds_and_goals(find):
    should_stop, given = asked([False, False, True])
    failed(find(*[FAR_AWAY] * 10, should_stop=should_stop), Code.PREEMPTED, 'stopped')
    assert len(given) == 3


def test_what_was_found_before_the_stop_is_kept(find):
    should_stop, given = asked([False, True])
    found = find(NEAR, *[FAR_AWAY] * 10, should_stop=should_stop)
    assert isinstance(found, np.ndarray)
    assert len(given) == 2


def test_broken_constraints_are_named(find):
    keep = PathConstraints(joints=(JointConstraint('elbow_joint', -2.9, 0.01, 0.01),))
    failed(find(NEAR, path=keep), Code.GOAL_VIOLATES_PATH_CONSTRAINTS, 'elbow_joint')
