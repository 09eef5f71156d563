import math

import numpy as np
import pytest

from lfd_hardware.trajectory import ErrorCode, RawPoint, TrajectoryRefused, read_waypoints

JOINTS = ['a', 'b', 'c']


def test_columns_are_put_into_the_controllers_order():
    waypoints = read_waypoints(JOINTS, ['c', 'a', 'b'], [RawPoint(1.0, [3, 1, 2], [0, 0, 0]), RawPoint(2, [6, 4, 5])])
    np.testing.assert_array_equal(waypoints.positions, [[1, 2, 3], [4, 5, 6]])
    assert waypoints.has_velocity.tolist() == [True, False]
    assert waypoints.duration == 2.0


@pytest.mark.parametrize(
    ('names', 'words'),
    [
        (['a', 'b'], 'c missing'),
        (['a', 'b', 'c', 'd'], 'd unknown'),
        (['a', 'b', 'x'], 'c missing; x unknown'),
        (['a', 'b', 'c', 'c'], 'twice'),
        ([], 'a, b, c missing'),
    ],
)
def test_other_joints_are_invalid_joints(names, words):
    with pytest.raises(TrajectoryRefused, match=words) as refusal:
        read_waypoints(JOINTS, names, [RawPoint(1.0, [0.0] * len(names))])
    assert refusal.value.code is ErrorCode.INVALID_JOINTS


ZERO = [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ('points', 'words'),
    [
        ([], 'no points'),
        ([RawPoint(-1.0, ZERO)], 'zero or more'),
        ([RawPoint(1.0, ZERO), RawPoint(1.0, ZERO)], 'times must increase'),
        ([RawPoint(2.0, ZERO), RawPoint(1.0, ZERO)], 'times must increase'),
        ([RawPoint(1.0, [0.0])], '1 positions for 3 joints'),
        ([RawPoint(1.0, [])], '0 positions for 3 joints'),
        ([RawPoint(1.0, ZERO, [0.0, 0.0])], '2 velocities for 3 joints'),
        ([RawPoint(1.0, ZERO, ZERO, [0.0])], '1 accelerations for 3 joints'),
        ([RawPoint(1.0, ZERO, (), ZERO)], 'accelerations but no velocities'),
        ([RawPoint(1.0, [0.0, math.nan, 0.0])], "'b' has the value nan in the positions of point 0"),
        ([RawPoint(1.0, ZERO, [0.0, 0.0, math.inf])], "'c' has the value inf in the velocities"),
        ([RawPoint(1.0, ZERO, [0.0, 0.1, 0.0])], "'b' still has 0.1"),
        ([RawPoint(1.0, ZERO, effort=ZERO)], 'efforts'),
    ],
)
def test_bad_points_are_an_invalid_goal(points, words):
    with pytest.raises(TrajectoryRefused, match=words) as refusal:
        read_waypoints(JOINTS, JOINTS, points)
    assert refusal.value.code is ErrorCode.INVALID_GOAL


def test_final_velocity_can_be_allowed():
    points = [RawPoint(1.0, ZERO, [0.0, 0.1, 0.0])]
    assert read_waypoints(JOINTS, JOINTS, points, allow_final_velocity=True).velocities[-1, 1] == 0.1
