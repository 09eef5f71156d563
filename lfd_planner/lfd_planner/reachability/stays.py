"""Whether an object stays where it was put: told by the validator's own judge of stacks."""

from __future__ import annotations

from functools import lru_cache

from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene, WorldObject
from lfd_planner.validate.stability import CONTACT, Fall, Shapes, Stack
from lfd_planner.validate.surfaces import Mass, mass, triangles

from .boxes import Boxes
from .neighbours import Neighbours

MOST_OBJECTS = 32  # below one that are looked at


def falls(scene: PlanningScene, thing: WorldObject, boxes: Boxes | None = None) -> tuple[str, ...]:
    """Who will not stay when an object is let go of where it is, of itself and what carries it: a few words each.

    Args:
        scene: all that it can stand on.
        thing: the object; another of its name in the scene does not count.
        boxes: to be kept from one question to the next, if there are many objects.
    """
    rest = scene.remove(thing.id) if thing.id in scene.objects else scene
    standing = _below(rest, thing, boxes or Boxes())
    shapes = _KnownShapes({name: one.body for name, one in standing.items()})
    stack = Stack(shapes, {name: one.pose.matrix for name, one in standing.items()})
    return tuple(map(_words, stack.falls(thing.id)))


def _words(fall: Fall) -> str:
    if fall.outside is None:
        return f"'{fall.object}' will not stay: nothing carries it"
    far = max(1.0, 1000.0 * fall.outside)
    return f"'{fall.object}' will tip over: its weight is {far:.0f} mm outside of what carries it"


def _below(scene: PlanningScene, thing: WorldObject, boxes: Boxes) -> dict[str, WorldObject]:
    """An object, and all that it touches and that what it touches touches, as long as these can move."""
    found, waiting = {thing.id: thing}, [thing]
    while waiting:
        one = waiting.pop()
        for gap in Neighbours(scene, one, boxes).gaps(one.pose, CONTACT):
            if gap.other not in found and len(found) < MOST_OBJECTS:
                other = found[gap.other] = scene.objects[gap.other]
                waiting += [other] if other.body.movable else []
    return found


class _KnownShapes(Shapes):
    """Surfaces and masses that are kept for the next time."""

    def triangles(self, name: str) -> Matrix:
        """The surface of an object in its frame, (M, 3, 3) [m]."""
        return _triangles(self.bodies[name])

    def mass(self, name: str) -> Mass:
        """The mass of an object."""
        return _mass(self.bodies[name])


_triangles = lru_cache(maxsize=1024)(triangles)
_mass = lru_cache(maxsize=1024)(mass)
