"""The distance of two convex cores by the method of Gilbert, Johnson and Keerthi (GJK).

All points w are differences of a point of A and one of B, in A's frame; the cores are as far apart as the nearest such
w is from the origin, and touch if the origin is among them. A simplex of at most four w closes in on the origin. Every
support point gives a lower bound of the distance, every simplex an upper one, so that the search ends as soon as the
question is answered. What rounding leaves undecided counts as the lower bound: rather touching than missed.
"""

import math

from lfd_description.compiled import compiled

from .rows import Numbers, Transform
from .supports import Core, first_corner, support

_MOST_STEPS = 100
_CLOSE_ENOUGH = 1e-10  # share by which upper and lower bound may differ
_NEARLY = 1e-6  # the same, where rounding allows no better
_ZERO = 1e-22  # squared share of the largest w that is no distance but rounding
_FLAT = 1e-20  # squared sine below which a triangle has no area, or a tetrahedron no volume

# A simplex is an array of at least 6 rows and columns: rows 0 to 3 are its points, first w, then the point of A.
NEAREST = 4  # the row with the nearest point to the origin, then the unit vector that proved a distance above `far`
SHARES = 5  # the row with the points' barycentric coordinates


@compiled
def core_distance(
    a: Core, b: Core, move: Transform, shapes: Numbers, near: float, far: float, simplex: Numbers
) -> float:
    """The distance of two cores [m], 0 if they touch.

    Args:
        a: the first solid's core.
        b: the second one's.
        move: the transform a -> b [m].
        shapes: corners of all hulls.
        near: any distance up to this may be given as any upper bound not above this [m].
        far: any distance above this may be given as any lower bound above this [m].
        simplex: memory to work in; holds the last simplex afterwards.
    """
    (m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11) = move
    ax, ay, az = a[7], a[8], a[9]
    bx, by, bz = b[7], b[8], b[9]
    vx = ax - (m0 * bx + m1 * by + m2 * bz + m3)
    vy = ay - (m4 * bx + m5 * by + m6 * bz + m7)
    vz = az - (m8 * bx + m9 * by + m10 * bz + m11)
    square = vx * vx + vy * vy + vz * vz
    if not square > 0.0:
        vx, vy, vz, square = 1.0, 0.0, 0.0, 1.0
    corner_a = first_corner(a, shapes, -vx, -vy, -vz)
    x, y, z = m0 * vx + m4 * vy + m8 * vz, m1 * vx + m5 * vy + m9 * vz, m2 * vx + m6 * vy + m10 * vz
    corner_b = first_corner(b, shapes, x, y, z)
    count = 0
    bound, largest, smallest = 0.0, 0.0, math.inf
    for _ in range(_MOST_STEPS):
        ax, ay, az, corner_a = support(a, shapes, -vx, -vy, -vz, corner_a)
        x, y, z = m0 * vx + m4 * vy + m8 * vz, m1 * vx + m5 * vy + m9 * vz, m2 * vx + m6 * vy + m10 * vz
        bx, by, bz, corner_b = support(b, shapes, x, y, z, corner_b)
        wx = ax - (m0 * bx + m1 * by + m2 * bz + m3)
        wy = ay - (m4 * bx + m5 * by + m6 * bz + m7)
        wz = az - (m8 * bx + m9 * by + m10 * bz + m11)
        along = vx * wx + vy * wy + vz * wz
        if along > 0.0:
            bound = max(bound, along / math.sqrt(square))
            if bound > far:
                length = math.sqrt(square)
                simplex[NEAREST, 3], simplex[NEAREST, 4], simplex[NEAREST, 5] = vx / length, vy / length, vz / length
                return bound
        if count > 0 and (square - along <= _CLOSE_ENOUGH * square or _is_known(simplex, count, wx, wy, wz)):
            return math.sqrt(square) if square - along <= _NEARLY * square else bound
        simplex[count, 0], simplex[count, 1], simplex[count, 2] = wx, wy, wz
        simplex[count, 3], simplex[count, 4], simplex[count, 5] = ax, ay, az
        largest = max(largest, wx * wx + wy * wy + wz * wz)
        count = _reduce(simplex, count + 1)
        if count == 4:
            return 0.0
        vx, vy, vz = simplex[NEAREST, 0], simplex[NEAREST, 1], simplex[NEAREST, 2]
        square = vx * vx + vy * vy + vz * vz
        if square <= _ZERO * largest:
            return 0.0
        if square <= near * near:
            return math.sqrt(square)
        if not square < smallest:
            return bound
        smallest = square
    return bound


