"""Shapes as triangles and as collision geometries, and mesh files, good and bad."""

from __future__ import annotations

import math
import re
from pathlib import Path

import coal
import numpy as np
import pytest
import trimesh

from lfd_description.collision_geometry import collision_geometry, mesh_geometry
from lfd_description.meshes import MeshError, load_mesh, shape_mesh
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere

SHAPES = [
    (Box((1.0, 2.0, 3.0)), 6.0, (1.0, 2.0, 3.0)),
    (Sphere(0.5), math.pi / 6, (1.0, 1.0, 1.0)),
    (Cylinder(0.5, 2.0), math.pi / 2, (1.0, 1.0, 2.0)),
    (Capsule(0.5, 3.0), math.pi / 2 + math.pi / 6, (1.0, 1.0, 3.0)),
    (Cone(0.5, 3.0), math.pi / 4, (1.0, 1.0, 3.0)),
]
each_shape = pytest.mark.parametrize(('shape', 'volume', 'size'), SHAPES, ids=lambda value: type(value).__name__)


@each_shape
def test_a_shape_s_triangles_enclose_it(shape: Shape, volume: float, size: tuple[float, ...]) -> None:
    mesh = shape_mesh(shape)

    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.02)
    np.testing.assert_allclose(mesh.bounds, [-0.5 * np.array(size), 0.5 * np.array(size)], atol=2e-3)


@each_shape
def test_its_collision_geometry_is_as_large(shape: Shape, volume: float, size: tuple[float, ...]) -> None:
    """A small ball beside each side touches when it should."""
    geometry = collision_geometry(shape).exact
    for axis in range(3):
        for side, gap in ((1, 0.01), (-1, 0.01), (1, -0.01), (-1, -0.01)):
            place = np.zeros(3)
            place[axis] = side * (0.5 * size[axis] + 0.1 + gap)
            if isinstance(shape, Cone) and axis < 2:
                place[2] = -0.5 * size[2] + 0.001  # a cone is as wide as its size only at its foot
            assert touches(geometry, place) == (gap < 0.0), (axis, side, gap)


def touches(geometry: coal.CollisionGeometry, place: np.ndarray) -> bool:
    here, there = coal.Transform3s(np.eye(3), np.zeros(3)), coal.Transform3s(np.eye(3), place)
    return bool(coal.collide(geometry, here, coal.Sphere(0.1), there, coal.CollisionRequest(), coal.CollisionResult()))


def test_a_plane_is_solid_below() -> None:
    floor = collision_geometry(Plane()).exact

    assert touches(floor, np.array([50.0, 0.0, -3.0]))
    assert touches(floor, np.array([50.0, 0.0, 0.09]))
    assert not touches(floor, np.array([50.0, 0.0, 0.11]))


def test_a_convex_mesh_is_solid_and_a_hollow_one_is_not_filled() -> None:
    assert touches(mesh_geometry(trimesh.creation.box((2.0, 2.0, 2.0))).exact, np.zeros(3))
    assert not touches(mesh_geometry(trimesh.creation.torus(1.0, 0.2)).exact, np.zeros(3))


@pytest.mark.parametrize('suffix', ['.stl', '.obj', '.dae'])
def test_a_convex_mesh_file_is_solid_whatever_its_format(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f'box{suffix}'
    trimesh.creation.box((2.0, 2.0, 2.0)).export(file)

    assert touches(collision_geometry(MeshFile(file)).exact, np.zeros(3))


def test_a_mesh_of_too_many_triangles_is_checked_as_its_hull() -> None:
    ring = trimesh.creation.torus(1.0, 0.2, major_sections=400, minor_sections=100)

    assert touches(mesh_geometry(ring).exact, np.zeros(3))


@pytest.mark.parametrize('suffix', ['.stl', '.obj', '.ply', '.glb', '.dae'])
def test_formats(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f'box{suffix}'
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)

    mesh = load_mesh(file, (2.0, 1.0, 1.0))
    assert mesh.volume == pytest.approx(12.0)
    np.testing.assert_allclose(mesh.bounds[1], [1.0, 1.0, 1.5])


def test_a_collada_file_in_millimetres(tmp_path: Path) -> None:
    file = tmp_path / 'box.dae'
    trimesh.creation.box((1000.0, 2000.0, 3000.0)).export(file)
    text = file.read_text()
    assert '<unit' not in text or 'meter="1"' in text or 'meter="1.0"' in text
    asset = '<unit meter="0.001" name="millimeter"/>'
    text = re.sub(r'<unit[^>]*/>', asset, text) if '<unit' in text else text.replace('<up_axis>', f'{asset}<up_axis>')
    file.write_text(text)

    assert load_mesh(file).volume == pytest.approx(6.0)


def test_a_mirrored_mesh_is_not_inside_out(tmp_path: Path) -> None:
    file = tmp_path / 'box.stl'
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)

    assert shape_mesh(MeshFile(file, (-1.0, 1.0, 1.0))).volume == pytest.approx(6.0)


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('none.stl', None, 'is missing'),
        ('part.step', b'ISO', 'mesh format that is not read here'),
        ('empty.stl', b'', 'no mesh that can be read|no triangles'),
        ('noise.stl', b'\x00\xff' * 60, 'no mesh that can be read|no triangles'),
        ('noise.dae', b'<COLLADA>', 'no mesh that can be read|no triangles'),
        ('noise.glb', b'glTF\x02\x00\x00\x00', 'no mesh that can be read|no triangles'),
        ('points.obj', b'v 0 0 0\nv 1 0 0\n', 'no triangles|no mesh that can be read'),
        ('nan.obj', b'v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n', 'no finite numbers|no mesh that can be read'),
    ],
)
def test_a_file_that_is_no_mesh_is_named(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(MeshError, match=message) as error:
        load_mesh(file)
    assert str(file) in str(error.value)
