"""What a search gives: a path, or the reason why there is none and how near it came."""

from dataclasses import dataclass
from typing import Literal

from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import Numbers

from .patience import Interruption

Fault = Literal[
    'start outside limits',
    'start in collision',
    'start breaks constraints',
    'goal outside limits',
    'goal in collision',
    'goal breaks constraints',
]
Reason = Fault | Interruption | Literal['exhausted iterations']


@dataclass(frozen=True, eq=False)
class Found:
    """A path from a start to a goal."""

    path: Matrix
    """Joint positions, (N, dof) [rad or m]; straight between rows. Endless joints may end full turns from the goal."""
    start: int
    """The row of the starts that it begins with."""
    goal: int
    """The row of the goals that it ends with."""
    iterations: int
    """Random samples that were needed; 0 if a straight way was free."""
    tree_sizes: tuple[int, int]
    """Nodes grown from the starts, and from the goals."""


@dataclass(frozen=True, eq=False)
class NotFound:
    """No path."""

    reason: Reason
    iterations: int = 0
    closest: Numbers | None = None
    """The joint positions that were reached and are nearest to a goal, (dof,) [rad or m]."""
    distance: float | None = None
    """From there to that goal, weighted [rad or m]."""

    @property
    def message(self) -> str:
        """The reason as a sentence."""
        if self.distance is None or self.closest is None:
            return f'There is no path: {self.reason}.'
        where = ', '.join(f'{value:.4g}' for value in self.closest)
        return (
            f'No path was found ({self.reason} after {self.iterations} iterations); it came to ({where}), '
            f'{self.distance:.4g} [rad or m] from the nearest goal.'
        )
