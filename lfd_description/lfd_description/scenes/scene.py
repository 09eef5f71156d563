"""A scene as a value: objects with a shape, a pose and a colour, all in one frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from ..bodies import Colour
from ..shapes import Shape, Vector
from ..transforms import Quaternion
from ..urdf import Matrix

NO_TURN: Quaternion = (0.0, 0.0, 0.0, 1.0)
LIGHT_GREY: Colour = (0.75, 0.75, 0.75, 1.0)


class SceneError(ValueError):
    """A scene that cannot be used: `problems` holds one sentence each, the message is all of them, one a line."""

    def __init__(self, *problems: str) -> None:
        super().__init__('\n'.join(problems))
        self.problems = problems


@dataclass(frozen=True)
class SceneObject:
    """A solid in a scene; its pose is that of the shape's own frame in the scene's frame."""

    name: str
    shape: Shape
    position: Vector = (0.0, 0.0, 0.0)
    """[m]"""
    orientation: Quaternion = NO_TURN
    """Unit quaternion x, y, z, w."""
    colour: Colour = LIGHT_GREY
    """Red, green, blue, opacity in 0..1."""
    movable: bool = False
    """Whether a robot may pick it."""
    tags: tuple[str, ...] = ()
    """What it is for, such as support, graspable or fixed."""

    @property
    def pose(self) -> Matrix:
        """The 4x4 transform scene frame -> object [m]."""
        matrix = np.eye(4)
        matrix[:3, :3] = _rotation(self.orientation)
        matrix[:3, 3] = self.position
        return matrix


@dataclass(frozen=True)
class Scene:
    """Objects with different names, in one frame: x forward, y left, z up."""

    frame: str
    objects: tuple[SceneObject, ...] = ()

    @cached_property
    def object(self) -> Mapping[str, SceneObject]:
        """The objects by name."""
        return MappingProxyType({thing.name: thing for thing in self.objects})

    def tagged(self, tag: str) -> tuple[SceneObject, ...]:
        """The objects that have a tag, in the scene's order."""
        return tuple(thing for thing in self.objects if tag in thing.tags)


def _rotation(orientation: Quaternion) -> Matrix:
    x, y, z, w = orientation
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )
