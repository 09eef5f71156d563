"""The planning scene as a value: every edit gives a new scene, which shares with the old all that did not change.

The semantics are MoveIt's: adding an object of a known id replaces it, a removed object takes its colour and its
allowed collisions with it, an attached object moves with its link and stays where it is when it is detached. Unlike in
MoveIt, an id is never both attached and in the world.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from lfd_description.bodies import Colour
from lfd_description.urdf import Matrix
from lfd_planner.pose import Pose

from .allowed_collisions import NONE_ALLOWED, AllowedCollisions
from .faults import Code, SceneFault, names, quoted
from .objects import AttachedObject, Body, Part, PlacedShape, Posture, WorldObject
from .persistent_map import PersistentMap

LinkPoses = Mapping[str, Matrix]
"""The 4x4 transform scene frame -> link [m] of every link of the robot, for the scene's joint positions."""

RESERVED = '<octomap>'
"""The id that MoveIt keeps for itself."""


@dataclass(frozen=True)
class PlanningScene:
    """Objects in one frame, a robot's state, and who may touch whom."""

    frame: str
    """The frame in which all poses are, but those of attached objects."""
    objects: PersistentMap[str, WorldObject] = field(default_factory=PersistentMap)
    """What stands in the world, by id."""
    attached: PersistentMap[str, AttachedObject] = field(default_factory=PersistentMap)
    """What moves with a link, by id."""
    allowed: AllowedCollisions = NONE_ALLOWED
    joints: PersistentMap[str, float] = field(default_factory=PersistentMap)
    """Positions by joint [rad or m]."""
    colours: PersistentMap[str, Colour] = field(default_factory=PersistentMap)
    """By object; red, green, blue, opacity in 0..1."""
    fixed_frames: PersistentMap[str, Pose] = field(default_factory=PersistentMap)
    """Further frames in which poses may be given, such as a camera's."""
    link_padding: PersistentMap[str, float] = field(default_factory=PersistentMap)
    """How much bigger links are checked [m]; 0 for those that are not here."""
    link_scale: PersistentMap[str, float] = field(default_factory=PersistentMap)
    """How many times as big links are checked; 1 for those that are not here."""
    name: str = ''
    robot: str = ''
    """The name of the robot's model."""

    def __contains__(self, id: str) -> bool:
        """Whether there is an object of this id, in the world or attached."""
        return id in self.objects or id in self.attached

    def body(self, id: str) -> Body | None:
        """The body of an object, in the world or attached; None if there is no such object."""
        found = self.objects.get(id) or self.attached.get(id)
        return found.body if found else None

    def add(self, *objects: WorldObject, colours: Mapping[str, Colour] | None = None) -> PlanningScene:
        """The scene with objects in the world; those of a known id replace what was there.

        Raises:
            SceneFault: an object has no shape or no id, or one of that id is attached.
        """
        for thing in objects:
            self._check_new(thing.id, thing.body)
            if thing.id in self.attached:
                raise self._is_attached(thing.id, 'added')
        return replace(
            self,
            objects=self.objects.edit((thing.id, thing) for thing in objects),
            colours=self.colours.edit((colours or {}).items()),
        )

    def append(self, id: str, parts: Iterable[Part], subframes: Mapping[str, Pose] | None = None) -> PlanningScene:
        """The scene with more shapes on an object in the world; `parts` and `subframes` are in its frame.

        Raises:
            SceneFault: there is no such object in the world, or there are no shapes.
        """
        old = self._in_world(id, 'appended to')
        body = replace(old.body, parts=(*old.body.parts, *parts)).with_subframes(subframes or {})
        if len(body.parts) == len(old.body.parts):
            raise SceneFault(Code.FAILURE, f'There are no shapes to append to object {quoted(id)}; give at least one.')
        return replace(self, objects=self.objects.set(id, replace(old, body=body)))

    def move(self, id: str, pose: Pose) -> PlanningScene:
        """The scene with an object of the world at another pose in the scene's frame.

        Raises:
            SceneFault: there is no such object in the world.
        """
        old = self._in_world(id, 'moved')
        return replace(self, objects=self.objects.set(id, replace(old, pose=pose)))

    def move_parts(self, id: str, poses: Iterable[Pose]) -> PlanningScene:
        """The scene with the shapes of an object at other poses in the object's frame, one for each.

        Raises:
            SceneFault: there is no such object in the world, or the number of poses is wrong.
        """
        old, new = self._in_world(id, 'moved'), tuple(poses)
        if len(new) != len(old.body.parts):
            raise SceneFault(
                Code.FAILURE,
                f'Object {quoted(id)} has {len(old.body.parts)} shapes, and {len(new)} shape poses were sent to move '
                f'it; send one for each, or none.',
            )
        parts = tuple(replace(part, pose=pose) for part, pose in zip(old.body.parts, new, strict=True))
        return replace(self, objects=self.objects.set(id, replace(old, body=replace(old.body, parts=parts))))

    def remove(self, id: str) -> PlanningScene:
        """The scene without an object of the world, its colour and its allowed collisions.

        Raises:
            SceneFault: there is no such object in the world.
        """
        self._in_world(id, 'removed')
        return replace(
            self, objects=self.objects.remove(id), colours=self.colours.remove(id), allowed=self.allowed.without(id)
        )

    def remove_all(self) -> PlanningScene:
        """The scene without any object in the world; what is attached stays."""
        allowed = self.allowed
        for id in self.objects:
            allowed = allowed.without(id)
        colours = self.colours.edit((id, None) for id in self.objects)
        return replace(self, objects=PersistentMap(), colours=colours, allowed=allowed)

    def attach(
        self,
        id: str,
        link: str,
        link_poses: LinkPoses,
        touch_links: Iterable[str] = (),
        posture: Posture | None = None,
        weight: float = 0.0,
    ) -> PlanningScene:
        """The scene with an object of the world attached to a link: it stays where it is, and from now on moves along.

        Raises:
            SceneFault: there is no such object in the world, or no such link.
        """
        thing = self._in_world(id, 'attached')
        pose = link_pose(link, link_poses).inverse @ thing.pose
        return self.attach_new(
            AttachedObject(id, thing.body, link, pose, frozenset(touch_links), posture or Posture(), weight), link_poses
        )

    def attach_new(self, thing: AttachedObject, link_poses: LinkPoses) -> PlanningScene:
        """The scene with an object attached that brings its own body; it replaces one of its id, wherever that is.

        Raises:
            SceneFault: the object has no shape or no id, or there is no such link.
        """
        self._check_new(thing.id, thing.body)
        link_pose(thing.link, link_poses)
        return replace(self, objects=self.objects.remove(thing.id), attached=self.attached.set(thing.id, thing))

    def detach(self, id: str, link_poses: LinkPoses) -> PlanningScene:
        """The scene with an attached object put down in the world, where it is at this moment.

        Raises:
            SceneFault: no such object is attached.
        """
        held = self._attached(id, 'detached')
        thing = WorldObject(id, held.body, link_pose(held.link, link_poses) @ held.pose)
        return replace(self, objects=self.objects.set(id, thing), attached=self.attached.remove(id))

    def drop(self, id: str) -> PlanningScene:
        """The scene without an attached object, which is not put down but gone, as if it had been removed.

        Raises:
            SceneFault: no such object is attached.
        """
        self._attached(id, 'dropped')
        return replace(
            self, attached=self.attached.remove(id), colours=self.colours.remove(id), allowed=self.allowed.without(id)
        )

    def with_joints(self, positions: Mapping[str, float]) -> PlanningScene:
        """The scene with new positions of these joints [rad or m]; the others stay."""
        return replace(self, joints=self.joints.edit(positions.items()))

    def allow(self, a: str, *others: str) -> PlanningScene:
        """The scene in which `a` may touch each of the others."""
        return replace(self, allowed=self.allowed.allow(a, *others))

    def forbid(self, a: str, *others: str) -> PlanningScene:
        """The scene in which `a` may touch none of the others."""
        return replace(self, allowed=self.allowed.forbid(a, *others))

    def with_default(self, name: str, allowed: bool | None) -> PlanningScene:
        """The scene with a default for a name: whether it may touch all with which it has no entry."""
        return replace(self, allowed=self.allowed.with_default(name, allowed))

    def with_colours(self, colours: Mapping[str, Colour]) -> PlanningScene:
        """The scene with colours of objects: red, green, blue, opacity in 0..1."""
        return replace(self, colours=self.colours.edit(colours.items()))

    def may_touch(self, a: str, b: str) -> bool:
        """Whether two links or objects may touch: by an entry, by a default, or because one is attached there."""
        held_a, held_b = self.attached.get(a), self.attached.get(b)
        if self.allowed.allows(a, b):
            return True
        if held_a and held_b and held_a.link == held_b.link:  # they cannot move against each other
            return True
        return (held_a is not None and held_a.may_touch(b)) or (held_b is not None and held_b.may_touch(a))

    def _check_new(self, id: str, body: Body) -> None:
        if not id or id == RESERVED:
            raise SceneFault(Code.INVALID_OBJECT_NAME, f'{quoted(id)} is no id for an object; give it another name.')
        if not body.parts:
            raise SceneFault(Code.FAILURE, f'Object {quoted(id)} has no shape; give it at least one.')

    def _in_world(self, id: str, done: str) -> WorldObject:
        found = self.objects.get(id)
        if found is None:
            if id in self.attached:
                raise self._is_attached(id, done)
            raise SceneFault(
                Code.INVALID_OBJECT_NAME,
                f'There is no object {quoted(id)} in the world that could be {done}; there are {names(self.objects)}.',
            )
        return found

    def _is_attached(self, id: str, done: str) -> SceneFault:
        link = self.attached[id].link
        return SceneFault(
            Code.INVALID_OBJECT_NAME,
            f'Object {quoted(id)} is attached to link {quoted(link)} and cannot be {done}; detach it first.',
        )

    def _attached(self, id: str, done: str) -> AttachedObject:
        found = self.attached.get(id)
        if found is None:
            where = 'it stands in the world' if id in self.objects else f'attached are {names(self.attached)}'
            raise SceneFault(
                Code.INVALID_OBJECT_NAME, f'No object {quoted(id)} is attached that could be {done}; {where}.'
            )
        return found


def link_pose(link: str, link_poses: LinkPoses) -> Pose:
    """The pose of a link in the scene's frame.

    Raises:
        SceneFault: there is no such link.
    """
    if link not in link_poses:
        raise SceneFault(
            Code.INVALID_LINK_NAME, f'The robot has no link {quoted(link)}; its links are {names(link_poses, 100)}.'
        )
    return Pose.of(link_poses[link])


def shapes_in_world(scene: PlanningScene, link_poses: LinkPoses) -> list[PlacedShape]:
    """Every shape of every object, in the world and attached, where it is in the scene's frame.

    Shapes of objects that stood still since an earlier scene are the same values as there: `is` tells what moved.

    Raises:
        SceneFault: something is attached to a link that is not among `link_poses`.
    """
    shapes = list(chain.from_iterable(thing.placed for thing in scene.objects.values()))
    for held in scene.attached.values():
        link_pose(held.link, link_poses)
        shapes += held.placed(link_poses[held.link])
    return shapes
