"""From a field to triangles: a net over the grid cells that the surface crosses, drawn onto it, then thinned out.

The arithmetic that decides which triangles remain is plain and in a fixed order, so that every machine decides alike.
"""

import numpy as np

from lfd_description.compiled import compiled

from .fields import Field
from .parts import Indices, Mesh
from .slices import Array, snapped

CELLS = 150_000  # of the grid over a body
BLOCK = 4  # grid points along the sides of the blocks that are looked at as one
FLIP = 0.3  # cosine: a triangle that would turn further is left as it is
FACE = 0.80  # cosine: a corner whose surface leans further from its triangle is not of that face
HARDLY = 1e-4  # weight of keeping a joined vertex near its edge's middle, against keeping it on the surface


def skin(field: Field, lower: Array, upper: Array, triangles: int) -> Mesh:
    """The surface of a field within a box [m], with about so many triangles."""
    size = float(np.prod(upper - lower) / CELLS) ** (1.0 / 3.0)
    # Neither planes of the body nor its symmetries may coincide with the grid: rounding would decide.
    start = lower - size * np.array([1.37, 1.41, 1.43])
    counts = np.ceil((upper - start) / size).astype(int) + 2
    net = _net(_sampled(field, start, size, counts), start, size)
    thin = simplified(Mesh(snapped(_drawn(field, net.vertices, size)), net.faces), triangles)
    return Mesh(thin.vertices, thin.faces, _normals(field, thin, 0.05 * size))


def _normals(field: Field, mesh: Mesh, step: float) -> Array:
    """Where the field rises at each triangle's corners, (m, 3, 3).

    It is felt a little within the triangle. A corner that lies on a rounded edge is none of the triangle's face; there,
    and only there, it is felt further within.
    """
    corners = mesh.vertices[mesh.faces]
    middles = corners.mean(axis=1, keepdims=True)
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.repeat(_unit(flat)[:, None], 3, axis=1)
    for within in (0.4, 0.04):
        points = (1.0 - within) * corners + within * middles
        felt = _unit(slope(field, points.reshape(-1, 3), step)).reshape(-1, 3, 3)
        fits = np.einsum('mki,mi->mk', felt, _unit(flat)) > FACE
        normals = np.where(fits[:, :, None], felt, normals)
    return normals


def _unit(vectors: Array) -> Array:
    unit: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return unit


def slope(field: Field, points: Array, step: float) -> Array:
    """The gradient (n, 3) of a field at points, from differences over `step` [m] to both sides."""
    differences: list[Array] = [field(points + step * axis) - field(points - step * axis) for axis in np.eye(3)]
    return np.stack(differences, axis=1) / (2.0 * step)


def _sampled(field: Field, start: Array, size: float, counts: Indices) -> Array:
    """The field at all corners of the grid; where the surface cannot be near, only its sign is right."""
    blocks = -(-counts // BLOCK)
    middles = start + size * BLOCK * (_lattice(blocks) + 0.5) - 0.5 * size
    rough = field(middles)
    # No field rises by more than about its points' distance.
    near = np.abs(rough) < 1.2 * size * BLOCK * 0.5 * np.sqrt(3.0)
    values = np.repeat(rough[:, None], BLOCK**3, axis=1)
    points = middles[near][:, None] + size * (_lattice(np.full(3, BLOCK)) + 0.5 - 0.5 * BLOCK)
    flat = points.reshape(-1, 3)
    values[near] = np.concatenate(
        [field(flat[first : first + 100_000]) for first in range(0, len(flat), 100_000)]
    ).reshape(-1, BLOCK**3)
    grid = values.reshape(*blocks, BLOCK, BLOCK, BLOCK).transpose(0, 3, 1, 4, 2, 5).reshape(*(blocks * BLOCK))
    return grid[: counts[0], : counts[1], : counts[2]]


def _lattice(counts: Indices) -> Array:
    return np.stack(np.meshgrid(*(np.arange(count) for count in counts), indexing='ij'), axis=-1).reshape(-1, 3)


def _net(values: Array, start: Array, size: float) -> Mesh:
    """One vertex in each cell with corners on both sides, one quadrangle across each edge between both."""
    total = np.zeros((*(count - 1 for count in values.shape), 3))
    crossings = np.zeros(total.shape[:3])
    quads = []
    for axis in range(3):
        near, far = (np.take(values, range(first, values.shape[axis] - 1 + first), axis) for first in (0, 1))
        crossed = (near < 0.0) != (far < 0.0)
        index = np.argwhere(crossed)
        share = near[crossed] / (near[crossed] - far[crossed])
        points = index.astype(float)
        points[:, axis] += share
        b, c = (axis + 1) % 3, (axis + 2) % 3
        corners = []
        for shift_b, shift_c in ((0, 0), (1, 0), (1, 1), (0, 1)):
            cell = index.copy()
            cell[:, b] -= shift_b
            cell[:, c] -= shift_c
            np.add.at(total, tuple(cell.T), points)
            np.add.at(crossings, tuple(cell.T), 1.0)
            corners.append(np.ravel_multi_index(tuple(cell.T), crossings.shape))
        quad = np.stack(corners, axis=1)
        leaving = near[crossed] < 0.0
        quads.append(np.where(leaving[:, None], quad, quad[:, ::-1]))
    used = np.flatnonzero(crossings)
    number = np.full(crossings.size, -1)
    number[used] = np.arange(len(used))
    vertices = start + size * (total.reshape(-1, 3)[used] / crossings.ravel()[used, None])
    quad = number[np.concatenate(quads)]
    return Mesh(vertices, np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]))


