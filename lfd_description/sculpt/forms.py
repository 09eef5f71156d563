"""Crisp pieces: turned profiles, bolts, bands, hoses and covers, as closed meshes in the link's frame [m]."""

import math

import numpy as np
from scipy.interpolate import CubicSpline

from .parts import Mesh, joined
from .slices import Array

Point = tuple[float, float, float]
Profile = list[tuple[float, float]]
"""Radius and height along the axis [m], in order of height; the surface is on the right of the way."""


def turned(profile: Profile, centre: Point, axis: Point, sides: int = 32) -> Mesh:
    """A profile turned about an axis through `centre`; heights count from there."""
    along, right, up = _frame(axis)
    angles = np.arange(sides) * 2.0 * math.pi / sides
    ring = np.cos(angles)[:, None] * right + np.sin(angles)[:, None] * up
    rings = [np.array(centre) + height * along + radius * ring for radius, height in profile]
    return _woven(rings)


def rounded(profile: Profile, radius: float, steps: int = 3) -> Profile:
    """The profile with its inner corners turned to arcs of about `radius` [m]."""
    result = [profile[0]]
    for before, corner, after in zip(profile, profile[1:], profile[2:], strict=False):
        p, c, n = (np.array(point) for point in (before, corner, after))
        reach = min(radius, 0.45 * float(np.linalg.norm(p - c)), 0.45 * float(np.linalg.norm(n - c)))
        start = c + (p - c) / np.linalg.norm(p - c) * reach
        end = c + (n - c) / np.linalg.norm(n - c) * reach
        for share in np.linspace(0.0, 1.0, steps + 1):
            point = (1 - share) ** 2 * start + 2 * share * (1 - share) * c + share**2 * end
            result.append((float(point[0]), float(point[1])))
    return [*result, profile[-1]]


def disc(centre: Point, axis: Point, radius: float, height: float, edge: float = 0.0, sides: int = 32) -> Mesh:
    """A round plate on `centre`, its rim rounded at the top; it has no underside."""
    arc = [(radius, height)]
    if edge > 0.0:
        arc = [
            (radius - edge + edge * math.cos(angle), height - edge + edge * math.sin(angle))
            for angle in np.linspace(0.0, 0.5 * math.pi, 4)
        ]
    return turned([(radius, 0.0), *arc, (0.0, height)], centre, axis, sides)


def band(centre: Point, axis: Point, radius: float, width: float, rise: float = 0.0006, sides: int = 32) -> Mesh:
    """A thin ring on a bar of `radius`, `width` along the axis about `centre`, standing out by `rise` [m]."""
    half = 0.5 * width
    top = radius + rise
    low = radius - 0.002
    return turned([(low, -half), (top, -half * 0.8), (top, half * 0.8), (low, half)], centre, axis, sides)


def bolts(
    centre: Point, axis: Point, circle: float, count: int, size: float, rise: float = 0.0015, first: float = 0.0
) -> Mesh:
    """Screws' heads on a circle of that radius; `first` is the angle of the first [rad]."""
    _, right, up = _frame(axis)
    heads = []
    for number in range(count):
        angle = first + number * 2.0 * math.pi / count
        place = np.array(centre) + circle * (math.cos(angle) * right + math.sin(angle) * up)
        heads.append(screw(tuple(place), axis, size, rise))
    return joined(heads)


def screw(centre: Point, axis: Point, size: float, rise: float = 0.0015) -> Mesh:
    """A screw's hexagonal head."""
    return turned([(size, -0.0005), (size, rise), (0.0, rise)], centre, axis, 6)


