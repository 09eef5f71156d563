"""Whether an arm can hold an object at a pose: its grasps, the arm's positions for them, and what these touch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.backends import PlanningBackend
from lfd_planner.grasps import GraspSet, generate_grasps
from lfd_planner.planner import TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.arm import Arm
from lfd_planner.stages.reach import reach, why_not
from lfd_planner.task import Rejection

from .verdict import BAD, UNKNOWN, Verdict, most_frequent, out_of_reach, verdict_of, words

MOST_GRASPS = 96  # of an object that are tried: the best, and some of all others
NEAR_SHARE = 0.3  # of an arm's reach, within which something out of reach is too near


class PoseOracle:
    """Judges poses for one robot; several threads may ask at once.

    The object itself is not in the arm's way: grasps are made so that a hand fits around it.

    Args:
        model: the robot and its gripper.
        backend: what computes; one of its own unless given.
    """

    def __init__(self, model: RobotModel, backend: PlanningBackend | None = None) -> None:
        self._planner = TaskPlanner(model, backend)
        self._arm = Arm.of(model, self._planner.backend)
        self._made: tuple[PlanningScene, PlanningScene] | None = None

    @property
    def base(self) -> npt.NDArray[np.float64]:
        """Where the arm stands in the scene's frame, (3,) [m]."""
        return np.asarray(self._arm.base[:3, 3])

    @property
    def reach(self) -> float:
        """How far the arm reaches from its base [m]."""
        return float(self._planner.model.robot.reach)

    def judge(self, scene: PlanningScene, object: str, pose: Pose) -> Verdict:
        """Whether the robot can hold an object of the scene at a pose in the scene's frame, whatever brought it there.

        Raises:
            MeshError: the object has a mesh file that cannot be used.
        """
        body, gripper = scene.body(object), self._arm.gripper
        if body is None:
            return Verdict(UNKNOWN, f"there is no object '{object}'")
        if gripper is None:
            return Verdict(BAD, 'the robot has no gripper')
        grasps = generate_grasps(body, gripper.grasp_data)
        if not len(grasps):
            why = max(grasps.rejections, key=lambda found: found.count, default=None)
            return Verdict(BAD, why.detail if why else 'nothing to hold it by')
        return self._at(self._around(scene, object), grasps, pose)

    def _at(self, scene: PlanningScene, grasps: GraspSet, pose: Pose) -> Verdict:
        numbers = _some(len(grasps))
        widest = int(numbers[np.argmax(np.nan_to_num(grasps.widths[numbers]))])
        opened = scene.with_joints(self._arm.hand(grasps[widest].open_posture))
        tcps, now = pose.matrix @ grasps.tcp_matrices[numbers], self._arm.group.positions(scene.joints)
        ways = len(np.unique(reach(self._arm, opened, tcps, now).pose))
        if ways:
            return verdict_of(ways)
        why = most_frequent(why_not(self._arm, opened, tcps, now))
        return Verdict(BAD, '' if why is None else self._words(why, tcps))

    def _words(self, why: Rejection, tcps: Matrix) -> str:
        if why.reason != 'unreachable':
            return words(why)
        length = self._planner.model.robot.reach
        away = float(np.linalg.norm(tcps[:, :3, 3] - self._arm.base[:3, 3], axis=1).min())
        if away > length:
            return out_of_reach(away, length)
        return 'too near to the robot' if away < NEAR_SHARE * length else 'out of reach: the hand cannot turn like this'

    def _around(self, scene: PlanningScene, object: str) -> PlanningScene:
        """The scene with the robot and without the object; the same one as long as nothing else moves.

        What a backend makes of a scene takes longer than a judgement, and while an object is dragged only that moves.
        """
        bare = scene.remove(object) if object in scene.objects else scene
        made = self._made
        if made is None or bare != made[0]:
            made = self._made = bare, self._planner.start_scene(bare)
        return made[1]


def _some(count: int) -> npt.NDArray[np.int64]:
    """The numbers of the grasps to try: the first half of them the best ones, the others from all over."""
    if count <= MOST_GRASPS:
        return np.arange(count)
    half = MOST_GRASPS // 2
    return np.concatenate([np.arange(half), np.linspace(half, count - 1, half).astype(np.int64)])
