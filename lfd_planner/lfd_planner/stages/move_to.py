"""Go to a named pose of the arm."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lfd_description.urdf import Matrix
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
        samples = arm.search.iterations * context.effort
        timed = arm.free_way(context, start.scene, arm.q(start), self.goal, samples)
        if isinstance(timed, Rejection):
            context.gave_up = True
            yield timed
            return
        end = start.with_scene(arm.moved(start.scene, self.goal))
        yield Step.moving(start, end, Motion(self.name, timed, self.keyframe))
