"""All shapes of a robot and of the scenes around it, one after the other in memory: what rows of solids refer to.

It only grows. Worlds that were made before hold the beginning of the same array, which never changes.
"""

import threading

import numpy as np

from .rows import CHILD, ENTRIES, FIRST, GRAPH, NODE, NODE_WIDTH, TRIANGLE, Numbers
from .solids import Solid

_FULL = 8_000_000  # numbers, 64 MB


class ShapeLibrary:
    """Solids in one array. Safe to be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[int, tuple[Numbers, Solid]] = {}
        self._array = np.empty(1024)
        self._count = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to begin a new one with what is still needed."""
        return self._count > _FULL

    def row(self, solid: Solid) -> Numbers:
        """The solid's row, as it is in this library; not to be written to."""
        with self._lock:
            known = self._known.get(id(solid))
            if known is None:  # the solid is kept, so that nothing else gets its id
                known = self._known[id(solid)] = (self._add(solid), solid)
            return known[0]

    def _add(self, solid: Solid) -> Numbers:
        row, nodes = solid.row.copy(), solid.nodes.copy()
        row[FIRST] = self._append(solid.corners)
        row[TRIANGLE] = self._append(solid.triangles)
        if row[GRAPH] >= 0.0:
            row[GRAPH] += self._append(solid.graph)
        if row[NODE] >= 0.0:
            row[NODE] = self._count
            inner = nodes[:, ENTRIES] == 0.0
            nodes[inner, CHILD] = row[NODE] + NODE_WIDTH * nodes[inner, CHILD]
            self._append(nodes)
        return row

    def _append(self, numbers: Numbers) -> int:
        """Put numbers at the end; gives where they begin."""
        start, end = self._count, self._count + numbers.size
        if end > len(self._array):
            bigger = np.empty(2 * end)
            bigger[:start] = self._array[:start]
            self._array = bigger
        self._array[start:end] = numbers.ravel()
        self._count = end
        return start

    def shapes(self) -> Numbers:
        """All that rows of this library refer to."""
        with self._lock:
            return self._array[: self._count]
