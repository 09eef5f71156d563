"""Chooses the inverse kinematics that an arm's geometry allows."""

from lfd_description.kinematic_family import family_of_chain
from lfd_description.kinematics import Chain
from lfd_description.urdf import RobotTree, UrdfError
from lfd_planner.robot.ik.analytic import AnalyticSolver
from lfd_planner.robot.ik.numeric import NumericOptions, NumericSolver
from lfd_planner.robot.ik.solver import IkSolver


def make_solver(tree: RobotTree, base: str, tip: str, *, numeric: NumericOptions | None = None) -> IkSolver:
    """The solver for the chain from link `base` to link `tip`; `numeric` is for arms without a closed form.

    Raises:
        UrdfError: there is no such chain, it does not move, or it has joints whose position is not one number.
    """
    chain = Chain(tree, base, tip)
    if chain.dof == 0:
        raise UrdfError(f"No joint moves between '{base}' and '{tip}'; name links that an arm lies between.")
    family = family_of_chain(chain)
    if family.analytic:
        return AnalyticSolver(tree, chain, family)
    return NumericSolver(tree, chain, family, numeric)
