"""Lead the held object along a demonstrated way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step
from lfd_planner.timing import Trajectory

from .arm import Arm
from .grasping import HOLD


class FollowTrajectory(Forward):
    """Leads the held object, which is at the first of the poses, straight through the others.

    Args:
        arm: what holds it.
        poses: of the object in the scene's frame.
        times: when each is to be reached [s], or none; the motion as a whole is slowed down to take no less.
        speed: of the object along the way [m/s], which is not exceeded on average; None: as fast as the arm can.
    """

    def __init__(
        self,
        arm: Arm,
        poses: Sequence[Pose],
        times: Sequence[float] = (),
        speed: float | None = None,
        *,
        keyframe: int = -1,
        name: str = 'trajectory',
    ) -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.poses, self.times, self.speed = arm, tuple(poses), tuple(times), speed

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """Straight from pose to pose."""
        arm, hold = self.arm, start.get(HOLD)
        if hold is None:
            yield Rejection('nothing_held', detail='There is nothing in the hand to lead anywhere.')
            return
        if len(self.poses) < 2:
            yield Step.at(start)
            return
        tcps = np.array([pose.matrix @ hold.grasp.tcp.matrix for pose in self.poses[1:]])
        found = arm.line(start.scene, arm.q(start), tcps)
        if found.fraction < 1.0:
            yield arm.why_line_ends(start.scene, found, tcps[-1])
            return
        timed = arm.timed(start.scene, found.q)
        if isinstance(timed, Rejection):
            yield timed
            return
        slow = _slowed(timed, self._duration())
        end = start.with_scene(arm.moved(start.scene, found.q[-1]))
        yield Step.moving(start, end, Motion(self.name, slow, self.keyframe))

    def _duration(self) -> float:
        """How long it takes at least [s]."""
        if self.times:
            return self.times[-1] - self.times[0]
        if self.speed is None:
            return 0.0
        places = np.array([pose.position for pose in self.poses])
        return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) / self.speed


def _slowed(motion: Trajectory, duration: float) -> Trajectory:
    """The same motion, taking so many seconds if it takes less."""
    if motion.duration >= duration or motion.duration == 0.0:
        return motion
    factor = duration / motion.duration
    return Trajectory(motion.times * factor, motion.q, motion.v / factor)
