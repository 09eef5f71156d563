"""Hands, objects and events as ROS messages, for a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped, TransformStamped
from std_msgs.msg import ColorRGBA, Float32, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from lfd_description.bodies import Colour
from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, Cylinder, Plane, Sphere
from lfd_planner.messages import pose_to_message
from lfd_planner.pose import Pose
from lfd_planner.scene import Part, WorldObject, triangles_of

from ..studio.values import HandState

EVENTS, OBJECTS, TF = 'demonstration/events', 'demonstration/objects', 'tf'
HANDS = {'left': 'demonstration/left_hand', 'right': 'demonstration/right_hand', 'head': 'demonstration/head'}
GRIPS = {'left': 'demonstration/left_grip', 'right': 'demonstration/right_grip'}
TYPES = {
    EVENTS: String,
    OBJECTS: MarkerArray,
    TF: TFMessage,
    **dict.fromkeys(HANDS.values(), PoseStamped),
    **dict.fromkeys(GRIPS.values(), Float32),
}
FLOOR = (10.0, 10.0, 0.001)  # [m] of a plane, which has no end
MOST_TRIANGLES = 20_000  # of a mesh; of a finer one its box is drawn


def stamp(time: float) -> Time:
    """A time [s] as a message."""
    nanoseconds = nanoseconds_of(time)
    return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def nanoseconds_of(time: float) -> int:
    """A time [s] as MCAP counts it."""
    return max(round(time * 1e9), 0)


def hand_message(hand: HandState, frame: str, time: float) -> PoseStamped:
    """Where a hand or the head is."""
    message = PoseStamped(pose=pose_to_message(hand.pose))
    message.header.frame_id, message.header.stamp = frame, stamp(time)
    return message


def poses_message(poses: Mapping[str, Pose], frame: str, time: float) -> TFMessage:
    """Where objects are."""
    return TFMessage(transforms=[_transform(name, pose, frame, time) for name, pose in poses.items()])


def objects_message(objects: Iterable[tuple[WorldObject, Colour]], removed: Iterable[str] = ()) -> MarkerArray:
    """What objects look like, each in the frame of its own name; those that are gone are taken away."""
    markers = [marker for thing, colour in objects for marker in _markers(thing, colour)]
    gone = [Marker(ns=name, action=Marker.DELETEALL) for name in removed]
    return MarkerArray(markers=[*gone, *markers])


def _transform(name: str, pose: Pose, frame: str, time: float) -> TransformStamped:
    message = TransformStamped(child_frame_id=name)
    message.header.frame_id, message.header.stamp = frame, stamp(time)
    translation, turn = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = map(float, pose.position)
    turn.x, turn.y, turn.z, turn.w = map(float, pose.orientation)
    return message


def _markers(thing: WorldObject, colour: Colour) -> Iterator[Marker]:
    for number, part in enumerate(thing.body.parts):
        marker = Marker(ns=thing.id, id=number, action=Marker.ADD, frame_locked=True)
        marker.header.frame_id = thing.id
        marker.pose = pose_to_message(part.pose)
        red, green, blue, opacity = map(float, colour)
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=opacity)
        _draw(marker, part)
        yield marker


def _draw(marker: Marker, part: Part) -> None:
    match part.shape:
        case Box(size):
            marker.type, scale = Marker.CUBE, size
        case Plane():
            marker.type, scale = Marker.CUBE, FLOOR
        case Sphere(radius):
            marker.type, scale = Marker.SPHERE, (2 * radius, 2 * radius, 2 * radius)
        case Cylinder(radius, height):
            marker.type, scale = Marker.CYLINDER, (2 * radius, 2 * radius, height)
        case _:
            scale = _draw_mesh(marker, part)
    marker.scale.x, marker.scale.y, marker.scale.z = map(float, scale)


def _draw_mesh(marker: Marker, part: Part) -> tuple[float, float, float]:
    """Triangles, or a box where there are too many or none can be read."""
    try:
        mesh = triangles_of(part.shape)
    except MeshError:
        marker.type = Marker.CUBE
        return 0.05, 0.05, 0.05
    if len(mesh.triangles) <= MOST_TRIANGLES:
        marker.type = Marker.TRIANGLE_LIST
        corners = mesh.vertices[mesh.triangles].reshape(-1, 3)
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in corners.tolist()]
        return 1.0, 1.0, 1.0
    marker.type = Marker.CUBE
    x, y, z = np.ptp(mesh.vertices, axis=0).tolist()
    return x, y, z
