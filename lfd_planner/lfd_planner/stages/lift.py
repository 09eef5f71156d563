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
        path = straight(arm, scene, arm.q(start), upwards(self.distance), self.least)
        if isinstance(path, Rejection):
            yield path
            return
        timed = arm.timed(scene, path)
        if isinstance(timed, Rejection):
            yield timed
            return
        end = start.with_scene(arm.moved(start.scene, path[-1]))
        yield Step.moving(start, end, Motion(self.name, timed, self.keyframe, contacts=contacts))
