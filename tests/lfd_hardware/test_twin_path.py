"""How long a twin believes that a trajectory without a goal is on its way."""

from __future__ import annotations

import pytest

from lfd_hardware.nodes.twin_path import MARGIN, PathTime


@pytest.fixture
def path() -> PathTime:
    made = PathTime()
    made.look(100.0)
    return made


def test_it_ends_with_the_trajectory(path: PathTime):
    assert not path.is_running
    path.begin(0.0, 2.0)
    path.look(101.9)
    assert path.is_running
    path.look(102.0 + MARGIN + 0.01)
    assert not path.is_running


def test_it_begins_at_its_stamp(path: PathTime):
    path.begin(5.0, 2.0)
    path.look(106.9)
    assert path.is_running
    path.look(107.0 + MARGIN + 0.01)
    assert not path.is_running


def test_what_is_over_by_its_stamp_is_left_out(path: PathTime):
    path.begin(-1.5, 2.0)
    path.look(100.6 + MARGIN)
    assert not path.is_running


def test_a_slow_arm_takes_longer_and_a_paused_one_never_ends(path: PathTime):
    path.begin(0.0, 2.0)
    path.pace = 0.5
    path.look(103.0)
    assert path.is_running
    path.pace = 0.0
    path.look(1000.0)
    assert path.is_running
    path.pace = 1.0
    path.look(1001.0)
    assert not path.is_running


def test_a_stop_ends_it(path: PathTime):
    path.begin(0.0, 2.0)
    path.end()
    assert not path.is_running
