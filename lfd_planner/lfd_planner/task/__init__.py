"""The task constructor: a task as stages, in the spirit of MoveIt Task Constructor, without ROS and without a robot.

A stage connects two interface states. Which of the two it reads is its direction, and its type:

=============  =========================  ============================================================================
`Generator`    reads neither              current state, grasps, place poses
`Forward`      reads its start            close, lift, retreat
`Backward`     reads its end              approach, lower
`Connector`    reads both                 a free motion between what its neighbours found
=============  =========================  ============================================================================

Containers are stages of stages: `Serial` one after the other, `Alternatives` all of which are tried, `Fallbacks` of
which the next is tried only where the one before found nothing. A stage gives a `Step` for each way it can be done,
the best first, and a `Rejection` for each that cannot be done. Structure is checked before the search, all errors at
once; what the search rejected is counted by reason and told by `TaskConstructor.explain_failure`. An `Observer` is told
all that stages find and reject; a `Record` keeps it, with the numbers that MoveIt Task Constructor would give.

A stage of your own is a few lines:

    >>> from lfd_planner.scene import PlanningScene
    >>> from lfd_planner.task import Forward, Generator, Rejection, Serial, State, Step, TaskConstructor
    >>> class AtDoor(Generator):
    ...     def generate(self, context, before):
    ...         yield Step.at(State(PlanningScene('world')))
    >>> class Knock(Forward):
    ...     def forward(self, context, start):
    ...         yield Rejection('too_loud', ('door',))
    ...         for times in (1, 2, 3):
    ...             yield Step(start, start, cost=float(times), comment=f'{times} knocks')
    >>> task = TaskConstructor(Serial('visit', AtDoor('at the door'), Knock('knock')))
    >>> [step.cost for step in task.plan(most=2)]
    [1.0, 2.0]
    >>> print(task.explain_failure())
    knock: 1 x too_loud (door)

The stages of `lfd_planner.stages` move an `Arm`, and `TaskPlanner.solution` makes a solution of what was found;
docs/examples/own_task.py is a whole task of that kind.
"""

from lfd_planner.solution import Motion

from .constructor import TaskConstructor
from .containers import Alternatives, Fallbacks, Serial, StructureError
from .context import Context, Count, Journal, Observer
from .record import Part, Record, StageEntry, StageStatistics
from .stage import Backward, Connector, Direction, Forward, Generator, Stage
from .state import Fact, Rejection, State, Step

__all__ = [
    'Alternatives',
    'Backward',
    'Connector',
    'Context',
    'Count',
    'Direction',
    'Fact',
    'Fallbacks',
    'Forward',
    'Generator',
    'Journal',
    'Motion',
    'Observer',
    'Part',
    'Record',
    'Rejection',
    'Serial',
    'Stage',
    'StageEntry',
    'StageStatistics',
    'State',
    'Step',
    'StructureError',
    'TaskConstructor',
]
