"""Why an object cannot be taken from where it is, or put where it belongs, whatever holds it."""

from __future__ import annotations

from collections.abc import Iterator

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Rejection

from .loose_object import DEEPEST, LooseObject, Overlap, Touching


def overlapping(object: str, overlap: Overlap) -> Rejection:
    """It is inside of something before anything moves."""
    return Rejection(
        'objects_overlap',
        (object, overlap.name),
        detail=f"'{object}' is {_mm(overlap.depth)} inside '{overlap.name}' before it is picked; correct the scene.",
    )


def occupied(object: str, overlap: Overlap) -> Rejection:
    """Something is at its place."""
    return Rejection(
        'place_occupied',
        (object, overlap.name),
        detail=f"At its place '{object}' would be {_mm(overlap.depth)} inside '{overlap.name}'.",
    )


def no_room(loose: LooseObject, pose: Pose, found: Touching, rise: float) -> Iterator[Rejection]:
    """Something is at its place, or above it where it must be lowered by `rise` [m]."""
    if found.overlaps:
        yield from (occupied(loose.name, overlap) for overlap in found.overlaps)
    else:
        yield from shut_off(loose, pose, found.supports, rise)


def unsupported(loose: LooseObject, pose: Pose, supports: tuple[str, ...]) -> Iterator[Rejection]:
    """At a place it would fall."""
    if supports:
        return
    under = loose.below(pose)
    if under is None:
        detail = f"'{loose.name}' would be let go with nothing within {_mm(DEEPEST)} below; correct its place."
        yield Rejection('unsupported', (loose.name,), detail=detail)
    else:
        detail = f"'{loose.name}' would be let go {_mm(under.distance)} above '{under.name}'; lower its place."
        yield Rejection('unsupported', (loose.name, under.name), detail=detail)


def shut_off(loose: LooseObject, pose: Pose, supports: tuple[str, ...], rise: float) -> Iterator[Rejection]:
    """Something is above its place, to which it must be lowered by `rise` [m]."""
    met = loose.above(pose, rise, supports)
    if met is not None:
        yield Rejection(
            'blocked_above',
            (loose.name, met.name),
            detail=f"'{met.name}' is {_mm(met.distance)} above the place of '{loose.name}', which must be lowered "
            f'to it by {_mm(rise)}; make room.',
        )


def held_down(loose: LooseObject, scene: PlanningScene, supports: tuple[str, ...], rise: float) -> Iterator[Rejection]:
    """Something is above it, where it must be lifted by `rise` [m]."""
    name = loose.name
    met = loose.above(scene.objects[name].pose, rise, supports)
    if met is None:
        return
    if not scene.objects[met.name].body.movable:
        detail = f"'{met.name}' is {_mm(met.distance)} above '{name}', which must be lifted by {_mm(rise)}; make room."
        yield Rejection('blocked_above', (name, met.name), detail=detail)
    elif _hold_each_other(scene, name, met.name, rise):
        detail = f"'{name}' and '{met.name}' hold each other down: neither can be lifted before the other."
        yield Rejection('interlocked', (name, met.name), detail=detail)
    else:
        detail = f"'{met.name}' lies on '{name}'; pick '{met.name}' first."
        yield Rejection('covered', (met.name, name), detail=detail)


def _hold_each_other(scene: PlanningScene, name: str, cover: str, rise: float) -> bool:
    """Whether what is on an object is itself below it, or below something that is."""
    seen = {name}
    while cover not in seen:
        seen.add(cover)
        loose, thing = LooseObject(scene, cover), scene.objects[cover]
        met = loose.above(thing.pose, rise, loose.touching(thing.pose).supports)
        if met is None or not scene.objects[met.name].body.movable:
            return False
        cover = met.name
    return True


def _mm(length: float) -> str:
    return f'{1000.0 * length:.0f} mm'
