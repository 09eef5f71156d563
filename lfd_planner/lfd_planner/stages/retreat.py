"""Straight back along the fingers, away from what was let go of."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import GOAL, HOLD
from .straight import along_tcp, straight


class Retreat(Forward):
    """Leads the open hand back; `least` of the `distance` [m] must be free. Then nothing is held any more."""

    def __init__(self, arm: Arm, distance: float, least: float, *, keyframe: int = -1, name: str = 'retreat') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.distance, self.least = arm, distance, least

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """Against the tcp's z axis."""
        arm, q, hold = self.arm, self.arm.q(start), start.get(HOLD)
        touched = tuple((link, hold.object) for link in arm.touch_links) if hold and arm.sucks else ()
        scene = start.scene.allow(hold.object, *arm.touch_links) if hold and arm.sucks else start.scene
        found = straight(arm, scene, q, along_tcp(arm, q, -self.distance), self.least)
        if isinstance(found, Rejection):
            yield found
            return
        facts = {name: value for name, value in start.facts.items() if name not in (HOLD.name, GOAL.name)}
        end = State(arm.moved(start.scene, found.far), facts)
        yield Step.moving(start, end, Motion(self.name, found.trajectory, self.keyframe, contacts=touched))
