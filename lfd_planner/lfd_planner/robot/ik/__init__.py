"""Inverse kinematics for any arm: closed forms where the geometry allows them, iteration elsewhere.

solver = make_solver(tree, 'base_link', 'tool0')
for q in solver.solve(pose_base_to_tool0, seed=current):
    ...
"""

from lfd_planner.robot.ik.analytic import AnalyticSolver
from lfd_planner.robot.ik.make_solver import make_solver
from lfd_planner.robot.ik.numeric import NumericOptions, NumericSolver
from lfd_planner.robot.ik.solver import IkBatch, IkSolver

__all__ = ['AnalyticSolver', 'IkBatch', 'IkSolver', 'NumericOptions', 'NumericSolver', 'make_solver']
