"""`./lfd demo` shows what really happened."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lfd_bringup.demo.measure import measure
from lfd_bringup.demo.motion import motion_through
from lfd_bringup.demo.ros import Recording
from lfd_description.kinematics import Chain
from lfd_description.robots import find_robot, robot_description
from lfd_description.urdf import parse_urdf


def test_demo_reports_a_measured_motion(lfd, tmp_path: Path):
    result = lfd('demo', '--robot', 'ur3e', '--out', tmp_path / 'out', '--headless')
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads((tmp_path / 'out' / 'report.json').read_text())
    assert report['ok'] is True
    (robot,) = report['robots']
    assert robot['robot'] == 'ur3e'
    assert robot['measurement']['goal_error'] < 0.005
    assert robot['measurement']['transform_count'] > 50
    assert robot['measurement']['transform_error'] < 1e-6
    assert (tmp_path / 'out' / robot['picture']).read_bytes().startswith(b'\x89PNG')


def test_a_folder_that_cannot_be_written_is_refused(lfd, tmp_path: Path):
    (tmp_path / 'file').write_text('in the way')
    result = lfd('demo', '--robot', 'gp8', '--out', tmp_path / 'file' / 'out')
    assert result.returncode == 1
    assert 'the report cannot be written' in result.stderr
    assert 'Traceback' not in result.stderr


@pytest.fixture
def gp8():
    robot = find_robot('gp8')
    tree = parse_urdf(robot_description(robot))
    poses = [robot.poses['home'], robot.poses['left']]
    limits = {joint.name: joint.limits.velocity for joint in tree.joints if joint.limits}
    return motion_through(poses, [limits[name] for name in robot.joints], 0.25), Chain(tree, 'base_link', 'tool0')


def test_motion_keeps_the_speed_and_ends_at_rest(gp8):
    motion, _ = gp8
    assert np.all(np.diff(motion.times) > 0)
    assert not motion.velocities[0].any()
    assert not motion.velocities[-1].any()
    fine = np.arange(0.0, motion.duration, 1e-3)
    positions = motion.at(fine)
    assert np.abs(np.diff(positions, axis=0) / 1e-3).max() <= 0.25 * 17.4845 * 1.001
    np.testing.assert_allclose(motion.at(motion.times), motion.positions, atol=1e-12)


def recording_of(motion, offset: float = 0.0) -> Recording:
    recording = Recording(start=100.0)
    for time in np.arange(0.0, motion.duration + 0.1, 0.01):
        recording.states.append((100.0 + time, list(motion.at(np.array([time]))[0] + offset)))
    return recording


def test_measuring_finds_an_arm_that_strays(gp8):
    motion, chain = gp8
    good, _ = measure(motion, recording_of(motion), chain)
    assert good.tracking_error < 1e-12
    assert good.problems() == ['no transform of the tool was heard']
    bad, _ = measure(motion, recording_of(motion, offset=0.2), chain)
    assert bad.tracking_error == pytest.approx(0.2)
    assert any('from its goal' in problem for problem in bad.problems())
    assert any('strayed' in problem for problem in bad.problems())


def test_a_late_arm_has_not_left_its_path(gp8):
    """A busy machine delays a motion; that is no fault of the motion."""
    motion, chain = gp8
    recording = recording_of(motion)
    recording.states = [(time + 0.1, position) for time, position in recording.states]
    late, _ = measure(motion, recording, chain)
    assert late.tracking_error > 0.05
    assert late.path_error < 1e-3


def test_measuring_finds_transforms_that_do_not_fit_the_joints(gp8):
    motion, chain = gp8
    recording = recording_of(motion)
    stamp = recording.states[3][0]
    recording.transforms[None] = {'tool0': ('base_link', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))}
    recording.transforms[stamp] = {}
    measurement, _ = measure(motion, recording, chain)
    assert measurement.transform_error == pytest.approx(np.linalg.norm(chain.pose(recording.states[3][1])[:3, 3]))
    assert any('/tf puts the tool' in problem for problem in measurement.problems())
