"""Objects of scene files and planning scenes, as rules see them."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import trimesh
from support.scene_edits import TETRAHEDRON

from lfd_description.scenes import find_scene
from lfd_description.scenes.scene import LIGHT_GREY
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.mtdf.things import Thing, extents, things_in
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, PlanningScene, WorldObject, from_scene

QUARTER = (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5))  # a quarter of a turn about z


def seen(body: Body, pose: Pose) -> Thing:
    return things_in(PlanningScene('base_link').add(WorldObject('it', body, pose)))['it']


def test_a_scene_file_and_its_planning_scene_are_the_same_things():
    scene = find_scene('seed_cell')
    assert things_in(from_scene(scene)) == things_in(scene)


def test_sizes(tmp_path: Path):
    file = tmp_path / 'a.stl'
    trimesh.creation.box((1.0, 3.0, 2.0)).export(file)
    assert extents(Box((1, 3, 2))) == (3, 2, 1)
    assert extents(Sphere(0.5)) == (1, 1, 1)
    assert extents(Cylinder(1, 3)) == extents(Capsule(1, 3)) == extents(Cone(1, 3)) == (3, 2, 2)
    assert extents(MeshFile(file, (0.1, 0.1, 0.1))) == pytest.approx((0.3, 0.2, 0.1))
    assert extents(TETRAHEDRON) == (0.1, 0.1, 0.1)
    assert extents(Plane()) == (math.inf,) * 3


def test_a_shape_off_its_objects_frame_counts_where_it_is():
    thing = seen(Body((Part(Sphere(0.1), Pose((0.0, 0.0, 0.5))),)), Pose((1.0, 0.0, 0.0)))
    assert thing.position == (1.0, 0.0, 0.5)
    assert thing.shape == 'sphere'
    assert thing.colour == LIGHT_GREY


def test_several_shapes_are_one_object():
    seat = Part(Box((0.4, 0.2, 0.02)), Pose((0.0, 0.0, 0.21), QUARTER))
    leg = Part(Cylinder(0.01, 0.2), Pose((0.0, 0.0, 0.1)))
    body = replace(Body((seat, leg)), movable=True, tags=('stool',))
    stool = seen(body, Pose((1.0, 2.0, 3.0), QUARTER))
    assert stool.position == (1.0, 2.0, 3.0)
    assert stool.shape is None
    assert stool.extents() == pytest.approx((0.4, 0.22, 0.2))
    assert (stool.movable, stool.tags) == (True, ('stool',))
    assert seen(Body.of(Plane(), Sphere(0.1)), Pose()).extents() == (math.inf,) * 3
