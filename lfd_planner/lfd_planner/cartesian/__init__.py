"""Straight-line motions of a link.

poses = interpolate(start, [above, on_table], max_step=0.005, max_rotation_step=0.05)
line = follow(solver, poses, q0)
if not line.complete:
    print(f'{line.fraction:.0%} of the line, then: {line.reason}')
"""

from lfd_planner.cartesian.follow import FollowResult, IsFree, JumpGuard, Precision, Reason, follow, warm_up
from lfd_planner.cartesian.interpolate import interpolate

__all__ = ['FollowResult', 'IsFree', 'JumpGuard', 'Precision', 'Reason', 'follow', 'interpolate', 'warm_up']
