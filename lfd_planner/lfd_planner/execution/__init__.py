"""Execution: a solution becomes motions of the arm and acts of the hand, one after the other, and can be resumed.

::

    solution ──► slowed, from a keyframe on ──► steps: Move, Act, Move, Act ...
                                                  │
    scene, joints ──► preflight (the validator) ──┤
                                                  ▼
    Arm, Hand, SceneKeeper, Signals ◄──────── Execution ──► Status (feedback), Outcome (result)
                                                  ▲
    pause, resume, stop ──────────────────────────┘

Nothing here imports ROS: what is moved and asked is behind the small interfaces of `devices`. An execution that ended
early tells from which keyframe to go on; `remaining` makes a task of the rest, to be planned from where everything is.
"""

from .control import Control
from .devices import Arm, Devices, Hand, SceneKeeper, Signals
from .execution import Execution, Order, Outcome, State, Status
from .grip import Fingers
from .memory import Memory, Pending
from .remaining import Remaining, remaining
from .rules import ExecutionRules, GoalRefused, GoalRules, WholeGoals
from .steps import Act, Move, Step, next_keyframe, steps_of
from .surgery import from_keyframe, renumbered, rest_of, slowed

__all__ = [
    'Act',
    'Arm',
    'Control',
    'Devices',
    'Execution',
    'ExecutionRules',
    'Fingers',
    'GoalRefused',
    'GoalRules',
    'Hand',
    'Memory',
    'Move',
    'Order',
    'Outcome',
    'Pending',
    'Remaining',
    'SceneKeeper',
    'Signals',
    'State',
    'Status',
    'Step',
    'WholeGoals',
    'from_keyframe',
    'next_keyframe',
    'remaining',
    'renumbered',
    'rest_of',
    'slowed',
    'steps_of',
]
