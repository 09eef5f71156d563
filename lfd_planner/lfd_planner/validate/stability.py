"""Whether what was put down stays: each object's weight, with all that stands on it, acts within what carries it.

An object stands on another where its underside is within `CONTACT` of the other's upper side. The load of what stands
on it acts at the point of their common area that is nearest to the load's centre.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.scene import Body

from .solids import Numbers
from .surfaces import Mass, depth_inside, heights, hull, mass, moved, triangles

CONTACT = 0.0015  # [m], between two sides that touch
MARGIN = 0.001  # [m], by which the weight must be inside of what carries it
LINES = 33  # upright lines along each side of the area that two objects share


@dataclass(frozen=True, eq=False)
class Fall:
    """An object that will not stay where it is."""

    object: str
    outside: float | None
    """How far its weight is outside of the area that carries it, less the margin [m]; None: nothing carries it."""
    on: tuple[str, ...]
    """What it stands on."""


class Stack:
    """Objects that stand, each at its 4x4 transform scene -> object; up is the scene's z."""

    def __init__(self, shapes: Shapes, standing: Mapping[str, Matrix]) -> None:
        self._shapes = shapes
        self._standing = standing
        self._surface: dict[str, Matrix] = {}
        self._areas: dict[str, dict[str, Matrix]] = {}
        self._loads: dict[str, tuple[float, Numbers]] = {}
        self._asked: set[str] = set()

    def carriers(self, name: str) -> dict[str, Matrix]:
        """What an object stands on, and where: points x, y, (K, 2) [m]."""
        if name not in self._areas:
            found = {other: self._shared(name, other) for other in self._standing if other != name}
            self._areas[name] = {other: points for other, points in found.items() if len(points)}
        return self._areas[name]

    def above(self, name: str) -> tuple[str, ...]:
        """The movable objects that stand on an object."""
        return tuple(other for other in self._movable if other != name and name in self.carriers(other))

    def is_movable(self, name: str) -> bool:
        """Whether an object can fall."""
        return name in self._movable

    def falls(self, name: str) -> Iterator[Fall]:
        """Who does not stay, of an object and all that carry it."""
        for one in self._below(name):
            fall = self._fall(one)
            if fall is not None:
                yield fall

    def _below(self, name: str) -> tuple[str, ...]:
        """An object and all movable ones that carry it."""
        found = [name]
        for one in found:
            found += [other for other in self.carriers(one) if other in self._movable and other not in found]
        return tuple(found)

    @cached_property
    def _movable(self) -> tuple[str, ...]:
        return tuple(name for name in self._standing if self._shapes.bodies[name].movable)

    def _fall(self, name: str) -> Fall | None:
        areas = self.carriers(name)
        if not areas:
            return Fall(name, None, ())
        inside, _ = depth_inside(hull(np.concatenate(list(areas.values()))), self._load(name)[1])
        return None if inside >= MARGIN else Fall(name, MARGIN - inside, tuple(areas))

    def _load(self, name: str) -> tuple[float, Numbers]:
        """The weight that an object passes on, and where it acts: x, y [m]."""
        if name in self._loads:
            return self._loads[name]
        own = self._shapes.mass(name)
        pose = self._standing[name]
        weights, places = [own.amount], [(pose[:3, :3] @ own.centre + pose[:3, 3])[:2]]
        self._asked.add(name)
        for other in self.above(name):
            # Objects that are in each other can each stand on the other; each counts as on the first one asked for.
            if other not in self._asked or other in self._loads:
                weight, place = self._load(other)
                weights.append(weight)
                places.append(depth_inside(hull(self.carriers(other)[name]), place)[1])
        self._loads[name] = sum(weights), np.average(places, axis=0, weights=weights)
        return self._loads[name]

    def _shared(self, upper: str, lower: str) -> Matrix:
        """Where an object stands on another: points x, y, (K, 2) [m]."""
        over, under = self._triangles(upper), self._triangles(lower)
        low = np.maximum(over.min(axis=(0, 1)), under.min(axis=(0, 1)))
        high = np.minimum(over.max(axis=(0, 1)), under.max(axis=(0, 1)))
        if (low[:2] >= high[:2]).any() or low[2] > high[2] + CONTACT:
            return np.empty((0, 2))
        # Only what is as high as where both are can be where they touch.
        over = over[over[:, :, 2].min(axis=1) <= high[2] + CONTACT]
        under = under[under[:, :, 2].max(axis=1) >= low[2] - CONTACT]
        inset = 1e-6 * (high - low)
        x, y = (np.linspace(low[k] + inset[k], high[k] - inset[k], LINES) for k in (0, 1))
        lines = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        bottom = np.nanmin(_or_nowhere(heights(over, lines), np.inf), axis=1)
        tops = _or_nowhere(heights(under, lines), -np.inf)
        top = np.where(tops <= bottom[:, np.newaxis] + CONTACT, tops, -np.inf).max(axis=1)
        touching = np.isfinite(bottom) & (bottom - top <= CONTACT)
        found: Matrix = lines[touching]
        return found

    def _triangles(self, name: str) -> Matrix:
        if name not in self._surface:
            self._surface[name] = moved(self._shapes.triangles(name), self._standing[name])
        return self._surface[name]


class Shapes:
    """The surfaces and masses of objects, each made once."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self.bodies = bodies
        self._triangles: dict[str, Matrix] = {}
        self._mass: dict[str, Mass] = {}

    def triangles(self, name: str) -> Matrix:
        """The surface of an object in its frame, (M, 3, 3) [m]."""
        if name not in self._triangles:
            self._triangles[name] = triangles(self.bodies[name])
        return self._triangles[name]

    def mass(self, name: str) -> Mass:
        """The mass of an object."""
        if name not in self._mass:
            self._mass[name] = mass(self.bodies[name])
        return self._mass[name]


def _or_nowhere(values: Matrix, nowhere: float) -> Matrix:
    found: Matrix = np.where(np.isnan(values), nowhere, values)
    return found
