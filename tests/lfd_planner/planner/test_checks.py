"""What the planner refuses before it searches, and what it does not."""

from __future__ import annotations

from dataclasses import replace

from support.scene_edits import TETRAHEDRON
from support.task_cells import planner, seed_cell, seed_origin, seed_task

from lfd_description.shapes import Cylinder, Sphere
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Descriptor
from lfd_planner.mtdf.rules import AllOf, HasColour, HasShape
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject
from lfd_planner.validate import validate


def cell() -> PlanningScene:
    """The seed's cell with things that arrive over ROS: a mesh in no file, and one of several shapes."""
    return seed_cell().add(
        WorldObject('vase', replace(Body.of(TETRAHEDRON), movable=True), Pose((-0.6, 0.5, 0.0))),
        WorldObject('lamp', Body.of(Cylinder(0.02, 0.3), Sphere(0.05)), Pose((-0.6, -0.5, 0.0))),
    )


def test_objects_are_found_by_their_colour_beside_meshes_without_files() -> None:
    described = tuple(
        Descriptor(each.name, AllOf((HasShape('box'), HasColour(each.name.removesuffix('_box')))))
        for each in seed_task().descriptors
    )
    task = replace(seed_task(), descriptors=described)
    found = planner().plan(task, cell(), seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner().model, cell(), task, seed_origin())
    assert report.ok, report.text


def test_a_name_that_is_not_there_is_what_is_told() -> None:
    found = planner().plan(seed_task(), cell().remove('blue_box'), seed_origin())
    assert isinstance(found, TaskFailure)
    assert found.code is Code.INVALID_OBJECT_NAME
    assert "no object 'blue_box'" in found.message
    assert 'mesh' not in found.message
