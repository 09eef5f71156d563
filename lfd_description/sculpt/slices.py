"""The published cross-sections of the arms' links, read from `link_shapes.json`.

A link was measured in its own frame: its bounding box, the volume of its convex hull, and six slices along its longest
axis. A slice is a rectangle cut by a circle, both about one centre, from one height of that axis to another. All
lengths are metres.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FILE = Path(__file__).with_name('link_shapes.json')
AXES = 'xyz'
GRID = 1e-5  # [m]: all vertices lie on it, so that every machine makes the same files

# The lower arm of the IRB 1600 was measured on the 1.45 m variant; on the 1.2 m one its upper end sits lower [m].
SHORTER = {('irb1600', 'link_2'): 0.225}


@dataclass(frozen=True)
class Slice:
    """What of a link lies between two heights of its long axis: a rectangle cut by a circle about the same centre."""

    start: float
    """[m]"""
    end: float
    """[m]"""
    centre: tuple[float, float]
    """Along the two other axes, in their order [m]."""
    half: tuple[float, float]
    """Half of the rectangle's sides [m]."""
    radius: float
    """Of the circle [m]."""


@dataclass(frozen=True)
class LinkShape:
    """A link's published outline, in its own frame."""

    lower: tuple[float, float, float]
    """The bounding box's corner of smallest x, y and z [m]."""
    upper: tuple[float, float, float]
    """The opposite corner [m]."""
    hull_volume: float
    """[m^3]"""
    axis: int
    """The long axis: 0, 1 or 2 for x, y or z."""
    slices: tuple[Slice, ...]

    @property
    def across(self) -> tuple[int, int]:
        """The two other axes, in their order."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second

    def place(self, heights: Array, across: Array) -> Array:
        """Points [m] in the link's frame, (n, 3), from heights (n,) on the long axis and the two others (n, 2)."""
        points = np.empty((len(across), 3))
        points[:, self.axis] = heights
        points[:, list(self.across)] = across
        return points


def published_arms() -> tuple[str, ...]:
    """The names of the arms whose links were measured."""
    return tuple(json.loads(FILE.read_text(encoding='utf-8')))


def published_links(arm: str) -> dict[str, LinkShape]:
    """The measured links of an arm by name, from base to tool; none for an arm that was not measured."""
    links = json.loads(FILE.read_text(encoding='utf-8')).get(arm, {})
    return {name: _shortened(_link(data), SHORTER.get((arm, name), 0.0)) for name, data in links.items()}


def _link(data: dict[str, Any]) -> LinkShape:
    lower, upper = ((float(x), float(y), float(z)) for x, y, z in data['aabb'])
    slices = tuple(Slice(row[0], row[1], (row[2], row[3]), (row[4], row[5]), row[6]) for row in data['slices'])
    return LinkShape(lower, upper, float(data['hull_volume']), AXES.index(data['long_axis']), slices)


def _shortened(link: LinkShape, by: float) -> LinkShape:
    """The link with its upper end `by` metres lower: what lies above the middle moves down, and the middle is cut."""
    if by == 0.0:
        return link
    middle = 0.5 * (link.slices[0].start + link.slices[-1].end - by)
    below = [_cut(one, one.start, min(one.end, middle)) for one in link.slices if one.start < middle]
    above = [_cut(one, max(one.start - by, middle), one.end - by) for one in link.slices if one.end - by > middle]
    slices = (*below, *above)
    share = sum(_prism(one) for one in slices) / sum(_prism(one) for one in link.slices)
    upper = list(link.upper)
    upper[link.axis] -= by
    return LinkShape(link.lower, (upper[0], upper[1], upper[2]), link.hull_volume * share, link.axis, slices)


def _cut(one: Slice, start: float, end: float) -> Slice:
    return Slice(round(start, 4), round(end, 4), one.centre, one.half, one.radius)


def _prism(one: Slice) -> float:
    return (one.end - one.start) * one.half[0] * one.half[1]


def snapped(vertices: Array) -> Array:
    """Vertices moved onto the grid; the small shift keeps round numbers clear of where rounding flips."""
    return np.round(vertices / GRID + 0.013) * GRID