def hose(path: list[Point], radius: float, sides: int = 10) -> Mesh:
    """A round cable through points."""
    corners = np.array(path)
    count = 4 * (len(corners) - 1) + 1
    points = CubicSpline(np.arange(len(corners)), corners)(np.linspace(0.0, len(corners) - 1.0, count))
    directions = np.gradient(points, axis=0)
    angles = np.arange(sides) * 2.0 * math.pi / sides
    rings = []
    _, right, _ = _frame(tuple(directions[0]))
    for point, direction in zip(points, directions, strict=True):
        along = direction / np.linalg.norm(direction)
        right = right - (right @ along) * along
        right = right / np.linalg.norm(right)
        up = np.cross(along, right)
        rings.append(point + radius * (np.cos(angles)[:, None] * right + np.sin(angles)[:, None] * up))
    return _woven([points[:1].repeat(sides, 0), *rings, points[-1:].repeat(sides, 0)])


def cover(outline: Array, axis: int, base: float, top: float, edge: float) -> Mesh:
    """A lid over a convex outline (n, 2) [m] in the two other axes, from `base` to `top`, with a bevelled rim."""
    across = [other for other in range(3) if other != axis]
    middle = outline.mean(axis=0)
    size = np.abs(outline - middle).max()
    sign = math.copysign(1.0, top - base)
    heights = [base, top - sign * edge, top - sign * 0.3 * edge, top]
    scales = [1.0, 1.0, 1.0 - 0.3 * edge / size, 1.0 - edge / size]
    rings = []
    for height, scale in zip(heights, scales, strict=True):
        ring = np.empty((len(outline), 3))
        ring[:, across] = middle + scale * (outline - middle)
        ring[:, axis] = height
        rings.append(ring)
    tip = rings[-1].mean(axis=0)[None].repeat(len(outline), 0)
    mesh = _woven([*rings, tip])
    # An outline in x and z runs the other way round about y.
    mirrored = (sign < 0.0) != (axis == 1)
    return Mesh(mesh.vertices, mesh.faces[:, ::-1]) if mirrored else mesh


def brick(lower: Point, upper: Point, edge: float) -> Mesh:
    """A cuboid with bevelled edges."""
    low, high = np.array(lower), np.array(upper)
    rings = []
    for inset, height in ((edge, low[2]), (0.0, low[2] + edge), (0.0, high[2] - edge), (edge, high[2])):
        x0, y0, x1, y1 = low[0] + inset, low[1] + inset, high[0] - inset, high[1] - inset
        bevel = edge
        corners = [(x1, y0 + bevel), (x1, y1 - bevel), (x1 - bevel, y1), (x0 + bevel, y1)]
        corners += [(x0, y1 - bevel), (x0, y0 + bevel), (x0 + bevel, y0), (x1 - bevel, y0)]
        rings.append(np.array([(x, y, height) for x, y in corners]))
    first = rings[0].mean(axis=0)[None].repeat(8, 0)
    last = rings[-1].mean(axis=0)[None].repeat(8, 0)
    return _woven([first, *rings, last])


def _woven(rings: list[Array]) -> Mesh:
    """A skin over rings of equal length, each counter-clockwise seen from the last; points that coincide are one."""
    sides = len(rings[0])
    columns = np.arange(sides)
    after = (columns + 1) % sides
    faces = []
    for number in range(len(rings) - 1):
        low, high = number * sides, (number + 1) * sides
        faces.append(np.stack([low + columns, low + after, high + after], axis=1))
        faces.append(np.stack([low + columns, high + after, high + columns], axis=1))
    points: Array = np.concatenate(rings).round(7)
    vertices, own = np.unique(points, axis=0, return_inverse=True)
    joined_faces = own.reshape(-1)[np.concatenate(faces)]
    a, b, c = joined_faces.T
    return Mesh(vertices, joined_faces[(a != b) & (b != c) & (c != a)])


def _frame(axis: Point) -> tuple[Array, Array, Array]:
    along = np.array(axis, dtype=np.float64)
    along = along / np.linalg.norm(along)
    helper = np.eye(3)[int(np.argmin(np.abs(along)))]
    right = np.cross(helper, along)
    right = right / np.linalg.norm(right)
    return along, right, np.cross(along, right)
