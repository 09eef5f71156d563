"""Whom to mirror to: which of the twin's objects a planning server gets, and in which frame it is told of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lfd_planner.scene import IDENTITY, Body, PersistentMap, PlanningScene, Pose, WorldObject

MARK = 'twin'


@dataclass(frozen=True)
class Selection:
    """Which objects, by their tags."""

    include: frozenset[str] = frozenset()
    """At least one of these; none here: all objects."""
    exclude: frozenset[str] = frozenset()
    """None of these; this counts more than `include`."""

    @staticmethod
    def of(include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Selection:
        """The selection by two lists of tags; empty texts are no tags."""
        return Selection(frozenset(include) - {''}, frozenset(exclude) - {''})

    def selects(self, tags: Iterable[str]) -> bool:
        """Whether an object with these tags is selected."""
        found = frozenset(tags)
        return not found & self.exclude and (not self.include or bool(found & self.include))


@dataclass(frozen=True)
class Target:
    """A planning server, and what it is to be told of the twin."""

    name: str
    """As people read it."""
    frame: str
    """The frame in which the server is told poses; one that it knows."""
    origin: Pose = IDENTITY
    """Where the twin's frame is in `frame`."""
    selection: Selection = Selection()
    mark: str = MARK
    """The tag by which the twin's objects are known again on the server."""

    def mirrored(self, thing: WorldObject) -> WorldObject | None:
        """An object of the twin as the server should have it; None if it is not for this server."""
        if not self.selection.selects(thing.body.tags):
            return None
        tags = thing.body.tags if self.mark in thing.body.tags else (*thing.body.tags, self.mark)
        return WorldObject(thing.id, replace(thing.body, tags=tags), self.origin @ thing.pose)


def unmarked(scene: PlanningScene, mark: str = MARK) -> PlanningScene:
    """A server's scene without the marks that mirroring put on its objects."""
    return replace(scene, objects=PersistentMap({id: _unmarked(thing, mark) for id, thing in scene.objects.items()}))


def _unmarked(thing: WorldObject, mark: str) -> WorldObject:
    body: Body = replace(thing.body, tags=tuple(tag for tag in thing.body.tags if tag != mark))
    return replace(thing, body=body)


@dataclass
class Wanted:
    """What a server should have, kept up with the twin; the cost of an update is that of the twin's change."""

    target: Target
    scene: PlanningScene = field(init=False)
    """The twin's objects that are for the server, in the server's frame."""
    _twin: PlanningScene | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.scene = PlanningScene(self.target.frame)

    def follow(self, twin: PlanningScene) -> frozenset[str]:
        """Take over a newer state of the twin; returns the ids of the objects that this changes for the server."""
        old = self._twin or PlanningScene(twin.frame)
        before = self.scene
        changed = twin.objects.changes_from(old.objects)
        things = [(id, None if thing is None else self.target.mirrored(thing)) for id, (_, thing) in changed.items()]
        objects = before.objects.edit(things)
        repainted = {**changed, **twin.colours.changes_from(old.colours)}
        colours = before.colours.edit((id, twin.colours.get(id) if id in objects else None) for id in repainted)
        self._twin = twin
        self.scene = replace(before, objects=objects, colours=colours)
        return frozenset(objects.changes_from(before.objects)) | frozenset(colours.changes_from(before.colours))
