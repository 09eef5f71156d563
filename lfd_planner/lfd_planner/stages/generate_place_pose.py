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
from .reach import soonest


class GeneratePlacePose(Generator):
    """Brings the arm to where the held object is at a pose of the scene's frame, the nearest positions first."""

    def __init__(
        self, arm: Arm, pose: Pose, *, keyframe: int = -1, most: int | None = None, name: str = 'place'
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.arm, self.pose = arm, pose

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The arm at the place, the object still in the hand."""
        arm, hold = self.arm, before.get(HOLD) if before else None
        if before is None or hold is None:
            yield Rejection('nothing_held', detail='There is nothing in the hand to put down.')
            return
        goal = self._goal(before.scene, hold)
        scene = before.scene.allow(hold.object, *goal.supports)
        pose, now = (self.pose.matrix @ hold.grasp.tcp.matrix)[np.newaxis], arm.q(before)
        for q in soonest(arm, scene, pose, now):
            if isinstance(q, Rejection):
                yield q
            else:
                yield Step.at(before.with_scene(arm.moved(before.scene, q)).knowing(GOAL, replace(goal, touched=scene)))

    def _goal(self, scene: PlanningScene, hold: Hold) -> Goal:
        """The place and what is there, which the grasp's choice may know already."""
        for goal in hold.goals:
            if goal.pose == self.pose:
                return goal
        body = scene.attached[hold.object].body
        loose = LooseObject(scene.drop(hold.object), hold.object, body)
        return Goal(self.pose, loose.touching(self.pose).supports)
