"""Pictures of things in space: meshes with a pose and a colour, seen by a camera, without a display.

>>> image = render([Item(trimesh.creation.box((1, 1, 1)), colour=(0.8, 0.1, 0.1, 1))], Camera((3, 2, 2), (0, 0, 0)))
>>> save_png(image, Path('box.png'))
"""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import trimesh
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from ..files import write_atomically
from ..shapes import Vector
from .rasteriser import Floats
from .studio import BACKDROP, Image, Soup, View, photograph, smooth_normals

Size = tuple[int, int]
Colour = tuple[float, float, float, float]

SIZE = (1200, 900)
MAX_SIDE = 8192  # [px]
GREY = (0.70, 0.72, 0.75, 1.0)
FIELD_OF_VIEW = np.radians(24.0)
AXIS_COLOURS = ((0.85, 0.12, 0.12, 1.0), (0.10, 0.62, 0.16, 1.0), (0.10, 0.30, 0.90, 1.0))


class PictureError(ValueError):
    """A picture that cannot be made; the message is one sentence for the user."""


@dataclass(frozen=True)
class Camera:
    """Where a picture is taken from, in the world's frame; the target is in the picture's middle."""

    position: Vector
    """[m]"""
    target: Vector
    """[m]"""
    up: Vector = (0.0, 0.0, 1.0)
    field_of_view: float = float(FIELD_OF_VIEW)
    """From the bottom of the picture to its top [rad]."""

    @staticmethod
    def around(
        bounds: npt.ArrayLike,
        azimuth: float = np.radians(35.0),
        elevation: float = np.radians(18.0),
        *,
        aspect: float = 4.0 / 3.0,
        margin: float = 0.08,
        field_of_view: float = float(FIELD_OF_VIEW),
    ) -> 'Camera':
        """The camera that has all of a box, given by its corners low and high, (2, 3) [m], in its picture.

        `azimuth` [rad] is where the camera stands around the box, from +x towards +y; `elevation` [rad] is how far it
        looks down. `margin` is the share of the picture that stays free at each border. `aspect` is width / height.
        More than two points are framed as they are, without the box around them.
        """
        points = np.asarray(bounds, dtype=np.float64).reshape(-1, 3)
        if len(points) == 0 or not np.isfinite(points).all():
            raise PictureError('There is nothing to aim the camera at; give at least one point with finite numbers.')
        if len(points) == 2:
            points = np.array([[x, y, z] for x in points[:, 0] for y in points[:, 1] for z in points[:, 2]])
        level = np.cos(elevation)
        away = np.array([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)])
        axes = _axes(-away, np.array([0.0, 0.0, 1.0]))
        half = np.tan(0.5 * field_of_view) * (1.0 - 2.0 * margin)
        position = _framing(points, axes, np.array([half * aspect, half]))
        target = position + axes[2] * max(float(((points - position) @ axes[2]).mean()), 1e-3)
        return Camera(_vector(position), _vector(target), field_of_view=field_of_view)

    def view(self, size: Size) -> View:
        """The camera for a picture of that width and height [px].

        Raises:
            PictureError: the size or the camera makes no picture.
        """
        width, height = size
        aspect_of(size)
        eye, target, up = (np.array(v, dtype=np.float64) for v in (self.position, self.target, self.up))
        if not (np.isfinite([eye, target, up]).all() and np.linalg.norm(target - eye) > 0.0):
            raise PictureError('The camera looks nowhere; its position and target must be two different points.')
        if not 0.0 < self.field_of_view < np.pi:
            raise PictureError(f'The field of view is {self.field_of_view} rad; it must be between 0 and pi.')
        focal = 0.5 * height / float(np.tan(0.5 * self.field_of_view))
        return View(eye, _axes(target - eye, up), focal, width, height)

    def pixels(self, points: npt.ArrayLike, size: Size) -> Floats:
        """Where points of the world, (N, 3) [m], are in the picture, (N, 2): column, row; NaN behind the camera."""
        world = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        to_screen = self.view(size).to_screen
        seen = world @ to_screen[:, :3].T + to_screen[:, 3]
        depth = np.where(seen[:, 2:] > 0.0, seen[:, 2:], np.nan)
        return np.asarray(seen[:, :2] / depth)


