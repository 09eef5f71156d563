"""How a task is planned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lfd_planner.backends import SpeedScaling
from lfd_planner.stopping import ShouldStop, never
from lfd_planner.task import Observer, Stage
from lfd_planner.task.context import silent


def unobserved(stage: Stage) -> Observer:
    """Nobody looks."""
    return Observer()


def at_speed(speed: float) -> SpeedScaling:
    """What makes motions take 1 / `speed` times as long as they must; above 0 and up to 1."""
    return SpeedScaling(speed, speed * speed)


@dataclass(frozen=True)
class PlanOptions:
    """What may be asked of the planner."""

    seed: int = 0
    """The same seed gives the same motion."""
    budget: float = 0.0
    """[s] to search hard, and to keep improving what was found; 0: the first solution is enough, and little effort."""
    patience: float = 30.0
    """[s] after which it gives up without a budget, if there is no solution at all."""
    solutions: int = 1
    """How many are wanted, the best first."""
    scaling: SpeedScaling = field(default_factory=SpeedScaling)
    end_pose: str | None = None
    """The named pose to which the arm goes at the end; None: it stays."""
    suggest: bool = True
    """Whether to look for the nearest feasible alternative of what fails."""
    regrasp: bool = True
    """Whether an object may be put down on the way, where no single grasp serves both its ends."""
    should_stop: ShouldStop = field(default=never, compare=False)
    progress: Callable[[int, str], None] = field(default=silent, compare=False)
    """Told the keyframe and the name of every stage that begins."""
    observe: Callable[[Stage], Observer] = field(default=unobserved, compare=False)
    """Given the task's stages before the search, says who is told what they do."""

    @property
    def limit(self) -> float:
        """How long planning may take [s], whether anything is found or not."""
        return self.budget or self.patience
