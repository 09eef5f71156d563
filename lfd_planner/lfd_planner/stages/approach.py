"""Straight along the fingers to the grasp."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Backward, Context, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import HOLD
from .straight import along_tcp, straight


class Approach(Backward):
    """Leads the open hand to the object; `least` of the `distance` [m] must be free."""

    def __init__(self, arm: Arm, distance: float, least: float, *, keyframe: int = -1, name: str = 'approach') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.distance, self.least = arm, distance, least

    def backward(self, context: Context, end: State) -> Iterable[Step | Rejection]:
        """From where the hand is not yet at the object."""
        arm, q, hold = self.arm, self.arm.q(end), end.get(HOLD)
        touched = tuple((link, hold.object) for link in arm.touch_links) if hold and arm.sucks else ()
        scene = end.scene.allow(hold.object, *arm.touch_links) if hold and arm.sucks else end.scene
        found = straight(arm, scene, q, along_tcp(arm, q, -self.distance), self.least, backwards=True)
        if isinstance(found, Rejection):
            yield found
            return
        start = end.with_scene(arm.moved(end.scene, found.far))
        yield Step.moving(start, end, Motion(self.name, found.trajectory, self.keyframe, contacts=touched))
