"""What all looks share: the body of a link, kept within its collision solids."""

import numpy as np

from ..fields import Field, inside
from ..parts import Mesh, Paint, Part
from ..slices import Array, LinkShape
from ..solids import enclose
from ..surfaces import skin, slope

BLACK = Paint('black', (0.06, 0.06, 0.07), 0.2)
STEEL = Paint('steel', (0.62, 0.63, 0.65), 0.8)
DARK = Paint('dark', (0.16, 0.17, 0.18), 0.25)
TUCK = 9e-4  # [m] that looks may stick out of the collision solids


def cast(link: LinkShape, field: Field, paint: Paint, triangles: int) -> Part:
    """A field's surface as a part, cut off where it leaves the link's collision solids."""
    lower, upper = np.array(link.lower) - 0.002, np.array(link.upper) + 0.002
    hull = inside(enclose(link))

    def kept(points: Array) -> Array:
        distances = field(points)
        body = distances < 1e-3
        # Faces that touch the solids' must not be touched by them.
        distances[body] = np.maximum(distances[body], hull(points[body]) - TUCK)
        return distances

    return Part(skin(kept, lower, upper, triangles), paint)


def tucked(link: LinkShape, parts: list[Part]) -> list[Part]:
    """The parts with the vertices that stick out of the link's collision solids drawn back to their faces."""
    outside = inside(enclose(link))
    return [Part(_tucked(outside, part.mesh), part.paint) for part in parts]


def _tucked(outside: Field, mesh: Mesh) -> Mesh:
    vertices = mesh.vertices.copy()
    for _ in range(4):
        distance = outside(vertices) - TUCK
        out = distance > 0.0
        vertices[out] -= distance[out, None] * slope(outside, vertices[out], 1e-6)
    return Mesh(vertices, mesh.faces, mesh.normals)
