"""Convex solids around a link's published slices: few of them, with few corners, and little space wasted.

Each slice is enclosed by a prism. Neighbouring prisms are joined to one convex hull wherever that adds little; which
to join is found by dynamic programming over all ways to cut the row of slices.
"""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from scipy.spatial import ConvexHull

from .slices import Array, LinkShape, Slice, snapped

SLACK = 1e-4  # [m] that the solids keep outside the published numbers, twice what those are rounded by
WASTE = 1.05  # volume of the solids, over that of the slices, up to which fewer solids are better
MAX_CORNERS = 64
# Of the prism around a slice, over the slice: the tightest that keeps a hull within MAX_CORNERS is taken.
TIGHTNESS = (1.005, 1.01, 1.015, 1.025, 1.04, 1.06, 1.1, 1.2)


@dataclass(frozen=True)
class Solid:
    """A convex polyhedron, in the link's frame."""

    vertices: Array
    """(n, 3) [m]"""
    faces: Array
    """Triangles (m, 3), counter-clockwise seen from outside."""
    volume: float
    """[m^3]"""


@cache
def enclose(link: LinkShape) -> tuple[Solid, ...]:
    """The solids that hold all slices of a link: the fewest that waste at most `WASTE`, else the tightest."""
    count = len(link.slices)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count + 1)]
    found = {pair: _hull(link, link.slices[slice(*pair)]) for pair in pairs}
    hulls = {pair: solid for pair, solid in found.items() if solid is not None}
    limit = WASTE * sum(slice_volume(one) for one in link.slices)
    cuts = [cut for parts in range(1, count + 1) if (cut := _best_cut(hulls, count, parts))]
    good = next((cut for volume, cut in cuts if volume <= limit), min(cuts)[1])
    return tuple(hulls[pair] for pair in pairwise(good))


def slice_volume(one: Slice) -> float:
    """The volume [m^3] of a slice: the rectangle within the circle, times the height."""
    a, b = (min(half, one.radius) for half in one.half)
    start, end = _arc(one)
    if end <= start:
        return (one.end - one.start) * 4.0 * a * b
    straight = 0.5 * a * a * math.tan(start) + 0.5 * b * b / math.tan(end)
    quarter = straight + 0.5 * one.radius**2 * (end - start)
    return (one.end - one.start) * 4.0 * quarter


def _arc(one: Slice) -> tuple[float, float]:
    """Where the circle runs within the rectangle's first quarter: from one angle [rad] to another."""
    a, b = (min(half / one.radius, 1.0) for half in one.half)
    return math.acos(a), math.asin(b)


def _best_cut(hulls: dict[tuple[int, int], Solid], count: int, parts: int) -> tuple[float, tuple[int, ...]] | None:
    """The least volume of `parts` solids over all slices, and where the row of slices is cut for it."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, (0,))}
    for _ in range(parts):
        ends = sorted({j for i, j in hulls if i in best})
        best = {
            end: min((best[i][0] + hulls[i, j].volume, (*best[i][1], j)) for i, j in hulls if j == end and i in best)
            for end in ends
        }
    return best.get(count)


def _hull(link: LinkShape, slices: tuple[Slice, ...]) -> Solid | None:
    """The tightest hull of slices that has few corners; None when even a loose one has too many."""
    solids = (_hull_of(link, slices, tightness) for tightness in TIGHTNESS)
    return next((solid for solid in solids if len(solid.vertices) <= MAX_CORNERS), None)


def _hull_of(link: LinkShape, slices: tuple[Slice, ...], tightness: float) -> Solid:
    rings = []
    for one in slices:
        outline = outline_around(one, tightness)
        rings += [link.place(np.full(len(outline), height), outline) for height in (one.start - SLACK, one.end + SLACK)]
    return convex(snapped(np.concatenate(rings)))


def outline_around(one: Slice, tightness: float) -> Array:
    """The corners (n, 2) [m] of a polygon around a slice's cross-section, counter-clockwise.

    Its sides are the rectangle's, and in each of its corners the fewest tangents of the circle that keep the area
    within `tightness` times the cross-section's.
    """
    grown = Slice(one.start, one.end, (0.0, 0.0), (one.half[0] + SLACK, one.half[1] + SLACK), one.radius + SLACK)
    limit = tightness * slice_volume(grown) / (grown.end - grown.start)
    candidates = [_outline(grown, tangents) for tangents in _tangents(grown)]
    outline = next((corners for corners in candidates if _area(corners) <= limit), min(candidates, key=_area))
    placed: Array = outline + one.centre
    return placed


def _tangents(one: Slice) -> list[Array]:
    """Angles [rad] of tangents to try in the first quarter, fewest first."""
    start, end = _arc(one)
    inner = [start + (np.arange(count) + 0.5) / max(count, 1) * (end - start) for count in range(7)]
    touching = [start + (np.arange(count) + 1.0) / (count + 1) * (end - start) for count in range(7)]
    both = [angles for pair in zip(touching, inner, strict=True) for angles in pair]
    return both if end > start else both[:1]


def _outline(one: Slice, angles: Array) -> Array:
    """The polygon about the origin between the rectangle's sides and tangents at angles [rad] in each quarter."""
    lines = [(0.0, min(one.half[0], one.radius)), *((float(angle), one.radius) for angle in angles)]
    lines.append((0.5 * math.pi, min(one.half[1], one.radius)))
    quarter = np.array([_crossing(*first, *second) for first, second in pairwise(lines)])
    halves = np.concatenate([quarter, quarter[::-1] * (-1.0, 1.0)])
    return np.concatenate([halves, -halves])


def _crossing(first: float, near: float, second: float, far: float) -> tuple[float, float]:
    """Where two lines meet, each given by its normal's angle [rad] and its distance from the origin [m]."""
    scale = math.sin(second - first)
    x = (near * math.sin(second) - far * math.sin(first)) / scale
    y = (far * math.cos(first) - near * math.cos(second)) / scale
    return x, y


def _area(corners: Array) -> float:
    x, y = corners.T
    return 0.5 * float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def convex(points: Array) -> Solid:
    """The convex hull of points (n, 3) [m]."""
    hull = ConvexHull(points)
    used = np.sort(hull.vertices)
    number = np.zeros(len(points), dtype=np.int64)
    number[used] = np.arange(len(used))
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum('ij,ij->i', normals, hull.equations[:, :3]) < 0.0
    faces = number[hull.simplices]
    faces[inward] = faces[inward][:, ::-1]
    return Solid(points[used], faces, float(hull.volume))
