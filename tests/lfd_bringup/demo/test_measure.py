"""The demo's measurements find what they are there to find."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_bringup.demo.measure import measure
from lfd_bringup.demo.ros import Recording
from lfd_description.kinematics import Chain
from lfd_description.robots import find_robot, robot_description
from lfd_description.urdf import parse_urdf
from lfd_planner.timing import Trajectory


@pytest.fixture
def gp8() -> tuple[Trajectory, Chain]:
    """There and back, standing at each end."""
    robot = find_robot('gp8')
    home, left = (np.array(robot.poses[name]) for name in ('home', 'left'))
    q = np.array([home, left, left, home])
    motion = Trajectory(np.array([0.0, 2.0, 2.5, 4.5]), q, np.zeros_like(q))
    return motion, Chain(parse_urdf(robot_description(robot)), 'base_link', 'tool0')


def recording_of(motion: Trajectory, offset: float = 0.0, late: float = 0.0) -> Recording:
    recording = Recording(start=100.0)
    for time in np.arange(0.0, motion.duration + late + 0.1, 0.01):
        recording.states.append((100.0 + time, list(motion.sample(time - late).q + offset)))
    return recording


def test_an_arm_that_does_as_it_is_told(gp8):
    motion, chain = gp8
    found = measure(motion, recording_of(motion), chain)
    assert found.tracking_error < 1e-12
    assert found.path_error < 1e-12
    assert found.lateness == 0.0
    assert found.problems() == ['no transform of the tool was heard']


def test_an_arm_that_strays_is_found(gp8):
    motion, chain = gp8
    found = measure(motion, recording_of(motion, offset=0.2), chain)
    assert found.tracking_error == pytest.approx(0.2)
    assert any('from its goal' in problem for problem in found.problems())
    assert any('strayed' in problem for problem in found.problems())


@pytest.mark.parametrize('late', [0.1, 1.5])
def test_a_late_arm_has_not_left_its_path(gp8, late: float):
    """A busy machine delays a motion; that is no fault of the motion."""
    motion, chain = gp8
    found = measure(motion, recording_of(motion, late=late), chain)
    assert found.tracking_error > 0.05
    assert found.path_error < 1e-3
    assert found.lateness == pytest.approx(late, abs=0.02)


def test_transforms_that_do_not_fit_the_joints_are_found(gp8):
    motion, chain = gp8
    recording = recording_of(motion)
    stamp = recording.states[3][0]
    recording.transforms[None] = {'tool0': ('base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))}
    recording.transforms[stamp] = {}
    found = measure(motion, recording, chain)
    assert found.transform_error == pytest.approx(np.linalg.norm(chain.pose(recording.states[3][1])[:3, 3]))
    assert any('/tf puts the tool' in problem for problem in found.problems())
