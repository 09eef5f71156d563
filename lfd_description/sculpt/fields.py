"""Bodies as signed distances, to be blended like clay: negative inside, positive outside, about metres.

A field maps points (n, 3) [m] to distances (n,). `surfaces.skin` turns a field into triangles.
"""

from collections.abc import Callable

import numpy as np
from scipy.spatial import ConvexHull

from .slices import Array
from .solids import Solid

Field = Callable[[Array], Array]
Point = tuple[float, float, float]
Circle = tuple[float, float, float]
"""Centre along two axes and radius [m]."""


def tube(start: Point, end: Point, radius: float, *, tip: float | None = None, edge: float = 0.0) -> Field:
    """A round bar between two points; `tip` is the radius at its end, `edge` rounds its rims [m]."""
    origin = np.array(start)
    along = np.array(end) - origin
    length = float(np.linalg.norm(along))
    along = along / length
    last = radius if tip is None else tip
    lean = length / float(np.hypot(length, last - radius))

    def field(points: Array) -> Array:
        offset = points - origin
        height = offset @ along
        across = np.linalg.norm(offset - height[:, None] * along, axis=1)
        share = np.clip(height / length, 0.0, 1.0)
        side = (across - radius - (last - radius) * share) * lean
        return _rounded(side, np.abs(height - 0.5 * length) - 0.5 * length, edge)

    return field


def ball(centre: Point, radius: float) -> Field:
    """A ball [m]."""
    middle = np.array(centre)
    return lambda points: np.linalg.norm(points - middle, axis=1) - radius


def block(lower: Point, upper: Point, edge: float = 0.0) -> Field:
    """A cuboid between two corners, its edges rounded [m]."""
    middle = 0.5 * (np.array(lower) + np.array(upper))
    half = 0.5 * (np.array(upper) - np.array(lower)) - edge

    def field(points: Array) -> Array:
        beyond = np.abs(points - middle) - half
        outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
        distances: Array = outside + np.minimum(beyond.max(axis=1), 0.0) - edge
        return distances

    return field


def plate(outline: Array, axis: int, start: float, end: float, edge: float = 0.0) -> Field:
    """A polygon (n, 2) [m], counter-clockwise in the two other axes, from one height of `axis` to another."""
    across = [other for other in range(3) if other != axis]

    def field(points: Array) -> Array:
        height = points[:, axis]
        side = _polygon(outline, points[:, across])
        return _rounded(side, np.abs(height - 0.5 * (start + end)) - 0.5 * (end - start), edge)

    return field


def around(circles: list[Circle], sides: int = 48) -> Array:
    """The outline (n, 2) of a band around circles [m]."""
    angles = np.arange(sides) * 2.0 * np.pi / sides
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.concatenate([np.array([x, y]) + radius * ring for x, y, radius in circles])
    outline: Array = points[ConvexHull(points).vertices]
    return outline


def union(*fields: Field, blend: float = 0.0) -> Field:
    """All of the fields, with fillets of about `blend` [m] where they meet."""

    def field(points: Array) -> Array:
        result = fields[0](points)
        for other in fields[1:]:
            result = _smooth_min(result, other(points), blend)
        return result

    return field


def common(*fields: Field, blend: float = 0.0) -> Field:
    """What is inside of every field, with edges rounded by about `blend` [m]."""

    def field(points: Array) -> Array:
        result = -fields[0](points)
        for other in fields[1:]:
            result = _smooth_min(result, -other(points), blend)
        return -result

    return field


def cut(body: Field, *tools: Field, blend: float = 0.0) -> Field:
    """The body without the tools, with edges rounded by about `blend` [m]."""
    return common(body, *(_inverse(tool) for tool in tools), blend=blend)


def sheared(field: Field, axis: int, by: int, slope: float, start: float = 0.0) -> Field:
    """The field with `axis` shifted by `slope` for each metre of the axis `by` above `start` [m]."""

    def moved(points: Array) -> Array:
        straight = points.copy()
        straight[:, axis] -= slope * (points[:, by] - start)
        return field(straight)

    return moved


def inside(solids: tuple[Solid, ...]) -> Field:
    """The union of convex solids."""
    # A hull is bounded by triangles; those of one face share a plane.
    planes = [np.unique(np.round(ConvexHull(solid.vertices).equations, 7), axis=0) for solid in solids]

    def field(points: Array) -> Array:
        depths = [(points @ plane[:, :3].T + plane[:, 3]).max(axis=1) for plane in planes]
        least: Array = np.minimum.reduce(depths)
        return least

    return field


def _inverse(field: Field) -> Field:
    return lambda points: -field(points)


def _rounded(side: Array, end: Array, edge: float) -> Array:
    """The distance from a bar, given those from its side and from its ends."""
    a, b = side + edge, end + edge
    outside = np.hypot(np.maximum(a, 0.0), np.maximum(b, 0.0))
    rounded: Array = outside + np.minimum(np.maximum(a, b), 0.0) - edge
    return rounded


def _smooth_min(a: Array, b: Array, blend: float) -> Array:
    least = np.minimum(a, b)
    if blend <= 0.0:
        return least
    overlap = np.maximum(blend - np.abs(a - b), 0.0) / blend
    return least - 0.25 * blend * overlap * overlap


def _polygon(outline: Array, points: Array) -> Array:
    """Signed distances of points (n, 2) from a polygon."""
    nearest = np.full(len(points), np.inf)
    within = np.zeros(len(points), dtype=bool)
    for start, end in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        edge = end - start
        offset = points - start
        share = np.clip(offset @ edge / (edge @ edge), 0.0, 1.0)
        nearest = np.minimum(nearest, ((offset - share[:, None] * edge) ** 2).sum(axis=1))
        crosses = (start[1] > points[:, 1]) != (end[1] > points[:, 1])
        if edge[1] != 0.0:
            within ^= crosses & (points[:, 0] < start[0] + edge[0] * offset[:, 1] / edge[1])
    distances = np.sqrt(nearest)
    signed: Array = np.where(within, -distances, distances)
    return signed
