"""Go to a named pose of the arm."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.backends import Failure
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm


class MoveTo(Forward):
    """Brings the arm to positions q, (dof,) [rad or m], on a free way."""

    def __init__(self, arm: Arm, q: Matrix, *, keyframe: int = -1, name: str = 'move to') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.goal = arm, np.ascontiguousarray(q, dtype=np.float64)

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """One way."""
        arm = self.arm
        options = replace(
            arm.search,
            seed=arm.search.seed + context.seed,
            budget=min(arm.search.budget, context.seconds_left),
            should_stop=context.should_stop,
        )
        found = arm.backend.plan_joint(start.scene, arm.group, arm.q(start), self.goal[np.newaxis], options)
        if isinstance(found, Failure):
            yield Rejection('no_path', detail=found.message)
            return
        timed = arm.timed(start.scene, found.q)
        if isinstance(timed, Rejection):
            yield timed
            return
        end = start.with_scene(arm.moved(start.scene, self.goal))
        yield Step.moving(start, end, Motion('home', timed, self.keyframe))
