"""Path constraints as values: what a joint, a point on a link or a link's orientation must keep to all the way.

The meaning is MoveIt's: every constraint must hold; a position constraint holds if its point is in any of its
regions; the orientation error is the rotation from the target to the link, as intrinsic XYZ Euler angles or as a
rotation vector, and each of its three numbers has a tolerance. Poses are in the scene's frame, lengths in metres,
angles in radians.

These values know no robot; `ConstraintChecker` judges a robot by them.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from lfd_description.shapes import Box, Cylinder, Sphere, Vector
from lfd_description.transforms import Quaternion
from lfd_planner.pose import IDENTITY, Pose

_UNIT = 1e-3  # How far from length 1 a quaternion may be, as in MoveIt.


class WrongConstraint(ValueError):
    """A constraint that cannot be judged; the message is one sentence that names it and the fix."""


@dataclass(frozen=True)
class JointConstraint:
    """A joint stays within `position` - `below` and `position` + `above` [rad or m]."""

    joint: str
    position: float
    above: float
    below: float

    def __post_init__(self) -> None:
        where = f"Joint '{self.joint}'"
        _refuse_endless(where, 'position', (self.position,))
        _refuse_negative(where, 'tolerances above and below', (self.above, self.below))


@dataclass(frozen=True)
class Region:
    """A box, ball or cylinder at a pose in the scene's frame, its boundary included."""

    shape: Box | Sphere | Cylinder
    pose: Pose = IDENTITY

    def __post_init__(self) -> None:
        sizes = self.size
        if not all(math.isfinite(size) and size >= 0.0 for size in sizes):
            raise WrongConstraint(f'The region {self.shape} has a size that is no length; give lengths [m] from 0 up.')
        _refuse_endless('A region', 'position', self.pose.position)
        _refuse_no_quaternion('A region', self.pose.orientation)

    @property
    def size(self) -> Vector:
        """Of the smallest box around it [m]."""
        match self.shape:
            case Box(size):
                return size
            case Sphere(radius):
                return 2.0 * radius, 2.0 * radius, 2.0 * radius
            case Cylinder(radius, height):
                return 2.0 * radius, 2.0 * radius, height


@dataclass(frozen=True)
class PositionConstraint:
    """A point of a link stays in any of some regions; `offset` [m] is where the point is in the link's frame."""

    link: str
    regions: tuple[Region, ...]
    offset: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not self.regions:
            raise WrongConstraint(f"The position constraint of link '{self.link}' has no region; give at least one.")
        _refuse_endless(f"Link '{self.link}'", 'offset', self.offset)


class Parameterization(IntEnum):
    """How an orientation error is told in three numbers [rad]; the values are those of moveit_msgs."""

    XYZ_EULER_ANGLES = 0
    ROTATION_VECTOR = 1


@dataclass(frozen=True)
class OrientationConstraint:
    """A link keeps an orientation; `tolerance` [rad] about the x, y and z axes of the wanted orientation.

    A tolerance of pi or more leaves the turn about its axis free.
    """

    link: str
    orientation: Quaternion
    """Of the link in the scene's frame, x, y, z, w."""
    tolerance: Vector
    parameterization: Parameterization = Parameterization.XYZ_EULER_ANGLES

    def __post_init__(self) -> None:
        where = f"Link '{self.link}'"
        _refuse_negative(where, 'orientation tolerances', self.tolerance)
        _refuse_no_quaternion(where, self.orientation)


@dataclass(frozen=True)
class PathConstraints:
    """All that a motion must keep to, at every point of its path."""

    joints: tuple[JointConstraint, ...] = ()
    positions: tuple[PositionConstraint, ...] = ()
    orientations: tuple[OrientationConstraint, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is anything to keep to."""
        return bool(self.joints or self.positions or self.orientations)


NO_CONSTRAINTS = PathConstraints()


def _refuse_endless(where: str, what: str, numbers: Iterable[float]) -> None:
    if not all(math.isfinite(number) for number in numbers):
        raise WrongConstraint(f'{where}: the {what} of its constraint is not finite; give plain numbers.')


def _refuse_negative(where: str, what: str, numbers: Iterable[float]) -> None:
    if not all(number >= 0.0 for number in numbers):
        raise WrongConstraint(f'{where}: the {what} of its constraint must be numbers from 0 up.')


def _refuse_no_quaternion(where: str, quaternion: Quaternion) -> None:
    length = math.sqrt(sum(part * part for part in quaternion))
    if not abs(length - 1.0) <= _UNIT:
        raise WrongConstraint(f'{where}: the quaternion of its constraint has the length {length:g}; normalise it.')
