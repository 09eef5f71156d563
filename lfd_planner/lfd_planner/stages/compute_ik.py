"""Bring the hand to poses, in all ways that the arm has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.task import Context, Generator, Rejection, State, Step

from .arm import Arm
from .reach import soonest


class ComputeIk(Generator):
    """Brings the tcp to any of some poses in the scene's frame, the positions first that are reached soonest."""

    def __init__(
        self, arm: Arm, poses: Sequence[Pose], *, keyframe: int = -1, most: int | None = None, name: str = 'ik'
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.arm, self.poses = arm, tuple(poses)

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The arm at the poses, free of collisions; all else is as it was before."""
        if before is None or not self.poses:
            yield Rejection('no_pose', detail='There is no pose to bring the hand to, or no state to begin from.')
            return
        arm, now = self.arm, self.arm.q(before)
        poses = np.array([pose.matrix for pose in self.poses])
        for q in soonest(arm, before.scene, poses, now):
            if isinstance(q, Rejection):
                yield q
            else:
                yield Step.at(before.with_scene(arm.moved(before.scene, q)))
