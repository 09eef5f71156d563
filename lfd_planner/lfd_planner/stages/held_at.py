"""Bring the held object to a pose in the air."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.task import Context, Generator, Rejection, State, Step

from .arm import Arm
from .grasping import HOLD
from .reach import soonest


class HeldAt(Generator):
    """Brings the arm to where the held object is at a pose of the scene's frame, the nearest positions first."""

    def __init__(
        self, arm: Arm, pose: Pose, *, keyframe: int = -1, most: int | None = None, name: str = 'held'
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.arm, self.pose = arm, pose

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The arm at the pose, the object in the hand."""
        arm, hold = self.arm, before.get(HOLD) if before else None
        if before is None or hold is None:
            yield Rejection('nothing_held', detail='There is nothing in the hand to lead anywhere.')
            return
        pose, now = (self.pose.matrix @ hold.grasp.tcp.matrix)[np.newaxis], arm.q(before)
        for q in soonest(arm, before.scene, pose, now):
            if isinstance(q, Rejection):
                yield q
            else:
                yield Step.at(before.with_scene(arm.moved(before.scene, q)))
