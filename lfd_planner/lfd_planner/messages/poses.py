"""Poses and geometry_msgs/Pose. As in MoveIt, an orientation that was not filled in (all zero) is no turn."""

from __future__ import annotations

import math

from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMessage

from lfd_description.scenes.values import UNIT_ENOUGH, UNIT_TOLERANCE
from lfd_planner.scene import IDENTITY, Pose

from .checks import Report


def pose_to_message(pose: Pose) -> PoseMessage:
    """The pose as geometry_msgs/Pose."""
    (px, py, pz), (x, y, z, w) = pose.position, pose.orientation
    return PoseMessage(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def pose_from_message(message: PoseMessage, report: Report, what: str = 'pose') -> Pose:
    """The pose of a message; no motion after noting what is wrong with it.

    A quaternion that is nearly unit is made so.
    """
    p, q = message.position, message.orientation
    position, orientation = (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)
    if not report.coordinates(position, f"{what}'s position"):
        return IDENTITY
    if not any(orientation):
        return Pose(position)
    x, y, z, w = orientation
    norm = math.hypot(x, y, z, w)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        report.problem(f"the {what}'s quaternion has the length {norm:.4g} and not 1; send a unit quaternion.")
        return IDENTITY
    if abs(norm - 1.0) <= UNIT_ENOUGH:  # left as it is, so that what goes out and comes back is the same
        return Pose(position, orientation)
    return Pose(position, (x / norm, y / norm, z / norm, w / norm))
