"""A robot to plan for, in a scene."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.robot.planning_robot import PlanningGroup, planning_robot
from lfd_planner.scene import PlanningScene, from_scene


def ur5e_in_seed_cell() -> tuple[EmbeddedBackend, PlanningScene, PlanningGroup, Mapping[str, tuple[float, ...]]]:
    """A UR5e at home in the demonstration cell, and its named positions."""
    model = build_model(find_robot('ur5e'))
    robot = planning_robot(model)
    group = robot.group(model.group.name)
    scene = robot.empty_scene().with_joints(group.by_name(np.array(model.poses['home'])))
    return EmbeddedBackend(robot), scene.add(*from_scene(find_scene('seed_cell')).objects.values()), group, model.poses
