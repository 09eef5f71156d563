"""Objects and scenes survive being written and read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, ObjectType, Part, PlanningScene, TriangleMesh, WorldObject
from lfd_vr_bridge.studio.encoding import Unreadable, object_of, scene_data, scene_of

SHAPES = (
    Box((0.1, 0.2, 0.3)),
    Sphere(0.1),
    Cylinder(0.1, 0.2),
    Cone(0.1, 0.2),
    Capsule(0.1, 0.3),
    Plane(),
    MeshFile(Path('/tmp/part.stl'), (0.001, 0.001, 0.001)),
    TriangleMesh(np.random.default_rng(1).normal(size=(4, 3)), np.array([[0, 1, 2], [1, 2, 3]])),
)


def test_a_scene_of_all_shapes_is_read_as_it_was_written() -> None:
    random = np.random.default_rng(4)
    parts = tuple(Part(shape, Pose.of_numbers(random.normal(size=6))) for shape in SHAPES)
    frames = (('top', Pose((0.1, 0.2, 1.0 / 3.0))),)
    body = Body(parts, frames, ObjectType('key', 'db'), ('graspable', 'größe'), True)
    scene = PlanningScene('base_link').add(WorldObject('all', body, Pose.of_numbers(random.normal(size=6))))
    scene = scene.add(*(WorldObject(f'one {n}', Body.of(shape)) for n, shape in enumerate(SHAPES)))
    scene = scene.with_colours({'all': (0.1, 0.2, 0.3, 1.0)})
    read = scene_of(json.loads(json.dumps(scene_data(scene))))
    assert read == scene
    assert list(read.objects) == list(scene.objects)


@pytest.mark.parametrize('data', [{}, {'name': 'a'}, None, {'name': 'a', 'pose': [1], 'parts': [{'shape': 'blob'}]}])
def test_what_is_no_object_is_unreadable(data: object) -> None:
    with pytest.raises(Unreadable):
        object_of(data)
