"""A robot ready to be planned for."""

from collections.abc import Mapping
from dataclasses import dataclass

from lfd_description.grippers import Gripper
from lfd_description.kinematic_family import KinematicFamily
from lfd_description.robots import MOTOMAN, Robot
from lfd_description.urdf import RobotTree

from .collision_matrix import CollisionMatrix
from .findings import Finding
from .group import Group
from .limits import JointLimits

HAND = 'hand'
"""The name of the end effector and of its group."""


@dataclass(frozen=True, eq=False)
class RobotModel:
    """An arm with or without a gripper: all that a planner needs, every name with its prefix."""

    robot: Robot
    gripper: Gripper | None
    prefix: str
    hardware: str
    hand: str
    """What moves the gripper: `mock`, or `external`, a driver of its own that serves the gripper's controllers."""
    urdf: str
    tree: RobotTree
    group: Group
    limits: Mapping[str, JointLimits]
    """By joint."""
    poses: Mapping[str, tuple[float, ...]]
    """Joint positions of the group by the pose's name [rad or m]."""
    family: KinematicFamily
    """Which inverse kinematics the geometry allows."""
    collision_matrix: CollisionMatrix
    findings: tuple[Finding, ...]
    """What was derived, and why."""

    @property
    def controller(self) -> str:
        """The name of the arm's trajectory controller; MotoROS2 is in a namespace with the robot's name."""
        name = f'{self.prefix}{self.robot.name}'
        return name if self.hardware == MOTOMAN else f'{name}_controller'

    @property
    def gripper_controller(self) -> str | None:
        """The name of the gripper's controller, if it has a joint to control."""
        return f'{self.prefix}gripper_controller' if self.gripper and self.gripper.joint else None

    @property
    def hand_links(self) -> tuple[str, ...]:
        """The links of the gripper."""
        return below(self.tree, f'{self.prefix}hand_base') if self.gripper else ()


def mount_link(model: RobotModel) -> str:
    """The link of the arm that carries the gripper."""
    return model.tree.joint_to[f'{model.prefix}hand_base'].parent


def below(tree: RobotTree, link: str) -> tuple[str, ...]:
    """A link and all that hangs below it."""
    found = [link]
    for name in found:
        found += [joint.child for joint in tree.joints if joint.parent == name]
    return tuple(found)
