"""Differences between scenes as values: found, applied, composed. Their size is that of the change, not of the scene.

`apply(old, difference(old, new)) == new`, and applying `compose(first, second)` is applying one after the other.
Geometry is in a diff only where the receiver of it cannot have it yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lfd_description.bodies import Colour
from lfd_planner.pose import Pose

from .allowed_collisions import AllowedCollisions, PairEdit
from .faults import Code, SceneFault, quoted
from .objects import AttachedObject, Body, Posture, WorldObject
from .planning_scene import PlanningScene

Value = TypeVar('Value')


@dataclass(frozen=True)
class Added:
    """An object that now stands in the world with this body, wherever one of its id was before."""

    thing: WorldObject

    @property
    def id(self) -> str:
        """The object's."""
        return self.thing.id


@dataclass(frozen=True)
class Moved:
    """An object of the world that is now at `pose` in the scene's frame; its body is as before."""

    id: str
    pose: Pose


@dataclass(frozen=True)
class Removed:
    """An object that is gone, from the world or from the link that held it."""

    id: str


@dataclass(frozen=True)
class Attached:
    """An object that now moves with a link; `pose` is in the link's frame."""

    id: str
    link: str
    pose: Pose
    touch_links: frozenset[str]
    posture: Posture
    weight: float
    """[kg]"""
    body: Body | None
    """None: that which the object has already."""

    @staticmethod
    def of(held: AttachedObject, body: Body | None) -> Attached:
        """The change that attaches an object as this one is."""
        return Attached(held.id, held.link, held.pose, held.touch_links, held.posture, held.weight, body)

    def held(self, body: Body) -> AttachedObject:
        """The object that the change makes of a body."""
        return AttachedObject(self.id, body, self.link, self.pose, self.touch_links, self.posture, self.weight)


@dataclass(frozen=True)
class Detached:
    """An object that was attached and now stands in the world at `pose` in the scene's frame; its body is as before."""

    id: str
    pose: Pose


ObjectChange = Added | Moved | Removed | Attached | Detached


