"""Where an object comes to rest that is let go of, and who falls then: may take its time, and may be asked anywhere."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from lfd_description.meshes import MeshError
from lfd_planner.pose import Pose
from lfd_planner.reachability import Boxes, bounds, falls
from lfd_planner.scene import PlanningScene, WorldObject

from .settle import Settled, settle
from .values import Settings


@dataclass(frozen=True)
class Landing:
    """What becomes of an object that is let go of."""

    settled: Settled
    falls: tuple[str, ...] = ()
    """Who will not stay then, a sentence each."""

    @property
    def pose(self) -> Pose | None:
        """Where it stays; None: there is no place for it here."""
        return self.settled.pose


class Landings:
    """Finds landings, one at a time, from any thread; what it knows of a scene is kept for the next question."""

    def __init__(self) -> None:
        self._boxes = Boxes()
        self._lock = threading.Lock()

    def settled(self, scene: PlanningScene, thing: WorldObject, settings: Settings) -> Settled:
        """Where an object stays that is let go of where it is.

        Args:
            scene: all that it can come to rest on; not the object itself. What cannot be read does not count.
            thing: the object where it is let go of. If its mesh cannot be read, it stays there.
            settings: whether it falls, and whether it is laid flat.
        """
        return self.of(scene, thing, settings, with_falls=False).settled

    def of(self, scene: PlanningScene, thing: WorldObject, settings: Settings, *, with_falls: bool = True) -> Landing:
        """The same, and who falls then."""
        with self._lock:
            try:
                return self._of(scene, thing, settings, with_falls)
            except MeshError as error:
                why = f"'{thing.id}' stays where it was let go of: {error}"
            self._boxes = Boxes()  # it followed the scene up to the mesh that cannot be read
            readable = _readable(scene)
            if readable is scene or not _is_readable(thing):
                return Landing(Settled(thing.pose, warnings=(why,)))
            return self._of(readable, thing, settings, with_falls)

    def _of(self, scene: PlanningScene, thing: WorldObject, settings: Settings, with_falls: bool) -> Landing:
        settled = settle(scene, thing, settings, self._boxes)
        if settled.pose is None or not (settings.gravity and with_falls):
            return Landing(settled)
        fallen = falls(scene, replace(thing, pose=settled.pose), self._boxes)
        return Landing(settled, tuple(f'{words}.' for words in fallen[:1]))


def _readable(scene: PlanningScene) -> PlanningScene:
    """A scene without the objects whose meshes cannot be read."""
    for name, thing in scene.objects.items():
        scene = scene if _is_readable(thing) else scene.remove(name)
    return scene


def _is_readable(thing: WorldObject) -> bool:
    try:
        bounds(thing.body, thing.pose)
    except MeshError:
        return False
    return True
