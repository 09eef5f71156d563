"""A photo studio for triangles: a soft key light over the camera's shoulder, a bright room, an endless floor.

A photograph is the mean of `SHOTS` exposures. Each looks through its own point of the pixel (which smooths edges), has
its own share of the light's directions (which makes soft shadows and dark corners of many hard ones), and leaves out
its own share of a see-through surface. Exposures do not depend on each other, so that they run on all cores and the
result is the same on any number of them.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .rasteriser import (
    NOTHING,
    Floats,
    Indices,
    Pixels,
    cast,
    collect,
    corner_normals,
    illuminate,
    project,
    rasterise,
    shade_floor,
    visible_points,
)

Image = npt.NDArray[np.uint8]

SHOTS = 16
SUNS_PER_SHOT = 2
SKIES_PER_SHOT = 9
CREASE = np.radians(35.0)
NEAR = 0.01  # [m], nothing nearer to the camera is drawn

SUN = np.array([0.78, 0.755, 0.715])  # irradiance of a surface that faces it, red, green, blue
SUN_SIZE = np.radians(6.0)  # half the angle under which the key light is seen: a softbox, not a bare bulb
SUN_AZIMUTH = np.radians(-50.0)  # from the camera's direction, negative is over the left shoulder
SUN_ELEVATION = np.radians(48.0)
SKY = np.array([0.52, 0.545, 0.585])
BOUNCE = np.array([0.27, 0.265, 0.26])  # from the floor
FILL = 0.05  # light that gets everywhere, so that no corner is quite black
SHINE = 0.30  # strength of the highlight

SUN_MAP, SKY_MAP = 1024, 256  # [px]
FLOOR_MAP = 512  # [px]
FLOOR_REACH = 2.5  # half the lit floor's size, in radii of the scene
FLOOR_BLUR = 3.0  # [px], of the room's light on the floor, which comes from few directions
BACKDROP = (0.925, 0.932, 0.940)  # sRGB

NOBODY, NOWHERE = np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.int32)


@dataclass(frozen=True)
class Soup:
    """Triangles in the world [m], (N, 3, 3), with a colour (N, 4), linear red, green, blue and opacity, and a part.

    Triangles of one part are see-through together: `part` (N,) is any number.
    """

    triangles: Floats
    normals: Floats
    colours: Floats
    parts: Indices


@dataclass(frozen=True)
class View:
    """A perspective camera in the world: where it is [m], its axes (rows: right, down, forward), its picture [px]."""

    eye: Floats
    axes: Floats
    focal: float
    """Distance of the picture from the eye [px]."""
    width: int
    height: int

    @property
    def to_screen(self) -> Floats:
        """(3, 4): takes a world point (x, y, z, 1) to (column * depth, row * depth, depth)."""
        right, down, forward = self.axes
        rows = np.array(
            [self.focal * right + 0.5 * self.width * forward, self.focal * down + 0.5 * self.height * forward, forward]
        )
        return np.column_stack([rows, -rows @ self.eye])

    @property
    def rays(self) -> Floats:
        """(3, 3): takes (column, row, 1) to the direction of sight."""
        right, down, forward = self.axes
        corner = forward - (0.5 * self.width * right + 0.5 * self.height * down) / self.focal
        return np.ascontiguousarray(np.column_stack([right / self.focal, down / self.focal, corner]))


@dataclass(frozen=True)
class _Light:
    direction: Floats
    """Unit vector to the light."""
    colour: Floats
    map_size: int
    shines: bool


@dataclass(frozen=True)
class _Stage:
    """The scene as lights see it: everything is inside a ball, the floor is a square around its foot."""

    soup: Soup
    view: View
    centre: Floats
    radius: float
    floor: float
    lights: tuple[_Light, ...]


@dataclass(frozen=True)
class _Exposure:
    pixel: Indices
    owner: Indices
    point: Pixels
    normal: Pixels
    diffuse: Pixels
    specular: Pixels
    floor_sun: Pixels
    floor_sky: Pixels
    """Light on the floor, (FLOOR_MAP ** 2, 3), of the key light and of the room."""


def smooth_normals(triangles: Floats) -> Floats:
    """A unit normal for each corner of each triangle, (N, 3, 3), smooth but for edges that bend by more than 35 deg."""
    corners = triangles.reshape(-1, 3)
    if len(corners) == 0:
        return np.empty((0, 3, 3))
    size = float(np.ptp(corners, axis=0).max()) or 1.0
    grid = np.round((corners - corners.min(axis=0)) * (2.0**20 / size)).astype(np.int64)
    keys = (grid[:, 0] << 42) | (grid[:, 1] << 21) | grid[:, 2]
    places, place_of = np.unique(keys, return_inverse=True)
    first = np.append(0, np.cumsum(np.bincount(place_of, minlength=len(places)))).astype(np.int32)
    faces_at = (np.argsort(place_of, kind='stable') // 3).astype(np.int32)
    face = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    length = np.linalg.norm(face, axis=1)
    vertex_of = place_of.reshape(-1, 3).astype(np.int32)
    return corner_normals(face, length, vertex_of, first, faces_at, float(np.cos(CREASE)))


def photograph(soup: Soup, view: View, floor: float | None, backdrop: tuple[float, float, float] = BACKDROP) -> Image:
    """The picture of the triangles, (height, width, 3), sRGB; `floor` [m] is the floor's height, None for no floor."""
    stage = _stage(soup, view, floor)
    picture = np.zeros((view.height * view.width, 3), dtype=np.float32)
    coverage = np.zeros(view.height * view.width, dtype=np.float32)
    floor_sun, floor_sky = np.zeros((2, FLOOR_MAP**2, 3), dtype=np.float32)
    colours = np.ascontiguousarray(soup.colours[:, :3], dtype=np.float32)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, 8)) as pool:
        for shot in pool.map(lambda number: _expose(stage, number, floor is not None), range(SHOTS)):
            collect(
                shot.pixel, shot.owner, shot.point, shot.normal, shot.diffuse, shot.specular,
                colours, view.eye, SHINE, picture, coverage,
            )  # fmt: skip
            floor_sun += shot.floor_sun
            floor_sky += shot.floor_sky
    around = np.broadcast_to(_linear(np.array(backdrop)), (view.height * view.width, 3))
    if floor is not None and len(soup.triangles) > 0:
        around = around * _floor_shade(stage, floor_sun, floor_sky)
    seen = _shoulder(picture / np.maximum(coverage, np.float32(1.0))[:, np.newaxis])
    share = (coverage / np.float32(SHOTS))[:, np.newaxis]
    mixed = seen * share + around * (1.0 - share)
    return _encoded(mixed).reshape(view.height, view.width, 3)


