"""Do nothing for a while."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm


class Pause(Forward):
    """Stands still for `duration` [s]."""

    def __init__(self, arm: Arm, duration: float, *, keyframe: int = -1, name: str = 'wait') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.duration = arm, duration

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """Nothing changes but the time."""
        still = self.arm.standing(self.arm.q(start), self.duration)
        yield Step.moving(start, start, Motion(self.name, still, self.keyframe))
