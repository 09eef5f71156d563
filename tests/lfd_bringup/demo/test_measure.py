"""The demo's measurements find what they are there to find."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_bringup.demo.measure import Tracking, measure
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


ERRORS = {'joint_1_s': 0.01, 'joint_2_l': 0.03}  # [rad], as the executor tells them


def recording_of(motion: Trajectory, offset: float = 0.0, slower: float = 1.0, pause: float = 0.0) -> Recording:
    """An arm that takes `slower` times as long, and stands for `pause` [s] where the motion has its third point."""
    recording = Recording()
    stop = motion.times[2] * slower
    for time in np.arange(0.0, motion.duration * slower + pause + 0.1, 0.01):
        at = (time if time < stop else max(stop, time - pause)) / slower
        recording.states.append((100.0 + time, list(motion.sample(at).q + offset)))
    return recording


def measured(motion: Trajectory, recording: Recording, chain: Chain) -> Tracking:
    return measure(motion, recording, chain, ERRORS)


def test_an_arm_that_does_as_it_is_told(gp8):
    motion, chain = gp8
    recording = recording_of(motion)
    recording.hand += [0.0, 0.02, 0.02, 0.005]
    found = measured(motion, recording, chain)
    assert found.path_error < 1e-5
    assert found.goal_error < 1e-12
    assert found.joint_state_rate == pytest.approx(100.0)
    assert found.hand_travel == pytest.approx(0.035)
    assert (found.joint_errors, found.tracking_error) == (ERRORS, 0.03)
    assert found.problems() == ['no transform of the tool was heard']


def test_an_arm_that_strays_is_found(gp8):
    motion, chain = gp8
    found = measured(motion, recording_of(motion, offset=0.2), chain)
    assert found.goal_error == pytest.approx(0.2)
    assert found.path_error == pytest.approx(0.2, abs=0.02)
    assert any('from its goal' in problem for problem in found.problems())
    assert any('strayed' in problem for problem in found.problems())


@pytest.mark.parametrize(('slower', 'pause'), [(1.0, 3.0), (1.5, 0.0), (0.7, 0.5)])
def test_an_arm_that_takes_its_time_has_not_left_its_path(gp8, slower: float, pause: float):
    """The hand's work and a busy machine delay a motion; that is no fault of the motion."""
    motion, chain = gp8
    found = measured(motion, recording_of(motion, slower=slower, pause=pause), chain)
    assert found.path_error < 1e-4
    assert found.goal_error < 1e-12


def test_an_arm_that_takes_its_path_in_another_order_is_found(gp8):
    motion, chain = gp8
    recording = recording_of(motion)
    there = [state for time, state in recording.states if time < 102.0]
    recording.states[:] = [(100.0 + 0.01 * row, q) for row, q in enumerate([*there, *there, *there[::-1]])]
    found = measured(motion, recording, chain)
    assert found.path_error > 0.1
    assert found.goal_error < 1e-3


def test_errors_that_nobody_told_are_missed(gp8):
    motion, chain = gp8
    found = measure(motion, recording_of(motion), chain, {})
    assert any('nobody told' in problem for problem in found.problems())


def test_transforms_that_do_not_fit_the_joints_are_found(gp8):
    motion, chain = gp8
    recording = recording_of(motion)
    stamp = recording.states[3][0]
    recording.transforms[None] = {'tool0': ('base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))}
    recording.transforms[stamp] = {}
    found = measured(motion, recording, chain)
    assert found.transform_error == pytest.approx(np.linalg.norm(chain.pose(recording.states[3][1])[:3, 3]))
    assert any('/tf puts the tool' in problem for problem in found.problems())
