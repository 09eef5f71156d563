import coal
import numpy as np
import pytest
import trimesh
from support.scene_edits import TETRAHEDRON

from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, MeshFile
from lfd_planner.scene import TriangleMesh, collision_geometry, triangles_of


def test_the_same_content_is_equal_and_any_other_is_not():
    same = TriangleMesh(TETRAHEDRON.vertices.copy(), TETRAHEDRON.triangles.astype(np.int64))
    moved = TriangleMesh(TETRAHEDRON.vertices + 1e-15, TETRAHEDRON.triangles)
    turned = TriangleMesh(TETRAHEDRON.vertices, TETRAHEDRON.triangles[:, ::-1])
    assert same == TETRAHEDRON
    assert hash(same) == hash(TETRAHEDRON)
    assert moved != TETRAHEDRON
    assert turned != TETRAHEDRON
    assert TETRAHEDRON != 'a mesh'


def test_nobody_can_change_it_afterwards():
    vertices = TETRAHEDRON.vertices.copy()
    mesh = TriangleMesh(vertices, TETRAHEDRON.triangles)
    vertices[0] = 5.0
    assert mesh == TETRAHEDRON
    with pytest.raises(ValueError, match='read-only'):
        mesh.vertices[0] = 5.0


def test_a_mesh_file_is_read_again_after_it_changed(tmp_path):
    file = tmp_path / 'box.stl'
    trimesh.creation.box((1, 1, 1)).export(file)
    first = triangles_of(MeshFile(file))
    assert triangles_of(MeshFile(file)) is first
    trimesh.creation.icosphere(1).export(file)
    assert triangles_of(MeshFile(file)) != first


def test_a_missing_mesh_file_is_told(tmp_path):
    with pytest.raises(MeshError, match='missing'):
        triangles_of(MeshFile(tmp_path / 'none.stl'))


def test_triangles_collide_like_the_shape_they_are_of():
    box = triangles_of(Box((1.0, 1.0, 1.0)))
    geometry = collision_geometry(box).exact
    ball, inside, outside = coal.Sphere(0.1), coal.Transform3s(), coal.Transform3s()
    outside.setTranslation(np.array([0.0, 0.0, 0.7]))
    for at, touches in ((inside, True), (outside, False)):
        found = coal.collide(geometry, coal.Transform3s(), ball, at, coal.CollisionRequest(), coal.CollisionResult())
        assert bool(found) is touches
