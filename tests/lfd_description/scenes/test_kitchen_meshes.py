from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import trimesh

from lfd_description.meshes import load_mesh
from lfd_description.scenes import Scene, SceneObject, find_scene
from lfd_description.scenes.kitchen_meshes import SIZES, kitchen_meshes
from lfd_description.shapes import Box, Cylinder


def contains(mesh: trimesh.Trimesh, points: np.ndarray) -> list[bool]:
    """Which points the surface winds around, from the solid angles of its triangles."""
    a, b, c = (mesh.triangles[None, :, corner] - points[:, None] for corner in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
    volume = np.einsum('pti,pti->pt', a, np.cross(b, c))
    edges = [np.einsum('pti,pti->pt', u, v) * length for u, v, length in ((a, b, lc), (b, c, la), (c, a, lb))]
    angles = 2.0 * np.arctan2(volume, la * lb * lc + sum(edges))
    return (angles.sum(axis=1) > 2.0 * np.pi).tolist()


each_thing = pytest.mark.parametrize('name', SIZES)


@each_thing
def test_file_is_what_the_code_makes(name: str, checkout: Path):
    file = load_mesh(checkout / 'lfd_description' / 'scenes' / 'meshes' / f'{name}.stl')
    made = kitchen_meshes()[name]
    assert np.allclose(file.triangles, made.triangles, rtol=0.0, atol=1e-7)


@each_thing
def test_is_one_closed_body_seen_from_outside(name: str):
    mesh = kitchen_meshes()[name]
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0.0
    assert mesh.body_count == 1


@each_thing
def test_fills_its_size_around_the_origin(name: str):
    half = np.array(SIZES[name]) / 2
    assert np.allclose(kitchen_meshes()[name].bounds, [-half, half], atol=1e-9)


@pytest.mark.parametrize(('name', 'wall'), [('cup', 0.003), ('bowl', 0.0035)])
def test_tableware_is_hollow_down_to_its_floor(name: str, wall: float):
    mesh = kitchen_meshes()[name]
    radius, height = SIZES[name][0] / 2, SIZES[name][2]
    probes = np.array(
        [(0, 0, 0), (0, 0, 0.4 * height), (0, 0, 0.003 - height / 2), (radius - wall / 2, 0, 0.45 * height)]
    )
    assert contains(mesh, probes) == [False, False, True, True]


def test_fork_has_four_tines():
    mesh = kitchen_meshes()['fork']
    x, bottom = 0.075, -SIZES['fork'][2] / 2  # where the tines touch the table
    across = np.array([(x, y, bottom + 0.001) for y in np.linspace(-0.0137, 0.0137, 200)])
    inside = np.array(contains(mesh, across), dtype=int)
    assert (np.diff(inside) == 1).sum() == 4


def test_fork_lies_on_handle_and_tines(vertices: Callable[[SceneObject], np.ndarray]):
    fork = find_scene('kitchen').object['fork']
    lowest = vertices(fork)
    feet = lowest[lowest[:, 2] < lowest[:, 2].min() + 1e-6, 0] - fork.position[0]
    assert feet.min() < -0.08
    assert feet.max() > 0.05


def test_primitives_are_as_big_and_where_the_meshes_are(vertices: Callable[[SceneObject], np.ndarray]):
    meshes, primitives = find_scene('kitchen'), find_scene('kitchen_primitives')
    assert list(meshes.object) == list(primitives.object)
    for name, size in SIZES.items():
        mesh, primitive = meshes.object[name], primitives.object[name]
        assert primitive.pose == pytest.approx(mesh.pose)
        match primitive.shape:
            case Box(edges):
                assert edges == size
            case Cylinder(radius, height):
                assert (2 * radius, 2 * radius, height) == pytest.approx(size)
        around = vertices(mesh).max(axis=0) - vertices(mesh).min(axis=0)
        assert np.allclose(around, vertices(primitive).max(axis=0) - vertices(primitive).min(axis=0), atol=2e-3)


def test_five_things_stand_between_cereal_on_the_left_and_fork_on_the_right():
    scene: Scene = find_scene('kitchen')
    left_to_right = sorted(scene.tagged('graspable'), key=lambda thing: -thing.position[1])
    assert {thing.name for thing in left_to_right} == {'cereal', 'milk', 'cup', 'bowl', 'fork'}
    assert left_to_right[0].name == 'cereal'
    assert left_to_right[-1].name == 'fork'
