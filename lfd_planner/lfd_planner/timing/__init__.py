"""Timing: from a joint path to the fastest motion that keeps velocity and acceleration limits as executed.

trajectory = time_path(waypoints, velocity_limits, acceleration_limits, velocity_scaling=0.5)
for q in path_samples(trajectory, step=0.01):
    ...  # check what will be executed
"""

from lfd_planner.timing.keep_times import keep_times
from lfd_planner.timing.time_path import BLEND, LONGEST, Scaling, requested_scaling, time_path, warm_up
from lfd_planner.timing.trajectory import Sample, Trajectory, path_samples, path_times

__all__ = [
    'BLEND',
    'LONGEST',
    'Sample',
    'Scaling',
    'Trajectory',
    'keep_times',
    'path_samples',
    'path_times',
    'requested_scaling',
    'time_path',
    'warm_up',
]
