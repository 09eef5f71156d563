"""Poses on straight lines."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from lfd_planner.cartesian import interpolate


def pose(position: tuple[float, float, float], rotation: Rotation | None = None) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3] = (rotation or Rotation.identity()).as_matrix()
    matrix[:3, 3] = position
    return matrix


def test_steps_are_even_and_not_longer_than_asked() -> None:
    goal = pose((0.1, 0.0, -0.05))
    poses = interpolate(np.eye(4), [goal], 0.01)

    steps = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    assert len(poses) == 13
    assert np.ptp(steps) < 1e-12
    assert steps.max() <= 0.01
    np.testing.assert_array_equal(poses[0], np.eye(4))
    np.testing.assert_array_equal(poses[-1], goal)


def test_exactly_three_steps_are_three() -> None:
    assert len(interpolate(np.eye(4), [pose((0.1 + 0.1 + 0.1, 0.0, 0.0))], 0.1)) == 4


def test_rotations_turn_evenly_about_one_axis() -> None:
    first, last = Rotation.random(2, rng=31)
    poses = interpolate(pose((0.0, 0.0, 0.0), first), [pose((0.01, 0.0, 0.0), last)], 1.0, 0.1)

    ways = Slerp([0.0, 1.0], Rotation.concatenate([first, last]))(np.linspace(0.0, 1.0, len(poses)))
    np.testing.assert_allclose(poses[:, :3, :3], ways.as_matrix(), atol=1e-12)
    assert len(poses) == math.ceil((first.inv() * last).magnitude() / 0.1) + 1


def test_half_a_turn_has_a_way_too() -> None:
    poses = interpolate(np.eye(4), [pose((0.0, 0.0, 0.0), Rotation.from_euler('x', math.pi))], 1.0, 0.1)

    np.testing.assert_allclose(
        poses[:, :3, :3] @ poses[:, :3, :3].transpose(0, 2, 1), np.tile(np.eye(3), (33, 1, 1)), atol=1e-12
    )
    np.testing.assert_allclose(poses[:, 0, 0], 1.0, atol=1e-12)


def test_lines_pass_all_waypoints() -> None:
    corners = [pose((0.1, 0.0, 0.0)), pose((0.1, 0.1, 0.0)), pose((0.1, 0.1, 0.0)), pose((0.0, 0.1, 0.0))]
    poses = interpolate(np.eye(4), corners, 0.03)

    for corner in corners:
        assert (poses == corner).all(axis=(1, 2)).any()
    assert len(poses) == 1 + 3 * 4


def test_a_least_number_of_steps_can_be_asked_for() -> None:
    assert len(interpolate(np.eye(4), [pose((0.001, 0.0, 0.0))], 0.1, fewest=10)) == 11


def test_no_way_is_one_pose() -> None:
    assert len(interpolate(np.eye(4), [np.eye(4)], 0.1)) == 1
    assert len(interpolate(np.eye(4), [], 0.1)) == 1


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match='must be positive'):
        interpolate(np.eye(4), [np.eye(4)], 0.0)
    with pytest.raises(ValueError, match='must be positive'):
        interpolate(np.eye(4), [np.eye(4)], 0.1, math.nan)
    with pytest.raises(ValueError, match='Waypoint 1'):
        interpolate(np.eye(4), [np.eye(4), 2.0 * np.eye(4)], 0.1)
    with pytest.raises(ValueError, match='The start'):
        interpolate(np.full((4, 4), math.nan), [], 0.1)
    with pytest.raises(ValueError, match='make the largest step longer'):
        interpolate(np.eye(4), [pose((1e3, 0.0, 0.0))], 1e-6)


def test_the_number_of_poses_is_bounded_for_the_whole_way() -> None:
    there, back = pose((1.0, 0.0, 0.0)), np.eye(4)
    assert len(interpolate(np.eye(4), [there, back], 2e-5)) == 100_001
    with pytest.raises(ValueError, match='The way to waypoint 3 takes more than 200000 poses'):
        interpolate(np.eye(4), [there, back] * 20, 2e-5)
    with pytest.raises(ValueError, match='The way to waypoint 0'):
        interpolate(np.eye(4), [there], 5e-324)
    with pytest.raises(ValueError, match='The way to waypoint 0'):
        interpolate(np.eye(4), [there], 0.1, fewest=10**9)


def test_the_number_of_waypoints_is_bounded() -> None:
    with pytest.raises(ValueError, match='20001 waypoints'):
        interpolate(np.eye(4), [np.eye(4)] * 20_001, 0.1)
