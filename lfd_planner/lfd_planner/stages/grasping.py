"""What stages know about what is held: the fact that the grasp stage leaves for those after it."""

from __future__ import annotations

from dataclasses import dataclass

from lfd_planner.grasps.grasp import Grasp
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Attachment
from lfd_planner.task import Fact


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a held object is put down."""

    pose: Pose
    """Of the object in the scene's frame."""
    supports: tuple[str, ...] = ()
    """What it touches there."""
    touched: PlanningScene | None = None
    """The scene in which the held object may touch them."""


@dataclass(frozen=True, eq=False)
class Hold:
    """A grasp of an object that was chosen."""

    object: str
    grasp: Grasp
    attachment: Attachment
    supports: tuple[str, ...] = ()
    """What the object touches where it is picked."""
    goals: tuple[Goal, ...] = ()
    """Where it goes, as far as that is known."""

    @property
    def object_in_tcp(self) -> Pose:
        """The held object in the frame `tcp`."""
        return self.grasp.tcp.inverse


HOLD = Fact('hold', Hold)
GOAL = Fact('goal', Goal)
