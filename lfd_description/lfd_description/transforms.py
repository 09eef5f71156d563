"""Where a robot's links sit in their parents, given joint positions: plain numbers, ready for tf messages."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from lfd_description.shapes import Vector
from lfd_description.urdf import Joint, RobotTree

Quaternion = tuple[float, float, float, float]  # x, y, z, w


@dataclass(frozen=True)
class LinkTransform:
    """The pose of link `child` in the frame of link `parent`: translation [m], rotation as unit quaternion xyzw."""

    parent: str
    child: str
    translation: Vector
    rotation: Quaternion


def fixed_transforms(tree: RobotTree) -> tuple[LinkTransform, ...]:
    """The transforms that joint positions do not change.

    Like the official robot_state_publisher, planar joints rest at their origin and floating ones are left out: no
    single number places them, and whoever knows the pose publishes it.
    """
    return tuple(_transform(joint, 0.0) for joint in tree.joints if joint.kind in ('fixed', 'planar'))


def moving_transforms(tree: RobotTree, positions: Mapping[str, float]) -> tuple[LinkTransform, ...]:
    """The transforms of the movable joints among `positions` [rad or m], and of the joints that mimic them.

    Names that are no movable joint of this robot are passed over. A mimic joint with a position of its own keeps it.
    """
    transforms = []
    for joint in tree.joints:
        if not joint.moves:
            continue
        position = positions.get(joint.name)
        if position is None and joint.mimic is not None and joint.mimic.joint in positions:
            position = joint.mimic.position(positions[joint.mimic.joint])
        if position is not None:
            transforms.append(_transform(joint, position))
    return tuple(transforms)


def _transform(joint: Joint, position: float) -> LinkTransform:
    origin = _quaternion_from_rpy(joint.rpy)
    if joint.turns:
        return LinkTransform(joint.parent, joint.child, joint.xyz, multiply(origin, _turn(joint.axis, position)))
    x, y, z = (position * part for part in joint.axis)
    shift = rotate(origin, (x, y, z))
    translation = (joint.xyz[0] + shift[0], joint.xyz[1] + shift[1], joint.xyz[2] + shift[2])
    return LinkTransform(joint.parent, joint.child, translation, origin)


def _turn(axis: Vector, angle: float) -> Quaternion:
    """The turn by `angle` [rad] about a unit `axis`."""
    half = math.sin(angle / 2)
    return axis[0] * half, axis[1] * half, axis[2] * half, math.cos(angle / 2)


def _quaternion_from_rpy(rpy: Vector) -> Quaternion:
    roll, pitch, yaw = (_turn(axis, angle) for axis, angle in zip(((1, 0, 0), (0, 1, 0), (0, 0, 1)), rpy, strict=True))
    return multiply(yaw, multiply(pitch, roll))


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """The turn `b` followed by the turn `a`, both about the axes of the outer frame."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(rotation: Quaternion, vector: Vector) -> Vector:
    """A vector turned by a unit quaternion."""
    x, y, z, w = rotation
    turned = multiply(multiply(rotation, (*vector, 0.0)), (-x, -y, -z, w))
    return turned[0], turned[1], turned[2]
