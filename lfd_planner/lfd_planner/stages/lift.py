"""Straight up, off what the object stands on."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import HOLD
from .straight import straight, upwards


class Lift(Forward):
    """Lifts the held object; it may touch what it stood on, and nothing else."""

    def __init__(self, arm: Arm, distance: float, least: float, *, keyframe: int = -1, name: str = 'lift') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.distance, self.least = arm, distance, least

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """Along z of the scene's frame."""
        arm, hold = self.arm, start.get(HOLD)
        contacts = tuple((hold.object, support) for support in hold.supports) if hold else ()
        scene = start.scene.allow(hold.object, *hold.supports) if hold else start.scene
        found = straight(arm, scene, arm.q(start), upwards(self.distance), self.least)
        if isinstance(found, Rejection):
            yield found
            return
        end = start.with_scene(arm.moved(start.scene, found.far))
        yield Step.moving(start, end, Motion(self.name, found.trajectory, self.keyframe, contacts=contacts))
