"""Cones are picked as they stand and as they lie."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from support.task_cells import box, moving, planner

from lfd_description.shapes import Cone
from lfd_planner.mtdf import Pick, Place
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, WorldObject
from lfd_planner.validate import validate

CONE = Cone(0.02, 0.08)


@pytest.mark.parametrize('robot', ['ur5e', 'gp8', 'irb1600'])
@pytest.mark.parametrize('lies', [False, True], ids=['standing', 'lying'])
def test_a_cone_on_a_table_is_picked_and_placed(robot: str, lies: bool) -> None:
    x = 0.75 if robot == 'irb1600' else 0.45
    half = 0.5 * (0.5 * math.pi + math.atan(CONE.radius / CONE.height)) if lies else 0.0
    turned = (0.0, math.sin(half), 0.0, math.cos(half))
    # On its side, its middle is as high as half of its radius, seen along its side.
    height = 0.5 * CONE.radius * math.cos(math.atan(CONE.radius / CONE.height)) if lies else 0.5 * CONE.height
    cone = WorldObject('cone', replace(Body.of(CONE), movable=True), Pose((x, 0.1, height + 1e-4), turned))
    table = box('table', (0.5, 0.9, 0.1), (x, 0.0, -0.05), movable=False)
    scene = planner(robot).backend.robot.empty_scene().add(table, cone)
    task = moving(Pick('cone'), Place('cone', Pose((x, -0.15, height + 1e-4), turned)))

    found = planner(robot).plan(task, scene, Pose())

    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner(robot).model, scene, task, Pose())
    assert report.ok, report.text