def warm_up() -> None:
    """Compile all loops of the renderer, or load them if that was done before."""
    triangles = np.array([[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    soup = Soup(triangles, smooth_normals(triangles), np.ones((1, 4)), np.zeros(1, dtype=np.int32))
    axes = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
    photograph(soup, View(np.array([5.0, 0.0, 0.5]), axes, 20.0, 8, 8), 0.0)


def _stage(soup: Soup, view: View, floor: float | None) -> _Stage:
    corners = soup.triangles.reshape(-1, 3)
    low, high = (corners.min(axis=0), corners.max(axis=0)) if len(corners) else (np.zeros(3), np.ones(3))
    centre = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3) * 1.02
    return _Stage(soup, view, centre, radius, floor if floor is not None else low[2], _lights(view))


def _lights(view: View) -> tuple[_Light, ...]:
    """The lights of all shots, shot by shot."""
    towards = -view.axes[2]
    azimuth = np.arctan2(towards[1], towards[0]) + SUN_AZIMUTH
    level = np.cos(SUN_ELEVATION)
    sun = np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(SUN_ELEVATION)])
    side = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    over = np.cross(sun, side)
    suns, skies = SHOTS * SUNS_PER_SHOT, SHOTS * SKIES_PER_SHOT
    golden = np.pi * (3.0 - np.sqrt(5.0))
    lights: list[_Light] = []
    for shot in range(SHOTS):
        for i in range(shot, suns, SHOTS):
            away = np.tan(SUN_SIZE) * np.sqrt((i + 0.5) / suns)
            direction = sun + away * (np.cos(golden * i) * side + np.sin(golden * i) * over)
            lights.append(_Light(direction / np.linalg.norm(direction), SUN / suns, SUN_MAP, True))
        for i in range(shot, skies, SHOTS):
            z = 1.0 - 2.0 * (i + 0.5) / skies
            flat = np.sqrt(1.0 - z * z)
            direction = np.array([flat * np.cos(golden * i), flat * np.sin(golden * i), z])
            colour = SKY * (0.75 + 0.5 * z) if z > 0.0 else BOUNCE
            lights.append(_Light(direction, colour * (4.0 / skies), SKY_MAP, False))
    return tuple(lights)


