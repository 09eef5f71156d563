"""Unity's axes and those of ROS: the only place where one becomes the other.

Unity is left-handed: x right, y up, z forward. ROS is right-handed: x forward, y left, z up. All frames of a task turn
together, so that one conversion serves poses in the task's frame and grasps in the object's.
"""

from collections.abc import Callable
from dataclasses import replace

from lfd_description.shapes import Vector
from lfd_description.transforms import Quaternion
from lfd_planner.pose import Pose

from .rules import AllOf, AnyOf, InBall, InBox, Nearest, Not, Rule
from .task import GraspHint, Keyframe, Pick, Place, Task, Trajectory

AXES = ('ros', 'unity')

_Turn = Callable[[Vector], Vector]
_TurnPose = Callable[[Pose], Pose]


def ros_position_from_unity(position: Vector) -> Vector:
    """A point [m] of Unity's axes in those of ROS."""
    x, y, z = position
    return z, -x, y


def unity_position_from_ros(position: Vector) -> Vector:
    """A point [m] of ROS's axes in those of Unity."""
    x, y, z = position
    return -y, z, x


def ros_orientation_from_unity(orientation: Quaternion) -> Quaternion:
    """A turn (x, y, z, w) of Unity's axes in those of ROS."""
    x, y, z, w = orientation
    return z, -x, y, -w


def unity_orientation_from_ros(orientation: Quaternion) -> Quaternion:
    """A turn (x, y, z, w) of ROS's axes in those of Unity."""
    x, y, z, w = orientation
    return -y, z, x, -w


def ros_pose_from_unity(pose: Pose) -> Pose:
    """A pose of Unity's axes in those of ROS."""
    return Pose(ros_position_from_unity(pose.position), ros_orientation_from_unity(pose.orientation))


def unity_pose_from_ros(pose: Pose) -> Pose:
    """A pose of ROS's axes in those of Unity."""
    return Pose(unity_position_from_ros(pose.position), unity_orientation_from_ros(pose.orientation))


def ros_task_from_unity(task: Task) -> Task:
    """A task whose numbers were meant in Unity's axes."""
    return _turned(task, ros_pose_from_unity, ros_position_from_unity)


def unity_task_from_ros(task: Task) -> Task:
    """A task with the numbers that mean the same in Unity's axes: to be written, not to be planned."""
    return _turned(task, unity_pose_from_ros, unity_position_from_ros)


def _turned(task: Task, pose: _TurnPose, point: _Turn) -> Task:
    return replace(
        task,
        descriptors=tuple(
            descriptor if descriptor.rule is None else replace(descriptor, rule=_turned_rule(descriptor.rule, point))
            for descriptor in task.descriptors
        ),
        keyframes=tuple(_turned_keyframe(keyframe, pose) for keyframe in task.keyframes),
        origin=None if task.origin is None else replace(task.origin, pose=pose(task.origin.pose)),
    )


def _turned_keyframe(keyframe: Keyframe, pose: _TurnPose) -> Keyframe:
    match keyframe:
        case Pick(grasp=GraspHint() as grasp):
            return replace(keyframe, grasp=replace(grasp, hand=pose(grasp.hand)))
        case Place():
            return replace(keyframe, pose=pose(keyframe.pose))
        case Trajectory():
            return replace(keyframe, poses=tuple(map(pose, keyframe.poses)))
        case _:
            return keyframe


def _turned_rule(rule: Rule, point: _Turn) -> Rule:
    match rule:
        case InBox(low, high):
            (ax, ay, az), (bx, by, bz) = point(low), point(high)
            return InBox((min(ax, bx), min(ay, by), min(az, bz)), (max(ax, bx), max(ay, by), max(az, bz)))
        case InBall(centre, radius):
            return InBall(point(centre), radius)
        case Nearest(tuple() as to):
            return Nearest(point(to))
        case AllOf(rules):
            return AllOf(tuple(_turned_rule(part, point) for part in rules))
        case AnyOf(rules):
            return AnyOf(tuple(_turned_rule(part, point) for part in rules))
        case Not(part):
            return Not(_turned_rule(part, point))
        case _:
            return rule