@dataclass(frozen=True)
class Item:
    """A mesh in the world: `pose` is the 4x4 transform world -> mesh [m], the colour sRGB and opacity, 0 to 1."""

    mesh: trimesh.Trimesh
    pose: Floats = field(default_factory=lambda: np.eye(4))
    colour: Colour = GREY


@dataclass(frozen=True)
class Label:
    """A text beside a point of the world [m]."""

    text: str
    position: Vector


def render(
    items: Iterable[Item],
    camera: Camera | None = None,
    size: Size = SIZE,
    *,
    floor: float | None = None,
    with_floor: bool = True,
    labels: Sequence[Label] = (),
    backdrop: tuple[float, float, float] = BACKDROP,
) -> Image:
    """The picture of the items, (height, width, 3), sRGB bytes.

    Without a camera all items are in the picture, seen from the front right. The floor is as high as the lowest item,
    unless `floor` [m] is given. `backdrop` is the colour behind everything, sRGB 0 to 1.

    Raises:
        PictureError: the size or the camera makes no picture, or an item has a pose that is no number.
    """
    soup = _soup(tuple(items))
    corners = soup.triangles.reshape(-1, 3)
    if camera is None:
        camera = Camera.around(corners if len(corners) else [[-1, -1, 0], [1, 1, 1]], aspect=aspect_of(size))
    if with_floor and floor is None:
        floor = float(corners[:, 2].min()) if len(corners) else 0.0
    image = photograph(soup, camera.view(size), floor if with_floor else None, backdrop)
    return _labelled(image, labels, camera) if labels else image


def aspect_of(size: Size) -> float:
    """Width / height of a picture.

    Raises:
        PictureError: no picture can have that size.
    """
    width, height = size
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise PictureError(f'A picture of {width}x{height} pixels cannot be made; use 1 to {MAX_SIDE} each way.')
    return width / height


def save_png(image: Image, file: Path) -> None:
    """Write a picture, all of it or nothing."""
    data = io.BytesIO()
    Pillow.fromarray(image).save(data, format='PNG', optimize=True)
    write_atomically(file, data.getvalue())


def tube(points: npt.ArrayLike, radius: float = 0.003) -> trimesh.Trimesh:
    """A line through points, (N, 3) [m], as a thin tube with round corners."""
    way = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    if len(way) == 0 or not np.isfinite(way).all():
        raise PictureError('A line needs points with finite numbers; this one has none.')
    parts = [trimesh.creation.icosphere(subdivisions=1, radius=radius).apply_translation(point) for point in way]
    for begin, end in pairwise(way):
        if np.linalg.norm(end - begin) > 1e-9:
            parts.append(trimesh.creation.cylinder(radius, sections=10, segment=np.array([begin, end])))
    return _joined(parts)


