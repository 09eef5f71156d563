"""Which inverse kinematics an arm allows, judged from its joint axes alone.

Two shapes have a closed form with all solutions: arms whose last three axes meet in a point (most industrial arms),
and arms whose second, third and fourth axes are parallel and whose last two meet (Universal Robots and most cobots).
Everything else is solved by iteration. Names, frames, signs and offsets of the URDF play no part: only the lines in
space do, all joints at zero, in the frame of the chain's base.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lfd_description.kinematics import Chain, JointAxes
from lfd_description.urdf import Matrix, RobotTree

FamilyName = Literal['spherical wrist', 'parallel axes', 'numeric']

# Descriptions print their numbers rounded: pi/2 as 1.5708 is off by 4e-6 rad, and a few of those add up along the arm.
# Ten times that still counts as meeting or parallel; the solver makes up for it against the true axes. An arm
# calibrated on the shop floor is off by 1e-3 and more, and is better served by iteration.
ANGLE_TOLERANCE = 1e-4  # [rad]
DISTANCE_TOLERANCE = 1e-4  # [m]
# Below these a closed form divides by almost nothing.
LEAST_ANGLE = 0.02  # [rad]
LEAST_DISTANCE = 1e-3  # [m]

_COUNT = ('no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten')


@dataclass(frozen=True)
class Measurement:
    """A fact about an arm's axes that decided its family; axes are counted from 1, base to tip."""

    what: str
    value: float
    unit: Literal['m', 'rad']

    def __str__(self) -> str:
        return f'{self.what}: {self.value:.3g} {self.unit}'


@dataclass(frozen=True)
class AxisPair:
    """Two neighbours among the first three axes that make the wrist's position solvable."""

    first: Literal[1, 2]
    """The pair is this axis and the next one."""
    relation: Literal['parallel', 'intersecting']

    def __str__(self) -> str:
        return f'axes {self.first} and {self.first + 1} {"are parallel" if self.relation == "parallel" else "meet"}'


@dataclass(frozen=True)
class KinematicFamily:
    """The inverse kinematics that an arm allows, and why."""

    name: FamilyName
    why: str
    """For the user, without a capital and a full stop: 'axes 4, 5 and 6 meet in a point and ...'."""
    evidence: tuple[Measurement, ...] = ()
    pair: AxisPair | None = None
    """What makes the first three axes solvable; only for a spherical wrist."""

    @property
    def analytic(self) -> bool:
        """Whether all solutions are found in closed form."""
        return self.name != 'numeric'


def kinematic_family(tree: RobotTree, base: str, tip: str) -> KinematicFamily:
    """The family of the chain from link `base` to link `tip`.

    Raises:
        UrdfError: there is no such chain, or it has joints whose position is not one number.
    """
    return family_of_chain(Chain(tree, base, tip))


def family_of_chain(chain: Chain) -> KinematicFamily:
    """The family of a chain."""
    axes = chain.joint_axes()
    if obstacle := _no_six_turning_joints(chain, axes):
        return KinematicFamily('numeric', f'{obstacle}: no closed form')
    return _spherical_wrist(axes) or _parallel_axes(axes) or _neither(axes)


def common_point(axes: JointAxes, joints: tuple[int, ...]) -> Matrix:
    """The point with the least squared distance to the axes of some joints (counted from 0), (3,) [m], base frame."""
    across = np.array([np.eye(3) - np.outer(axes.direction[i], axes.direction[i]) for i in joints])
    points = np.einsum('nij,nj->ni', across, axes.point[list(joints)])
    return np.asarray(np.linalg.lstsq(across.sum(axis=0), points.sum(axis=0), rcond=None)[0])


def common_direction(axes: JointAxes, joints: tuple[int, ...]) -> tuple[Matrix, Matrix]:
    """The mean direction of parallel axes, (3,), and for each of them +1 along it or -1 against it."""
    directions = axes.direction[list(joints)]
    signs = np.where(directions @ directions[0] < 0.0, -1.0, 1.0)
    mean = signs @ directions
    return mean / np.linalg.norm(mean), signs


def _no_six_turning_joints(chain: Chain, axes: JointAxes) -> str:
    if len(axes.turns) != chain.dof:
        return 'a joint of the arm mimics another'
    if not axes.turns.all():
        return f'joint {int(np.argmin(axes.turns)) + 1} slides'
    if chain.dof != 6:
        return f'{_COUNT[chain.dof] if chain.dof < len(_COUNT) else chain.dof} joint{"s" if chain.dof != 1 else ""}'
    return ''