@compiled
def is_apart(a: Core, b: Core, move: Transform, shapes: Numbers, far: float, x: float, y: float, z: float) -> bool:
    """Whether a unit vector, in the frame of a, proves that two cores are farther apart than `far` [m].

    One that proved it for a state nearby often does.
    """
    (m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11) = move
    ax, ay, az, _ = support(a, shapes, -x, -y, -z, first_corner(a, shapes, -x, -y, -z))
    bx, by, bz = m0 * x + m4 * y + m8 * z, m1 * x + m5 * y + m9 * z, m2 * x + m6 * y + m10 * z
    bx, by, bz, _ = support(b, shapes, bx, by, bz, first_corner(b, shapes, bx, by, bz))
    wx = ax - (m0 * bx + m1 * by + m2 * bz + m3)
    wy = ay - (m4 * bx + m5 * by + m6 * bz + m7)
    wz = az - (m8 * bx + m9 * by + m10 * bz + m11)
    return x * wx + y * wy + z * wz > far


@compiled
def _is_known(simplex: Numbers, count: int, x: float, y: float, z: float) -> bool:
    known = False
    for i in range(count):
        known |= simplex[i, 0] == x and simplex[i, 1] == y and simplex[i, 2] == z
    return known


@compiled
def _reduce(simplex: Numbers, count: int) -> int:
    """Find the simplex's nearest point to the origin, and drop the points that it does not need; gives how many stay.

    Four stay only if they enclose the origin.
    """
    if count == 1:
        simplex[NEAREST, 0], simplex[NEAREST, 1], simplex[NEAREST, 2] = simplex[0, 0], simplex[0, 1], simplex[0, 2]
        _share(simplex, 0, 1.0, 1, 0.0, 2, 0.0, 3)
        return 1
    if count == 2:
        x, y, z, u, v = _on_segment(simplex, 0, 1)
        simplex[NEAREST, 0], simplex[NEAREST, 1], simplex[NEAREST, 2] = x, y, z
        _share(simplex, 0, u, 1, v, 2, 0.0, 3)
    elif count == 3:
        _take(simplex, 0, 1, 2, 3, math.inf)
    elif _encloses(simplex):
        return 4
    return _drop(simplex, count)


@compiled
def _drop(simplex: Numbers, count: int) -> int:
    kept = 0
    for i in range(count):
        if simplex[SHARES, i] > 0.0:
            if kept < i:
                for k in range(6):
                    simplex[kept, k] = simplex[i, k]
                simplex[SHARES, kept] = simplex[SHARES, i]
                simplex[SHARES, i] = 0.0
            kept += 1
    return kept


@compiled
def _share(simplex: Numbers, i: int, u: float, j: int, v: float, k: int, w: float, other: int) -> None:
    """Note the shares of three points; the fourth has none."""
    simplex[SHARES, other] = 0.0
    simplex[SHARES, i], simplex[SHARES, j], simplex[SHARES, k] = u, v, w


@compiled
def _take(simplex: Numbers, i: int, j: int, k: int, other: int, best: float) -> float:
    """Note the nearest point of the triangle i, j, k, if nearer than `best`, squared; gives the better of both."""
    x, y, z, u, v, w = _on_triangle(simplex, i, j, k)
    square = x * x + y * y + z * z
    if not square < best:
        return best
    simplex[NEAREST, 0], simplex[NEAREST, 1], simplex[NEAREST, 2] = x, y, z
    _share(simplex, i, u, j, v, k, w, other)
    return square


@compiled
def _encloses(simplex: Numbers) -> bool:
    """Whether a tetrahedron holds the origin; if not, its nearest point is noted."""
    best, outside = math.inf, False
    for left_out in range(4):
        i, j, k = (left_out + 1) % 4, (left_out + 2) % 4, (left_out + 3) % 4
        if _is_beyond(simplex, i, j, k, left_out):
            outside = True
            best = _take(simplex, i, j, k, left_out, best)
    if not outside:
        _note_shares_inside(simplex)
    return not outside


