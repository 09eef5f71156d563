from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from scipy.spatial.transform import Rotation
from support.coal_judge import coal_collides, coal_distance

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere
from lfd_planner.collision.distances import in_order, make_desk, solid_distance
from lfd_planner.collision.library import ShapeLibrary
from lfd_planner.collision.rows import KIND
from lfd_planner.collision.solids import solid_of
from lfd_planner.scene import SceneShape, TriangleMesh

Array = npt.NDArray[np.float64]
SEED = 20261116
POSES = 60
CONTACT = 1e-6  # [m]: so close to touching, checkers may differ


def _hull(corners: int) -> TriangleMesh:
    points = np.random.default_rng(corners).normal(size=(corners, 3))
    points *= np.array([0.3, 0.2, 0.1]) / np.linalg.norm(points, axis=1, keepdims=True)
    return TriangleMesh.of(trimesh.Trimesh(points).convex_hull)


_SHEET = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 0.2, 0.0], [0.3, 0.2, 0.0]])
SHAPES: dict[str, SceneShape] = {
    'box': Box((0.3, 0.2, 0.1)),
    'flat box': Box((0.3, 0.2, 0.0)),
    'sphere': Sphere(0.15),
    'cylinder': Cylinder(0.1, 0.4),
    'disc': Cylinder(0.2, 1e-3),
    'capsule': Capsule(0.05, 0.4),
    'cone': Cone(0.15, 0.3),
    'few corners': _hull(12),
    'many corners': _hull(300),
    'ring': TriangleMesh.of(trimesh.creation.torus(0.2, 0.05, major_sections=12, minor_sections=8)),
    'sheet': TriangleMesh(
        np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.2, 0]]), np.array([[0, 1, 2], [1, 3, 2]])
    ),
}


class Pair:
    """Two shapes as compiled code sees them."""

    def __init__(self, one: SceneShape, other: SceneShape) -> None:
        library = ShapeLibrary()
        rows = [library.row(solid_of(shape)) for shape in (one, other)]
        self._swapped = not in_order(rows[0][KIND], rows[1][KIND])
        self._rows = np.array(rows[::-1] if self._swapped else rows)
        self._shapes, self._desk = library.shapes(), make_desk()

    def distance(self, pose: Array, near: float = 0.0, far: float = np.inf) -> float:
        move = np.linalg.inv(pose) if self._swapped else pose
        numbers = tuple(move[:3].ravel().tolist())
        return solid_distance(self._rows, 0, 1, numbers, self._shapes, near, far, self._desk)


def random_poses(count: int, seed: int, reach: float = 0.5) -> list[Array]:
    """Poses from deep inside each other to well apart."""
    random = np.random.default_rng(seed)
    poses = []
    for turn in Rotation.random(count, rng=random):
        pose = np.eye(4)
        pose[:3, :3] = turn.as_matrix()
        shift = random.normal(size=3)
        pose[:3, 3] = shift / np.linalg.norm(shift) * random.uniform(0.0, reach)
        poses.append(pose)
    return poses


@pytest.mark.parametrize(('one', 'other'), list(product(SHAPES, [*SHAPES, 'plane'])))
def test_every_two_shapes_are_as_far_apart_as_coal_says(one: str, other: str) -> None:
    a, b = SHAPES[one], SHAPES.get(other, Plane())
    pair = Pair(a, b)
    for pose in random_poses(POSES, SEED):
        expected = coal_distance(a, b, pose)
        assert max(pair.distance(pose), 0.0) == pytest.approx(max(expected, 0.0), abs=1e-5)
        if abs(expected) > CONTACT:
            assert (pair.distance(pose, 0.0, 0.0) <= 0.0) == coal_collides(a, b, pose)


@pytest.mark.parametrize('margin', [1e-4, 0.005, 0.1])
@pytest.mark.parametrize(('one', 'other'), list(product(SHAPES, SHAPES)))
def test_a_margin_counts_as_touching(one: str, other: str, margin: float) -> None:
    a, b = SHAPES[one], SHAPES[other]
    pair = Pair(a, b)
    for pose in random_poses(POSES // 3, SEED + 1):
        expected = coal_distance(a, b, pose)
        if abs(expected - margin) > 2.0 * CONTACT:
            assert (pair.distance(pose, margin, margin) <= margin) == (expected <= margin)


@pytest.mark.parametrize(
    ('one', 'other'), list(product(['box', 'cylinder', 'cone', 'few corners', 'capsule'], repeat=2))
)
def test_solids_in_line_with_each_other_are_no_trap(one: str, other: str) -> None:
    """Parallel faces, shared axes and the same place make simplices without volume."""
    a, b = SHAPES[one], SHAPES[other]
    pair = Pair(a, b)
    for turn, axis, shift in product(Rotation.create_group('O'), range(3), (0.0, 1e-9, 0.05, 0.1, 0.2, 0.31, 0.5)):
        pose = np.eye(4)
        pose[:3, :3] = turn.as_matrix().round()
        pose[axis, 3] = shift
        expected = coal_distance(a, b, pose)
        if abs(expected) > CONTACT:
            assert (pair.distance(pose, 0.0, 0.0) <= 0.0) == (expected <= 0.0)


def test_solids_far_from_their_frame_are_seen_as_they_are() -> None:
    """Links of robots that are described in millimetres by mistake, and worlds in map coordinates."""
    box = Box((0.3, 0.2, 0.1))
    mesh = TriangleMesh.of(trimesh.creation.box((0.3, 0.2, 0.1)).apply_translation((1e4, -2e4, 500.0)))
    back = np.eye(4)
    back[:3, 3] = (-1e4, 2e4, -500.0)
    pair = Pair(box, mesh)
    for pose in random_poses(50, SEED):
        expected = coal_distance(box, box, pose)
        if abs(expected) > CONTACT:
            assert (pair.distance(pose @ back, 0.0, 0.0) <= 0.0) == (expected <= 0.0)


def test_points_without_size_can_touch() -> None:
    assert Pair(Sphere(0.0), Box((0.0, 0.0, 0.0))).distance(np.eye(4)) <= 0.0
    apart = np.eye(4)
    apart[0, 3] = 0.25
    assert Pair(Sphere(0.0), Box((0.0, 0.0, 0.0))).distance(apart) == pytest.approx(0.25)


def test_numbers_that_are_none_count_as_touching() -> None:
    """A search must never take a broken state for a free one."""
    for shape in (Box((0.1, 0.1, 0.1)), Sphere(0.1), SHAPES['many corners']):
        assert not Pair(shape, Box((0.1, 0.1, 0.1))).distance(np.full((4, 4), np.nan), 0.0, 0.0) > 0.0
