"""The digital twin: which objects there are, where they are, to whom they belong, and who holds them.

Every edit gives the news of it, `ObjectsChanged`, and costs as much as the change, however many objects there are. An
object belongs to the twin, or to the robot while that holds it, or is an other: one that the planning scene has from
others. An other that somebody moves here is the twin's from then on. All poses are in the twin's frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lfd_description.bodies import Colour
from lfd_description.hints import did_you_mean
from lfd_description.scenes.scene import LIGHT_GREY
from lfd_description.scenes.values import MAX_NAME, shortened
from lfd_planner.pose import Pose
from lfd_planner.scene import PersistentMap, PlanningScene, WorldObject

from .values import Hand, Held, ObjectsChanged, Owner, Refusal

MOST_OBJECTS = 20_000


class Twin:
    """Objects and their holders.

    Args:
        scene: objects and colours to begin with; its frame is the twin's. Whatever is attached is left out.
    """

    def __init__(self, scene: PlanningScene) -> None:
        self.scene = PlanningScene(scene.frame, objects=scene.objects, colours=scene.colours)
        """The objects of the twin, those that the robot holds included, and their colours; without others."""
        self.world = self.scene
        """The same with others."""
        self.revision = 0
        self._held: dict[str, Held] = {}
        self._robots: set[str] = set()
        self._others: PersistentMap[str, WorldObject] = PersistentMap()

    @property
    def frame(self) -> str:
        """The frame of all poses, such as base_link."""
        return self.scene.frame

    @property
    def held(self) -> Mapping[str, Held]:
        """Who holds what, by object."""
        return self._held

    @property
    def objects(self) -> PersistentMap[str, WorldObject]:
        """All that there is to see, others included."""
        return self.world.objects

    def known(self, name: str) -> WorldObject:
        """An object, others included.

        Raises:
            Refusal: there is none of this name.
        """
        thing = self.world.objects.get(name)
        if thing is None:
            hint = did_you_mean(name, self.world.objects) if len(self.world.objects) < 1000 else ''
            raise Refusal('no_object', f"There is no object '{shortened(name)}'{hint}; choose one that you see.")
        return thing

    def owner(self, name: str) -> Owner:
        """Whose an object is."""
        return 'robot' if name in self._robots else 'other' if name in self._others else 'twin'

    def colour(self, name: str) -> Colour:
        """Red, green, blue, opacity in 0..1."""
        return self.world.colours.get(name, LIGHT_GREY)

    def standing(self, but: str) -> PlanningScene:
        """What an object can come to rest on: all but itself and what is in hands or in the robot's."""
        scene = self.world
        for name in {but, *self._held, *self._robots}:
            scene = scene.remove(name) if name in scene.objects else scene
        return scene

    # Edits by people --------------------------------------------------------------------------------------------------

    def add(self, thing: WorldObject, colour: Colour | None = None) -> ObjectsChanged:
        """A new object.

        Raises:
            Refusal: its name is taken or no name, or there are too many objects.
        """
        check_name(thing.id)
        if thing.id in self.world.objects:
            raise Refusal('name_taken', f"There is an object '{shortened(thing.id)}' already; choose another name.")
        if len(self.world.objects) >= MOST_OBJECTS:
            raise Refusal('too_many', f'There are {MOST_OBJECTS} objects; remove some before you add another.')
        if not thing.body.parts:
            raise Refusal('no_shape', f"Object '{shortened(thing.id)}' has no shape; give it at least one.")
        self._put(thing, colour)
        return self._news(changed=(thing,))

    def new_name(self, stem: str = 'object') -> str:
        """A name that is free, such as box_2."""
        number = 1
        while f'{stem}_{number}' in self.world.objects:
            number += 1
        return f'{stem}_{number}'

    def place(self, name: str, pose: Pose) -> ObjectsChanged:
        """An object is somewhere else.

        Raises:
            Refusal: nobody may move it now.
        """
        if self._adopted(self._free(name)):
            self._put(replace(self.scene.objects[name], pose=pose))
            return self._news(changed=(self.scene.objects[name],))
        return self._moved(name, pose)

    def remove(self, name: str) -> ObjectsChanged:
        """An object of the twin is gone.

        Raises:
            Refusal: nobody may take it away now.
        """
        self._free(name)
        self._drop(name)
        return self._news(removed=(name,))

    def grab(self, name: str, holder: Held) -> ObjectsChanged:
        """An object is in a hand.

        Raises:
            Refusal: it cannot be taken, or the hand is full.
        """
        thing = self._free(name)
        if not thing.body.movable:
            raise Refusal('fixed', f"'{name}' is fixed; only movable objects can be picked up.")
        for other, by in self._held.items():
            if by == holder:
                what = 'mouse' if holder.hand is Hand.MOUSE else f'{holder.hand.value} hand'
                raise Refusal('hand_full', f"Your {what} holds '{other}'; let go of it first.")
        self._held[name] = holder
        return self._news(changed=self._adopted(thing), held={name: holder})

    def move(self, name: str, by: str, pose: Pose) -> ObjectsChanged:
        """A held object is somewhere else.

        Raises:
            Refusal: this client does not hold it.
        """
        self.holder(name, by)
        return self._moved(name, pose)

    def release(self, name: str, by: str, pose: Pose) -> ObjectsChanged:
        """A held object is let go of, and stays at a pose.

        Raises:
            Refusal: this client does not hold it.
        """
        self.holder(name, by)
        del self._held[name]
        return replace(self._moved(name, pose), held={name: None})

    def holder(self, name: str, by: str) -> Held:
        """How a client holds an object.

        Raises:
            Refusal: it does not.
        """
        held = self._held.get(name)
        if held is None or held.by != by:
            self.known(name)
            raise Refusal('not_held', f"You do not hold '{name}'; grab it first.")
        return held

    # Edits by the robot and by the planning scene ---------------------------------------------------------------------

    def robot_took(self, name: str) -> ObjectsChanged | None:
        """An object of the twin is in the robot's hand from now on; None if it is none of ours or was there before."""
        thing = self.scene.objects.get(name)
        if thing is None or name in self._robots:
            return None
        self._robots.add(name)
        held = {name: None} if self._held.pop(name, None) else {}
        return self._news(changed=(thing,), held=held)

    def robot_moved(self, name: str, pose: Pose) -> ObjectsChanged | None:
        """What the robot holds is somewhere else; None if it holds no such object of ours."""
        return self._moved(name, pose) if name in self._robots else None

    def robot_put(self, name: str, pose: Pose) -> ObjectsChanged | None:
        """The robot has let go of an object; None if it is none of ours."""
        if name not in self.scene.objects:
            return None
        self._robots.discard(name)
        self._put(replace(self.scene.objects[name], pose=pose))
        return self._news(changed=(self.scene.objects[name],))

    def set_others(
        self, others: Mapping[str, WorldObject], colours: Mapping[str, Colour] | None = None
    ) -> ObjectsChanged | None:
        """The objects that the planning scene has and the twin has not; None if that is no news."""
        new = PersistentMap({name: thing for name, thing in others.items() if name not in self.scene.objects})
        changes = new.changes_from(self._others)
        if not changes:
            return None
        removed = [name for name, (_, after) in changes.items() if after is None]
        found = {name: after for name, (_, after) in changes.items() if after is not None}
        moved = {name: after.pose for name, after in found.items() if _same_make(changes[name][0], after)}
        world = self.world
        for name in removed:
            world = world.remove(name)
        tints = {name: tint for name, tint in (colours or {}).items() if name in found}
        self.world = world.add(*found.values(), colours=tints)
        self._others = new
        changed = tuple(after for name, after in found.items() if name not in moved)
        return self._news(changed=changed, moved=moved, removed=tuple(removed))

    # Arrangements -----------------------------------------------------------------------------------------------------

    def arrange(self, scene: PlanningScene, *, only_moves: bool = False) -> ObjectsChanged | None:
        """Make the twin's objects those of a scene, or put those that both have where the scene has them.

        Objects in hands are let go of; what the robot holds stays there. None if nothing changes.
        """
        changes = scene.objects.changes_from(self.scene.objects)
        free = {name: pair for name, pair in changes.items() if name not in self._robots}
        removed = () if only_moves else tuple(name for name, (_, after) in free.items() if after is None)
        moved = {
            name: after.pose
            for name, (before, after) in free.items()
            if after is not None and before is not None and (only_moves or _same_make(before, after))
        }
        changed = () if only_moves else tuple(a for n, (_, a) in free.items() if a is not None and n not in moved)
        let_go: dict[str, Held | None] = dict.fromkeys(self._held)
        if not (removed or moved or changed or let_go):
            return None
        self._held.clear()
        for name in removed:
            self._drop(name)
        for name, pose in moved.items():
            self._put(replace(self.scene.objects[name], pose=pose))
        for thing in changed:
            self._put(thing, scene.colours.get(thing.id))
        return self._news(changed=changed, moved=moved, removed=removed, held=let_go)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _free(self, name: str) -> WorldObject:
        """An object that nobody holds."""
        thing = self.known(name)
        if name in self._robots:
            raise Refusal('robot_holds', f"The robot holds '{name}'; wait until it has put it down.")
        if name in self._held:
            raise Refusal('held', f"'{name}' is in somebody's hand; it must be let go of first.")
        return thing

    def _adopted(self, thing: WorldObject) -> tuple[WorldObject, ...]:
        """Make an other the twin's; gives it, if it was one."""
        if thing.id not in self._others:
            return ()
        self._put(thing, self.world.colours.get(thing.id))
        return (thing,)

    def _put(self, thing: WorldObject, colour: Colour | None = None) -> None:
        tints = {} if colour is None else {thing.id: colour}
        self.scene = self.scene.add(thing, colours=tints)
        self.world = self.world.add(thing, colours=tints)
        self._others = self._others.remove(thing.id)

    def _moved(self, name: str, pose: Pose) -> ObjectsChanged:
        self._put(replace(self.scene.objects[name], pose=pose))
        return self._news(moved={name: pose})

    def _drop(self, name: str) -> None:
        self.scene = self.scene.remove(name)
        self.world = self.world.remove(name)

    def _news(
        self,
        changed: tuple[WorldObject, ...] = (),
        moved: Mapping[str, Pose] | None = None,
        removed: tuple[str, ...] = (),
        held: Mapping[str, Held | None] | None = None,
    ) -> ObjectsChanged:
        self.revision += 1
        return ObjectsChanged(self.revision, changed, moved or {}, removed, held or {})


def check_name(name: str) -> None:
    """See to it that a name can be an object's everywhere: in scene files, tasks and messages.

    Raises:
        Refusal: it cannot.
    """
    if not name or name != name.strip() or not name.isprintable() or len(name) > MAX_NAME or name == '<octomap>':
        raise Refusal(
            'wrong_name', f"'{shortened(name)}' is no name; write 1 to {MAX_NAME} characters that can be seen."
        )


def _same_make(before: WorldObject | None, after: WorldObject) -> bool:
    return before is not None and (before.body is after.body or before.body == after.body)
