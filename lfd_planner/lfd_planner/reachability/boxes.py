"""Boxes around all objects of a scene, in arrays that follow the scene: a change costs what it changes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lfd_description.shapes import Plane
from lfd_description.urdf import Matrix
from lfd_planner.collision.rows import CENTRE, HALF
from lfd_planner.collision.solids import solid_of
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PersistentMap, SceneShape, WorldObject

Numbers = npt.NDArray[np.float64]


class Bounds(NamedTuple):
    """A box along the axes of the scene's frame [m]."""

    low: Numbers
    high: Numbers


class Boxes:
    """Finds the objects of a scene within a box."""

    def __init__(self) -> None:
        self._objects: PersistentMap[str, WorldObject] = PersistentMap()
        self._rows: dict[str, int] = {}
        self._names: list[str] = []
        self._low = np.empty((0, 3))
        self._high = np.empty((0, 3))

    def follow(self, objects: PersistentMap[str, WorldObject]) -> None:
        """Be about these objects from now on."""
        for name, (_, after) in objects.changes_from(self._objects).items():
            row = self._row(name)
            if after is None:
                self._low[row], self._high[row] = math.inf, -math.inf
            else:
                self._low[row], self._high[row] = bounds(after.body, after.pose)
        self._objects = objects

    def within(self, low: Numbers, high: Numbers) -> list[WorldObject]:
        """The objects whose boxes meet a box."""
        count = len(self._names)
        hit = ((self._low[:count] <= high) & (self._high[:count] >= low)).all(axis=1)
        return [self._objects[self._names[row]] for row in np.flatnonzero(hit)]

    def _row(self, name: str) -> int:
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = len(self._names)
            self._names.append(name)
            if row >= len(self._low):
                more = np.empty((max(row, 64), 3))
                self._low, self._high = np.concatenate([self._low, more]), np.concatenate([self._high, more])
        return row


def bounds(body: Body, pose: Pose) -> Bounds:
    """The box along the axes around a body at a pose."""
    found = [_of_part(part.shape, pose.matrix @ part.pose.matrix) for part in body.parts]
    return Bounds(np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0))


def _of_part(shape: SceneShape, matrix: Matrix) -> Bounds:
    if isinstance(shape, Plane):
        endless = np.full(3, math.inf)
        level = matrix[2, 2] > 1.0 - 1e-12
        return Bounds(-endless, np.array([math.inf, math.inf, matrix[2, 3]]) if level else endless)
    row = solid_of(shape).row
    centre = matrix[:3, :3] @ row[CENTRE : CENTRE + 3] + matrix[:3, 3]
    half = np.abs(matrix[:3, :3]) @ row[HALF : HALF + 3]
    return Bounds(centre - half, centre + half)
