"""Rules that say which object is meant by what it is like: values only, `resolve` finds what they match.

Points are in ROS axes, relative to the task's origin [m]. An object is where the origin of its shape is.
"""

from dataclasses import dataclass

from lfd_description.shapes import Vector

Range = tuple[float, float]
"""Least and most, both included."""


@dataclass(frozen=True)
class HasShape:
    """It is a box, sphere, cylinder, cone, capsule or mesh."""

    shape: str


@dataclass(frozen=True)
class HasSize:
    """The edges of the box around its shape, along the shape's own axes, sorted by length, are within ranges [m]."""

    longest: Range | None = None
    middle: Range | None = None
    shortest: Range | None = None


@dataclass(frozen=True)
class HasColour:
    """A name: no other colour name is nearer to its colour. '#rrggbb' or numbers in 0..1: its colour is about that."""

    colour: str | Vector


@dataclass(frozen=True)
class HasTag:
    """It has a tag."""

    tag: str


@dataclass(frozen=True)
class InBox:
    """It is between two corners of a box along the axes of the task's frame."""

    low: Vector
    """[m]"""
    high: Vector
    """[m]"""


@dataclass(frozen=True)
class InBall:
    """It is near a point."""

    centre: Vector
    """[m]"""
    radius: float
    """[m]"""


@dataclass(frozen=True)
class Nearest:
    """Of those that fulfil what stands beside it, the one nearest to a point [m] or to an object of the scene."""

    to: Vector | str


@dataclass(frozen=True)
class AllOf:
    """Each of the rules holds."""

    rules: tuple['Rule', ...]


@dataclass(frozen=True)
class AnyOf:
    """One of the rules holds at least."""

    rules: tuple['Rule', ...]


@dataclass(frozen=True)
class Not:
    """The rule does not hold."""

    rule: 'Rule'


Rule = HasShape | HasSize | HasColour | HasTag | InBox | InBall | Nearest | AllOf | AnyOf | Not
