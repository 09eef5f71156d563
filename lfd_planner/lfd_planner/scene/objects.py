"""Objects of a planning scene: what they are made of (a body, which moving does not change) and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from lfd_description.shapes import Capsule, MeshFile, Plane
from lfd_description.urdf import Matrix
from lfd_planner.pose import IDENTITY, Pose

from .triangles import SceneShape, TriangleMesh


@dataclass(frozen=True)
class Part:
    """A shape of a body; `pose` is that of the shape's own frame in the object's frame."""

    shape: SceneShape
    pose: Pose = IDENTITY


def message_order(part: Part) -> int:
    """What messages sort parts by."""
    return 2 if isinstance(part.shape, Plane) else 1 if isinstance(part.shape, TriangleMesh | MeshFile | Capsule) else 0


@dataclass(frozen=True)
class ObjectType:
    """What an object is known as in a database of objects: MoveIt's words, opaque here."""

    key: str = ''
    db: str = ''


@dataclass(frozen=True)
class Body:
    """What an object is: one shape or several, named frames on it, and what it is for."""

    parts: tuple[Part, ...]
    """Sorted as messages have them, which know no other order: primitives, then meshes and capsules, then planes."""
    subframes: tuple[tuple[str, Pose], ...] = ()
    """Names and poses in the object's frame, sorted by name; others know a subframe as `object/subframe`."""
    type: ObjectType = ObjectType()
    tags: tuple[str, ...] = ()
    """What it is for, such as support, graspable or fixed."""
    movable: bool = False
    """Whether a robot may pick it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, 'parts', tuple(sorted(self.parts, key=message_order)))
        object.__setattr__(self, 'subframes', tuple(sorted(self.subframes, key=lambda frame: frame[0])))

    @staticmethod
    def of(*shapes: SceneShape) -> Body:
        """A body of shapes that all have their own frame in the object's frame."""
        return Body(tuple(Part(shape) for shape in shapes))

    @cached_property
    def subframe(self) -> Mapping[str, Pose]:
        """The subframes' poses by name."""
        return dict(self.subframes)

    def with_subframes(self, subframes: Mapping[str, Pose]) -> Body:
        """The body with subframes added to its own; those of the same name are replaced."""
        return replace(self, subframes=tuple(sorted({**self.subframe, **subframes}.items())))


class PlacedShape(NamedTuple):
    """A shape of an object somewhere."""

    id: str
    """The object's."""
    shape: SceneShape
    pose: Matrix
    """The 4x4 transform scene frame -> shape [m]."""


@dataclass(frozen=True)
class WorldObject:
    """An object that stands in the world; `pose` is in the scene's frame."""

    id: str
    body: Body
    pose: Pose = IDENTITY

    @cached_property
    def placed(self) -> tuple[PlacedShape, ...]:
        """Its shapes in the scene's frame; computed once, and kept by all scenes in which the object stands still."""
        return placed(self.id, self.body, self.pose.matrix)


@dataclass(frozen=True)
class PosturePoint:
    """A point of a posture; each list is empty or has a number for each joint, in SI units."""

    positions: tuple[float, ...] = ()
    velocities: tuple[float, ...] = ()
    accelerations: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()
    time: int = 0
    """From the start [ns]."""


@dataclass(frozen=True)
class Posture:
    """How a hand opens to let go of an object: a short joint trajectory."""

    joints: tuple[str, ...] = ()
    points: tuple[PosturePoint, ...] = ()


@dataclass(frozen=True)
class AttachedObject:
    """An object that moves with a link of the robot; `pose` is in the link's frame."""

    id: str
    body: Body
    link: str
    pose: Pose = IDENTITY
    touch_links: frozenset[str] = field(default_factory=frozenset)
    """The links, other than `link`, that it may touch; names of other attached objects count too."""
    posture: Posture = Posture()
    weight: float = 0.0
    """[kg]"""

    def may_touch(self, name: str) -> bool:
        """Whether it may touch a link or another attached object without that being a collision."""
        return name == self.link or name in self.touch_links

    def placed(self, link_pose: Matrix) -> tuple[PlacedShape, ...]:
        """Its shapes in the scene's frame, for the 4x4 transform scene frame -> link [m]."""
        return placed(self.id, self.body, link_pose @ self.pose.matrix)


def placed(id: str, body: Body, pose: Matrix) -> tuple[PlacedShape, ...]:
    """The shapes of a body whose object has the 4x4 transform `pose` in the scene's frame [m]."""
    return tuple(
        PlacedShape(id, part.shape, pose if part.pose.is_identity else pose @ part.pose.matrix) for part in body.parts
    )