def _drawn(field: Field, vertices: Array, size: float) -> Array:
    """The vertices moved onto the surface, each within its neighbourhood."""
    moved = vertices
    step = 0.02 * size
    for _ in range(4):
        distance = field(moved)
        rise = slope(field, moved, step)
        steep = np.maximum((rise**2).sum(axis=1), 0.05)
        move = np.clip((distance / steep)[:, None] * rise, -0.5 * size, 0.5 * size)
        moved = moved - move
    return vertices + np.clip(moved - vertices, -size, size)


def simplified(mesh: Mesh, triangles: int) -> Mesh:
    """The mesh with edges joined to points until about so many triangles are left; the least bent go first."""
    vertices = np.ascontiguousarray(mesh.vertices.copy())
    faces = np.ascontiguousarray(mesh.faces)
    quadrics = _quadrics(vertices, faces)
    while len(faces) > triangles:
        pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        edges = np.stack(np.divmod(np.unique(pairs[:, 0] * len(vertices) + pairs[:, 1]), len(vertices)), axis=1)
        costs, places = _costs(vertices, quadrics, edges)
        order = np.argsort(costs, kind='stable')
        owner = faces.ravel()
        fans = np.argsort(owner, kind='stable') // 3
        starts = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(vertices)))])
        wanted = max(1, min((len(faces) - triangles + 1) // 2, len(edges) // 12))
        alias = _joined(vertices, quadrics, faces, edges[order], places[order], fans, starts, wanted)
        if (alias == np.arange(len(vertices))).all():
            break
        faces = alias[faces]
        faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    used = np.unique(faces)
    number = np.zeros(len(vertices), dtype=np.int64)
    number[used] = np.arange(len(used))
    return Mesh(vertices[used], number[faces])


@compiled
def _quadrics(vertices: Array, faces: Indices) -> Array:
    """Of each vertex, the sum of squared distances from its triangles' planes: xx xy xz yy yz zz x y z 1."""
    quadrics = np.zeros((len(vertices), 10))
    for f in range(len(faces)):
        a, b, c = vertices[faces[f, 0]], vertices[faces[f, 1]], vertices[faces[f, 2]]
        ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        area = np.sqrt(nx * nx + ny * ny + nz * nz)
        if area == 0.0:
            continue
        nx, ny, nz = nx / area, ny / area, nz / area
        d = -(nx * a[0] + ny * a[1] + nz * a[2])
        terms = (nx * nx, nx * ny, nx * nz, ny * ny, ny * nz, nz * nz, nx * d, ny * d, nz * d, d * d)
        for k in range(3):
            for term in range(10):
                quadrics[faces[f, k], term] += area * terms[term]
    return quadrics


@compiled
def _costs(vertices: Array, quadrics: Array, edges: Indices) -> tuple[Array, Array]:
    """What joining each edge to its best point costs, and those points."""
    costs = np.empty(len(edges))
    places = np.empty((len(edges), 3))
    for e in range(len(edges)):
        a, b = vertices[edges[e, 0]], vertices[edges[e, 1]]
        mx, my, mz = 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])
        q = quadrics[edges[e, 0]] + quadrics[edges[e, 1]]
        weight = HARDLY * (q[0] + q[3] + q[5])
        xx, xy, xz, yy, yz, zz = q[0] + weight, q[1], q[2], q[3] + weight, q[4], q[5] + weight
        rx, ry, rz = weight * mx - q[6], weight * my - q[7], weight * mz - q[8]
        cx, cy, cz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
        det = xx * cx + xy * cy + xz * cz
        x = (cx * rx + cy * ry + cz * rz) / det
        y = (cy * rx + (xx * zz - xz * xz) * ry + (xy * xz - xx * yz) * rz) / det
        z = (cz * rx + (xy * xz - xx * yz) * ry + (xx * yy - xy * xy) * rz) / det
        cost = q[0] * x * x + q[3] * y * y + q[5] * z * z + 2.0 * (q[1] * x * y + q[2] * x * z + q[4] * y * z)
        cost += 2.0 * (q[6] * x + q[7] * y + q[8] * z) + q[9]
        length = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
        costs[e] = cost + 0.01 * weight * length
        places[e] = x, y, z
    return costs, places


