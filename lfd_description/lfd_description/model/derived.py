"""The files that are derived from a robot: what ros2_control and MoveIt 2 read, and the collision matrices."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from lfd_description.files import write_atomically
from lfd_description.grasp_data import grasp_data_yaml
from lfd_description.grippers import Gripper, find_gripper, gripper_names
from lfd_description.kinematics import Tree
from lfd_description.robots import MOTOMAN, Robot, usual_hand
from lfd_description.urdf import roll_pitch_yaw

from . import configs
from .builder import MATRICES, build_model, can_carry, matrix_file, matrix_inputs
from .collision_matrix import Progress
from .collision_matrix_file import matrix_text
from .model import HAND, RobotModel, mount_link
from .srdf import srdf

MOVEIT = 'moveit'
"""The folder of MoveIt's files in a robot's folder."""


def model_files(model: RobotModel) -> Mapping[str, str]:
    """All that a ROS machine needs of a model, by file name: description, SRDF, MoveIt's and ros2_control's files."""
    name = model.robot.name
    files = {f'{name}.urdf': model.urdf}
    if model.hardware != MOTOMAN:  # whose controller runs no ros2_control
        files['controllers.yaml'] = configs.controllers_yaml(model)
    return {**files, **moveit_files(model)}


def moveit_files(model: RobotModel) -> Mapping[str, str]:
    """The files that a MoveIt configuration package holds beside the robot's description, by file name."""
    files = {
        f'{model.robot.name}.srdf': srdf(model),
        'joint_limits.yaml': configs.joint_limits_yaml(model),
        'kinematics.yaml': configs.kinematics_yaml(model),
        'ompl_planning.yaml': configs.ompl_planning_yaml(model),
        'moveit_controllers.yaml': configs.moveit_controllers_yaml(model),
    }
    if model.gripper:
        data = replace(model.gripper.grasp_data, tcp_to_eef_mount_transform=_tcp_to_mount(model))
        files['grasp_data.yaml'] = grasp_data_yaml(
            data, base_link=model.group.base, end_effector_name=HAND, prefix=model.prefix
        )
    return files


def _tcp_to_mount(model: RobotModel) -> tuple[float, ...]:
    """The pose of the link that carries the gripper in the gripper's frame tcp: x, y, z [m], roll, pitch, yaw [rad]."""
    poses = Tree(model.tree).poses_at({})
    mount = np.linalg.inv(poses[f'{model.prefix}tcp']) @ poses[mount_link(model)]
    return tuple(round(float(value), 6) + 0.0 for value in (*mount[:3, 3], *roll_pitch_yaw(mount)))


def derived_files(robot: Robot, *, resample: bool = True, progress: Progress = lambda _: None) -> Mapping[str, str]:
    """All derived files of a robot's folder, by path below it.

    `controllers.yaml`, its likes for real hardware and `moveit/` are for the robot as it stands in robot.yaml; the
    collision matrices are for every gripper: sampled anew, or with `resample` false those in the folder where they are
    current.

    Raises:
        RobotError, UrdfError, ModelError, MeshError: the robot cannot be planned with; the message is for the user.
    """
    robot.default_gripper()  # refuse a wrong name before the work
    files: dict[str, str] = {}
    variants = list(_variants(robot))
    for done, gripper in enumerate(variants):
        model = build_model(
            robot,
            gripper=gripper,
            resample=resample,
            progress=_part(progress, done, len(variants)),
        )
        title = f'{robot.title} with {gripper.title.lower()}' if gripper else robot.title
        file = matrix_file(robot, gripper).relative_to(robot.folder)
        files[str(file)] = matrix_text(model.collision_matrix, matrix_inputs(robot, gripper).digest(), title)
        if (gripper.name if gripper else None) == robot.gripper:
            files |= {f'{MOVEIT}/{name}': text for name, text in moveit_files(model).items()}
            for hardware in robot.kinds_of_hardware:
                if hardware != MOTOMAN:
                    name = robot.controllers_file_on(hardware).name
                    files[name] = configs.controllers_yaml(replace(model, hardware=hardware, hand=usual_hand(hardware)))
    return files


def _part(progress: Progress, done: int, of: int) -> Progress:
    """The progress of one of several equal parts of a work."""
    return lambda share: progress((done + share) / of)


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, each one whole or not at all."""
    for name, text in files.items():
        write_atomically(folder / name, text)


def remove_left_over(folder: Path, files: Mapping[str, str]) -> None:
    """Remove what was derived before and is no more, such as the files of another gripper."""
    for name in (MOVEIT, MATRICES):
        for file in (folder / name).glob('*'):
            if file.is_file() and str(file.relative_to(folder)) not in files:
                file.unlink()


def _variants(robot: Robot) -> Iterator[Gripper | None]:
    yield None
    for gripper in map(find_gripper, gripper_names()):
        if gripper.name == robot.gripper or can_carry(robot, gripper):
            yield gripper
