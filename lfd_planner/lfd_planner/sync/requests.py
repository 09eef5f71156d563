"""What goes between a mirror and its planning server, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lfd_description.bodies import Colour
from lfd_planner.scene import Body, PlanningScene, Pose
from lfd_planner.scene.diffs import ObjectChange


@dataclass(frozen=True)
class Look:
    """Asks a server which objects it has; cheap without `geometry`, which brings every shape and pose."""

    number: int
    geometry: bool


@dataclass(frozen=True)
class Apply:
    """Asks a server to make `new` of `old`: both hold the twin's objects only, so that all others stay."""

    number: int
    old: PlanningScene
    new: PlanningScene
    changes: tuple[ObjectChange, ...]
    """The difference of the two, but for colours."""
    since: float
    """When the twin made the oldest of these changes [s]."""


Request = Look | Apply


@dataclass(frozen=True)
class SeenObject:
    """An object that a server has."""

    tags: tuple[str, ...] = ()
    body: Body | None = None
    """None: not told."""
    pose: Pose | None = None
    """In the target's frame; None: not told, or told in another frame."""
    link: str = ''
    """Not empty: it is not in the world but attached to this link."""


@dataclass(frozen=True)
class Seen:
    """What a server answered to a look."""

    objects: Mapping[str, SeenObject]
    """All that stands in its world, by id."""
    attached: Mapping[str, str] = field(default_factory=dict)
    """The links that objects are attached to, by the objects' ids."""
    colours: Mapping[str, Colour] = field(default_factory=dict)


@dataclass(frozen=True)
class Synchronised:
    """What one acknowledged request did."""

    added: int
    moved: int
    removed: int
    latency: float
    """From the oldest of the twin's changes to the server's acknowledgement [s]."""

    def __str__(self) -> str:
        return f'{self.added} added, {self.moved} moved, {self.removed} removed in {1e3 * self.latency:.1f} ms'
