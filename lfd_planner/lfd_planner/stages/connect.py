"""A free motion from where one stage ended to where the next begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Connector, Context, Motion, Rejection, State, Step
from lfd_planner.timing import Trajectory

from .arm import Arm

FIRST = 125  # random samples of the first search; each one that fails is followed by one twice as long
LEAST = 50  # samples of a search, when long ones have failed


class Connect(Connector):
    """Searches a way in joint space; before it, the hand takes the posture that it has at the end.

    Where there is a way, few samples find it, mostly. So the first searches are short. After the first that fails, the
    hand gets straight out of its narrow place before it is searched. When the longest has failed, those for other ends
    are not worth much any more, until somebody asks for more effort.
    """

    def __init__(self, arm: Arm, *, keyframe: int = -1, name: str = 'connect') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm = arm
        self._failed: Counter[int] = Counter()  # searches without a way, by effort

    def connect(self, context: Context, start: State, end: State) -> Iterable[Step | Rejection]:
        """One way, the shortest that the search found."""
        opening, scene = self._opening(start, end)
        timed = self._way(context, scene, self.arm.q(start), self.arm.q(end))
        if isinstance(timed, Rejection):
            yield timed
            return
        yield Step.moving(start, end, *opening, Motion(self.name, timed, self.keyframe))

    def _way(self, context: Context, scene: PlanningScene, q0: Matrix, q1: Matrix) -> Trajectory | Rejection:
        first = not self._failed[context.effort]
        found = self._searched(context, scene, q0, q1, withdrawn=not first)
        if first and isinstance(found, Rejection) and not context.stopped:
            found = self._searched(context, scene, q0, q1, withdrawn=True)
        return found

    def _searched(
        self, context: Context, scene: PlanningScene, q0: Matrix, q1: Matrix, *, withdrawn: bool
    ) -> Trajectory | Rejection:
        found = self.arm.free_way(context, scene, q0, q1, self._samples(context), withdrawn=withdrawn)
        if isinstance(found, Rejection):
            self._failed[context.effort] += 1
            context.gave_up = True
        return found

    def _samples(self, context: Context) -> int:
        """How many samples the next search may take."""
        longest, samples = self.arm.search.iterations * context.effort, FIRST << self._failed[context.effort]
        return min(samples, longest) if samples < 2 * longest else LEAST

    def _opening(self, start: State, end: State) -> tuple[tuple[Motion, ...], PlanningScene]:
        """How the hand gets its posture for the way, and the scene on the way."""
        arm = self.arm
        before, after = arm.hand_of(start.scene), arm.hand_of(end.scene)
        if before == after:
            return (), start.scene
        still: Trajectory = arm.standing(arm.q(start), arm.hand_time(before, after))
        return (Motion('open', still, self.keyframe, gripper=after),), start.scene.with_joints(after)
