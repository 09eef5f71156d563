"""What commands are given to work on, opened; what cannot be used is a Fault that the user reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from lfd_description.grippers import Gripper, GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.model.model import RobotModel
from lfd_description.robots import MOCK, RobotError, find_robot
from lfd_description.scenes import Scene, SceneError, open_scene
from lfd_description.urdf import UrdfError
from lfd_planner.mtdf import MtdfError, Task, load_task, parse_task
from lfd_planner.pose import Pose

from .home.faults import Fault

USUAL_GRIPPER = 'two_finger'


def scene_of(name: str) -> Scene:
    """The scene of a file, or the bundled one of that name."""
    try:
        return open_scene(name)
    except SceneError as error:
        raise Fault(str(error)) from None


def task_of(source: Path | str) -> Task:
    """The task of a file, or of a text."""
    try:
        return load_task(source) if isinstance(source, Path) else parse_task(source)
    except MtdfError as error:
        raise Fault(str(error)) from None


def model_of(
    robot: str,
    gripper: str | None,
    *,
    with_hand: bool = False,
    hardware: str = MOCK,
    hand: str | None = None,
    robot_ip: str = '',
    hardware_parameters: Mapping[str, str] = MappingProxyType({}),
) -> RobotModel:
    """A robot with the gripper that was named; `with_hand`: else with its own, else with the usual one.

    hand: what moves the gripper, 'mock' or 'external'; else the usual one for the hardware.
    """
    try:
        arm = find_robot(robot)
        if gripper is not None:
            carried: Gripper | None = find_gripper(gripper)
        elif with_hand and not arm.own_gripper:
            carried = arm.default_gripper() or find_gripper(USUAL_GRIPPER)
        else:
            carried = None
        return build_model(
            arm,
            gripper=carried,
            hardware=hardware,
            hand=hand,
            robot_ip=robot_ip or None,
            hardware_parameters=hardware_parameters,
        )
    except (RobotError, GripperError, UrdfError, ModelError, MeshError) as error:
        raise Fault(str(error)) from None


def origin_of(numbers: Sequence[float] | None, task: Task, known: Pose | None = None) -> Pose:
    """Where the task's frame is in the scene's: as told (x, y, z, roll, pitch, yaw), as known, or as the task hints."""
    if numbers is not None:
        return Pose.of_numbers(numbers)
    return known or (task.origin.pose if task.origin is not None else Pose())
