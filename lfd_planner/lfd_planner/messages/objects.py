"""Objects of the world and moveit_msgs/CollisionObject: values as messages, and what messages ask for.

Tags, and whether an object may be picked, travel in the type's `db`, which is meant for JSON; so nothing is lost on the
way to a planning server and back. An object that comes back as it was sent keeps its exact shapes.
"""

from __future__ import annotations

import json
from dataclasses import replace

from moveit_msgs.msg import CollisionObject

from lfd_planner.scene import (
    IDENTITY,
    Body,
    Code,
    LinkPoses,
    ObjectType,
    Part,
    PlanningScene,
    Pose,
    SceneFault,
    WorldObject,
    frame_pose,
)
from lfd_planner.scene.faults import quoted

from .capsules import CapsuleAs
from .checks import Report
from .poses import pose_from_message, pose_to_message
from .shapes import (
    has_shapes,
    known_again,
    shape_poses_from_message,
    shapes_from_message,
    shapes_to_message,
)

_MAX_DB = 100_000  # characters of JSON that are looked into
_OURS = 'lfd'


def object_to_message(thing: WorldObject, frame: str, capsules: CapsuleAs = CapsuleAs.MESH) -> CollisionObject:
    """The message that adds an object; `frame` is the scene's.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    return with_body(move_message(thing.id, thing.pose, frame, CollisionObject.ADD), thing.body, capsules)


def move_message(id: str, pose: Pose, frame: str, operation: bytes = CollisionObject.MOVE) -> CollisionObject:
    """The message that moves an object to a pose in `frame`: no geometry."""
    message = CollisionObject(id=id, pose=pose_to_message(pose), operation=operation)
    message.header.frame_id = frame
    return message


def remove_message(id: str) -> CollisionObject:
    """The message that removes an object; with an empty id, all of them."""
    return CollisionObject(id=id, operation=CollisionObject.REMOVE)


def object_from_message(message: CollisionObject, known: Body | None = None) -> tuple[Body, Pose]:
    """The body of a message and its pose in the frame that the header names.

    `known` is the body that the object has here already; shapes that ROS does not know are taken from it if they were
    sent as in this message, and so are type and tags if the shapes are the same and the message tells none. As in
    MoveIt, the pose of a single shape is that of the object, if the object has none.

    Raises:
        SceneFault: the message is wrong; there is a sentence for each fault.
    """
    parts, subframes, pose = read_object(message)
    exact = known_again(parts, known.parts if known else ())
    if len(exact) == 1 and _is_empty(message) and not (known and exact == known.parts):
        exact, pose = (replace(exact[0], pose=IDENTITY),), exact[0].pose
    elif pose.is_identity:
        pose = IDENTITY
    untold = not message.type.key and not message.type.db
    told = known if known and untold and exact == known.parts else typed(message)
    body = replace(told, parts=exact, subframes=()).with_subframes(subframes)
    return (known if known and body == known else body), pose


def apply_collision_object(
    scene: PlanningScene, message: CollisionObject, link_poses: LinkPoses, known: PlanningScene | None = None
) -> PlanningScene:
    """The scene after what a message asks for: ADD, APPEND, MOVE or REMOVE.

    `known` is the scene whose objects may come back as they were sent; without it, the scene itself.

    Raises:
        SceneFault: the message is wrong, or asks for what cannot be done; the scene stays as it is.
    """
    match message.operation:
        case CollisionObject.ADD:
            return _added(scene, message, link_poses, known)
        case CollisionObject.APPEND if message.id in scene.objects:
            return _appended(scene, message)
        case CollisionObject.APPEND:
            return _added(scene, message, link_poses, known)
        case CollisionObject.MOVE:
            return _moved(scene, message, link_poses)
        case CollisionObject.REMOVE:
            return scene.remove(message.id) if message.id else scene.remove_all()
        case _:
            raise unknown_operation(message)


def ignored(message: CollisionObject) -> tuple[str, ...]:
    """What a message tells that is passed over, as in MoveIt; a sentence each."""
    if message.operation != CollisionObject.MOVE or not has_shapes(message):
        return ()
    return (f'Object {quoted(message.id)}: MOVE passes over the shapes that came with it; send ADD to change them.',)


def read_object(message: CollisionObject) -> tuple[tuple[Part, ...], dict[str, Pose], Pose]:
    """The parts as they were sent, the subframes, and the pose in the header's frame.

    Raises:
        SceneFault: the message is wrong; there is a sentence for each fault.
    """
    report = _report(message)
    report.name(message.id, 'id')
    parts = shapes_from_message(message, report)
    pose = pose_from_message(message.pose, report)
    names = list(message.subframe_names)
    if len(names) != len(message.subframe_poses) or len(set(names)) != len(names):
        report.problem('subframe names and poses do not belong together; send as many poses as different names.')
    subframes = {
        report.name(name, 'subframe'): pose_from_message(at, report, f'pose of subframe {quoted(name)}')
        for name, at in zip(names, message.subframe_poses, strict=False)
    }
    if not has_shapes(message):
        report.problem('there is no shape; send at least one.')
    report.finish()
    return parts, subframes, pose


def _report(message: CollisionObject) -> Report:
    return Report(f'Object {quoted(message.id)}')


def unknown_operation(message: CollisionObject) -> SceneFault:
    """The fault of a message whose operation is none."""
    return SceneFault(
        Code.FAILURE,
        f'Object {quoted(message.id)} has the operation {message.operation!r}; use ADD, APPEND, MOVE or REMOVE.',
    )


def typed(message: CollisionObject) -> Body:
    """A body without parts, with the type, tags and movability that the message tells."""
    key, db = message.type.key, message.type.db
    if not db.startswith(f'{{"{_OURS}"') or len(db) > _MAX_DB:
        return Body((), type=ObjectType(key, db))
    try:
        data = json.loads(db)
        ours = data[_OURS]
        tags, movable, rest = ours['tags'], ours['movable'], data['db']
    except (ValueError, KeyError, TypeError, RecursionError):
        return Body((), type=ObjectType(key, db))
    texts = isinstance(tags, list) and all(isinstance(tag, str) and _is_text(tag) for tag in (*tags, rest))
    if not texts or not isinstance(movable, bool):
        return Body((), type=ObjectType(key, db))
    return Body((), type=ObjectType(key, rest), tags=tuple(tags), movable=movable)


def _is_text(text: str) -> bool:
    """Whether a text can be sent: JSON can name halves of letters, which nothing can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def with_body(message: CollisionObject, body: Body, capsules: CapsuleAs) -> CollisionObject:
    """The message with a body filled in.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    type_to_message(message, body)
    shapes_to_message(message, body.parts, capsules)
    for name, pose in body.subframes:
        message.subframe_names.append(name)
        message.subframe_poses.append(pose_to_message(pose))
    if len(body.parts) == 1 and not body.parts[0].pose.is_identity and _is_empty(message):
        # The same turn, but not "no pose": a reader would take the shape's pose for the object's.
        message.pose.orientation.w = -1.0
    return message


def _is_empty(message: CollisionObject) -> bool:
    """Whether the object is given no pose, as MoveIt understands it: exactly the pose that a new message has."""
    p, q = message.pose.position, message.pose.orientation
    return (p.x, p.y, p.z, q.x, q.y, q.z) == (0.0,) * 6 and q.w in (0.0, 1.0)


def type_to_message(message: CollisionObject, body: Body) -> None:
    """Fill in an object's type, with tags and movability."""
    message.type.key, message.type.db = body.type.key, body.type.db
    if body.tags or body.movable:
        ours = {'movable': body.movable, 'tags': list(body.tags)}
        message.type.db = json.dumps({_OURS: ours, 'db': body.type.db}, ensure_ascii=False)


