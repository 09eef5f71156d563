"""Solid shapes as values: what links, grippers and scene objects are made of.

A shape lies in its own frame: centred on the origin, its axis along z, in metres. Where it is in the world is the
business of whoever owns it.
"""

from dataclasses import dataclass
from pathlib import Path

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Box:
    """A cuboid with edges along x, y and z."""

    size: Vector
    """[m]"""


@dataclass(frozen=True)
class Sphere:
    """A ball around the origin."""

    radius: float
    """[m]"""


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about z, from -height/2 to height/2."""

    radius: float
    """[m]"""
    height: float
    """[m]"""


@dataclass(frozen=True)
class Capsule:
    """A cylinder about z with a half ball at each end; `height` is from pole to pole, at least two radii."""

    radius: float
    """[m]"""
    height: float
    """[m]"""


@dataclass(frozen=True)
class Cone:
    """A cone about z: its base disc at -height/2, its tip at height/2."""

    radius: float
    """[m], of the base"""
    height: float
    """[m]"""


@dataclass(frozen=True)
class Plane:
    """The half space below z = 0: a floor without end."""


@dataclass(frozen=True)
class MeshFile:
    """A triangle mesh in a file (STL, OBJ, DAE, PLY, GLB), times `scale` along x, y and z to be in metres."""

    file: Path
    scale: Vector = (1.0, 1.0, 1.0)


Shape = Box | Sphere | Cylinder | Capsule | Cone | Plane | MeshFile