@compiled
def _joined(
    vertices: Array,
    quadrics: Array,
    faces: Indices,
    edges: Indices,
    places: Array,
    fans: Indices,
    starts: Indices,
    wanted: int,
) -> Indices:
    """Join up to `wanted` edges, first come first, none beside another; the vertex that stands for each vertex."""
    alias = np.arange(len(vertices))
    touched = np.zeros(len(vertices), dtype=np.bool_)
    seen = np.full(len(vertices), -1)
    done = 0
    for e in range(len(edges)):
        if done == wanted:
            break
        a, b = edges[e, 0], edges[e, 1]
        if touched[a] or touched[b]:
            continue
        shared = 0
        for i in range(starts[a], starts[a + 1]):
            for k in range(3):
                seen[faces[fans[i], k]] = 2 * e
        for i in range(starts[b], starts[b + 1]):
            for k in range(3):
                v = faces[fans[i], k]
                if v != a and v != b and seen[v] == 2 * e:
                    seen[v] = 2 * e + 1
                    shared += 1
        # More than two shared neighbours: joining would pinch the surface.
        if shared != 2:
            continue
        place = places[e]
        if _flips(vertices, faces, fans, starts, a, b, place) or _flips(vertices, faces, fans, starts, b, a, place):
            continue
        for v in (a, b):
            for i in range(starts[v], starts[v + 1]):
                for k in range(3):
                    touched[faces[fans[i], k]] = True
        vertices[a] = place
        quadrics[a] += quadrics[b]
        alias[b] = a
        done += 1
    return alias


@compiled
def _flips(
    vertices: Array, faces: Indices, fans: Indices, starts: Indices, moved: int, gone: int, place: Array
) -> bool:
    """Whether a triangle at the moved vertex, beside those that vanish, would turn over or become a needle."""
    for i in range(starts[moved], starts[moved + 1]):
        f = fans[i]
        if faces[f, 0] == gone or faces[f, 1] == gone or faces[f, 2] == gone:
            continue
        k = 0
        while faces[f, k] != moved:
            k += 1
        p, q, r = vertices[moved], vertices[faces[f, (k + 1) % 3]], vertices[faces[f, (k + 2) % 3]]
        old = np.cross(q - p, r - p)
        new = np.cross(q - place, r - place)
        dot = old[0] * new[0] + old[1] * new[1] + old[2] * new[2]
        old_size = np.sqrt(old[0] * old[0] + old[1] * old[1] + old[2] * old[2])
        new_size = np.sqrt(new[0] * new[0] + new[1] * new[1] + new[2] * new[2])
        if dot <= FLIP * old_size * new_size:
            return True
        longest = max(((q - place) ** 2).sum(), ((r - place) ** 2).sum(), ((q - r) ** 2).sum())
        if new_size < 0.02 * longest:
            return True
    return False
