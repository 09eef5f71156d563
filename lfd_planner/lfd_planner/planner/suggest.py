"""The nearest that would work: small changes of where the task is done, tried without planning any motion."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from lfd_planner.mtdf import Pick, Place, Task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.generate_grasps import GenerateGrasps
from lfd_planner.stages.loose_object import LooseObject
from lfd_planner.task import State

from .compose import Composition, carried

STEP, FAR_STEP = 0.02, 0.1  # [m] between two tries, near and farther away
FARTHEST = 0.16  # [m] beyond what the arm's length tells, that is near
MOST_CHECKED = 4  # tries that are checked for collisions
MOST_PICKS = 12  # others of the task that are checked, too
WHERE = frozenset({'unreachable', 'joint_limit', 'collision', 'place_occupied', 'blocked_above'})
"""Reasons that another place can cure."""
ENDS = frozenset({'grasp', 'place'})
"""The stages whose failures can be told cured without planning any motion."""


def suggestion(task: Task, composition: Composition, keyframe: int, stage: str, reasons: frozenset[str]) -> str:
    """What would make a keyframe feasible that fails in a stage; empty if nothing near does, or nobody knows.

    It says so if others would fail then.
    """
    first = _pick_of(task, keyframe)
    if first is None or stage not in ENDS or not reasons & WHERE:
        return ''
    if isinstance(task.keyframes[keyframe], Pick):
        return _nearer_object(task, composition, first)
    return _nearer_origin(task, composition, first)


@dataclass(frozen=True)
class _Cure:
    """A shift with which a keyframe can be done."""

    way: str
    """How far and where to."""
    whole: bool
    """Whether all others can be done too."""

    def told(self, who: str) -> str:
        """The sentence for people; `who` is what is moved."""
        if self.whole:
            return f'It can be done if {who} {self.way}.'
        return f'This keyframe can be done if {who} {self.way}, but then not all others.'


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
    last = task.keyframes[first + carried(task.keyframes, first) - 1]
    if not isinstance(last, Place):
        return ''
    scene, object = _before(task, composition, first), composition.objects[last.object]
    if object not in scene.objects:
        return ''
    shifts = _shifts(composition, scene, object, composition.origin @ last.pose)
    moved = (
        (shift, words, replace(composition, origin=_shifted(composition.origin, shift))) for words, shift in shifts
    )
    found = _first_served(task, moved, first)
    return found.told('the task origin moves') if found else ''


def _nearer_object(task: Task, composition: Composition, first: int) -> str:
    pick = task.keyframes[first]
    object = composition.objects[pick.object] if isinstance(pick, Pick) else ''
    before = _before(task, composition, first)
    if object not in before.objects or object in composition.scene.attached:
        return ''
    pose = before.objects[object].pose
    moved = (
        (shift, words, replace(composition, scene=composition.scene.move(object, _shifted(pose, shift))))
        for words, shift in _shifts(composition, before, object, pose)
    )
    found = _first_served(task, moved, first)
    return found.told(f"'{object}' is moved") if found else ''


def _first_served(task: Task, moved: Iterable[tuple[np.ndarray, str, Composition]], first: int) -> _Cure | None:
    """The first shift with which a grasp serves a pick and its purposes, and others serve all other picks.

    Few are looked at for collisions. If there is none, the first that serves the pick.
    """
    others = [number for number in _picks(task) if number != first]
    tries = ((shift, words, made, *_picked(task, made, first)) for shift, words, made in moved)
    hopeful = (found for found in tries if found[3].within_reach(found[4]))
    best: _Cure | None = None
    for shift, words, made, stage, state in itertools.islice(hopeful, MOST_CHECKED):
        if not stage.is_free(state):
            continue
        whole = len(others) <= MOST_PICKS and all(_is_served(task, made, other) for other in others)
        if whole or best is None:
            best = _Cure(f'{_length(shift)} {words}', whole)
        if whole or len(others) > MOST_PICKS:
            break
    return best


def _picks(task: Task) -> list[int]:
    return [number for number, keyframe in enumerate(task.keyframes) if isinstance(keyframe, Pick)]


def _is_served(task: Task, composition: Composition, first: int) -> bool:
    """Whether there is a grasp for a pick and its purposes, as far as the ends of motions tell."""
    stage, state = _picked(task, composition, first)
    return stage.object in state.scene.objects and stage.serves(state)


def _shifts(
    composition: Composition, scene: PlanningScene, object: str, pose: Pose
) -> Iterator[tuple[str, np.ndarray]]:
    """Ways to move an object from a pose, up where that gets it out of others, and else the shortest first."""
    loose = LooseObject(scene, object)
    height = loose.free_height(pose, FARTHEST) if loose.touching(pose).overlaps else None
    if height is not None:
        yield 'up', np.array([0.0, 0.0, height])
    here, base = pose.position, composition.arm.base[:3, 3]
    way = base[:2] - np.array(here[:2])
    distance = float(np.linalg.norm(way))
    inwards = np.array([*(way / distance if distance > 1e-6 else (1.0, 0.0)), 0.0])
    too_far = max(0.0, math.dist(here, base.tolist()) - composition.reach)
    least = STEP * max(0, math.ceil(too_far / STEP - 1.0))
    for length in np.arange(least, least + FARTHEST, STEP) + STEP:
        if length < distance:
            yield 'towards the robot', inwards * length
        if least == 0.0:
            yield 'away from the robot', -inwards * length
    for length in np.arange(least + FARTHEST, distance if least else 0.0, FAR_STEP) + FAR_STEP:
        yield 'towards the robot', inwards * length


def _picked(task: Task, composition: Composition, first: int) -> tuple[GenerateGrasps, State]:
    """The grasps of a pick, and the state before it, with all objects where the keyframes before put them."""
    pick = task.keyframes[first]
    if not isinstance(pick, Pick):
        raise ValueError(f'keyframes[{first}] is no pick.')
    keyframes = task.keyframes[first : first + carried(task.keyframes, first)]
    state = State(_before(task, composition, first))
    purposes = composition.purposes(keyframes, first)
    if composition.in_hand(task.keyframes, first):
        return composition.held_grasp(pick, purposes, first), state
    return composition.grasps(pick, purposes, first), state


def _before(task: Task, composition: Composition, first: int) -> PlanningScene:
    """The scene with all objects where the keyframes before put them, and nothing in the hand."""
    scene = composition.scene
    link_poses = composition.arm.backend.robot.frames.link_poses(scene.joints)
    for held in scene.attached:
        scene = scene.detach(held, link_poses)
    for keyframe in task.keyframes[:first]:
        if isinstance(keyframe, Place) and composition.objects[keyframe.object] in scene.objects:
            scene = scene.move(composition.objects[keyframe.object], composition.origin @ keyframe.pose)
    return scene


def _shifted(pose: Pose, shift: np.ndarray) -> Pose:
    x, y, z = (np.array(pose.position) + shift).tolist()
    return Pose((x, y, z), pose.orientation)


def _length(shift: np.ndarray) -> str:
    length = float(np.linalg.norm(shift))
    return f'{1000.0 * length:.0f} mm' if shift[2] else f'{100.0 * length:.0f} cm'
