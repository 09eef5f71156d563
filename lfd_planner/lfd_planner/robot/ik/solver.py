"""Inverse kinematics behind one interface, whatever the arm.

A solver answers for one chain: which joint positions bring link `tip` to a pose given in the frame of link `base`?
All answers lie within the joint limits of the URDF; turning joints are given by the representative nearest to a seed.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.kinematic_family import KinematicFamily
from lfd_description.kinematics import Chain
from lfd_description.urdf import Matrix, RobotTree
from lfd_planner.robot.ik.solutions import LOWER, MIDDLE, UPPER, Numbers

ACCURACY = 5e-7
"""Solutions reach their pose at least this well [m, rad]: half of what is promised, for the other half is rounding."""
# Single-precision poses are off by 1e-7, quaternions typed by hand by 1e-6; beyond this it is a mistake.
_RIGID = 1e-5
_LARGEST_SEED = 1e6  # [rad or m]
_CHUNK = 512  # Poses solved between two copies of the results, which then stay in the processor's cache.


@dataclass(frozen=True, eq=False)
class IkBatch:
    """The solutions for many poses: row m of `q`, (M, dof) [rad or m], reaches pose number `pose[m]`.

    The rows of a pose follow each other, the nearest to the seed first.
    """

    q: Matrix
    pose: npt.NDArray[np.int64]


class IkSolver(ABC):
    """Finds the joint positions that bring a chain's tip to a pose; poses are base -> tip, (4, 4), in metres."""

    def __init__(self, tree: RobotTree, chain: Chain, family: KinematicFamily) -> None:
        self.chain = chain
        self.family = family
        self.limits = joint_limits(tree, chain)
        """The rows LOWER, UPPER, MIDDLE and PERIODIC of `solutions`, (4, dof) [rad or m]."""
        self._lower: Numbers = self.limits[LOWER].copy()
        self._upper: Numbers = self.limits[UPPER].copy()
        self._middle: Numbers = self.limits[MIDDLE].copy()

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the columns of q."""
        return self.chain.joints

    @property
    def lower(self) -> Numbers:
        """The lowest positions allowed, (dof,) [rad or m]; minus infinity for joints that turn without end."""
        return self._lower

    @property
    def upper(self) -> Numbers:
        """The highest positions allowed, (dof,) [rad or m]."""
        return self._upper

    def solve(self, pose: npt.ArrayLike, seed: npt.ArrayLike | None = None) -> Matrix:
        """Joint positions that reach the pose, (k, dof) [rad or m], the nearest to the seed (or mid-range) first.

        Every turning joint is turned by full turns to be within its limits and nearest to the seed.

        Raises:
            ValueError: the pose is no rigid transform, or the seed is not one finite number for each joint.
        """
        matrix = np.ascontiguousarray(pose, dtype=np.float64)
        if matrix.shape != (4, 4):
            raise ValueError(f'A pose must be a 4x4 transform, not an array of the shape {matrix.shape}.')
        q = np.empty((self._most, self.chain.dof))
        count = self._fill(matrix.reshape(1, 4, 4), self._seed(seed), q, np.empty(self._most, dtype=np.int64))
        if count < 0:
            raise ValueError(f'The pose is no rigid transform: {_fault(matrix)}.')
        return q[:count]

    def solve_batch(self, poses: npt.ArrayLike, seed: npt.ArrayLike | None = None) -> IkBatch:
        """The same for poses (N, 4, 4) at once, each with the same seed.

        Raises:
            ValueError: one of the poses is no rigid transform, or the seed is not one finite number for each joint.
        """
        matrices = np.ascontiguousarray(poses, dtype=np.float64)
        if matrices.ndim != 3 or matrices.shape[1:] != (4, 4):
            raise ValueError(f'Poses must have the shape (N, 4, 4), not {matrices.shape}.')
        near = self._seed(seed)
        q = np.empty((self._most * min(_CHUNK, len(matrices)), self.chain.dof))
        pose = np.empty(len(q), dtype=np.int64)
        rows, numbers = [q[:0]], [pose[:0]]
        for start in range(0, len(matrices), _CHUNK):
            count = self._fill(matrices[start : start + _CHUNK], near, q, pose)
            if count < 0:
                wrong = start - 1 - count
                raise ValueError(f'Pose {wrong} is no rigid transform: {_fault(matrices[wrong])}.')
            rows.append(q[:count].copy())
            numbers.append(pose[:count] + start)
        return IkBatch(np.concatenate(rows), np.concatenate(numbers))

    @property
    @abstractmethod
    def _most(self) -> int:
        """No pose is given more solutions than this."""

    @abstractmethod
    def _fill(self, poses: Matrix, seed: Numbers, q: Matrix, pose: npt.NDArray[np.int64]) -> int:
        """Fill the first rows of q with solutions, and pose with the number of the pose that each reaches.

        Gives the count of rows, or -1 - n if pose n is not rigid. There is room for `_most` rows for each pose.
        """

    def _seed(self, seed: npt.ArrayLike | None) -> Numbers:
        if seed is None:
            return self._middle
        numbers: Numbers = np.ascontiguousarray(seed, dtype=np.float64)
        # A larger angle has lost the digits that a solution turned next to it needs.
        if numbers.shape != (self.chain.dof,) or not (np.abs(numbers) <= _LARGEST_SEED).all():
            raise ValueError(
                f'A seed must be {self.chain.dof} finite numbers of at most {_LARGEST_SEED:g}, '
                f'one for each of {", ".join(self.joints)}.'
            )
        return numbers


def joint_limits(tree: RobotTree, chain: Chain) -> Matrix:
    """The limits of the chain's columns from the URDF; joints that turn without end have infinite ones."""
    limits = [tree.joint[name].limits for name in chain.joints]
    lower = np.array([-math.inf if limit is None else limit.lower for limit in limits], dtype=np.float64)
    upper = np.array([math.inf if limit is None else limit.upper for limit in limits], dtype=np.float64)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    middle = np.zeros(chain.dof)
    middle[bounded] = 0.5 * (lower[bounded] + upper[bounded])
    return np.array([lower, upper, middle, _periodic(chain)], dtype=np.float64)


