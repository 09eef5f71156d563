"""Turns about one axis that bring a vector where it is wanted: what every closed form here is made of.

Vectors are tuples of three numbers, so that the compiler keeps them in registers. Axes are unit vectors. Angles are
kept as (cosine, sine): no closed form needs the angle itself, and sines are what costs time.

`turn_onto` is the first of the canonical subproblems (Paden and Kahan), `turn_to_level` the fourth, `turn_to_distance`
the third; the second, two turns in a row, is the fourth and then the first.
"""

import math

import numpy as np

from lfd_description.compiled import compiled
from lfd_description.shapes import Vector
from lfd_description.urdf import Matrix

Angle = tuple[float, float]  # cosine, sine

# A vector this close to its axis [m or 1] can be turned by any angle and stays where it is within the accuracy asked
# of a solution. A double root is found to the square root of the rounding error, 2e-8, which must fall below it.
ON_AXIS = 1e-7
EXACT = 1e-8
"""More slack than this stands for axes that are not quite where they should be."""
ANY = -1
"""Instead of a count of angles: every angle will do."""


@compiled
def row(array: Matrix, i: int) -> Vector:
    """The i-th row of an (N, 3) array."""
    return array[i, 0], array[i, 1], array[i, 2]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """A . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def length(a: Vector) -> float:
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """A x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def minus(a: Vector, b: Vector) -> Vector:
    """A - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def plus(a: Vector, b: Vector) -> Vector:
    """A + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def back(angle: Angle) -> Angle:
    """The same angle the other way round."""
    return angle[0], -angle[1]


@compiled
def after(a: Angle, b: Angle) -> Angle:
    """The sum of two angles."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


@compiled
def turn(axis: Vector, angle: Angle, vector: Vector) -> Vector:
    """The vector, turned about the axis."""
    c, s = angle
    along = dot(axis, vector) * (1.0 - c)
    x, y, z = cross(axis, vector)
    return (
        vector[0] * c + x * s + axis[0] * along,
        vector[1] * c + y * s + axis[1] * along,
        vector[2] * c + z * s + axis[2] * along,
    )


@compiled
def turn_about(axis: Vector, through: Vector, angle: Angle, point: Vector) -> Vector:
    """The point, turned about the line along `axis` through a point."""
    return plus(through, turn(axis, angle, minus(point, through)))


@compiled
def turn_onto(axis: Vector, start: Vector, goal: Vector) -> tuple[Angle, bool]:
    """The angle that turns `start` as near to `goal` as can be, and whether any angle will do."""
    start_along, goal_along = dot(axis, start), dot(axis, goal)
    c = dot(start, goal) - start_along * goal_along
    s = dot(axis, cross(start, goal))
    shorter = min(dot(start, start) - start_along**2, dot(goal, goal) - goal_along**2)
    size = math.sqrt(c * c + s * s)
    if shorter < ON_AXIS**2 or size == 0.0:
        return (1.0, 0.0), True
    return (c / size, s / size), False


@compiled
def turn_to_level(axis: Vector, start: Vector, along: Vector, level: float, slack: float) -> tuple[int, Angle, Angle]:
    """The angles that turn `start` to where its product with `along` is `level`: their count, and they.

    A level out of reach by no more than `slack` counts as just within reach, which is the one case with a single
    angle. The count is `ANY` if all angles will do.
    """
    still = dot(along, axis) * dot(axis, start)
    c = dot(along, start) - still
    s = dot(along, cross(axis, start))
    wanted = level - still
    most = math.sqrt(c * c + s * s)
    zero = (1.0, 0.0)
    if abs(wanted) > most + slack:
        return 0, zero, zero
    if most < ON_AXIS * math.sqrt(dot(along, along)):
        return ANY, zero, zero
    # The angle of the highest level, and how far to both sides of it the wanted one lies.
    c, s, off_c = c / most, s / most, wanted / most
    if abs(off_c) >= 1.0:
        single = (c, s) if off_c > 0.0 else (-c, -s)
        return 1, single, single
    off_s = math.sqrt((1.0 - off_c) * (1.0 + off_c))
    return 2, (c * off_c - s * off_s, s * off_c + c * off_s), (c * off_c + s * off_s, s * off_c - c * off_s)


@compiled
def turn_to_distance(
    axis: Vector, start: Vector, centre: Vector, distance: float, slack: float
) -> tuple[int, Angle, Angle]:
    """The angles that turn `start` to a distance from `centre`, all measured from a point on the axis."""
    size = dot(start, start) + dot(centre, centre)
    level = 0.5 * (size - distance**2)
    return turn_to_level(axis, start, centre, level, slack * math.sqrt(size))


@compiled
def across(axis: Vector, vector: Vector) -> Vector:
    """The part of the vector at right angles to the axis."""
    along = dot(axis, vector)
    return vector[0] - along * axis[0], vector[1] - along * axis[1], vector[2] - along * axis[2]


def any_across(axis: Matrix) -> Matrix:
    """Some unit vector at right angles to a unit vector, (3,)."""
    other = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return np.asarray(other / np.linalg.norm(other))
