"""Poses of strangers."""

from __future__ import annotations

import math

from lfd_description.scenes.values import MAX_DISTANCE, UNIT_ENOUGH, UNIT_TOLERANCE
from lfd_planner.pose import Pose

from .values import Refusal


def checked_pose(pose: Pose) -> Pose:
    """A pose of finite numbers within reason, with a unit quaternion.

    Raises:
        Refusal: it is none.
    """
    if not all(map(math.isfinite, (*pose.position, *pose.orientation))):
        raise Refusal('wrong_pose', 'A pose must be seven finite numbers.')
    if max(map(abs, pose.position)) > MAX_DISTANCE:
        raise Refusal('wrong_pose', f'A pose must be within {MAX_DISTANCE:g} m of the robot.')
    norm = math.sqrt(sum(part * part for part in pose.orientation))
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise Refusal(
            'wrong_pose', f'The orientation of a pose must be a unit quaternion, and its length is {norm:.4g}.'
        )
    if abs(norm - 1.0) <= UNIT_ENOUGH:
        return pose
    x, y, z, w = pose.orientation
    return Pose(pose.position, (x / norm, y / norm, z / norm, w / norm))
