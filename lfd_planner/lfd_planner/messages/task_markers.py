"""What RViz draws of a planned task: the ways of the objects, the grasps, and what cannot be done and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from lfd_description.bodies import Colour
from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Keyframe, Pick, Place, Task, Trajectory
from lfd_planner.mtdf.task import object_of
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.arm import Arm
from lfd_planner.task import Motion, Step

from .poses import pose_to_message

PATH, GRASP, TEXT, FAILURE = 'path', 'grasp', 'text', 'failure'
"""The namespaces of the markers, which RViz can hide one by one."""
EVERY = 0.04  # [s] of motion between two points of a way
AXIS = 0.05  # [m]
LINE = 0.004  # [m] that lines are wide
LETTERS = 0.03  # [m] that texts are tall
ABOVE = 0.06  # [m] that a text is above what it is about
FAILED_SIZE = 0.06  # [m]
COLUMNS = 60  # of a text
GREY: Colour = (0.6, 0.6, 0.6, 1.0)
RED: Colour = (0.9, 0.1, 0.1, 0.6)
WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
AXES: tuple[Colour, ...] = ((0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.1, 1.0), (0.2, 0.3, 1.0, 1.0))


def no_markers() -> MarkerArray:
    """The message that takes all markers of the topic away."""
    return MarkerArray(markers=[Marker(action=Marker.DELETEALL)])


def solution_markers(step: Step, arm: Arm) -> MarkerArray:
    """Of a planned task: the way of each object that is carried, the tcp's axes at each grasp, and its keyframe.

    Args:
        step: through all stages.
        arm: for which it was planned.
    """
    start = step.start.scene
    message = no_markers()
    for name, points in _ways(step, arm).items():
        message.markers.append(_marker(start.frame, PATH, len(message.markers), Marker.LINE_STRIP, (LINE, 0.0, 0.0)))
        message.markers[-1].points = [_point(point) for point in points]
        message.markers[-1].color = _colour(start.colours.get(name, GREY))
    for keyframe, name, tcp in _grasps(step, arm):
        message.markers.append(_axes(start.frame, len(message.markers), tcp))
        message.markers.append(_text(start.frame, TEXT, len(message.markers), tcp[:3, 3], f'{keyframe}: {name}'))
    return message


def failure_markers(failure: TaskFailure, task: Task, scene: PlanningScene, origin: Pose) -> MarkerArray:
    """Of a task that cannot be planned: a ball where the keyframe is that cannot be done, and why, above it.

    Args:
        failure: why there is no motion.
        task: what was to be done.
        scene: in which.
        origin: of the task's poses in the scene's frame.
    """
    message = no_markers()
    keyframes = task.keyframes
    known = 0 <= failure.keyframe < len(keyframes)
    place = _place_of(keyframes[failure.keyframe], scene, origin) if known else None
    here = place or origin
    if place is not None:
        ball = _marker(scene.frame, FAILURE, 1, Marker.SPHERE, (FAILED_SIZE, FAILED_SIZE, FAILED_SIZE))
        ball.pose, ball.color = pose_to_message(place), _colour(RED)
        message.markers.append(ball)
    told = '\n'.join(textwrap.wrap(failure.message, COLUMNS))
    message.markers.append(_text(scene.frame, FAILURE, 2, np.array(here.position), told))
    return message


def _ways(step: Step, arm: Arm) -> dict[str, list[Matrix]]:
    """The points through which each object is carried, (3,) in the scene's frame [m]."""
    ways: dict[str, list[Matrix]] = {}
    for leaf in step.leaves():
        for held in leaf.start.scene.attached.values():
            if held.link == arm.tcp:
                within = held.pose.matrix[:3, 3]
                poses = (arm.pose(q) for motion in leaf.motions for q in _samples(motion))
                ways.setdefault(held.id, []).extend(pose[:3, :3] @ within + pose[:3, 3] for pose in poses)
    return ways


def _samples(motion: Motion) -> Matrix:
    """Positions along a motion, (N, dof)."""
    times = np.linspace(0.0, motion.trajectory.duration, 2 + int(motion.trajectory.duration / EVERY))
    return motion.trajectory.sample(times).q


def _grasps(step: Step, arm: Arm) -> Iterator[tuple[int, str, Matrix]]:
    """Keyframe, object and pose of the tcp wherever something is taken."""
    for leaf in step.leaves():
        for motion in leaf.motions:
            if motion.attach is not None:
                yield motion.keyframe, motion.attach.object, arm.pose(motion.trajectory.q[-1])


def _place_of(keyframe: Keyframe, scene: PlanningScene, origin: Pose) -> Pose | None:
    """Where a keyframe happens, in the scene's frame."""
    if isinstance(keyframe, Place):
        return origin @ keyframe.pose
    if isinstance(keyframe, Trajectory):
        return origin @ keyframe.poses[0]
    thing = scene.objects.get(object_of(keyframe) or '') if isinstance(keyframe, Pick) else None
    return thing.pose if thing else None


def _axes(frame: str, id: int, pose: Matrix) -> Marker:
    marker = _marker(frame, GRASP, id, Marker.LINE_LIST, (LINE, 0.0, 0.0))
    for axis, colour in enumerate(AXES):
        marker.points += [_point(pose[:3, 3]), _point(pose[:3, 3] + AXIS * pose[:3, axis])]
        marker.colors += [_colour(colour), _colour(colour)]
    return marker


def _text(frame: str, namespace: str, id: int, position: Matrix, text: str) -> Marker:
    marker = _marker(frame, namespace, id, Marker.TEXT_VIEW_FACING, (0.0, 0.0, LETTERS))
    marker.pose.position = _point(position + np.array([0.0, 0.0, ABOVE]))
    marker.text, marker.color = text, _colour(WHITE)
    return marker


def _marker(frame: str, namespace: str, id: int, type: int, scale: tuple[float, float, float]) -> Marker:
    marker = Marker(ns=namespace, id=id, type=type, action=Marker.ADD)
    marker.header.frame_id = frame  # and no time: it holds for the newest transform
    marker.pose.orientation.w = 1.0
    marker.scale.x, marker.scale.y, marker.scale.z = scale
    return marker


def _point(position: Iterable[float]) -> Point:
    x, y, z = map(float, position)
    return Point(x=x, y=y, z=z)


def _colour(colour: Colour) -> ColorRGBA:
    red, green, blue, opacity = colour
    return ColorRGBA(r=red, g=green, b=blue, a=opacity)
