"""From a demonstrated task and a scene to a motion that performs it, or to the reason why there is none.

::

    model = build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))
    found = plan_task(task, scene, model, origin)
    print(found.message if isinstance(found, TaskFailure) else f'{found.trajectory.duration:.1f} s of motion')

`TaskPlanner` keeps what a robot needs, for many tasks; `explain` tells why one of its motions was chosen. Keyframes
become stages in `compose`; each pick and place is planned as one, because the grasp must serve both, and committed
before the next. So time grows with the number of keyframes, and not with its power.
"""

from .failure import RejectionCount, TaskFailure
from .options import PlanOptions, at_speed
from .task_planner import Planned, TaskPlanner, explain, plan_task

__all__ = [
    'PlanOptions',
    'Planned',
    'RejectionCount',
    'TaskFailure',
    'TaskPlanner',
    'at_speed',
    'explain',
    'plan_task',
]
