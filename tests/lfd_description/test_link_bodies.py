"""What a URDF says its links look like and collide with, and where its mesh files are."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from support.urdfs import PUBLISHED, link, robot

from lfd_description.bodies import MeshFinder, collision_bodies, visual_bodies
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.shapes import Box, Capsule, Cylinder, MeshFile, Sphere
from lfd_description.urdf import UrdfError


def seen(inside: str, *extra: str):
    return visual_bodies(robot(*extra, link('a', inside)))


def visual(geometry: str, origin: str = '', material: str = '') -> str:
    return f'<visual>{origin}<geometry>{geometry}</geometry>{material}</visual>'


@pytest.mark.parametrize(
    ('geometry', 'shape'),
    [
        ('<box size="1 2 3"/>', Box((1.0, 2.0, 3.0))),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<cylinder radius="0.5" length="2"/>', Cylinder(0.5, 2.0)),
        ('<capsule radius="0.5" length="2"/>', Capsule(0.5, 3.0)),
    ],
)
def test_shapes(geometry: str, shape: object) -> None:
    (body,) = seen(visual(geometry))

    assert (body.link, body.shape, body.colour) == ('a', shape, None)
    np.testing.assert_array_equal(body.origin, np.eye(4))


def test_where_a_body_sits_in_its_link() -> None:
    (body,) = seen(visual('<sphere radius="1"/>', f'<origin xyz="1 2 3" rpy="0 0 {math.pi / 2}"/>'))

    np.testing.assert_allclose(body.origin @ [1, 0, 0, 1], [1, 3, 3, 1], atol=1e-12)


def test_colours_of_its_own_and_by_name() -> None:
    red, blue = seen(
        visual('<sphere radius="1"/>', material='<material name="x"><color rgba="1 0 0 1"/></material>')
        + visual('<sphere radius="1"/>', material='<material name="blue"/>'),
        '<material name="blue"><color rgba="0 0 1 0.5"/></material>',
    )

    assert (red.colour, blue.colour) == ((1, 0, 0, 1), (0, 0, 1, 0.5))


def test_what_is_seen_is_not_what_collides() -> None:
    xml = robot(link('a', visual('<sphere radius="1"/>')))

    assert len(visual_bodies(xml)) == 1
    assert collision_bodies(xml) == ()


@pytest.mark.parametrize(
    ('geometry', 'message'),
    [
        ('', 'has no geometry'),
        ('<box/>', 'lacks size'),
        ('<box size="1 2 x"/>', 'three finite numbers'),
        ('<box size="1 2 0"/>', 'must be above zero'),
        ('<cylinder radius="1"/>', 'without a finite length'),
        ('<sphere radius="nan"/>', 'without a finite radius'),
        ('<mesh/>', 'without filename'),
        ('<mesh filename="package://lfd_description/package.xml" scale="0 1 1"/>', 'scaled by zero'),
        ('<mesh filename="package://lfd_description/none.stl"/>', 'is missing: there is no file'),
        ('<mesh filename="package://nobody_has_this/a.stl"/>', 'which was not found'),
        ('<mesh filename="a.stl"/>', 'relative to a folder that is not known'),
        ('<mesh filename="file:///none/a.stl"/>', 'there is no file /none/a.stl'),
        ('<torus/>', 'unknown geometry <torus>'),
    ],
)
def test_what_is_wrong_is_said_with_the_link(geometry: str, message: str) -> None:
    with pytest.raises(UrdfError, match=message):
        seen(visual(geometry))


def test_all_missing_meshes_are_counted() -> None:
    with pytest.raises(UrdfError, match=r'a\.stl.*\(1 more like this\)'):
        seen(visual('<mesh filename="file:///a.stl"/>') + visual('<mesh filename="file:///b.stl"/>'))


def test_the_places_where_a_mesh_is_looked_for(tmp_path: Path) -> None:
    package = tmp_path / 'ws' / 'my arm'
    (package / 'urdf').mkdir(parents=True)
    mesh = package / 'meshes' / 'a b.stl'
    mesh.parent.mkdir()
    mesh.write_text('solid')
    find = MeshFinder(package / 'urdf')

    assert find('../meshes/a b.stl').resolve() == mesh
    assert find(f'file://{mesh}') == mesh
    assert find('package://my arm/meshes/a%20b.stl') == mesh
    assert find('model://my arm/meshes/a b.stl') == mesh
    assert MeshFinder(tmp_path / 'ws' / 'other')('package://my arm/meshes/a b.stl') == mesh
    assert MeshFinder(places={'package://x/': package})('package://x/meshes/a b.stl') == mesh
    assert MeshFinder()('package://lfd_description/package.xml').name == 'package.xml'


# One of them names meshes on its author's disk, one has no bodies.
URDFS = [
    file
    for file in sorted(PUBLISHED.glob('*/urdf/*.urdf'))
    if '<geometry' in file.read_text() and 'file:///usr' not in file.read_text()
]


@pytest.mark.parametrize('file', URDFS, ids=lambda file: file.stem)
def test_the_bodies_of_published_robots(file: Path) -> None:
    xml, find = file.read_text(), MeshFinder(file.parent)

    bodies = (*visual_bodies(xml, find), *collision_bodies(xml, find))
    assert bodies
    assert all(body.shape.file.is_file() for body in bodies if isinstance(body.shape, MeshFile))


@pytest.mark.parametrize('name', robot_names())
def test_every_link_of_ours_with_looks_also_collides(name: str) -> None:
    xml = robot_description(find_robot(name))

    assert {body.link for body in visual_bodies(xml)} == {body.link for body in collision_bodies(xml)} != set()
