"""From a plan that failed to what a person is told of it: why in one sentence, and what would work."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from lfd_description.meshes import MeshError
from lfd_planner.mtdf import Keyframe, Pick, Place, Task
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle, nearest_place
from lfd_planner.scene import PlanningScene

from ..studio.values import PlanResult
from .sentences import advice, why_not

ELSEWHERE = frozenset({'unreachable', 'joint_limit', 'collision', 'place_occupied', 'blocked_above', 'unsupported'})
"""Reasons that another place can cure."""
ENDS = frozenset({'grasp', 'place'})
"""Stages that are about where an object is."""


@dataclass(frozen=True)
class Asked:
    """What was to be planned."""

    task: Task
    origin: Pose
    """Of the task's poses in the scene's frame."""
    scene: PlanningScene
    """Objects where they are before the task is done."""


def explained(failed: PlanResult, asked: Asked, oracle: Callable[[], PoseOracle]) -> PlanResult:
    """A plan that failed, with texts for people.

    Args:
        failed: as the planner told it.
        asked: what was to be planned.
        oracle: of the robot; asked for only if its judgement is needed.
    """
    number, keyframes = failed.keyframe, asked.task.keyframes
    keyframe = keyframes[number] if 0 <= number < len(keyframes) else None
    stands = None if keyframe is None else _stands(asked, keyframe, number)
    fit, other = '', ''
    if stands is not None and failed.reasons:
        with suppress(MeshError):  # the planner's own words must do then
            fit, other = _judged(failed, stands, oracle)
    objects = {*asked.scene.objects, *asked.scene.attached}
    message = why_not(keyframe, failed.stage, failed.reasons, objects, failed.message, fit)
    return replace(failed, message=message, suggestion=advice(failed.suggestion, keyframe) or other)


@dataclass(frozen=True)
class _Stands:
    """An object where a keyframe has it."""

    scene: PlanningScene
    """Before the keyframe."""
    object: str
    pose: Pose
    is_pick: bool


def _stands(asked: Asked, keyframe: Keyframe, number: int) -> _Stands | None:
    """Where the object of a pick or a place is; None of other keyframes, and of objects that stand nowhere."""
    if not isinstance(keyframe, Pick | Place):
        return None
    scene, name = asked.scene, keyframe.object
    for before in asked.task.keyframes[:number]:
        if isinstance(before, Place) and before.object in scene.objects:
            scene = scene.move(before.object, asked.origin @ before.pose)
    if name not in scene.objects:
        return None
    is_pick = isinstance(keyframe, Pick)
    pose = scene.objects[name].pose if isinstance(keyframe, Pick) else asked.origin @ keyframe.pose
    return _Stands(scene, name, pose, is_pick)


def _judged(failed: PlanResult, stands: _Stands, oracle: Callable[[], PoseOracle]) -> tuple[str, str]:
    """Why no hand holds an object, if that is the reason, and where it could stand instead."""
    reason = failed.reasons[0][0]
    if reason in ELSEWHERE and failed.stage in ENDS:
        if failed.suggestion:
            return '', ''
        found = nearest_place(oracle(), stands.scene, stands.object, stands.pose)
        return '', '' if found is None else f'Move it first: {found}.' if stands.is_pick else f'Put it {found}.'
    if failed.stage == 'grasp' and reason not in ELSEWHERE:
        return oracle().judge(stands.scene, stands.object, stands.pose).reason, ''
    return '', ''
