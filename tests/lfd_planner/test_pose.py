import random

import numpy as np
import pytest
from support.scene_edits import random_pose

from lfd_planner.pose import IDENTITY, Pose


@pytest.mark.parametrize('seed', range(50))
def test_composes_as_its_matrices_do(seed):
    rng = random.Random(seed)
    a, b = random_pose(rng), random_pose(rng)
    np.testing.assert_allclose((a @ b).matrix, a.matrix @ b.matrix, atol=1e-14)
    np.testing.assert_allclose((a @ a.inverse).matrix, np.eye(4), atol=1e-14)
    np.testing.assert_allclose(Pose.of(a.matrix).matrix, a.matrix, atol=1e-14)


@pytest.mark.parametrize('axis', [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0.6, 0.8, 0, 0), (0, 0, 0, 1)])
def test_half_turns_lose_no_digits(axis):
    pose = Pose((1.0, 2.0, 3.0), axis)
    np.testing.assert_allclose(Pose.of(pose.matrix).matrix, pose.matrix, atol=1e-15)


def test_no_motion_changes_no_digit():
    pose = Pose((0.1, 0.2, 0.3), (0.1, 0.7, 0.1, 0.7))  # not quite unit
    assert pose @ IDENTITY is pose
    assert IDENTITY @ pose is pose


def test_a_long_chain_stays_a_rotation():
    rng = random.Random(3)
    pose = IDENTITY
    for _ in range(2000):
        pose = pose @ random_pose(rng)
    np.testing.assert_allclose(np.linalg.norm(pose.orientation), 1.0, atol=1e-15)


def test_the_matrix_cannot_be_written_to():
    with pytest.raises(ValueError, match='read-only'):
        IDENTITY.matrix[0, 0] = 2.0
