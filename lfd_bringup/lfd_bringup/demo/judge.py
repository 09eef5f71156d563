"""What an independent judge says of a planned motion, and where its replay leaves every object."""

from __future__ import annotations

from dataclasses import dataclass

from lfd_description.model.model import RobotModel
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Solution
from lfd_planner.solution_file import Json
from lfd_planner.validate import Check, Report, validate
from lfd_planner.validate.replay import Stage, Story, replay

from .boxes import compared, pose_data
from .job import Job


@dataclass(frozen=True)
class FinalPose:
    """Where an object is after the planned motion, in the scene's frame, and where the task wants it."""

    object: str
    planned: Pose
    wanted: Pose
    distance: float
    """[m] from one to the other"""
    angle: float
    """[rad] from one to the other"""

    def data(self) -> Json:
        """For JSON."""
        return {
            'object': self.object,
            'planned': pose_data(self.planned),
            'wanted': pose_data(self.wanted),
            'distance': self.distance,
            'angle': self.angle,
        }


@dataclass(frozen=True, eq=False)
class Judgement:
    """The verdict, and the motion as the judge replays it; a motion whose structure is wrong cannot be replayed."""

    report: Report
    stage: Stage
    story: Story | None
    final_poses: tuple[FinalPose, ...] = ()


def judge(job: Job, model: RobotModel, scene: PlanningScene, solution: Solution) -> Judgement:
    """Judge a solution; `scene` is the job's, with the robot's joints where they are before the motion.

    Raises:
        UrdfError, MeshError, SceneError: the robot or the scene cannot be checked; the message is for the user.
    """
    report = validate(solution, model, scene, job.task, job.origin, job.objects)
    stage = Stage(model, scene)
    if report.of(Check.STRUCTURE):
        return Judgement(report, stage, None)
    story = replay(stage, scene, solution)
    return Judgement(report, stage, story, _final_poses(job, story))


def _final_poses(job: Job, story: Story) -> tuple[FinalPose, ...]:
    found = []
    for name, wanted in job.wanted.items():
        if name in story.standing:
            planned = Pose.of(story.standing[name])
            found.append(FinalPose(name, planned, wanted, *compared(planned, wanted)))
    return tuple(found)
