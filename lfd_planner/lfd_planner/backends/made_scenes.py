"""What was made of scenes, kept for those that come again: the last few, by what they were made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from lfd_planner.scene import PlanningScene

MOST = 64
Made = TypeVar('Made')


class MadeScenes(Generic[Made]):
    """The last things that were made of scenes; several threads may ask at once, and one makes at a time."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[PlanningScene, Made]] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, scene: PlanningScene, others: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` made of a scene with the same bodies and rules, and of equal `others`; made now if nothing was.

        Parts of scenes are the same if they are the same object: scenes share what did not change.
        """
        parts = (scene.objects, scene.attached, scene.allowed, scene.link_padding, scene.link_scale)
        key = (tuple(map(id, parts)), others)
        found = self._known(key)
        if found is not None:
            return found[1]
        with self._making:
            found = self._known(key) or (scene, make())  # somebody else may have made it meanwhile
            self._keep(key, found)
        return found[1]

    def _known(self, key: Hashable) -> tuple[PlanningScene, Made] | None:
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
            return self._made.get(key)

    def _keep(self, key: Hashable, made: tuple[PlanningScene, Made]) -> None:
        """Keep what was made, and the scene, so that no other part can have the identity of one of its parts."""
        with self._lock:
            self._made[key] = made
            while len(self._made) > self._most:
                self._made.popitem(last=False)
