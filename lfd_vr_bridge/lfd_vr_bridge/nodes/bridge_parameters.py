"""The parameters of the VR bridge, checked."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcl_interfaces.msg import IntegerRange, ParameterDescriptor
from rclpy.node import Node

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.model.model import RobotModel
from lfd_description.robots import RobotError, find_robot
from lfd_description.scenes import SceneError, open_scene
from lfd_description.scenes.values import MAX_DISTANCE
from lfd_description.urdf import UrdfError
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, from_scene

FOLDER = 'lfd'


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


@dataclass(frozen=True, eq=False)
class Parameters:
    """What the node was told."""

    model: RobotModel
    scene: PlanningScene
    """The twin to begin with, in the robot's frame."""
    port: int
    """0: the usual one, or the next that is free."""
    lan: bool
    folder: Path
    origin: Pose
    """Of the tasks that are recorded, in the twin's frame."""


def data_folder() -> Path:
    """Where a user's data are kept unless told otherwise; no part of what ./lfd clean removes."""
    named = os.environ.get('XDG_DATA_HOME', '')
    # By the specification, a path that is not absolute counts as none.
    parent = Path(named) if Path(named).is_absolute() else Path.home() / '.local' / 'share'
    return parent / FOLDER


def read_parameters(node: Node) -> Parameters:
    """Declare and read all parameters.

    Raises:
        ParameterError: a value cannot be used.
    """
    name = _declared(node, 'robot', '', 'The name of the robot that is there.')
    hand = _declared(node, 'gripper', '', 'The name of the gripper that it carries; empty: none, or its own.')
    scene = _declared(node, 'scene', '', 'The twin to begin with: a scene file, or a bundled scene; empty: no objects.')
    ports = [IntegerRange(from_value=0, to_value=65534)]
    port = _declared(node, 'port', 0, 'Of the page; 0: 8765, or the next that is free. https: one more.', ports)
    lan = _declared(node, 'lan', False, 'Whether the network can reach the page, by https.')
    folder = _declared(node, 'folder', '', 'Where tasks, tokens and logs are kept; empty: $XDG_DATA_HOME/lfd.')
    origin = _declared(
        node, 'task_origin', [0.0] * 6, "Of recorded tasks in the robot's frame: x, y, z [m], roll, pitch, yaw [rad]."
    )
    model = _model(name, hand)
    return Parameters(model, _scene(scene, model), port, lan, _folder(folder), _origin(origin))


def _model(name: str, hand: str) -> RobotModel:
    if not name:
        raise ParameterError('The parameter robot is empty; set it to the name of the robot that is there.')
    try:
        return build_model(find_robot(name), gripper=find_gripper(hand) if hand else None)
    except (RobotError, GripperError, UrdfError, ModelError, MeshError) as error:
        raise ParameterError(str(error)) from None


def _scene(name: str, model: RobotModel) -> PlanningScene:
    frame = model.robot.base
    if not name:
        return PlanningScene(frame)
    try:
        read = from_scene(open_scene(name))
    except SceneError as error:
        raise ParameterError(str(error)) from None
    return PlanningScene(frame, objects=read.objects, colours=read.colours)


def _folder(name: str) -> Path:
    folder = Path(name).expanduser() if name else data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(
            f'The folder {folder} cannot be used ({error.strerror or error}); set the parameter folder to another.'
        ) from None
    return folder


def _origin(numbers: Sequence[float]) -> Pose:
    told = list(numbers)
    if len(told) != 6 or not all(math.isfinite(number) and abs(number) <= MAX_DISTANCE for number in told):
        raise ParameterError(f'The parameter task_origin is {told}; set x, y, z [m], roll, pitch, yaw [rad].')
    return Pose.of_numbers(told)


def _declared(node: Node, name: str, default: Any, description: str, bounds: Sequence[IntegerRange] = ()) -> Any:
    descriptor = ParameterDescriptor(description=description, read_only=True, integer_range=list(bounds))
    return node.declare_parameter(name, default, descriptor).value
