"""The parameters of move_group for a robot: what MoveIt's own launch files collect from a robot's moveit folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lfd_description.model.configs import moveit_controllers_yaml
from lfd_description.model.derived import MOVEIT
from lfd_description.model.model import RobotModel
from lfd_description.model.srdf import srdf
from lfd_description.robots import MOTOMAN, RobotError


def move_group_parameters(model: RobotModel) -> Mapping[str, Any]:
    """All parameters of move_group, nested as in its YAML files.

    What the arm carries is in both descriptions; the other files are those of the arm.

    Raises:
        RobotError: a file of the robot's moveit folder is missing or cannot be read.
    """
    folder = model.robot.folder / MOVEIT
    ompl = _yaml(folder / 'ompl_planning.yaml')
    return {
        'robot_description': model.urdf,
        'robot_description_semantic': srdf(model),
        'robot_description_kinematics': _yaml(folder / 'kinematics.yaml'),
        'robot_description_planning': _yaml(folder / 'joint_limits.yaml'),
        'planning_pipelines': ['ompl'],
        'default_planning_pipeline': 'ompl',
        'ompl': ompl,
        **_controllers(model, folder),
        'publish_robot_description_semantic': True,
        'publish_planning_scene': True,
        'publish_geometry_updates': True,
        'publish_state_updates': True,
        'publish_transforms_updates': True,
    }


def _controllers(model: RobotModel, folder: Path) -> dict[str, Any]:
    """Where trajectories go: the folder's file is for controllers of ros2_control, which MotoROS2 has not."""
    if model.hardware == MOTOMAN:
        return dict(yaml.safe_load(moveit_controllers_yaml(model)))
    return _yaml(folder / 'moveit_controllers.yaml')


def _yaml(file: Path) -> dict[str, Any]:
    read = yaml.safe_load(_text(file))
    if not isinstance(read, dict):
        raise RobotError(f'{file} holds no parameters; derive it anew with ./lfd robots build.')
    return read


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        raise RobotError(f'{file} is missing; derive it with ./lfd robots build.') from None