def frame_items(pose: Floats, length: float = 0.1) -> tuple[Item, ...]:
    """A coordinate frame as three arrows of `length` [m]: x red, y green, z blue; `pose` is 4x4, world -> frame."""
    shaft = trimesh.creation.cylinder(0.03 * length, 0.75 * length, sections=16)
    shaft.apply_translation((0.0, 0.0, 0.375 * length))
    tip = trimesh.creation.cone(0.08 * length, 0.25 * length, sections=24).apply_translation((0.0, 0.0, 0.75 * length))
    arrow = _joined([shaft, tip])
    turns = (((0, 0, 1), (0, 1, 0), (-1, 0, 0)), ((1, 0, 0), (0, 0, 1), (0, -1, 0)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    items = []
    for turn, colour in zip(turns, AXIS_COLOURS, strict=True):
        along = np.eye(4)
        along[:3, :3] = turn
        items.append(Item(arrow, np.asarray(pose) @ along, colour))
    return tuple(items)


def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The typeface of captions and labels, which comes with the drawing library and not from the machine."""
    return ImageFont.load_default(size)


def _soup(items: Sequence[Item]) -> Soup:
    triangles, normals, colours, parts = [], [], [], []
    for number, item in enumerate(items):
        pose = np.asarray(item.pose, dtype=np.float64)
        local = np.asarray(item.mesh.triangles, dtype=np.float64).reshape(-1, 3, 3)
        placed = local @ pose[:3, :3].T + pose[:3, 3]
        if not np.isfinite(placed).all():
            raise PictureError(f'Item {number} of the picture has a pose or a mesh with numbers that are not finite.')
        triangles.append(placed)
        normals.append(smooth_normals(placed))
        rgba = np.clip(np.asarray(item.colour, dtype=np.float64), 0.0, 1.0)
        linear = np.append(
            np.where(rgba[:3] <= 0.04045, rgba[:3] / 12.92, ((rgba[:3] + 0.055) / 1.055) ** 2.4), rgba[3]
        )
        colours.append(np.broadcast_to(linear, (len(placed), 4)))
        parts.append(np.full(len(placed), number, dtype=np.int32))
    if not items:
        return Soup(np.empty((0, 3, 3)), np.empty((0, 3, 3)), np.empty((0, 4)), np.empty(0, dtype=np.int32))
    return Soup(*(np.ascontiguousarray(np.concatenate(column)) for column in (triangles, normals, colours, parts)))


def _axes(forward: Floats, up: Floats) -> Floats:
    """Rows right, down, forward of a camera; looking along `up` any direction may be at the picture's top."""
    ahead = forward / np.linalg.norm(forward)
    right = np.cross(ahead, up)
    if np.linalg.norm(right) < 1e-9 * max(float(np.linalg.norm(up)), 1e-12):
        right = np.cross(ahead, [0.0, 1.0, 0.0]) if abs(ahead[1]) < 0.9 else np.cross(ahead, [1.0, 0.0, 0.0])
    right = right / np.linalg.norm(right)
    return np.array([right, np.cross(ahead, right), ahead])


def _framing(points: Floats, axes: Floats, half: Floats) -> Floats:
    """Where a camera with these axes must stand to see all points within the tangents `half`, across and down.

    Per direction the outermost points on either side bound a wedge; the camera stands at the apex of the larger one,
    in the middle of the smaller one.
    """
    seen = points @ axes.T
    high = (seen[:, :2] - half * seen[:, 2:]).max(axis=0)
    low = (seen[:, :2] + half * seen[:, 2:]).min(axis=0)
    # A camera at depth c and offset m sees a point if |x - m| <= half * (z - c).
    depth = float(((low - high) / (2.0 * half)).min())
    depth = min(depth, float(seen[:, 2].min()) - 0.05)
    middle = 0.5 * (high + low)
    return np.asarray(middle[0] * axes[0] + middle[1] * axes[1] + depth * axes[2])


def _joined(parts: Sequence[trimesh.Trimesh]) -> trimesh.Trimesh:
    joined = trimesh.util.concatenate(list(parts))
    assert isinstance(joined, trimesh.Trimesh)
    return joined


def _labelled(image: Image, labels: Sequence[Label], camera: Camera) -> Image:
    height, width = image.shape[:2]
    picture = Pillow.fromarray(image)
    draw = ImageDraw.Draw(picture)
    size = max(height / 55.0, 11.0)
    places = camera.pixels([label.position for label in labels], (width, height))
    for label, (column, row) in zip(labels, places, strict=True):
        if np.isfinite((column, row)).all():
            draw.text((column + 0.6 * size, row), label.text, (30, 34, 40), font(size), anchor='lm',
                      stroke_width=2, stroke_fill=(255, 255, 255))  # fmt: skip
    return np.asarray(picture)


def _vector(values: Floats) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z
