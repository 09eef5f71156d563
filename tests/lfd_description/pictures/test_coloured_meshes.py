from pathlib import Path

import numpy as np
import pytest
import trimesh
from trimesh.visual.material import PBRMaterial
from trimesh.visual.texture import TextureVisuals

from lfd_description.meshes import NO_COLOUR, MeshError, coloured_meshes, load_mesh

RED, BLUE = (204, 26, 26, 255), (26, 51, 204, 255)


def painted(x: float, colour: tuple[int, int, int, int]) -> trimesh.Trimesh:
    mesh = trimesh.creation.box((1, 1, 1)).apply_translation((x, 0, 0))
    mesh.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=colour))
    return mesh


@pytest.fixture
def two_colours(tmp_path: Path) -> Path:
    file = tmp_path / 'two.dae'
    meshes = [painted(0.0, RED), painted(2.0, BLUE), painted(4.0, RED)]
    file.write_bytes(trimesh.exchange.dae.export_collada(meshes))
    return file


def test_parts_of_one_colour_become_one_mesh(two_colours: Path) -> None:
    parts = {colour: mesh for mesh, colour in coloured_meshes(two_colours)}

    by_colour = {tuple(round(255 * part) for part in colour): mesh for colour, mesh in parts.items()}
    assert set(by_colour) == {RED, BLUE}
    np.testing.assert_allclose(by_colour[RED].bounds, [[-0.5, -0.5, -0.5], [4.5, 0.5, 0.5]])
    np.testing.assert_allclose(by_colour[BLUE].bounds, [[1.5, -0.5, -0.5], [2.5, 0.5, 0.5]])


def test_all_parts_together_are_the_mesh_that_is_collided_with(two_colours: Path) -> None:
    scale = (0.5, -1.0, 2.0)

    parts = [mesh for mesh, _ in coloured_meshes(two_colours, scale)]

    whole = load_mesh(two_colours, scale)
    assert sum(len(part.faces) for part in parts) == len(whole.faces)
    assert sum(part.volume for part in parts) == pytest.approx(whole.volume)
    assert whole.volume == pytest.approx(3.0)


def test_a_file_without_colours_is_grey(tmp_path: Path) -> None:
    file = tmp_path / 'plain.stl'
    trimesh.creation.box((1, 1, 1)).export(file)

    ((mesh, colour),) = coloured_meshes(file)

    assert colour == NO_COLOUR
    assert len(mesh.faces) == 12


def test_gltf_materials_are_linear_light(tmp_path: Path) -> None:
    file = tmp_path / 'half.glb'
    trimesh.Scene(painted(0.0, (128, 128, 128, 255))).export(file)

    ((_, colour),) = coloured_meshes(file)

    assert colour[0] == pytest.approx(0.735, abs=0.01)


def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / 'broken.dae'
    file.write_text('<COLLADA><broken')

    with pytest.raises(MeshError, match=r'broken\.dae'):
        coloured_meshes(file)
    with pytest.raises(MeshError, match='is missing'):
        coloured_meshes(tmp_path / 'none.stl')
