"""Lead the held object along a demonstrated way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step
from lfd_planner.timing import Trajectory

from .arm import Arm
from .grasping import HOLD

SAME = 1e-4  # [m, or of a direction] between two poses that are one


class FollowTrajectory(Forward):
    """Leads the held object, which is at the first of the poses, straight through the others.

    Args:
        arm: what holds it.
        poses: of the object in the scene's frame.
        times: when each is to be reached [s], or none; where the arm is too slow for them, all are later alike.
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
        timed = self._timed(start.scene, found.q, tcps)
        if isinstance(timed, Rejection):
            yield timed
            return
        end = start.with_scene(arm.moved(start.scene, found.q[-1]))
        yield Step.moving(start, end, Motion(self.name, timed, self.keyframe))

    def _timed(self, scene: PlanningScene, path: Matrix, tcps: Matrix) -> Trajectory | Rejection:
        """The motion along the path as fast as it should be."""
        if self.times:
            rows, times = self._schedule(path, tcps)
            return self.arm.timed_at(scene, path[rows], times)
        timed = self.arm.timed(scene, path)
        return timed if isinstance(timed, Rejection) else _slowed(timed, self._duration())

    def _schedule(self, path: Matrix, tcps: Matrix) -> tuple[list[int], Matrix]:
        """Which rows of the path to be at, and when [s]: at the poses as asked, and evenly between them."""
        rows, times = [0], [0.0]
        for tcp, time in zip(tcps, np.array(self.times[1:]) - self.times[0], strict=True):
            last = rows[-1]
            reached = next((row for row in range(last, len(path)) if self._is_at(path[row], tcp)), len(path) - 1)
            between = list(range(last + 1, reached + 1)) or [last]  # the same pose again: the arm waits
            times += np.linspace(times[-1], time, len(between) + 1)[1:].tolist()
            rows += between
        return rows, np.array(times)

    def _is_at(self, q: Matrix, tcp: Matrix) -> bool:
        return bool(np.abs(self.arm.pose(q) - tcp).max() < SAME)

    def _duration(self) -> float:
        """How long it takes at least [s]."""
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
