"""Attached objects and moveit_msgs/AttachedCollisionObject: values as messages, and what messages ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from builtin_interfaces.msg import Duration
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.scene import (
    AttachedObject,
    Code,
    LinkPoses,
    PlanningScene,
    Pose,
    Posture,
    PosturePoint,
    SceneFault,
)
from lfd_planner.scene.faults import quoted
from lfd_planner.scene.planning_scene import link_pose

from .capsules import CapsuleAs
from .checks import Report
from .objects import (
    in_scene,
    move_message,
    object_from_message,
    read_object,
    remove_message,
    retyped,
    unknown_operation,
    with_body,
)
from .shapes import has_shapes, known_again

_NANOSECONDS = 1_000_000_000


def attached_to_message(held: AttachedObject, capsules: CapsuleAs = CapsuleAs.MESH) -> AttachedCollisionObject:
    """The message that attaches an object, with its geometry; its pose is in the link's frame.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    return AttachedCollisionObject(
        link_name=held.link,
        object=with_body(move_message(held.id, held.pose, held.link, CollisionObject.ADD), held.body, capsules),
        touch_links=sorted(held.touch_links),
        detach_posture=_posture_to_message(held.posture),
        weight=held.weight,
    )


def detach_message(id: str, link: str = '') -> AttachedCollisionObject:
    """The message that puts an attached object down in the world."""
    return AttachedCollisionObject(link_name=link, object=remove_message(id))


def apply_attached_object(
    scene: PlanningScene, message: AttachedCollisionObject, link_poses: LinkPoses, known: PlanningScene | None = None
) -> PlanningScene:
    """The scene after what a message asks for: ADD attaches, APPEND adds shapes, REMOVE puts down in the world.

    ADD without geometry takes the object from the world. REMOVE without an id is for all, or for all of a link.
    `known` is the scene whose objects may come back as they were sent; without it, the scene itself.

    Raises:
        SceneFault: the message is wrong, or asks for what cannot be done; the scene stays as it is.
    """
    match message.object.operation:
        case CollisionObject.ADD if not has_shapes(message.object):
            return _attached_from_world(scene, message, link_poses)
        case CollisionObject.APPEND if message.object.id in scene.attached:
            return _appended_to_attached(scene, message, link_poses)
        case CollisionObject.ADD | CollisionObject.APPEND:
            return _attached_new(scene, message, link_poses, known)
        case CollisionObject.REMOVE:
            return _detached(scene, message, link_poses)
        case CollisionObject.MOVE:
            id = quoted(message.object.id)
            raise SceneFault(Code.FAILURE, f'Attached object {id} cannot be moved; detach it, or attach it anew.')
        case _:
            raise unknown_operation(message.object)


def _attached_from_world(
    scene: PlanningScene, message: AttachedCollisionObject, link_poses: LinkPoses
) -> PlanningScene:
    id = message.object.id
    report = _report(message)
    posture, weight = _posture_from_message(message.detach_posture, report), _weight(message, report)
    report.finish()
    link_pose(message.link_name, link_poses)
    if id not in scene:
        raise SceneFault(
            Code.INVALID_OBJECT_NAME,
            f'Object {quoted(id)} is attached without a shape and is not in the world; add it, or send shapes.',
        )
    if id in scene.objects:
        scene = retyped(scene, message.object)
    return scene.attach(id, message.link_name, link_poses, message.touch_links, posture, weight)


def _attached_new(
    scene: PlanningScene, message: AttachedCollisionObject, link_poses: LinkPoses, known: PlanningScene | None
) -> PlanningScene:
    report = _report(message)
    posture, weight = _posture_from_message(message.detach_posture, report), _weight(message, report)
    report.finish()
    link = link_pose(message.link_name, link_poses)
    body, pose = object_from_message(message.object, (known or scene).body(message.object.id))
    held = AttachedObject(
        message.object.id,
        body,
        message.link_name,
        _in_link(scene, message, pose, link, link_poses),
        frozenset(message.touch_links),
        posture,
        weight,
    )
    return scene.attach_new(held, link_poses)


