"""The bodies of the bundled arms: collision solids against the published slices, looks, inertias, vendor meshes."""

import json
import math
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xacro
from ament_index_python.packages import get_package_share_directory
from scipy.spatial import ConvexHull
from support.sculpted import arm_files, assert_made

from lfd_description.meshes import load_mesh
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.urdf import parse_urdf

SCULPT = Path(__file__).resolve().parents[2] / 'lfd_description/sculpt'
PUBLISHED = json.loads((SCULPT / 'link_shapes.json').read_text())
SEED = 20261116

OWN = 'package://lfd_description/'
VENDORS = {'ur': 'ur_description', 'motoman': 'motoman_gp8_support', 'abb': 'abb_irb1600_support'}

each_robot = pytest.mark.parametrize('name', robot_names())
each_published_robot = pytest.mark.parametrize('name', [name for name in robot_names() if name in PUBLISHED])


@cache
def links_of(name: str) -> dict[str, ET.Element]:
    xml = ET.fromstring(robot_description(find_robot(name)))
    return {link.get('name', ''): link for link in xml.findall('link')}


def files_of(link: ET.Element, kind: str) -> list[Path]:
    """The mesh files of a link's visuals or collisions, which must lie in the link's frame without an origin."""
    share = Path(get_package_share_directory('lfd_description'))
    assert link.findall(f'{kind}/origin') == []
    names = [mesh.get('filename', '') for mesh in link.findall(f'{kind}/geometry/mesh')]
    assert all(name.startswith(OWN) for name in names)
    return [share / name.removeprefix(OWN) for name in names]


@cache
def solids_of(name: str, link: str) -> list[np.ndarray]:
    """Of each collision solid of a link, the planes (n, 4) that bound it: inside where all are negative [m]."""
    return [ConvexHull(load_mesh(file).vertices).equations for file in files_of(links_of(name)[link], 'collision')]


def depth(name: str, link: str, points: np.ndarray) -> np.ndarray:
    """How far points (n, 3) stick out of a link's solids [m]; negative within them."""
    return np.min([(points @ solid[:, :3].T + solid[:, 3]).max(axis=1) for solid in solids_of(name, link)], axis=0)


def published_slices(name: str, link: str) -> tuple[int, list[list[float]]]:
    """The long axis of a link and its slices, those of the IRB 1600's lower arm shortened to the 1.2 m variant."""
    data = PUBLISHED[name][link]
    slices = data['slices']
    if (name, link) == ('irb1600', 'link_2'):
        cut = 0.225
        middle = (slices[0][0] + slices[-1][1] - cut) / 2
        lower = [[a, min(b, middle), *rest] for a, b, *rest in slices if a < middle]
        upper = [[max(a - cut, middle), b - cut, *rest] for a, b, *rest in slices if b - cut > middle]
        slices = lower + upper
    return 'xyz'.index(data['long_axis']), slices


def published_box(name: str, link: str) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = np.array(PUBLISHED[name][link]['aabb'])
    if (name, link) == ('irb1600', 'link_2'):
        upper = upper - [0, 0, 0.225]
    return lower, upper


def points_of(axis: int, one: list[float], random: np.random.Generator, count: int) -> np.ndarray:
    """Points of a slice, most of them on its outline or on its ends, where a solid that is too small misses them."""
    start, end, a, b, half_a, half_b, radius = one
    angles = random.uniform(0, 2 * math.pi, count)
    across = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = np.minimum(radius, np.min([half_a, half_b] / np.maximum(np.abs(across), 1e-12), axis=1))
    reach = reach * np.where(random.random(count) < 0.7, 1.0, np.sqrt(random.random(count)))
    heights = start + (end - start) * np.clip(random.uniform(-0.3, 1.3, count), 0, 1)
    return np.insert(across * reach[:, None] + [a, b], axis, heights, axis=1)


def slice_volume(one: list[float]) -> float:
    start, end, _, _, half_a, half_b, radius = one
    x = (np.arange(4000) + 0.5) / 4000 * min(half_a, radius)
    y = np.minimum(half_b, np.sqrt(radius**2 - x**2))
    return float(4 * y.mean() * min(half_a, radius) * (end - start))


@each_robot
def test_every_link_that_has_a_body_can_be_seen_and_hit(name: str) -> None:
    bodies = [link for link in links_of(name).values() if link.find('visual') is not None]

    assert len(bodies) >= 7
    for link in bodies:
        assert link.find('collision') is not None
        assert all(file.is_file() for kind in ('visual', 'collision') for file in files_of(link, kind))
    frames = {'base', 'flange', 'tool0'}
    assert all(len(list(links_of(name)[frame])) == 0 for frame in frames)


@each_robot
def test_collision_solids_are_few_simple_and_convex(name: str) -> None:
    for link in links_of(name).values():
        files = files_of(link, 'collision')
        assert len(files) <= 4
        for file in files:
            mesh = load_mesh(file)
            mesh.merge_vertices()
            assert len(mesh.vertices) <= 64
            assert mesh.is_watertight
            assert mesh.volume == pytest.approx(ConvexHull(mesh.vertices).volume, rel=1e-4)


@each_published_robot
def test_collision_solids_enclose_the_published_slices(name: str) -> None:
    random = np.random.default_rng(SEED)
    for link in PUBLISHED[name]:
        axis, slices = published_slices(name, link)
        points = np.concatenate([points_of(axis, one, random, 3000) for one in slices])
        assert depth(name, link, points).max() < 0.0, link


