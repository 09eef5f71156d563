"""Hierarchies of axis-aligned boxes, flat in memory: of a mesh's triangles, and of all that stands in a scene."""

import numpy as np

from lfd_description.compiled import compiled

from .rows import CHILD, ENTRIES, HIGH, LOW, NODE_WIDTH, Integers, Numbers

_LEAF = 4  # entries
_DEEP = 40
"""From here on, nodes are split into halves of equal number, so that boxes of wildly different sizes go no deeper."""
STACK = 256
"""Nodes that wait in the walk of two hierarchies at once are always fewer."""


@compiled
def build(boxes: Numbers, order: Integers) -> Numbers:
    """The nodes over boxes, (n, 6) low and high corner [m], the root first; entry i of a leaf is box `order[i]`."""
    count = boxes.shape[0]
    nodes = np.zeros((max(2 * count, 1), NODE_WIDTH))
    for i in range(count):
        order[i] = i
    waiting = np.empty((STACK, 4), dtype=np.int64)  # node, first, end, depth
    waiting[0] = 0
    waiting[0, 2] = count
    used, left = 1, 1
    while left > 0:
        left -= 1
        node, first, end, depth = waiting[left, 0], waiting[left, 1], waiting[left, 2], waiting[left, 3]
        _enclose(boxes, order, first, end, nodes[node])
        if end - first <= _LEAF:
            nodes[node, CHILD], nodes[node, ENTRIES] = first, end - first
            continue
        middle = (first + end) // 2
        if depth < _DEEP:
            middle = _parted(boxes, order, first, end)
        nodes[node, CHILD] = used
        waiting[left, 0], waiting[left, 1], waiting[left, 2], waiting[left, 3] = used, first, middle, depth + 1
        left += 1
        waiting[left, 0], waiting[left, 1], waiting[left, 2], waiting[left, 3] = used + 1, middle, end, depth + 1
        left += 1
        used += 2
    return nodes[:used].copy()


@compiled
def _enclose(boxes: Numbers, order: Integers, first: int, end: int, node: Numbers) -> None:
    for k in range(3):
        low, high = np.inf, -np.inf
        for i in range(first, end):
            low = min(low, boxes[order[i], LOW + k])
            high = max(high, boxes[order[i], HIGH + k])
        node[LOW + k], node[HIGH + k] = low, high


@compiled
def _parted(boxes: Numbers, order: Integers, first: int, end: int) -> int:
    """Sort entries to both sides of the middle of their centres, along the axis on which those spread most."""
    axis, middle, widest = 0, 0.0, -1.0
    for k in range(3):
        low, high = np.inf, -np.inf
        for i in range(first, end):
            centre = 0.5 * (boxes[order[i], LOW + k] + boxes[order[i], HIGH + k])
            low, high = min(low, centre), max(high, centre)
        if high - low > widest:
            axis, middle, widest = k, 0.5 * (low + high), high - low
    here, there = first, end
    while here < there:
        box = order[here]
        if 0.5 * (boxes[box, LOW + axis] + boxes[box, HIGH + axis]) < middle:
            here += 1
        else:
            there -= 1
            order[here], order[there] = order[there], box
    return here if first < here < end else (first + end) // 2