def _appended_to_attached(
    scene: PlanningScene, message: AttachedCollisionObject, link_poses: LinkPoses
) -> PlanningScene:
    """More shapes for an attached object; it moves only if a pose was sent."""
    report = _report(message)
    posture, weight = _posture_from_message(message.detach_posture, report), _weight(message, report)
    report.finish()
    parts, subframes, pose = read_object(message.object)
    old, link = scene.attached[message.object.id], link_pose(message.link_name, link_poses)
    body = replace(old.body, parts=(*old.body.parts, *known_again(parts, ()))).with_subframes(subframes)
    held = replace(
        old,
        body=body,
        link=message.link_name,
        pose=old.pose if pose.is_identity else _in_link(scene, message, pose, link, link_poses),
        touch_links=old.touch_links | frozenset(message.touch_links),
        posture=posture if posture.joints else old.posture,
        weight=weight or old.weight,
    )
    return scene.attach_new(held, link_poses)


def _detached(scene: PlanningScene, message: AttachedCollisionObject, link_poses: LinkPoses) -> PlanningScene:
    id, link = message.object.id, message.link_name
    if id and id in scene.attached and link and scene.attached[id].link != link:
        raise SceneFault(
            Code.INVALID_LINK_NAME,
            f'Object {quoted(id)} is attached to link {quoted(scene.attached[id].link)} and not to {quoted(link)}; '
            f'send that link, or none.',
        )
    if not id and link:
        link_pose(link, link_poses)
    for name in [id] if id else [held.id for held in scene.attached.values() if link in ('', held.link)]:
        scene = scene.detach(name, link_poses)
    return scene


def _in_link(
    scene: PlanningScene, message: AttachedCollisionObject, pose: Pose, link: Pose, link_poses: LinkPoses
) -> Pose:
    """A pose in the header's frame as one in the link's; nothing is rounded where that is the same."""
    if message.object.header.frame_id.removeprefix('/') == message.link_name:
        return pose
    return link.inverse @ in_scene(scene, message.object, pose, link_poses)


def _report(message: AttachedCollisionObject) -> Report:
    return Report(f'Attached object {quoted(message.object.id)}')


def _weight(message: AttachedCollisionObject, report: Report) -> float:
    if not 0.0 <= message.weight < float('inf'):
        report.problem(f'the weight is {message.weight:g}; send kilograms, or 0.')
    return float(message.weight)


def _posture_to_message(posture: Posture) -> JointTrajectory:
    return JointTrajectory(
        joint_names=list(posture.joints),
        points=[
            JointTrajectoryPoint(
                positions=point.positions,
                velocities=point.velocities,
                accelerations=point.accelerations,
                effort=point.effort,
                time_from_start=Duration(sec=point.time // _NANOSECONDS, nanosec=point.time % _NANOSECONDS),
            )
            for point in posture.points
        ],
    )


def _posture_from_message(message: JointTrajectory, report: Report) -> Posture:
    joints, points = tuple(message.joint_names), []
    for number, point in enumerate(message.points, start=1):
        lists = (point.positions, point.velocities, point.accelerations, point.effort)
        if any(len(values) not in (0, len(joints)) for values in lists):
            report.problem(f'point {number} of the posture has not one number for each of {len(joints)} joints.')
        if not _finite(lists):
            report.problem(f'point {number} of the posture has a number that is not finite; send none such.')
        time = point.time_from_start.sec * _NANOSECONDS + point.time_from_start.nanosec
        positions, velocities, accelerations, effort = (tuple(values) for values in lists)
        points.append(PosturePoint(positions, velocities, accelerations, effort, time))
    return Posture(joints, tuple(points))


def _finite(lists: Iterable[Iterable[float]]) -> bool:
    return all(abs(number) < float('inf') for numbers in lists for number in numbers)
