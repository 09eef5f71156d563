"""Signals of the cell: switch an output, or wait for an input."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.solution import Awaited
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm


class SwitchOutput(Forward):
    """Switches or sets an output, the arm at rest."""

    def __init__(self, arm: Arm, signal: str, value: bool | float, *, keyframe: int = -1, name: str = 'io') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.signal, self.value = arm, signal, value

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """It takes no time."""
        still = self.arm.standing(self.arm.q(start), 0.0)
        yield Step.moving(start, start, Motion(self.name, still, self.keyframe, outputs={self.signal: self.value}))


class AwaitSignal(Forward):
    """A place where execution waits for an input; planning takes no time for it."""

    def __init__(self, arm: Arm, awaited: Awaited, *, keyframe: int = -1, name: str = 'await') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.awaited = arm, awaited

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """It takes no time in the plan."""
        still = self.arm.standing(self.arm.q(start), 0.0)
        yield Step.moving(start, start, Motion(self.name, still, self.keyframe, awaits=self.awaited))
