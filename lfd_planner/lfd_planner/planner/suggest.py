"""The nearest that would work: small changes of where the task is done, tried without planning any motion."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lfd_planner.mtdf import Pick, Place, Task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.reach import reach
from lfd_planner.task import State

from .compose import Composition, carried

STEP = 0.02  # [m] between two tries
FARTHEST = 0.2  # [m] beyond what the arm's length tells, that is tried
MOST_CHECKED = 8  # tries that are checked for collisions
WHERE = frozenset({'unreachable', 'joint_limit', 'collision', 'place_occupied', 'joint_jump', 'no_path'})
"""Reasons that another place can cure."""


def suggestion(task: Task, composition: Composition, keyframe: int, reasons: frozenset[str]) -> str:
    """What would make a keyframe feasible that is not; empty if nothing near does."""
    first = _pick_of(task, keyframe)
    if first is None or not reasons & WHERE:
        return ''
    if isinstance(task.keyframes[keyframe], Pick):
        return _nearer_object(task, composition, first)
    return _nearer_origin(task, composition, first)


def _pick_of(task: Task, keyframe: int) -> int | None:
    """The pick whose object a keyframe moves."""
    number = 0
    while number < len(task.keyframes):
        count = carried(task.keyframes, number)
        if number <= keyframe < number + count:
            return number if isinstance(task.keyframes[number], Pick) else None
        number += count
    return None


def _nearer_origin(task: Task, composition: Composition, first: int) -> str:
    place = next(keyframe for keyframe in task.keyframes[first:] if isinstance(keyframe, Place))
    here = (composition.origin @ place.pose).position
    for words, shift in _shifts(composition, here):
        origin = _shifted(composition.origin, shift)
        if _serves(task, replace(composition, origin=origin), first):
            return f'It can be done if the task origin moves {_length(shift)} {words}.'
    return ''


def _nearer_object(task: Task, composition: Composition, first: int) -> str:
    pick = task.keyframes[first]
    object = composition.objects[pick.object] if isinstance(pick, Pick) else ''
    pose = _before(task, composition, first).objects[object].pose
    for words, shift in _shifts(composition, pose.position):
        scene = composition.scene.move(object, _shifted(pose, shift))
        if _serves(task, replace(composition, scene=scene), first):
            return f"It can be done if '{object}' is moved {_length(shift)} {words}."
    return ''


def _shifts(composition: Composition, here: tuple[float, float, float]) -> Iterator[tuple[str, np.ndarray]]:
    """Ways to move something, the shortest first."""
    base = composition.arm.base[:3, 3]
    way = base[:2] - np.array(here[:2])
    distance = float(np.linalg.norm(way))
    inwards = np.array([*(way / distance if distance > 1e-6 else (1.0, 0.0)), 0.0])
    too_far = max(0.0, math.dist(here, base.tolist()) - composition.reach)
    least = STEP * max(0, math.ceil(too_far / STEP - 1.0))
    for number in range(1, round(FARTHEST / STEP) + 1):
        length = least + number * STEP
        if length < distance:
            yield 'towards the robot', inwards * length
        if least == 0.0:
            yield 'away from the robot', -inwards * length
            yield 'up', np.array([0.0, 0.0, length])


def _serves(task: Task, composition: Composition, first: int) -> bool:
    """Whether a grasp serves a pick and its purposes, in the scene as it is after all keyframes before."""
    count = carried(task.keyframes, first)
    pick = task.keyframes[first]
    if not isinstance(pick, Pick):
        return False
    state = State(_before(task, composition, first))
    stage = composition.grasps(pick, composition.purposes(task.keyframes[first : first + count], first), first)
    poses = (state.scene.objects[stage.object].pose, *(purpose.pose for purpose in stage.purposes))
    now = composition.arm.q(state)
    for pose in poses:
        if not len(reach(composition.arm, state.scene, pose.matrix @ stage.grasps.tcp_matrices, now, free=False).q):
            return False
    return stage.serves(state)


def _before(task: Task, composition: Composition, first: int) -> PlanningScene:
    """The scene with all objects where the keyframes before put them."""
    scene = composition.scene
    for keyframe in task.keyframes[:first]:
        if isinstance(keyframe, Place) and composition.objects[keyframe.object] in scene.objects:
            scene = scene.move(composition.objects[keyframe.object], composition.origin @ keyframe.pose)
    return scene


def _shifted(pose: Pose, shift: np.ndarray) -> Pose:
    x, y, z = (np.array(pose.position) + shift).tolist()
    return Pose((x, y, z), pose.orientation)


def _length(shift: np.ndarray) -> str:
    return f'{100.0 * float(np.linalg.norm(shift)):.0f} cm'