def _periodic(chain: Chain) -> npt.NDArray[np.bool_]:
    """The columns of q that a full turn leaves as they are, the joints that mimic them included."""
    axes = chain.joint_axes()
    whole = axes.turns & (axes.multiplier == np.round(axes.multiplier))
    return np.array([bool(whole[axes.column == k].all()) for k in range(chain.dof)], dtype=np.bool_)


def _fault(pose: Matrix) -> str:
    """What is wrong with a pose, and how to mend it."""
    if not np.isfinite(pose).all():
        return 'it holds numbers that are not finite; check where it was computed'
    if np.abs(pose[3] - [0.0, 0.0, 0.0, 1.0]).max() > _RIGID:
        return 'its last row must be 0 0 0 1; check that it is not transposed'
    if np.linalg.det(pose[:3, :3]) < 0.0:
        return 'its axes are left-handed; flip one of them'
    return 'its three axes are not at right angles and of length one; normalise the rotation'


@compiled
def is_rigid(pose: Matrix) -> bool:
    """Whether a (4, 4) array is a rigid transform: finite, axes of length one and at right angles, right-handed."""
    good = bool(abs(pose[3, 0]) <= _RIGID and abs(pose[3, 1]) <= _RIGID and abs(pose[3, 2]) <= _RIGID)
    good = good and abs(pose[3, 3] - 1.0) <= _RIGID
    # The one frame that the cross products below would let pass has no axes at all.
    good = good and pose[0, 0] ** 2 + pose[1, 0] ** 2 + pose[2, 0] ** 2 > 0.5
    for i in range(3):
        good = good and math.isfinite(pose[i, 3])
        j, k = (i + 1) % 3, (i + 2) % 3
        # For a right-handed frame every column is the cross product of the other two.
        for r in range(3):
            s, t = (r + 1) % 3, (r + 2) % 3
            good = good and abs(pose[s, j] * pose[t, k] - pose[t, j] * pose[s, k] - pose[r, i]) <= _RIGID
    return bool(good)


@compiled
def make_orthonormal(pose: Matrix, out: Matrix) -> None:
    """The pose with its small errors of rotation removed: one Newton step towards the nearest rotation."""
    for i in range(3):
        out[i, 3] = pose[i, 3]
        for j in range(3):
            value = 1.5 * pose[i, j]
            for k in range(3):
                product = pose[0, k] * pose[0, j] + pose[1, k] * pose[1, j] + pose[2, k] * pose[2, j]
                value -= 0.5 * pose[i, k] * product
            out[i, j] = value
    out[3, 0] = out[3, 1] = out[3, 2] = 0.0
    out[3, 3] = 1.0
