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


def test_frames_above_and_beside_the_base(tree):
    """A static `world -> base_link`, a table in the world, and a cup on the table."""
    tree.set('world', 'base_link', Pose((1.0, 0.0, 0.5), QUARTER))
    tree.set('world', 'table', Pose((1.0, 2.0, 0.5)))
    tree.set('table', 'cup', Pose((0.0, 1.0, 0.0)))
    tree.set('map', 'world', Pose((5.0, 0.0, 0.0)))
    poses = tree.poses(LINKS)
    assert set(poses) == {'world', 'table', 'cup', 'map'}
    np.testing.assert_allclose(poses['world'].position, (0.0, 1.0, -0.5), atol=1e-12)
    np.testing.assert_allclose(poses['table'].position, (2.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(poses['cup'].position, (3.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(poses['map'].position, (0.0, 6.0, -0.5), atol=1e-12)
    np.testing.assert_allclose((poses['world'] @ Pose((1.0, 0.0, 0.5), QUARTER)).matrix, np.eye(4), atol=1e-12)


def test_the_root_link_hangs_from_the_world_too():
    """The scene's frame is one to which the SRDF fixes the root link."""
    links = {'base_link': np.eye(4), 'hand': Pose((0.0, 0.0, 1.0)).matrix}
    tree = TransformTree('cell', list(links), 'base_link')
    tree.set('cell', 'base_link', Pose((9.0, 0.0, 0.0)))
    assert not tree
    tree.set('world', 'base_link', Pose((1.0, 0.0, 0.0)))
    tree.set('hall', 'cell', Pose((2.0, 0.0, 0.0)))
    poses = tree.poses(links)
    assert {name: pose.position for name, pose in poses.items()} == {
        'world': (-1.0, 0.0, 0.0),
        'hall': (-2.0, 0.0, 0.0),
    }


def test_nobody_else_tells_where_a_link_is(tree):
    tree.set('tracker', 'hand', Pose((9.0, 0.0, 0.0)))
    assert not tree


def test_circles_and_a_second_parent_come_to_an_end(tree):
    tree.set('world', 'base_link', Pose((1.0, 0.0, 0.0)))
    tree.set('table', 'world', Pose((1.0, 0.0, 0.0)))
    tree.set('world', 'table', Pose((1.0, 0.0, 0.0)))
    tree.set('table', 'table', Pose((1.0, 0.0, 0.0)))
    assert set(tree.poses(LINKS)) == {'world', 'table'}
    tree.set('map', 'base_link', Pose((3.0, 0.0, 0.0)))
    assert {name: pose.position for name, pose in tree.poses(LINKS).items()} == {'map': (-3.0, 0.0, 0.0)}


def test_a_long_way_to_a_frame(tree):
    for number in range(5000):
        tree.set(f'frame_{number}' if number else 'base_link', f'frame_{number + 1}', Pose((0.001, 0.0, 0.0)))
    poses = tree.poses(LINKS)
    np.testing.assert_allclose(poses['frame_5000'].position, (5.0, 0.0, 0.0), atol=1e-9)
