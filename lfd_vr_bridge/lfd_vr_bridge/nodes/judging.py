"""Whether the robot can do what is shown, before anything is planned."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property

from lfd_description.meshes import MeshError
from lfd_description.model.model import RobotModel
from lfd_planner.mtdf import Task
from lfd_planner.planner import TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle, assess
from lfd_planner.scene import PlanningScene, WorldObject

from ..planning.explanation import Asked, explained
from ..studio.values import KeyframeQuality, PlanResult, Quality, Verdict


class Judging:
    """Judges poses and tasks for one robot, in one thread; what that needs is made when it is needed first."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model

    @cached_property
    def _planner(self) -> TaskPlanner:
        return TaskPlanner(self._model)

    @cached_property
    def _oracle(self) -> PoseOracle:
        return PoseOracle(self._model, self._planner.backend)

    def judge(self, scene: PlanningScene, thing: WorldObject, pose: Pose) -> Verdict:
        """Whether the robot can hold an object at a pose in a scene."""
        try:
            found = self._oracle.judge(scene.add(thing), thing.id, pose)
        except MeshError as error:
            return Verdict('unknown', str(error))
        return Verdict(found.state, found.reason, found.grasps)

    def explained(self, failed: PlanResult, asked: Asked) -> PlanResult:
        """A plan that failed, with texts for people."""
        return explained(failed, asked, lambda: self._oracle)

    def assess(self, task: Task, origin: Pose, scene: PlanningScene) -> Quality:
        """How good a demonstration is that begins in a scene."""
        try:
            found = assess(self._planner, task, origin, scene)
        except MeshError as error:
            return Quality(0, (), (str(error),))
        return Quality(found.score, tuple(KeyframeQuality(**asdict(each)) for each in found.keyframes), found.reasons)