def _spherical_wrist(axes: JointAxes) -> KinematicFamily | None:
    gap = Measurement('axes 4, 5 and 6 to their common point', _gap(axes, (3, 4, 5)), 'm')
    if gap.value > DISTANCE_TOLERANCE or min(_angle(axes, 3, 4), _angle(axes, 4, 5)) < LEAST_ANGLE:
        return None
    found = _solvable_pair(axes, common_point(axes, (3, 4, 5)))
    if found is None:
        return None
    pair, measured = found
    why = f'axes 4, 5 and 6 meet in a point and {pair}'
    return KinematicFamily('spherical wrist', why, (gap, measured), pair)


def _solvable_pair(axes: JointAxes, wrist: Matrix) -> tuple[AxisPair, Measurement] | None:
    """The neighbours among the first three axes that give the wrist's position in closed form, and how well."""
    if _distance_to(axes, 2, wrist) < LEAST_DISTANCE:
        return None
    for first in (1, 0):
        second, third = first + 1, 2 - 2 * first
        angle = _angle(axes, first, second)
        if (
            angle <= ANGLE_TOLERANCE
            and _angle(axes, third, first) > LEAST_ANGLE
            and _distance(axes, first, second) > LEAST_DISTANCE
        ):
            what = f'angle between axes {first + 1} and {second + 1}'
            return AxisPair(_numbered(first), 'parallel'), Measurement(what, angle, 'rad')
    for first in (0, 1):
        second, third = first + 1, 2 - 2 * first
        gap = _gap(axes, (first, second))
        centre = common_point(axes, (first, second))
        if (
            gap <= DISTANCE_TOLERANCE
            and _angle(axes, first, second) > LEAST_ANGLE
            and _distance_to(axes, third, centre) > LEAST_DISTANCE
        ):
            what = f'axes {first + 1} and {second + 1} to their common point'
            return AxisPair(_numbered(first), 'intersecting'), Measurement(what, gap, 'm')
    return None


def _parallel_axes(axes: JointAxes) -> KinematicFamily | None:
    angle = max(_angle(axes, 1, 2), _angle(axes, 2, 3))
    gap = _gap(axes, (4, 5))
    apart = min(_distance(axes, 1, 2), _distance(axes, 2, 3))
    crossing = min(_angle(axes, 0, 1), _angle(axes, 3, 4), _angle(axes, 4, 5))
    if angle > ANGLE_TOLERANCE or gap > DISTANCE_TOLERANCE or apart < LEAST_DISTANCE or crossing < LEAST_ANGLE:
        return None
    evidence = (
        Measurement('largest angle between axes 2, 3 and 4', angle, 'rad'),
        Measurement('axes 5 and 6 to their common point', gap, 'm'),
    )
    return KinematicFamily('parallel axes', 'axes 2, 3 and 4 are parallel and axes 5 and 6 meet', evidence)


def _neither(axes: JointAxes) -> KinematicFamily:
    wrist = Measurement('axes 4, 5 and 6 to their common point', _gap(axes, (3, 4, 5)), 'm')
    parallel = Measurement('largest angle between axes 2, 3 and 4', max(_angle(axes, 1, 2), _angle(axes, 2, 3)), 'rad')
    last = Measurement('axes 5 and 6 to their common point', _gap(axes, (4, 5)), 'm')
    if wrist.value <= DISTANCE_TOLERANCE:
        why = 'axes 4, 5 and 6 meet, but of the first three no two neighbours are parallel or meet: no closed form'
    elif parallel.value <= ANGLE_TOLERANCE:
        why = f'axes 2, 3 and 4 are parallel, but axes 5 and 6 pass each other by {2000.0 * last.value:.3g} mm'
    else:
        why = f'axes 4, 5 and 6 miss their common point by {1000.0 * wrist.value:.3g} mm, and axes 2, 3 and 4 are not '
        why += 'parallel: no closed form'
    return KinematicFamily('numeric', why, (wrist, parallel, last))


def _numbered(index: int) -> Literal[1, 2]:
    return 1 if index == 0 else 2


def _angle(axes: JointAxes, i: int, j: int) -> float:
    """The angle between two axes, whichever way they point [rad]."""
    a, b = axes.direction[i], axes.direction[j]
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), abs(float(a @ b)))


def _distance_to(axes: JointAxes, i: int, point: Matrix) -> float:
    """The distance of a point from an axis [m]."""
    return float(np.linalg.norm(np.cross(axes.direction[i], point - axes.point[i])))


def _distance(axes: JointAxes, i: int, j: int) -> float:
    """The distance between two parallel axes [m]."""
    return _distance_to(axes, i, axes.point[j])


def _gap(axes: JointAxes, joints: tuple[int, ...]) -> float:
    """The largest distance of some axes from the point nearest to all of them [m]."""
    point = common_point(axes, joints)
    return max(_distance_to(axes, i, point) for i in joints)
