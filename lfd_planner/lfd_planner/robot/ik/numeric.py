"""Solutions by iteration for arms without a closed form: any number of joints, turning, sliding or mimicking.

Descents start from the seed and then from random positions, the same ones for every pose, those whose tip is nearest
to the goal first; so answers are repeatable. A redundant arm has endlessly many solutions: a few distinct ones are
given.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.kinematic_family import KinematicFamily
from lfd_description.kinematics import Chain
from lfd_description.urdf import Matrix, RobotTree
from lfd_planner.robot.ik.descent import Arm, Workspace, arm_of, descend, workspace
from lfd_planner.robot.ik.solutions import BEYOND, LOWER, UPPER, Numbers, keep, place
from lfd_planner.robot.ik.solver import ACCURACY, IkSolver, is_rigid, make_orthonormal

_STEPS = 60
# Two solutions closer than this [rad or m] in all joints are one.
_APART = 1e-3
# Starts that are compared for each start that is tried.
_CHOICE = 4
# A descent that ends this close [m, rad] is tried again from part of the way to the next start, a few times.
_NEAR_MISS, _KICK, _KICKS = 1e-2, 0.2, 5


@dataclass(frozen=True)
class NumericOptions:
    """How hard to search."""

    solutions: int = 8
    """Stop after so many distinct ones."""
    restarts: int = 200
    """Give up after so many descents without any."""
    random_seed: int = 0
    """Another number gives other starts."""

    def __post_init__(self) -> None:
        if self.solutions < 1 or self.restarts < 1:
            raise ValueError('An inverse kinematics solver needs at least one solution and one restart to look for.')


class NumericSolver(IkSolver):
    """Some solutions of any chain, found by bounded least squares from many starts."""

    def __init__(
        self, tree: RobotTree, chain: Chain, family: KinematicFamily, options: NumericOptions | None = None
    ) -> None:
        super().__init__(tree, chain, family)
        self.options = options or NumericOptions()
        self._arm = arm_of(chain.joint_axes())
        self._starts = self._random_positions()
        self._start_poses = chain.poses(self._starts)

    def _random_positions(self) -> Matrix:
        """Starts within the limits, (N, dof); joints without limits start anywhere in a turn."""
        lower = np.where(np.isfinite(self.limits[LOWER]), self.limits[LOWER], -math.pi)
        upper = np.where(np.isfinite(self.limits[UPPER]), self.limits[UPPER], math.pi)
        random = np.random.default_rng(self.options.random_seed)
        return random.uniform(lower, upper, (_CHOICE * self.options.restarts, self.chain.dof))

    @property
    def _most(self) -> int:
        return self.options.solutions

    def _fill(self, poses: Matrix, seed: Numbers, q: Matrix, pose: npt.NDArray[np.int64]) -> int:
        starts = (self._starts, self._start_poses)
        effort = (self.options.solutions, self.options.restarts)
        return _solve_many(poses, *self._arm, self.limits, seed, *starts, *effort, q, pose)


@compiled
def _solve_many(
    poses: Matrix,
    joints: Matrix,
    home: Matrix,
    limits: Matrix,
    seed: Numbers,
    starts: Matrix,
    start_poses: Matrix,
    solutions: int,
    restarts: int,
    q: Matrix,
    number: npt.NDArray[np.int64],
) -> int:
    """Fill the rows of q and the number of the pose each reaches; gives their count, or -1 - n if pose n is no pose."""
    arm, work = Arm(joints, home), workspace(joints.shape[0], seed.shape[0])
    distance, far = np.empty(solutions), np.empty(starts.shape[0])
    total = 0
    for n in range(poses.shape[0]):
        if not is_rigid(poses[n]):
            return -1 - n
        make_orthonormal(poses[n], work.goal)
        _rank_starts(work.goal, start_poses, far)
        count = _search(arm, limits, seed, starts, far, restarts, q[total : total + solutions], distance, work)
        for m in range(total, total + count):
            number[m] = n
        total += count
    return total


@compiled
def _rank_starts(goal: Matrix, start_poses: Matrix, far: Numbers) -> None:
    """How far each start's tip is from the goal: squared way [m] plus squared difference of the rotations."""
    for m in range(start_poses.shape[0]):
        total = 0.0
        for i in range(3):
            total += (start_poses[m, i, 3] - goal[i, 3]) ** 2
            for j in range(3):
                total += 0.1 * (start_poses[m, i, j] - goal[i, j]) ** 2
        far[m] = total


@compiled
def _search(
    arm: Arm,
    limits: Matrix,
    seed: Numbers,
    starts: Matrix,
    far: Numbers,
    restarts: int,
    kept: Matrix,
    distance: Numbers,
    work: Workspace,
) -> int:
    """Descend from the seed and from the nearest starts until enough solutions are kept; gives their count."""
    count, q, kicks = 0, work.q, 0
    residual = math.inf
    for attempt in range(restarts + 1):
        if count == kept.shape[0] or (count > 0 and attempt > 4 * kept.shape[0]):
            break
        if attempt == 0:
            for k in range(q.shape[0]):
                q[k] = min(max(seed[k], limits[LOWER, k]), limits[UPPER, k])
        else:
            nearest = np.argmin(far)
            far[nearest] = math.inf
            # A near miss is a fold of the workspace: its other side is not far from here.
            kicks = kicks + 1 if ACCURACY < residual < _NEAR_MISS and kicks < _KICKS else 0
            share = _KICK if kicks > 0 else 1.0
            for k in range(q.shape[0]):
                q[k] += share * (starts[nearest, k] - q[k])
        residual = descend(q, arm, work.goal, limits, _STEPS, work)
        if residual <= ACCURACY and place(q, limits, seed, BEYOND):
            count = keep(q, seed, limits, _APART, kept, distance, count)
    return count