def _expose(stage: _Stage, number: int, with_floor: bool) -> _Exposure:
    shown = _shown(stage.soup, number)
    shot = _look(stage, shown, _jitter(number))
    floor_point, floor_normal = _floor_points(stage)
    corners = np.empty_like(stage.soup.triangles)
    eye = stage.view.eye
    each = SUNS_PER_SHOT + SKIES_PER_SHOT
    for light in stage.lights[number * each : (number + 1) * each]:
        frame = _light_frame(stage, light)
        seen = _map_of(stage.soup, shown, frame, light.map_size, corners)
        lift = 1.5 * 2.0 * stage.radius / light.map_size
        # Each shot has its share of the lights and each picture is the mean of the shots: hence their number.
        lamp = np.concatenate([light.direction, light.colour * SHOTS])
        illuminate(shot.point, shot.normal, frame, seen, lift, lamp, eye, light.shines, shot.diffuse, shot.specular)
        if with_floor and light.direction[2] > 0.0:
            lamp = np.concatenate([light.direction, light.colour])
            lit = shot.floor_sun if light.shines else shot.floor_sky
            illuminate(floor_point, floor_normal, frame, seen, lift, lamp, eye, False, lit, shot.specular)
    return shot


def _look(stage: _Stage, shown: npt.NDArray[np.bool_], jitter: Floats) -> _Exposure:
    """What the camera sees, still without light."""
    soup, view = stage.soup, stage.view
    corners = np.empty((2 * len(soup.triangles), 3, 3))
    owners = np.empty(2 * len(soup.triangles), dtype=np.int32)
    to_screen = view.to_screen
    to_screen[:2] -= np.outer(jitter, to_screen[2])
    count = project(soup.triangles, shown, to_screen, NEAR, corners, owners)
    nearness = np.zeros((view.height, view.width), dtype=np.float32)
    owner_at = np.full((view.height, view.width), NOTHING, dtype=np.int32)
    rasterise(corners, owners, count, nearness, owner_at)
    seen = visible_points(owner_at, soup.triangles, soup.normals, view.eye, view.rays, jitter[0], jitter[1])
    pixel, owner, point, normal = seen
    floor_sun, floor_sky = np.zeros((2, FLOOR_MAP**2, 3), dtype=np.float32)
    specular = np.zeros(len(point), dtype=np.float32)
    return _Exposure(pixel, owner, point, normal, np.full_like(point, FILL), specular, floor_sun, floor_sky)


def _map_of(soup: Soup, shown: npt.NDArray[np.bool_], frame: Floats, size: int, corners: Floats) -> Pixels:
    """What is seen along parallel rays, as nearness; `corners` is room to work in, for all triangles."""
    seen = np.full((size, size), -np.inf, dtype=np.float32)
    rasterise(corners, NOBODY, cast(soup.triangles, shown, frame, corners), seen, NOWHERE)
    return seen


def _shown(soup: Soup, number: int) -> npt.NDArray[np.bool_]:
    """Which triangles are there in this shot: a see-through part is there in a share of them."""
    turn = (number * 7 + soup.parts.astype(np.int64) * 5) % SHOTS
    return np.asarray(turn < np.round(soup.colours[:, 3] * SHOTS))


def _jitter(number: int) -> Floats:
    """Where in the pixel a shot looks, from its middle [px]: evenly spread, denser in the middle (a tent filter)."""
    even = np.array([(number + 0.5) / SHOTS, (number * 7 % SHOTS + 0.5) / SHOTS])
    tent = np.where(even < 0.5, np.sqrt(2.0 * even) - 1.0, 1.0 - np.sqrt(2.0 * (1.0 - even)))
    return np.asarray(0.8 * tent)


