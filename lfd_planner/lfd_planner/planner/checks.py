"""What is wrong with a task or a scene before anything is searched: each with a sentence of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Sphere
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Pick, Task, check_task, errors, resolve_task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene

from .failure import RejectionCount, TaskFailure

if TYPE_CHECKING:
    from .options import PlanOptions
    from .task_planner import TaskPlanner


FARTHEST = 1e6  # [m] from the scene's frame; nothing that an arm works on is farther away


def wrong_options(options: PlanOptions, planner: TaskPlanner) -> TaskFailure | None:
    """What of the options makes no sense, if anything does."""
    for name in ('velocity', 'acceleration'):
        share = getattr(options.scaling, name)
        if not 0.0 < share <= 1.0:
            return _refused(
                'options', f'The {name} scaling is {share:g}; give more than 0 and at most 1.', -1, 'options'
            )
    poses = planner.model.poses
    if options.end_pose is not None and options.end_pose not in poses:
        known = ', '.join(sorted(poses)) or 'none'
        sentence = f"{planner.model.robot.name} has no pose '{options.end_pose}' to end at; it has: {known}."
        return _refused('options', sentence, -1, 'options')
    return None


def checked(task: Task, scene: PlanningScene, origin: Pose, planner: TaskPlanner) -> Mapping[str, str] | TaskFailure:
    """The scene's objects by descriptor, or what makes planning useless."""
    wrong = errors(check_task(task))
    if wrong:
        first = wrong[0]
        return _refused(
            'task', '\n'.join(map(str, wrong)), -1 if first.keyframe is None else first.keyframe, 'contradiction'
        )
    if not all(math.isfinite(number) for number in (*origin.position, *origin.orientation)):
        return _refused('task', 'The task origin must be finite numbers; check where it was computed.', -1, 'origin')
    if max(map(abs, origin.position)) > FARTHEST:
        return _refused('task', f'The task origin is more than {FARTHEST:g} m away; check its unit.', -1, 'origin')
    for thing in scene.objects.values():
        if not max(map(abs, thing.pose.position)) <= FARTHEST:
            sentence = f"'{thing.id}' is more than {FARTHEST:g} m away; correct the scene."
            return _refused('task', sentence, -1, 'scene', (thing.id,))
    if any(isinstance(keyframe, Pick) for keyframe in task.keyframes) and planner.model.gripper is None:
        return _refused(
            'task', f'{planner.model.robot.name} has no gripper to pick with; give it one.', 0, 'no_gripper'
        )
    objects = _objects(task, scene, origin, planner)
    if isinstance(objects, TaskFailure):
        return objects
    picks = [(number, keyframe) for number, keyframe in enumerate(task.keyframes) if isinstance(keyframe, Pick)]
    expected = objects[picks[0][1].object] if picks else None
    for held in scene.attached:
        if held != expected:
            sentence = f"The robot holds '{held}'; put it down, or begin the task with its pick."
            return _refused('task', sentence, -1, 'object', (held,))
    for number, keyframe in picks:
        if objects[keyframe.object] not in scene.attached:
            for sentence in _unfit(scene, objects[keyframe.object]):
                return _refused('task', sentence, number, 'object', (objects[keyframe.object],))
    return objects


def _objects(task: Task, scene: PlanningScene, origin: Pose, planner: TaskPlanner) -> Mapping[str, str] | TaskFailure:
    if all(descriptor.rule is None and descriptor.name in scene for descriptor in task.descriptors):
        return {descriptor.name: descriptor.name for descriptor in task.descriptors}
    resolved = resolve_task(task, scene, origin, link_poses=planner.backend.robot.frames.link_poses(scene.joints))
    wrong = errors(resolved.problems)
    if wrong:
        return _refused('task', '\n'.join(map(str, wrong)), -1, 'no_object', code=Code.INVALID_OBJECT_NAME)
    return resolved.objects


def _unfit(scene: PlanningScene, object: str) -> Iterator[str]:
    """Why an object can be picked by nobody."""
    for part in scene.objects[object].body.parts:
        shape = part.shape
        if isinstance(shape, Box):
            sizes: tuple[float, ...] = shape.size
        elif isinstance(shape, Sphere):
            sizes = (shape.radius,)
        elif isinstance(shape, Cylinder | Cone | Capsule):
            sizes = (shape.radius, shape.height)
        else:
            continue
        if not all(math.isfinite(size) and size > 0.0 for size in sizes):
            yield f"'{object}' has a size of zero; give it its true size in the scene."
            return


def _refused(
    stage: str,
    message: str,
    keyframe: int,
    reason: str,
    subjects: tuple[str, ...] = (),
    code: Code = Code.FAILURE,
) -> TaskFailure:
    return TaskFailure(code, message, keyframe, stage, (RejectionCount(reason, subjects, 1, message),))