@dataclass(frozen=True)
class SceneDiff:
    """What changes from one scene to another; None as a value means that there is none any more."""

    objects: tuple[ObjectChange, ...] = ()
    """One change for an object at most."""
    pairs: tuple[PairEdit, ...] = ()
    """Entries of allowed collisions."""
    defaults: tuple[tuple[str, bool | None], ...] = ()
    """Defaults of allowed collisions."""
    colours: tuple[tuple[str, Colour | None], ...] = ()
    joints: tuple[tuple[str, float | None], ...] = ()
    """Positions [rad or m]."""
    fixed_frames: tuple[tuple[str, Pose | None], ...] = ()
    link_padding: tuple[tuple[str, float | None], ...] = ()
    link_scale: tuple[tuple[str, float | None], ...] = ()
    name: str | None = None
    """None: as before."""
    robot: str | None = None
    """None: as before."""

    def __bool__(self) -> bool:
        return self != EMPTY

    @property
    def added(self) -> tuple[WorldObject, ...]:
        """The objects that came to the world with their geometry."""
        return tuple(change.thing for change in self.objects if isinstance(change, Added))

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The objects of the world that are elsewhere."""
        return tuple(change for change in self.objects if isinstance(change, Moved))

    @property
    def removed(self) -> tuple[str, ...]:
        """The ids of objects that are gone."""
        return tuple(change.id for change in self.objects if isinstance(change, Removed))

    @property
    def attached(self) -> tuple[Attached, ...]:
        """The objects that were attached, or are attached otherwise."""
        return tuple(change for change in self.objects if isinstance(change, Attached))

    @property
    def detached(self) -> tuple[Detached, ...]:
        """The objects that were put down in the world."""
        return tuple(change for change in self.objects if isinstance(change, Detached))


EMPTY = SceneDiff()


def difference(old: PlanningScene, new: PlanningScene) -> SceneDiff:
    """What makes `new` of `old`; costs little where `new` was made of `old` by few edits.

    Raises:
        SceneFault: the scenes have different frames.
    """
    if old.frame != new.frame:
        raise SceneFault(
            Code.FRAME_TRANSFORM_FAILURE,
            f'The scenes are in different frames, {quoted(old.frame)} and {quoted(new.frame)}; '
            f'compare scenes of one frame.',
        )
    return SceneDiff(
        objects=tuple(_object_changes(old, new)),
        pairs=new.allowed.pairs_changed_from(old.allowed),
        defaults=new.allowed.defaults.edits_from(old.allowed.defaults),
        colours=new.colours.edits_from(old.colours),
        joints=new.joints.edits_from(old.joints),
        fixed_frames=new.fixed_frames.edits_from(old.fixed_frames),
        link_padding=new.link_padding.edits_from(old.link_padding),
        link_scale=new.link_scale.edits_from(old.link_scale),
        name=new.name if new.name != old.name else None,
        robot=new.robot if new.robot != old.robot else None,
    )


def apply(scene: PlanningScene, diff: SceneDiff) -> PlanningScene:
    """The scene after a diff.

    Raises:
        SceneFault: the diff moves, attaches or detaches an object that the scene does not have.
    """
    objects: list[tuple[str, WorldObject | None]] = []
    attached: list[tuple[str, AttachedObject | None]] = []
    for change in diff.objects:
        thing, held = _applied(scene, change)
        objects.append((change.id, thing))
        attached.append((change.id, held))
    return replace(
        scene,
        objects=scene.objects.edit(objects),
        attached=scene.attached.edit(attached),
        allowed=_allowed(scene.allowed, diff),
        colours=scene.colours.edit(diff.colours),
        joints=scene.joints.edit(diff.joints),
        fixed_frames=scene.fixed_frames.edit(diff.fixed_frames),
        link_padding=scene.link_padding.edit(diff.link_padding),
        link_scale=scene.link_scale.edit(diff.link_scale),
        name=scene.name if diff.name is None else diff.name,
        robot=scene.robot if diff.robot is None else diff.robot,
    )


def compose(first: SceneDiff, second: SceneDiff) -> SceneDiff:
    """The one diff that does what the two do one after the other.

    Raises:
        SceneFault: the second moves, attaches or detaches an object that the first leaves elsewhere.
    """
    changes = {change.id: change for change in first.objects}
    for change in second.objects:
        before = changes.pop(change.id, None)  # what comes later is listed later
        changes[change.id] = change if before is None else _composed(before, change)
    pairs = {(a, b): allowed for diff in (first, second) for a, b, allowed in diff.pairs}
    return SceneDiff(
        objects=tuple(changes.values()),
        pairs=tuple((a, b, allowed) for (a, b), allowed in sorted(pairs.items())),
        defaults=_both(first.defaults, second.defaults),
        colours=_both(first.colours, second.colours),
        joints=_both(first.joints, second.joints),
        fixed_frames=_both(first.fixed_frames, second.fixed_frames),
        link_padding=_both(first.link_padding, second.link_padding),
        link_scale=_both(first.link_scale, second.link_scale),
        name=first.name if second.name is None else second.name,
        robot=first.robot if second.robot is None else second.robot,
    )


def _both(
    first: Iterable[tuple[str, Value | None]], second: Iterable[tuple[str, Value | None]]
) -> tuple[tuple[str, Value | None], ...]:
    return tuple({**dict(first), **dict(second)}.items())


def _allowed(old: AllowedCollisions, diff: SceneDiff) -> AllowedCollisions:
    new = old.edited(diff.pairs) if diff.pairs else old
    return replace(new, defaults=new.defaults.edit(diff.defaults)) if diff.defaults else new


def _object_changes(old: PlanningScene, new: PlanningScene) -> Iterable[ObjectChange]:
    """One change for each object; ids are in the world or attached, never both."""
    changed: Mapping[str, object] = {
        **new.objects.changes_from(old.objects),
        **new.attached.changes_from(old.attached),
    }
    for id in changed:
        body, thing, held = old.body(id), new.objects.get(id), new.attached.get(id)
        if held is not None:
            yield Attached.of(held, None if _same(held.body, body) else held.body)
        elif thing is None:
            yield Removed(id)
        elif not _same(thing.body, body):
            yield Added(thing)
        elif id in old.attached:
            yield Detached(id, thing.pose)
        else:
            yield Moved(id, thing.pose)


def _same(new: Body, old: Body | None) -> bool:
    return new is old or new == old


def _applied(scene: PlanningScene, change: ObjectChange) -> tuple[WorldObject | None, AttachedObject | None]:
    """What the object is afterwards, in the world or attached."""
    match change:
        case Added(thing):
            return thing, None
        case Removed():
            return None, None
        case Attached(body=body):
            return None, change.held(body or _body(scene, change))
        case Detached(id, pose):  # of two composed diffs, the first may have attached what stood in the world
            return WorldObject(id, _body(scene, change), pose), None
        case Moved(id, pose):
            if id not in scene.objects:
                raise _missing(change)
            return replace(scene.objects[id], pose=pose), None


def _body(scene: PlanningScene, change: ObjectChange) -> Body:
    body = scene.body(change.id)
    if body is None:
        raise _missing(change)
    return body


def _missing(change: ObjectChange) -> SceneFault:
    done = type(change).__name__.lower()
    return SceneFault(
        Code.INVALID_OBJECT_NAME,
        f'The diff has {quoted(change.id)} {done}, but the scene it is applied to has no such object; send the whole '
        f'scene.',
    )


def _composed(first: ObjectChange, second: ObjectChange) -> ObjectChange:
    match first, second:
        case _, Added() | Removed():
            return second
        case Added(thing), Moved(pose=pose):
            return Added(replace(thing, pose=pose))
        case Moved(), Moved():
            return second
        case Detached(id), Moved(pose=pose):
            return Detached(id, pose)
        case _, Attached(body=body) if body is not None:
            return second
        case Added(thing), Attached():
            return replace(second, body=thing.body)
        case Attached(body=body), Attached():
            return replace(second, body=body)
        case ((Moved() | Detached()), Attached()):
            return second
        case Attached(id, body=body), Detached(pose=pose):
            return second if body is None else Added(WorldObject(id, body, pose))
        case _:
            raise _missing(second)
