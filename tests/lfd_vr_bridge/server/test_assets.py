from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

from lfd_description.bodies import MeshFinder
from lfd_description.robots import robot_names
from lfd_description.shapes import MeshFile
from lfd_description.urdf import UrdfError
from lfd_planner.scene import TriangleMesh
from lfd_vr_bridge.server.assets import Assets, stl
from lfd_vr_bridge.studio.values import Refusal

URDF = """<robot name="r"><link name="a">
<visual><geometry><mesh filename="{}"/></geometry></visual>
<visual><geometry><box size="1 1 1"/></geometry></visual>
</link><ros2_control name="c" type="system"><hardware><param name="password">secret</param></hardware></ros2_control>
</robot>"""
DAE = '<COLLADA><library_images><image><init_from>{}</init_from></image></library_images></COLLADA>'


def addresses(urdf: str) -> list[tuple[str, str]]:
    found = [part.split('"')[0] for part in urdf.split('filename="')[1:]]
    return [named(address) for address in found]


def named(address: str) -> tuple[str, str]:
    """The digest and the name in an address."""
    digest, _, name = address.removeprefix('/assets/').partition('/')
    return digest, name


def content(assets: Assets, digest: str, name: str) -> bytes:
    asset = assets.find(digest, name)
    assert asset is not None
    return asset.read()


@pytest.fixture
def box() -> trimesh.Trimesh:
    return trimesh.creation.box((0.1, 0.2, 0.3))


def test_only_named_files_are_found_by_their_content(tmp_path: Path, box: trimesh.Trimesh):
    (tmp_path / 'box.stl').write_bytes(box.export(file_type='stl'))
    (tmp_path / 'secret.stl').write_bytes(b'secret')
    assets = Assets()
    urdf = assets.page_urdf(URDF.format('box.stl'), MeshFinder(tmp_path))
    ((digest, name),) = addresses(urdf)
    assert 'secret' not in urdf
    assert content(assets, digest, name) == (tmp_path / 'box.stl').read_bytes()
    assert assets.find(digest, 'secret.stl') is None
    assert assets.find(digest, '../secret.stl') is None
    again = Assets().page_urdf(URDF.format((tmp_path / 'box.stl').as_uri()), MeshFinder())
    assert addresses(again) == [(digest, name)]


@pytest.mark.parametrize('uri', ['missing.stl', 'package://nowhere/a.stl', 'https://evil/a.stl', '/etc/passwd', ''])
def test_what_cannot_be_shown_is_left_out(tmp_path: Path, uri: str):
    urdf = Assets().page_urdf(URDF.format(uri), MeshFinder(tmp_path))
    assert addresses(urdf) == []
    assert '<box' in urdf


def test_other_formats_become_stl(tmp_path: Path, box: trimesh.Trimesh):
    box.export(tmp_path / 'box.obj')
    assets = Assets()
    ((digest, name),) = addresses(assets.page_urdf(URDF.format('box.obj'), MeshFinder(tmp_path)))
    assert name.endswith('.stl')
    (tmp_path / 'read.stl').write_bytes(content(assets, digest, name))
    assert trimesh.load_mesh(tmp_path / 'read.stl').volume == pytest.approx(box.volume, rel=1e-5)


def test_images_of_a_mesh_are_served_from_below_its_folder_only(tmp_path: Path):
    folder = tmp_path / 'meshes'
    (folder / 'textures').mkdir(parents=True)
    (folder / 'textures' / 'wood.png').write_bytes(b'wood')
    (tmp_path / 'outside.png').write_bytes(b'outside')
    (folder / 'secret.txt').write_bytes(b'secret')
    assets = Assets()
    for image, served in (
        ('textures/wood.png', True),
        ('./textures/wood.png', True),
        ('../outside.png', False),
        ('textures/../../outside.png', False),
        (str(tmp_path / 'outside.png'), False),
        ('secret.txt', False),
        ('missing.png', False),
    ):
        (folder / 'part.dae').write_text(DAE.format(image))
        ((digest, name),) = addresses(assets.page_urdf(URDF.format('part.dae'), MeshFinder(folder)))
        assert name == 'part.dae'
        assert (assets.find(digest, image.removeprefix('./')) is not None) is served, image


def test_a_mesh_of_the_scene_is_had_as_stl(tmp_path: Path, box: trimesh.Trimesh):
    assets = Assets()
    mesh = TriangleMesh.of(box)
    assert assets.mesh_url(mesh) == assets.mesh_url(TriangleMesh.of(box.copy()))
    (tmp_path / 'own.stl').write_bytes(stl(mesh))
    read = trimesh.load_mesh(tmp_path / 'own.stl')
    assert read.is_watertight
    assert np.allclose(read.bounds, box.bounds)
    of_file = assets.mesh_url(MeshFile(tmp_path / 'own.stl', (2.0, 2.0, 2.0)))
    (tmp_path / 'twice.stl').write_bytes(content(assets, *named(of_file)))
    assert np.allclose(trimesh.load_mesh(tmp_path / 'twice.stl').bounds, 2.0 * box.bounds)


def test_robots_carry_the_gripper_that_is_there():
    assets = Assets('two_finger')
    for name in robot_names():
        text = content(assets, *named(assets.robot(name).url)).decode()
        assert '"hand_base"' in text
        assert all(assets.find(*address) for address in addresses(text))
    with pytest.raises(Refusal, match='toaster'):
        assets.robot('toaster')


def test_what_is_no_urdf_is_told():
    with pytest.raises(UrdfError):
        Assets().urdf_url('r', '<!DOCTYPE x><robot/>')
