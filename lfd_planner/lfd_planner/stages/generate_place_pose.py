"""Bring the held object to its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Context, Generator, Rejection, State, Step

from .arm import Arm
from .grasping import GOAL, HOLD, Goal, Hold
from .loose_object import LooseObject
from .obstructions import no_room, unsupported
from .reach import soonest


class GeneratePlacePose(Generator):
    """Brings the arm to where the held object is at a pose of the scene's frame, the nearest positions first.

    Args:
        arm: what holds it.
        pose: of the object in the scene's frame.
        rise: how far it is lowered to its place, at least [m].
        keyframe: of the place.
        most: of the arm positions that are tried.
    """

    def __init__(
        self,
        arm: Arm,
        pose: Pose,
        *,
        rise: float = 0.0,
        keyframe: int = -1,
        most: int | None = None,
        name: str = 'place',
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.arm, self.pose, self.rise = arm, pose, rise

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The arm at the place, the object still in the hand."""
        arm, hold = self.arm, before.get(HOLD) if before else None
        if before is None or hold is None:
            yield Rejection('nothing_held', detail='There is nothing in the hand to put down.')
            return
        known = next((goal for goal in hold.goals if goal.pose == self.pose), None)
        goal, wrong, falls = (known, (), ()) if known else self._looked_at(before.scene, hold)
        if wrong:
            yield from wrong
            return
        scene = before.scene.allow(hold.object, *goal.supports)
        pose, now = (self.pose.matrix @ hold.grasp.tcp.matrix)[np.newaxis], arm.q(before)
        for q in soonest(arm, scene, pose, now):
            if isinstance(q, Rejection):
                yield q
            elif falls:  # told only if it gets there
                yield from falls
                return
            else:
                yield Step.at(before.with_scene(arm.moved(before.scene, q)).knowing(GOAL, replace(goal, touched=scene)))

    def _looked_at(self, scene: PlanningScene, hold: Hold) -> tuple[Goal, tuple[Rejection, ...], tuple[Rejection, ...]]:
        """The place and what is there, why it cannot be had, and why the object would fall."""
        body = scene.attached[hold.object].body
        loose = LooseObject(scene.drop(hold.object), hold.object, body)
        found = loose.touching(self.pose)
        wrong = tuple(no_room(loose, self.pose, found, self.rise))
        falls = () if wrong else tuple(unsupported(loose, self.pose, found.supports))
        return Goal(self.pose, found.supports), wrong, falls