def _light_frame(stage: _Stage, light: _Light) -> Floats:
    """(3, 4): takes a world point to the light's map [px] and the distance to the light's side of the scene [m]."""
    along = light.direction
    helper = np.array([1.0, 0.0, 0.0]) if abs(along[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = np.cross(helper, along)
    right /= np.linalg.norm(right)
    scale = 0.5 * light.map_size / stage.radius
    rows = np.array([scale * right, scale * np.cross(along, right), along])
    shift = -rows @ stage.centre + np.array([0.5 * light.map_size, 0.5 * light.map_size, 0.0])
    return np.column_stack([rows, shift])


def _floor_points(stage: _Stage) -> tuple[Pixels, Pixels]:
    """Points of the floor and their normals, row by row along y."""
    reach = FLOOR_REACH * stage.radius
    steps = (np.arange(FLOOR_MAP) + 0.5) / FLOOR_MAP * 2.0 * reach - reach
    y, x = np.meshgrid(stage.centre[1] + steps, stage.centre[0] + steps, indexing='ij')
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, stage.floor)]).astype(np.float32)
    return points, np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (len(points), 1))


def _floor_shade(stage: _Stage, sun: Pixels, sky: Pixels) -> Pixels:
    """The share of its light that the floor behind each pixel gets, (pixels, 3): 1 in the open and where none is."""
    view = stage.view
    shade = np.ones((view.height, view.width, 3), dtype=np.float32)
    if view.eye[2] > stage.floor:
        in_the_open = sum(lamp.colour * max(lamp.direction[2], 0.0) for lamp in stage.lights)
        free = ~_covered(stage)
        light = _spread(sun, free, 0.8) + _spread(sky, free, FLOOR_BLUR)
        lit = (light / in_the_open).astype(np.float32)
        shade_floor(lit, FLOOR_REACH * stage.radius, stage.centre, stage.floor, view.eye, view.rays, shade)
    return shade.reshape(-1, 3)


def _covered(stage: _Stage) -> npt.NDArray[np.bool_]:
    """Where something stands on the floor, seen from below, (FLOOR_MAP, FLOOR_MAP)."""
    reach = FLOOR_REACH * stage.radius
    scale = 0.5 * FLOOR_MAP / reach
    frame = np.array([[scale, 0.0, 0.0, 0.0], [0.0, scale, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0]])
    frame[:2, 3] = 0.5 * FLOOR_MAP - scale * stage.centre[:2]
    soup = stage.soup
    everything = np.ones(len(soup.triangles), dtype=np.bool_)
    below = _map_of(soup, everything, frame, FLOOR_MAP, np.empty_like(soup.triangles))
    return np.asarray(-below - stage.floor < 2.0 / scale)


def _spread(light: Pixels, free: npt.NDArray[np.bool_], blur: float) -> Pixels:
    """The light on the floor, blurred [px]; what is covered takes no part and gets the light of its surroundings.

    Else the black under a foot would show in the pixels along its rim.
    """
    along = np.arange(FLOOR_MAP)
    bell = np.exp(-0.5 * ((along[:, np.newaxis] - along) / blur) ** 2)
    bell = (bell / bell.sum(axis=1, keepdims=True)).astype(np.float32)
    weight = bell @ free.astype(np.float32) @ bell.T
    image = light.reshape(FLOOR_MAP, FLOOR_MAP, 3) * free[:, :, np.newaxis]
    spread = np.stack([bell @ image[:, :, channel] @ bell.T for channel in range(3)], axis=-1)
    return np.asarray(spread / np.maximum(weight, 1e-4)[:, :, np.newaxis])


def _linear(srgb: Floats) -> Floats:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def _shoulder(light: npt.NDArray[np.floating]) -> Floats:
    """Bend what is too bright towards white instead of cutting it off."""
    knee, room = 0.75, 0.25
    return np.where(light < knee, light, knee + room * (1.0 - np.exp((knee - light) / room)))


def _encoded(linear: npt.NDArray[np.floating]) -> Image:
    """Linear light as sRGB bytes."""
    table = np.linspace(0.0, 1.0, 4096)
    curve = np.where(table <= 0.0031308, 12.92 * table, 1.055 * table ** (1.0 / 2.4) - 0.055)
    index = np.clip(np.nan_to_num(linear) * 4095.0 + 0.5, 0.0, 4095.0).astype(np.int32)
    return np.asarray((curve * 255.0 + 0.5).astype(np.uint8)[index])
