"""Triangles to pixels without a graphics card: the compiled loops of the software renderer.

A z-buffer keeps, for each pixel, how near the nearest triangle is and which one it is. The same loop draws what the
camera sees and what each light sees; a point is in a light's shadow when the light sees something nearer. Light falls
on the points that the camera sees, not on triangles, so that its cost grows with the picture and not with the scene.

Arrays are C-ordered: float64 where geometry is computed, float32 where millions of values are only kept. Nearness
grows towards the viewer: 1/depth [1/m] for the camera (linear on the screen), the distance along the direction to the
light [m] for lights.
"""

import numpy as np
import numpy.typing as npt

from ..compiled import compiled

Floats = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int32]

NOTHING = -1
"""The owner of a pixel that no triangle covers."""
GLOSS = 6  # the highlight's exponent is 2 to the power of this
MAX_FAN = 512  # faces around one vertex that are still smoothed; the cost is its square


@compiled
def corner_normals(
    face: Floats, length: Floats, vertex_of: Indices, first: Indices, faces_at: Indices, cos_crease: float
) -> Floats:
    """A unit normal for each corner, (N, 3, 3): smooth across edges that bend by less than the crease angle.

    `face` (N, 3) are the triangles' normals, as long (`length`) as the triangles are large. `vertex_of` (N, 3) tells
    which corners share a place: those of vertex v are of the triangles `faces_at[first[v]:first[v + 1]]`. A triangle
    without area gets z.
    """
    normals = np.empty((face.shape[0], 3, 3))
    for f in range(face.shape[0]):
        fx, fy, fz, sharp = face[f, 0], face[f, 1], face[f, 2], cos_crease * length[f]
        for c in range(3):
            begin, end = first[vertex_of[f, c]], first[vertex_of[f, c] + 1]
            x, y, z = fx, fy, fz
            if end - begin <= MAX_FAN:
                for k in range(begin, end):
                    g = faces_at[k]
                    gx, gy, gz = face[g, 0], face[g, 1], face[g, 2]
                    if g != f and fx * gx + fy * gy + fz * gz >= sharp * length[g]:
                        x, y, z = x + gx, y + gy, z + gz
            norm = np.sqrt(x * x + y * y + z * z)
            if norm > 0.0:
                x, y, z = x / norm, y / norm, z / norm
            else:
                x, y, z = 0.0, 0.0, 1.0
            normals[f, c, 0], normals[f, c, 1], normals[f, c, 2] = x, y, z
    return normals


@compiled
def project(
    triangles: Floats, shown: npt.NDArray[np.bool_], view: Floats, near: float, corners: Floats, owners: Indices
) -> int:
    """The triangles as a perspective camera sees them; returns how many there are after clipping at depth `near`.

    `view` (3, 4) takes a world point to (x * depth, y * depth, depth), x and y in pixels. The result goes to `corners`
    (x, y, nearness) and `owners` (the triangle each piece is of), which must have room for twice the triangles.
    """
    found = 0
    seen = np.empty((3, 3))
    piece = np.empty((4, 3))
    for f in range(triangles.shape[0]):
        if not shown[f]:
            continue
        for c in range(3):
            x, y, z = triangles[f, c, 0], triangles[f, c, 1], triangles[f, c, 2]
            for r in range(3):
                seen[c, r] = view[r, 0] * x + view[r, 1] * y + view[r, 2] * z + view[r, 3]
        sides = 0
        for a in range(3):
            b = (a + 1) % 3
            if seen[a, 2] >= near:
                piece[sides, 0], piece[sides, 1], piece[sides, 2] = seen[a, 0], seen[a, 1], seen[a, 2]
                sides += 1
            if (seen[a, 2] >= near) != (seen[b, 2] >= near):
                share = (near - seen[a, 2]) / (seen[b, 2] - seen[a, 2])
                piece[sides, 0] = seen[a, 0] + share * (seen[b, 0] - seen[a, 0])
                piece[sides, 1] = seen[a, 1] + share * (seen[b, 1] - seen[a, 1])
                piece[sides, 2] = near
                sides += 1
        for last in range(2, sides):
            for k in range(3):
                p = 0 if k == 0 else last - 2 + k
                corners[found, k, 0] = piece[p, 0] / piece[p, 2]
                corners[found, k, 1] = piece[p, 1] / piece[p, 2]
                corners[found, k, 2] = 1.0 / piece[p, 2]
            owners[found] = f
            found += 1
    return found


