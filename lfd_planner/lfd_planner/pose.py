"""Poses as values: exact numbers that are read, sent and compared as they are; the 4x4 transform is made on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lfd_description.shapes import Vector
from lfd_description.transforms import Quaternion, multiply, rotate
from lfd_description.urdf import Matrix, rotation

NO_TURN: Quaternion = (0.0, 0.0, 0.0, 1.0)
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Pose:
    """Where a frame is in another: `position` [m], `orientation` as unit quaternion x, y, z, w."""

    position: Vector = ORIGIN
    orientation: Quaternion = NO_TURN

    @staticmethod
    def of(matrix: Matrix) -> Pose:
        """The pose of a 4x4 transform [m]."""
        x, y, z = matrix[:3, 3].tolist()
        return Pose((x, y, z), _quaternion(matrix))

    @staticmethod
    def of_numbers(numbers: Sequence[float]) -> Pose:
        """The pose at x, y, z [m], turned by roll, pitch and yaw [rad] about fixed axes."""
        x, y, z, roll, pitch, yaw = numbers
        matrix = np.eye(4)
        matrix[:3, :3] = rotation((roll, pitch, yaw))
        matrix[:3, 3] = x, y, z
        return Pose.of(matrix)

    @cached_property
    def matrix(self) -> Matrix:
        """The 4x4 transform [m]; it is shared, and cannot be written to."""
        x, y, z, w = self.orientation
        px, py, pz = self.position
        matrix = np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), px],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), py],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y), pz],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        matrix.flags.writeable = False
        return matrix

    @property
    def is_identity(self) -> bool:
        """Whether this is exactly no motion."""
        return self.position == ORIGIN and self.orientation in (NO_TURN, (-0.0, -0.0, -0.0, -1.0))

    @property
    def inverse(self) -> Pose:
        """The pose of the other frame in this one."""
        x, y, z, w = self.orientation
        back = (-x, -y, -z, w)
        px, py, pz = rotate(back, self.position)
        return Pose((-px, -py, -pz), back)

    def __matmul__(self, inner: Pose) -> Pose:
        """The pose of a frame that is at `inner` of this frame. Nothing is rounded where either is no motion."""
        if inner.is_identity:
            return self
        if self.is_identity:
            return inner
        (ax, ay, az), (bx, by, bz) = self.position, rotate(self.orientation, inner.position)
        return Pose((ax + bx, ay + by, az + bz), _unit(multiply(self.orientation, inner.orientation)))


IDENTITY = Pose()


def _unit(q: Quaternion) -> Quaternion:
    """The quaternion at length 1, so that a long chain of poses does not drift."""
    x, y, z, w = q
    norm = (x * x + y * y + z * z + w * w) ** 0.5
    return x / norm, y / norm, z / norm, w / norm


def _quaternion(matrix: Matrix) -> Quaternion:
    """The unit quaternion of a rotation; its largest part is found first, so that no digits are lost."""
    (a, b, c), (d, e, f), (g, h, i) = matrix[:3, :3].tolist()
    squares = (1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i, 1.0 + a + e + i)
    largest = squares.index(max(squares))
    rows: tuple[Quaternion, ...] = (
        (squares[0], b + d, c + g, h - f),
        (b + d, squares[1], f + h, c - g),
        (c + g, f + h, squares[2], d - b),
        (h - f, c - g, d - b, squares[3]),
    )
    return _unit(rows[largest])
