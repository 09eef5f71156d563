"""Straight down to the place."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Backward, Context, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import GOAL, HOLD
from .straight import straight, upwards


class Lower(Backward):
    """Lowers the held object; it may touch what it will stand on, and nothing else."""

    def __init__(self, arm: Arm, distance: float, least: float, *, keyframe: int = -1, name: str = 'lower') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.distance, self.least = arm, distance, least

    def backward(self, context: Context, end: State) -> Iterable[Step | Rejection]:
        """Along z of the scene's frame."""
        arm, hold, goal = self.arm, end.get(HOLD), end.get(GOAL)
        contacts = tuple((hold.object, support) for support in goal.supports) if hold and goal else ()
        scene = goal.touched if goal and goal.touched else end.scene
        found = straight(arm, scene, arm.q(end), upwards(self.distance), self.least, backwards=True)
        if isinstance(found, Rejection):
            yield found
            return
        start = end.with_scene(arm.moved(end.scene, found.far))
        yield Step.moving(start, end, Motion(self.name, found.trajectory, self.keyframe, contacts=contacts))
