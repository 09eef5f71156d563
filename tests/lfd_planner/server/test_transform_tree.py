from __future__ import annotations

import math

import numpy as np
import pytest

from lfd_planner.scene import Pose
from lfd_planner.server.transform_tree import TransformTree

QUARTER = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))
LINKS = {'hand': Pose((0.0, 0.0, 1.0)).matrix}


@pytest.fixture
def tree() -> TransformTree:
    return TransformTree('base_link', ['hand'])


def test_frames_below_the_base_and_below_links(tree):
    tree.set('base_link', 'table', Pose((1.0, 0.0, 0.0), QUARTER))
    tree.set('table', 'plate', Pose((0.5, 0.0, 0.0)))
    tree.set('hand', 'camera', Pose((0.1, 0.0, 0.0)))
    poses = tree.poses(LINKS)
    np.testing.assert_allclose(poses['plate'].position, (1.0, 0.5, 0.0), atol=1e-12)
    assert poses['camera'].position == (0.1, 0.0, 1.0)


def test_the_robots_own_links_come_from_its_joints(tree):
    tree.set('base_link', 'hand', Pose((9.0, 0.0, 0.0)))
    assert not tree
    assert tree.poses(LINKS) == {}


def test_what_hangs_from_nothing_known_is_not_known(tree):
    tree.set('map', 'odom', Pose())
    tree.set('a', 'b', Pose())
    tree.set('b', 'a', Pose())
    assert tree.poses(LINKS) == {}


def test_the_newest_transform_counts(tree):
    tree.set('base_link', 'tag', Pose((1.0, 0.0, 0.0)))
    tree.set('base_link', 'tag', Pose((2.0, 0.0, 0.0)))
    assert tree.poses(LINKS)['tag'].position == (2.0, 0.0, 0.0)
