"""How good a demonstration is before it is planned: whether each keyframe has grasps, reach and a stable end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lfd_planner.mtdf import Keyframe, Pick, Place, Task
from lfd_planner.planner import TaskFailure, TaskPlanner
from lfd_planner.planner.checks import checked
from lfd_planner.planner.compose import Composition, carried
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.arm import Arm
from lfd_planner.stages.grasping import HOLD
from lfd_planner.task import Context, Rejection, State, Step

from .boxes import Boxes
from .stays import falls
from .verdict import BAD, GOOD, HARD, UNKNOWN, out_of_reach, steps_from_one, words

ENOUGH = 4  # grasps that serve a pick and its place, below which that counts as hard
MOST_WAYS = 400  # of picking and placing that are counted
WORST_WAY = 50  # points for one way only; there are 100 for enough of them
UNSTABLE = 30  # points at most, if the object does not stay
UNHELD = 60  # points at most, if the task ends with an object in the hand


@dataclass(frozen=True)
class KeyframeQuality:
    """How well one keyframe can be done."""

    index: int
    score: int
    """0..100"""
    grasps: int
    """That serve the pick and all that follows until the place; 0 of keyframes that move nothing."""
    reach: str
    """good, hard, bad or unknown."""
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Quality:
    """How good a demonstration is."""

    score: int
    """0..100, of the worst keyframe."""
    keyframes: tuple[KeyframeQuality, ...] = ()
    reasons: tuple[str, ...] = ()
    """A sentence each."""


def assess(planner: TaskPlanner, task: Task, origin: Pose, scene: PlanningScene) -> Quality:
    """Judge a task that begins in a scene.

    Args:
        planner: of the robot that shall do it.
        task: what was shown.
        origin: of the task's poses in the scene's frame.
        scene: objects where they are before the task is done.
    """
    start = planner.start_scene(scene)
    objects = checked(task, start, origin, planner)
    if isinstance(objects, TaskFailure):
        return Quality(0, (), (steps_from_one(objects.message),))
    if not task.keyframes:
        return Quality(0, (), ('The task has no keyframes; show something.',))
    arm = Arm.of(planner.model, planner.backend)
    composition = Composition(arm, start, objects, origin, regrasp=False, reach=planner.model.robot.reach)
    found = tuple(_Assessing(composition, task).keyframes())
    reasons = tuple(f'Step {one.index + 1}: {reason}.' for one in found for reason in one.reasons)
    return Quality(min(one.score for one in found), found, reasons)


class _Assessing:
    """Goes through a task, and moves objects to their places as it goes."""

    def __init__(self, composition: Composition, task: Task) -> None:
        self._composition, self._keyframes, self._scene = composition, task.keyframes, composition.scene
        self._boxes = Boxes()

    def keyframes(self) -> Iterator[KeyframeQuality]:
        """All of them, in order."""
        number = 0
        while number < len(self._keyframes):
            count = carried(self._keyframes, number)
            yield from self._group(self._keyframes[number : number + count], number)
            number += count

    def _group(self, group: Sequence[Keyframe], first: int) -> Iterator[KeyframeQuality]:
        pick = group[0]
        if not isinstance(pick, Pick):
            return iter([KeyframeQuality(first, 100, 0, UNKNOWN)])
        name = self._composition.objects[pick.object]
        if name not in self._scene.objects:  # in the robot's hand from the start
            return iter([KeyframeQuality(first + n, 100, 0, UNKNOWN) for n in range(len(group))])
        grasps, rejections = self._ways(pick, group, first)
        return self._judged(group, first, name, grasps, rejections)

    def _ways(self, pick: Pick, group: Sequence[Keyframe], first: int) -> tuple[int, list[Rejection]]:
        """How many grasps serve a pick and what follows, and why there are none."""
        composition = self._composition
        stage = composition.grasps(pick, composition.purposes(group, first), first)
        found = list(islice(stage.generate(Context(), State(self._scene)), MOST_WAYS))
        held = [step.end.get(HOLD) for step in found if isinstance(step, Step)]
        return len({hold.grasp.tcp for hold in held if hold}), [why for why in found if isinstance(why, Rejection)]

    def _judged(
        self, group: Sequence[Keyframe], first: int, name: str, grasps: int, rejections: list[Rejection]
    ) -> Iterator[KeyframeQuality]:
        for number, keyframe in enumerate(group, first):
            here = [why for why in rejections if (first if why.keyframe is None else why.keyframe) == number]
            pose = self._composition.origin @ keyframe.pose if isinstance(keyframe, Place) else None
            stands = self._scene.objects[name].pose if pose is None else pose
            reasons = [self._words(why, stands) for why in sorted(here, key=lambda why: -why.count)[:2]]
            score, reach = _score(grasps)
            if grasps and grasps < ENOUGH and keyframe is group[0]:
                reasons.append(f'only {grasps} {"grasp serves" if grasps == 1 else "grasps serve"} pick and place')
            if pose is not None:
                falls = self._put(name, pose)
                reasons += falls
                score = min(score, UNSTABLE) if falls else score
            elif keyframe is group[-1]:
                reasons.append(f"the task ends with '{name}' in the hand")
                score = min(score, UNHELD)
            yield KeyframeQuality(number, score, grasps, reach, tuple(reasons))

    def _words(self, why: Rejection, pose: Pose) -> str:
        """Why an object cannot be held at a pose."""
        composition = self._composition
        away = math.dist(pose.position, composition.arm.base[:3, 3].tolist())
        if why.reason == 'unreachable' and away > composition.reach:
            return out_of_reach(away, composition.reach)
        return words(why)

    def _put(self, name: str, pose: Pose) -> list[str]:
        """Put an object to its place; gives why it will not stay there."""
        self._scene = self._scene.move(name, pose)
        return list(falls(self._scene, self._scene.objects[name], self._boxes))


def _score(grasps: int) -> tuple[int, str]:
    """Points and reach of a pick and place that so many grasps serve."""
    if grasps == 0:
        return 0, BAD
    if grasps >= ENOUGH:
        return 100, GOOD
    return WORST_WAY + (100 - WORST_WAY) * (grasps - 1) // (ENOUGH - 1), HARD
