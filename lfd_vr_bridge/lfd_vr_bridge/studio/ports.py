"""What the studio and the server need of the robot's side; the node gives it over ROS, tests by other means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene

from .values import PlanProgress, PlanResult, Quality, RunProgress, RunResult, Verdict


class Robot(Protocol):
    """A robot that can be asked to do what was shown. All methods are called in the event loop's thread."""

    name: str
    """Of the robot that is there."""
    robots: tuple[str, ...]
    """Names that `plan` takes."""

    async def plan(self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]) -> PlanResult:
        """Plan the task for a robot, the one that is there or another. Never raises: what fails is a result."""

    async def run(self, speed: float, progress: Callable[[RunProgress], None]) -> RunResult:
        """Execute the newest plan of the robot that is there. Never raises: what fails is a result."""

    async def go_on(
        self, task: Task, origin: Pose, first: int, speed: float, progress: Callable[[RunProgress], None]
    ) -> RunResult:
        """Do a task from one of its keyframes on, planned from where arm and objects are.

        Never raises: what fails is a result.
        """

    async def stop(self) -> None:
        """Stop planning and motion at once."""

    async def pause(self) -> None:
        """Stop on the path.

        Raises:
            Refusal: nothing runs.
        """

    async def resume(self) -> None:
        """Go on along the path.

        Raises:
            Refusal: nothing is paused.
        """

    async def judge(self, scene: PlanningScene, object: str, pose: Pose) -> Verdict:
        """Whether the robot can hold an object at a pose (in the twin's frame)."""

    async def assess(self, task: Task, origin: Pose, scene: PlanningScene) -> Quality:
        """How good a demonstration is, begun in a scene, before it is planned."""
