"""The independent judge of solutions: replays a motion step by step and says all that is wrong with it.

::

    solution ──► replay: who is where, who is held ──┬─► motion       limits, continuity, hand and arm take turns
    model, scene ─┘                                  ├─► collisions   exact, dense, all but justified contacts
    task, origin ────────────────────────────────────┼─► grasps, stability, keyframes
                                                     └─► Report

It shares nothing with the planner's collision checks, search and backends: coal measures all distances.

    report = validate(solution, model, scene, task, origin)
    assert report.ok, report.text
"""

from .report import Check, Clearance, Finding, Report
from .validate import validate

__all__ = ['Check', 'Clearance', 'Finding', 'Report', 'validate']