@compiled
def cast(triangles: Floats, shown: npt.NDArray[np.bool_], frame: Floats, corners: Floats) -> int:
    """The triangles as a distant light sees them, in `corners`; returns how many there are.

    `frame` (3, 4) takes a world point to (x [px], y [px], distance along the direction to the light [m]).
    """
    found = 0
    for f in range(triangles.shape[0]):
        if not shown[f]:
            continue
        for c in range(3):
            x, y, z = triangles[f, c, 0], triangles[f, c, 1], triangles[f, c, 2]
            for r in range(3):
                corners[found, c, r] = frame[r, 0] * x + frame[r, 1] * y + frame[r, 2] * z + frame[r, 3]
        found += 1
    return found


@compiled
def rasterise(corners: Floats, owners: Indices, count: int, nearness: Pixels, owner_at: Indices) -> None:
    """Draw the first `count` triangles into a z-buffer, and their owners too if `owner_at` is not empty.

    Pixel (row, column) is sampled at its middle. A pixel whose sample is on an edge belongs to both neighbours, so
    that no light shines through a seam.
    """
    height, width = nearness.shape
    named = owner_at.size > 0
    for t in range(count):
        x0, y0, z0 = corners[t, 0, 0], corners[t, 0, 1], corners[t, 0, 2]
        x1, y1, z1 = corners[t, 1, 0], corners[t, 1, 1], corners[t, 1, 2]
        x2, y2, z2 = corners[t, 2, 0], corners[t, 2, 1], corners[t, 2, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if not abs(area) > 1e-12:
            continue
        if area < 0.0:
            x1, y1, z1, x2, y2, z2 = x2, y2, z2, x1, y1, z1
            area = -area
        top = int(np.ceil(max(min(y0, y1, y2), 0.0) - 0.5))
        bottom = int(np.floor(min(max(y0, y1, y2), float(height)) - 0.5))
        z_low, z_high = min(z0, z1, z2), max(z0, z1, z2)
        slope_x = ((z1 - z0) * (y2 - y0) - (z2 - z0) * (y1 - y0)) / area
        slope_y = ((x1 - x0) * (z2 - z0) - (x2 - x0) * (z1 - z0)) / area
        for row in range(max(top, 0), min(bottom, height - 1) + 1):
            y = row + 0.5
            left, right = max(min(x0, x1, x2), 0.0), min(max(x0, x1, x2), float(width))
            for edge in range(3):
                if edge == 0:
                    ax, ay, bx, by = x0, y0, x1, y1
                elif edge == 1:
                    ax, ay, bx, by = x1, y1, x2, y2
                else:
                    ax, ay, bx, by = x2, y2, x0, y0
                # The side of the edge from a to b that is inside: slope * x + rest >= 0.
                slope = ay - by
                rest = (bx - ax) * y + (ax * by - bx * ay)
                if slope > 0.0:
                    left = max(left, -rest / slope)
                elif slope < 0.0:
                    right = min(right, -rest / slope)
                elif rest < 0.0:
                    right = -1.0
            if right < left:
                continue
            begin = max(int(np.ceil(left - 0.5)), 0)
            end = min(int(np.floor(right - 0.5)), width - 1)
            for column in range(begin, end + 1):
                z = z0 + slope_x * (column + 0.5 - x0) + slope_y * (y - y0)
                z = min(max(z, z_low), z_high)
                if z > nearness[row, column]:
                    nearness[row, column] = z
                    if named:
                        owner_at[row, column] = owners[t]


@compiled
def visible_points(
    owner_at: Indices, triangles: Floats, normals: Floats, eye: Floats, rays: Floats, jitter_x: float, jitter_y: float
) -> tuple[Indices, Indices, Pixels, Pixels]:
    """What the camera sees: of each covered pixel its index, its triangle, its point in the world and its normal.

    `rays` (3, 3) takes (column, row, 1) to the direction of sight, not of unit length. Normals point to the camera.
    """
    height, width = owner_at.shape
    count = 0
    for row in range(height):
        for column in range(width):
            count += owner_at[row, column] != NOTHING
    pixel, owner = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    point, normal = np.empty((count, 3), dtype=np.float32), np.empty((count, 3), dtype=np.float32)
    n = 0
    for row in range(height):
        for column in range(width):
            f = owner_at[row, column]
            if f == NOTHING:
                continue
            u, v = column + 0.5 + jitter_x, row + 0.5 + jitter_y
            dx = rays[0, 0] * u + rays[0, 1] * v + rays[0, 2]
            dy = rays[1, 0] * u + rays[1, 1] * v + rays[1, 2]
            dz = rays[2, 0] * u + rays[2, 1] * v + rays[2, 2]
            ax, ay, az = triangles[f, 0, 0], triangles[f, 0, 1], triangles[f, 0, 2]
            e1x, e1y, e1z = triangles[f, 1, 0] - ax, triangles[f, 1, 1] - ay, triangles[f, 1, 2] - az
            e2x, e2y, e2z = triangles[f, 2, 0] - ax, triangles[f, 2, 1] - ay, triangles[f, 2, 2] - az
            # The shares of the corners, from the ray's intersection with the triangle's plane.
            px, py, pz = dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x
            volume = e1x * px + e1y * py + e1z * pz
            sx, sy, sz = eye[0] - ax, eye[1] - ay, eye[2] - az
            b = c = 1.0 / 3.0
            if volume != 0.0:
                qx, qy, qz = sy * e1z - sz * e1y, sz * e1x - sx * e1z, sx * e1y - sy * e1x
                b = min(max((sx * px + sy * py + sz * pz) / volume, 0.0), 1.0)
                c = min(max((dx * qx + dy * qy + dz * qz) / volume, 0.0), 1.0 - b)
            a = 1.0 - b - c
            nx = a * normals[f, 0, 0] + b * normals[f, 1, 0] + c * normals[f, 2, 0]
            ny = a * normals[f, 0, 1] + b * normals[f, 1, 1] + c * normals[f, 2, 1]
            nz = a * normals[f, 0, 2] + b * normals[f, 1, 2] + c * normals[f, 2, 2]
            norm = np.sqrt(nx * nx + ny * ny + nz * nz)
            gx, gy, gz = e1y * e2z - e1z * e2y, e1z * e2x - e1x * e2z, e1x * e2y - e1y * e2x
            if norm < 1e-9:
                nx, ny, nz, norm = -dx, -dy, -dz, np.sqrt(dx * dx + dy * dy + dz * dz)
            elif dx * gx + dy * gy + dz * gz > 0.0:  # seen from the back
                norm = -norm
            pixel[n] = row * width + column
            owner[n] = f
            point[n, 0] = ax + b * e1x + c * e2x
            point[n, 1] = ay + b * e1y + c * e2y
            point[n, 2] = az + b * e1z + c * e2z
            normal[n, 0], normal[n, 1], normal[n, 2] = nx / norm, ny / norm, nz / norm
            n += 1
    return pixel, owner, point, normal


@compiled
def illuminate(
    point: Pixels,
    normal: Pixels,
    frame: Floats,
    shadow_map: Pixels,
    offset: float,
    light: Floats,
    eye: Floats,
    shines: bool,
    diffuse: Pixels,
    specular: Pixels,
) -> None:
    """Add one distant light to the points: `light` is the unit direction to it, then its red, green and blue.

    `frame` and `shadow_map` are what `cast` and `rasterise` made of the light's view. Points are compared `offset` [m]
    above their surface, which keeps a surface out of its own shadow. The four nearest pixels of the map vote.
    A light that `shines` also makes highlights.
    """
    height, width = shadow_map.shape
    lx, ly, lz = light[0], light[1], light[2]
    for n in range(point.shape[0]):
        nx, ny, nz = normal[n, 0], normal[n, 1], normal[n, 2]
        facing = nx * lx + ny * ly + nz * lz
        if facing <= 0.0:
            continue
        x = point[n, 0] + offset * nx
        y = point[n, 1] + offset * ny
        z = point[n, 2] + offset * nz
        u = frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z + frame[0, 3] - 0.5
        v = frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z + frame[1, 3] - 0.5
        seen = 1.0
        if 0.0 <= u < width - 1 and 0.0 <= v < height - 1:
            near = frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z + frame[2, 3] + 0.5 * offset
            column, row = int(u), int(v)
            right, below = u - column, v - row
            seen = 0.0
            if shadow_map[row, column] <= near:
                seen += (1.0 - right) * (1.0 - below)
            if shadow_map[row, column + 1] <= near:
                seen += right * (1.0 - below)
            if shadow_map[row + 1, column] <= near:
                seen += (1.0 - right) * below
            if shadow_map[row + 1, column + 1] <= near:
                seen += right * below
            if seen == 0.0:
                continue
        diffuse[n, 0] += seen * facing * light[3]
        diffuse[n, 1] += seen * facing * light[4]
        diffuse[n, 2] += seen * facing * light[5]
        if shines:
            ex, ey, ez = eye[0] - point[n, 0], eye[1] - point[n, 1], eye[2] - point[n, 2]
            far = np.sqrt(ex * ex + ey * ey + ez * ez) + 1e-12
            hx, hy, hz = lx + ex / far, ly + ey / far, lz + ez / far
            half = (nx * hx + ny * hy + nz * hz) / (np.sqrt(hx * hx + hy * hy + hz * hz) + 1e-12)
            if half > 0.0:
                for _ in range(GLOSS):
                    half *= half
                specular[n] += seen * facing * half * light[4]


@compiled
def collect(
    pixel: Indices,
    owner: Indices,
    point: Pixels,
    normal: Pixels,
    diffuse: Pixels,
    specular: Pixels,
    colour: Pixels,
    eye: Floats,
    shine: float,
    picture: Pixels,
    coverage: Pixels,
) -> None:
    """Add the points' light, as it comes to the eye, to the picture (pixels, 3), and count them in `coverage`.

    `colour` (triangles, 3) is linear. Surfaces are a matt paint under a thin clear coat, which mirrors a studio: dark
    floor, bright ceiling.
    """
    for n in range(pixel.shape[0]):
        nx, ny, nz = normal[n, 0], normal[n, 1], normal[n, 2]
        ex, ey, ez = eye[0] - point[n, 0], eye[1] - point[n, 1], eye[2] - point[n, 2]
        far = np.sqrt(ex * ex + ey * ey + ez * ez) + 1e-12
        facing = max((nx * ex + ny * ey + nz * ez) / far, 0.0)
        up = 2.0 * facing * nz - ez / far
        studio = 0.12 + 0.88 / (1.0 + np.exp(-6.0 * (up - 0.15)))
        fresnel = 0.04 + 0.5 * (1.0 - facing) ** 5
        open_sky = min((diffuse[n, 0] + diffuse[n, 1] + diffuse[n, 2]) / 3.0, 1.0)
        coat = fresnel * studio * open_sky + shine * specular[n]
        at = pixel[n]
        for channel in range(3):
            picture[at, channel] += diffuse[n, channel] * colour[owner[n], channel] * (1.0 - fresnel) + coat
        coverage[at] += 1.0


@compiled
def shade_floor(
    lit: Pixels, reach: float, centre: Floats, floor: float, eye: Floats, rays: Floats, shade: Pixels
) -> None:
    """Set `shade` (height, width, 3) to the share of its light that the floor behind each pixel gets.

    `lit` (size, size, 3) is that share on the square of half size `reach` [m] around `centre`, its rows along y; it
    fades to all of the light towards the rim. `shade` keeps its value where there is no floor to see.
    """
    size = lit.shape[0]
    for row in range(shade.shape[0]):
        for column in range(shade.shape[1]):
            u, v = column + 0.5, row + 0.5
            down = rays[2, 0] * u + rays[2, 1] * v + rays[2, 2]
            if down > -1e-9:
                continue
            far = (floor - eye[2]) / down
            x = (eye[0] + far * (rays[0, 0] * u + rays[0, 1] * v + rays[0, 2]) - centre[0]) / reach
            y = (eye[1] + far * (rays[1, 0] * u + rays[1, 1] * v + rays[1, 2]) - centre[1]) / reach
            fade = min(1.5 - 1.5 * np.sqrt(x * x + y * y), 1.0)
            if fade <= 0.0:
                continue
            fade *= fade * (3.0 - 2.0 * fade)
            u = min(max((x + 1.0) * 0.5 * size - 0.5, 0.0), size - 1.001)
            v = min(max((y + 1.0) * 0.5 * size - 0.5, 0.0), size - 1.001)
            i, j = int(v), int(u)
            below, right = v - i, u - j
            for channel in range(3):
                upper = lit[i, j, channel] * (1.0 - right) + lit[i, j + 1, channel] * right
                lower = lit[i + 1, j, channel] * (1.0 - right) + lit[i + 1, j + 1, channel] * right
                value = upper * (1.0 - below) + lower * below
                shade[row, column, channel] = 1.0 + (value - 1.0) * fade
