"""A free motion from where one stage ended to where the next begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from lfd_planner.backends import Failure
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Connector, Context, Motion, Rejection, State, Step
from lfd_planner.timing import Trajectory

from .arm import Arm


class Connect(Connector):
    """Searches a way in joint space; before it, the hand takes the posture that it has at the end."""

    def __init__(self, arm: Arm, *, keyframe: int = -1, name: str = 'connect') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm = arm

    def connect(self, context: Context, start: State, end: State) -> Iterable[Step | Rejection]:
        """One way, the shortest that the search found."""
        arm = self.arm
        opening, scene = self._opening(start, end)
        q0, q1 = arm.q(start), arm.q(end)
        options = replace(
            arm.search,
            seed=arm.search.seed + context.seed,
            budget=min(arm.search.budget, context.seconds_left),
            should_stop=context.should_stop,
        )
        found = arm.backend.plan_joint(scene, arm.group, q0, q1[np.newaxis], options)
        if isinstance(found, Failure):
            yield Rejection('no_path', self._ends(start, end), detail=found.message)
            return
        timed = arm.timed(scene, found.q)
        if isinstance(timed, Rejection):
            yield timed
            return
        yield Step.moving(start, end, *opening, Motion(self.name, timed, self.keyframe))

    def _opening(self, start: State, end: State) -> tuple[tuple[Motion, ...], PlanningScene]:
        """How the hand gets its posture for the way, and the scene on the way."""
        arm = self.arm
        before, after = arm.hand_of(start.scene), arm.hand_of(end.scene)
        if before == after:
            return (), start.scene
        still: Trajectory = arm.standing(arm.q(start), arm.hand_time(before, after))
        return (Motion('open', still, self.keyframe, gripper=after),), start.scene.with_joints(after)

    def _ends(self, start: State, end: State) -> tuple[str, ...]:
        return tuple(start.scene.attached)