@each_published_robot
def test_collision_solids_waste_little(name: str) -> None:
    for link, data in PUBLISHED[name].items():
        _, slices = published_slices(name, link)
        bound = sum(slice_volume(one) for one in slices)
        meshes = [load_mesh(file) for file in files_of(links_of(name)[link], 'collision')]
        volume = sum(mesh.volume for mesh in meshes)
        print(f'{name} {link}: {len(meshes)} solids, {volume / bound:.3f} of the slices', end=', ')
        print(f'{volume / data["hull_volume"]:.2f} of the published hull')
        assert volume < 1.06 * bound
        assert volume < 1.56 * data['hull_volume']


@each_published_robot
def test_nothing_sticks_out_of_the_flange(name: str) -> None:
    tree = parse_urdf(robot_description(find_robot(name)))
    *_, last = PUBLISHED[name]
    out = np.eye(4)
    for joint in tree.chain(last, 'tool0'):
        out = out @ joint.origin
    for kind in ('visual', 'collision'):
        for file in files_of(links_of(name)[last], kind):
            beyond = (load_mesh(file).vertices - out[:3, 3]) @ out[:3, 2]
            assert beyond.max() < 3e-4


@each_robot
def test_what_is_seen_is_what_collides(name: str) -> None:
    random = np.random.default_rng(SEED)
    for link, element in links_of(name).items():
        for file in files_of(element, 'visual'):
            corners = load_mesh(file).triangles
            weights = random.dirichlet(np.ones(3), (4, len(corners)))
            inner = np.einsum('kmc,mci->kmi', weights, corners).reshape(-1, 3)
            out = depth(name, link, np.concatenate([corners.reshape(-1, 3), inner])).max()
            assert out < 2e-3, f'{link} sticks out by {1000 * out:.1f} mm'


@each_published_robot
def test_the_looks_fill_the_published_boxes(name: str) -> None:
    for link in PUBLISHED[name]:
        (file,) = files_of(links_of(name)[link], 'visual')
        lower, upper = published_box(name, link)
        bounds = load_mesh(file).bounds
        np.testing.assert_allclose(bounds, [lower, upper], atol=8e-3, err_msg=link)


@each_robot
def test_the_looks_have_several_colours_smooth_normals_and_a_moderate_size(name: str) -> None:
    space = '{http://www.collada.org/2005/11/COLLADASchema}'
    for link in links_of(name).values():
        for file in files_of(link, 'visual'):
            assert file.stat().st_size < 200_000
            root = ET.parse(file).getroot()
            assert len(root.findall(f'.//{space}material')) >= 2
            for triangles in root.findall(f'.//{space}triangles'):
                assert {entry.get('semantic') for entry in triangles.findall(f'{space}input')} == {'VERTEX', 'NORMAL'}


@each_robot
def test_neighbours_meet_in_all_poses(name: str) -> None:
    random = np.random.default_rng(SEED)
    tree = parse_urdf(robot_description(find_robot(name)))
    for joint in tree.joints:
        files = files_of(links_of(name)[joint.child], 'visual')
        if not joint.moves or not files or not files_of(links_of(name)[joint.parent], 'collision'):
            continue
        points = load_mesh(files[0]).vertices
        for angle in random.uniform(-math.pi, math.pi, 4):
            x, y, z = joint.axis
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            turn = np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross
            placed = points @ turn.T @ joint.origin[:3, :3].T + joint.origin[:3, 3]
            assert depth(name, joint.parent, placed).min() < 1e-3, f'a gap at {joint.name}'


@each_robot
def test_inertias_are_those_of_possible_bodies(name: str) -> None:
    for link, element in links_of(name).items():
        inertial = element.find('inertial')
        if inertial is None:
            continue
        tensor = np.empty((3, 3))
        for i, a in enumerate('xyz'):
            for j, b in enumerate('xyz'):
                tensor[i, j] = float(inertial.find('inertia').get('i' + ''.join(sorted(a + b))))
        small, medium, large = np.linalg.eigvalsh(tensor)
        assert small > 0
        assert small + medium >= large
        assert float(inertial.find('mass').get('value')) > 0
        centre = np.array([float(number) for number in inertial.find('origin').get('xyz').split()])
        (file,) = files_of(element, 'visual')
        lower, upper = load_mesh(file).bounds
        assert (centre > lower - 0.01).all(), link
        assert (centre < upper + 0.01).all(), link
    assert links_of(name)['base_link'].find('inertial') is None


@each_robot
@pytest.mark.parametrize('prefix', ['', 'left_'])
def test_on_a_ros_machine_the_vendors_meshes_can_be_used(name: str, prefix: str) -> None:
    robot = find_robot(name)

    document = xacro.process_file(str(robot.xacro_file), mappings={'meshes': 'vendor', 'prefix': prefix})

    xml = ET.fromstring(document.toxml())
    own = {prefix + link for link, element in links_of(name).items() if element.find('visual') is not None}
    assert {link.get('name') for link in xml.findall('link') if link.find('visual') is not None} == own
    for kind in ('visual', 'collision'):
        names = [mesh.get('filename', '') for mesh in xml.findall(f'link/{kind}/geometry/mesh')]
        assert len(names) == len(own)
        assert all(file.startswith(f'package://{VENDORS[robot.hardware]}/meshes/') for file in names)
        assert all(f'/{kind}/' in file for file in names)
    materials = [material.get('name', '') for material in xml.findall('.//material')]
    assert all(material.startswith(prefix) for material in materials)
    assert len(xml.findall('link/inertial')) == len(
        [link for link in links_of(name).values() if link.find('inertial') is not None]
    )


def test_other_meshes_are_refused() -> None:
    with pytest.raises(xacro.XacroException, match='gp8 has meshes lfd or vendor, not mine'):
        xacro.process_file(str(find_robot('gp8').xacro_file), mappings={'meshes': 'mine'})


def test_the_files_are_those_that_the_generator_makes(tmp_path: Path) -> None:
    assert_made(arm_files('ur3e'), tmp_path)