@compiled
def _is_beyond(simplex: Numbers, i: int, j: int, k: int, other: int) -> bool:
    """Whether the plane of i, j, k lies between the origin and the other point, or the four lie in one plane."""
    px, py, pz = simplex[i, 0], simplex[i, 1], simplex[i, 2]
    ux, uy, uz = simplex[j, 0] - px, simplex[j, 1] - py, simplex[j, 2] - pz
    vx, vy, vz = simplex[k, 0] - px, simplex[k, 1] - py, simplex[k, 2] - pz
    ox, oy, oz = simplex[other, 0] - px, simplex[other, 1] - py, simplex[other, 2] - pz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    height = nx * ox + ny * oy + nz * oz
    if height * height <= _FLAT * (nx * nx + ny * ny + nz * nz) * (ox * ox + oy * oy + oz * oz):
        return True
    between: bool = -(nx * px + ny * py + nz * pz) * height < 0.0
    return between


@compiled
def _note_shares_inside(simplex: Numbers) -> None:
    simplex[NEAREST, 0] = simplex[NEAREST, 1] = simplex[NEAREST, 2] = 0.0
    total = 0.0
    for left_out in range(4):
        i, j, k = (left_out + 1) % 4, (left_out + 2) % 4, (left_out + 3) % 4
        volume = abs(
            simplex[i, 0] * (simplex[j, 1] * simplex[k, 2] - simplex[j, 2] * simplex[k, 1])
            + simplex[i, 1] * (simplex[j, 2] * simplex[k, 0] - simplex[j, 0] * simplex[k, 2])
            + simplex[i, 2] * (simplex[j, 0] * simplex[k, 1] - simplex[j, 1] * simplex[k, 0])
        )
        simplex[SHARES, left_out] = volume
        total += volume
    for i in range(4):
        simplex[SHARES, i] /= total


@compiled
def _on_segment(simplex: Numbers, i: int, j: int) -> tuple[float, float, float, float, float]:
    """The nearest point of a segment to the origin, and the shares of its ends."""
    px, py, pz = simplex[i, 0], simplex[i, 1], simplex[i, 2]
    qx, qy, qz = simplex[j, 0], simplex[j, 1], simplex[j, 2]
    ux, uy, uz = qx - px, qy - py, qz - pz
    length = ux * ux + uy * uy + uz * uz
    along = -(px * ux + py * uy + pz * uz)
    if along <= 0.0 or length == 0.0:
        return px, py, pz, 1.0, 0.0
    if along >= length:
        return qx, qy, qz, 0.0, 1.0
    share = along / length
    return px + share * ux, py + share * uy, pz + share * uz, 1.0 - share, share


@compiled
def _on_triangle(simplex: Numbers, i: int, j: int, k: int) -> tuple[float, float, float, float, float, float]:
    """The nearest point of a triangle to the origin, and the shares of its corners."""
    px, py, pz = simplex[i, 0], simplex[i, 1], simplex[i, 2]
    qx, qy, qz = simplex[j, 0], simplex[j, 1], simplex[j, 2]
    rx, ry, rz = simplex[k, 0], simplex[k, 1], simplex[k, 2]
    ux, uy, uz = qx - px, qy - py, qz - pz
    vx, vy, vz = rx - px, ry - py, rz - pz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area = nx * nx + ny * ny + nz * nz
    if area > _FLAT * (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz):
        # Signed areas opposite the corners, as the origin sees them.
        p = nx * (qy * rz - qz * ry) + ny * (qz * rx - qx * rz) + nz * (qx * ry - qy * rx)
        q = nx * (ry * pz - rz * py) + ny * (rz * px - rx * pz) + nz * (rx * py - ry * px)
        r = nx * (py * qz - pz * qy) + ny * (pz * qx - px * qz) + nz * (px * qy - py * qx)
        if p > 0.0 and q > 0.0 and r > 0.0:
            height = (nx * px + ny * py + nz * pz) / area
            total = p + q + r
            return height * nx, height * ny, height * nz, p / total, q / total, r / total
    x, y, z, s, t = _on_segment(simplex, i, j)
    best = x * x + y * y + z * z
    found = (x, y, z, s, t, 0.0)
    x, y, z, s, t = _on_segment(simplex, i, k)
    if x * x + y * y + z * z < best:
        best = x * x + y * y + z * z
        found = (x, y, z, s, 0.0, t)
    x, y, z, s, t = _on_segment(simplex, j, k)
    if x * x + y * y + z * z < best:
        found = (x, y, z, 0.0, s, t)
    return found


@compiled
def point_of_a(simplex: Numbers, count: int) -> tuple[float, float, float]:
    """The point of A, in its frame, that belongs to the simplex's nearest point."""
    x = y = z = 0.0
    for i in range(count):
        share = simplex[SHARES, i]
        x, y, z = x + share * simplex[i, 3], y + share * simplex[i, 4], z + share * simplex[i, 5]
    return x, y, z