def forget_type(message: CollisionObject) -> None:
    """Have a message that tells no type, and would leave the known one, take it away."""
    if not message.type.key and not message.type.db:
        message.type.db = json.dumps({_OURS: {'movable': False, 'tags': []}, 'db': ''})


def in_scene(scene: PlanningScene, message: CollisionObject, pose: Pose, link_poses: LinkPoses) -> Pose:
    """A pose in the header's frame as one in the scene's."""
    return frame_pose(scene, message.header.frame_id, link_poses) @ pose


def _added(
    scene: PlanningScene, message: CollisionObject, link_poses: LinkPoses, known: PlanningScene | None
) -> PlanningScene:
    body, pose = object_from_message(message, (known or scene).body(message.id))
    return scene.add(WorldObject(message.id, body, in_scene(scene, message, pose, link_poses)))


def _appended(scene: PlanningScene, message: CollisionObject) -> PlanningScene:
    """More shapes for an object that is there; as in MoveIt it stays where it is, and their poses are in its frame."""
    parts, subframes, _ = read_object(message)
    new = scene.append(message.id, known_again(parts, ()), subframes)
    return retyped(new, message)


def retyped(scene: PlanningScene, message: CollisionObject) -> PlanningScene:
    """The scene with the type and tags that a message tells of an object in the world; if it tells any."""
    if not message.type.key and not message.type.db:
        return scene
    thing, told = scene.objects[message.id], typed(message)
    body = replace(thing.body, type=told.type, tags=told.tags, movable=told.movable)
    return scene.add(replace(thing, body=body))


def _moved(scene: PlanningScene, message: CollisionObject, link_poses: LinkPoses) -> PlanningScene:
    """An object at another place; as in MoveIt, geometry that comes with it is passed over."""
    report = _report(message)
    pose = pose_from_message(message.pose, report)
    shape_poses = shape_poses_from_message(message, report)
    report.finish()
    thing = scene.objects.get(message.id)
    parts = thing.body.parts if thing else ()
    if pose.is_identity and len(shape_poses) == 1 and [part.pose.is_identity for part in parts] == [True]:
        (pose,), shape_poses = shape_poses, ()  # the pose of a single shape is that of the object, as when adding
    frame = message.header.frame_id or scene.frame  # MoveIt, too, asks for a frame when adding and not when moving
    new = scene.move(message.id, frame_pose(scene, frame, link_poses) @ pose)
    return new if shape_poses in ((), tuple(part.pose for part in parts)) else new.move_parts(message.id, shape_poses)
