"""Many pictures on one: a grid with captions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from .scene_picture import PictureError, font
from .studio import BACKDROP, Image

PAPER = tuple(round(255 * part) for part in BACKDROP)
INK = (29, 33, 39)
QUIET = (100, 107, 118)


@dataclass(frozen=True)
class Captioned:
    """A picture with its name and a line of facts."""

    image: Image
    title: str
    text: str = ''


def contact_sheet(pictures: Sequence[Captioned], columns: int | None = None) -> Image:
    """The pictures in a grid, each with its caption below, (height, width, 3).

    All pictures must be of one size. Without `columns` the sheet is about as wide as it is high.

    Raises:
        PictureError: there are no pictures, or they differ in size.
    """
    if not pictures:
        raise PictureError('A contact sheet needs at least one picture; name a robot.')
    height, width = pictures[0].image.shape[:2]
    if any(picture.image.shape != pictures[0].image.shape for picture in pictures):
        raise PictureError('The pictures of a contact sheet must have one size; render them again.')
    across = columns or math.ceil(math.sqrt(len(pictures)))
    down = math.ceil(len(pictures) / across)
    letter = max(width / 24.0, 9.0)
    caption, rim = round(4.2 * letter), round(0.8 * letter)
    sheet = Pillow.new('RGB', (across * width + 2 * rim, down * (height + caption) + 2 * rim), PAPER)
    draw = ImageDraw.Draw(sheet)
    rim_free = _soft_rim(width, height)
    for number, picture in enumerate(pictures):
        # The last row may be short; it sits in the middle.
        row, place = divmod(number, across)
        short = across - (len(pictures) - row * across)
        left = rim + place * width + (max(short, 0) * width) // 2
        top = rim + row * (height + caption)
        sheet.paste(Pillow.fromarray(picture.image), (left, top), rim_free)
        middle = left + width // 2
        _write(draw, (middle, top + height + round(0.9 * letter)), picture.title, 1.15 * letter, INK, width)
        _write(draw, (middle, top + height + round(2.3 * letter)), picture.text, 0.85 * letter, QUIET, width)
    return np.asarray(sheet)


def _write(
    draw: ImageDraw.ImageDraw, at: tuple[int, int], text: str, size: float, ink: tuple[int, int, int], width: int
) -> None:
    """One line around a point, smaller if it would be wider than its picture."""
    line = ' '.join(text.split())
    wide = draw.textlength(line, font(size))
    if wide > 0.94 * width:
        size *= 0.94 * width / wide
    draw.text(at, line, ink, font(size), anchor='mm')


def _soft_rim(width: int, height: int) -> Pillow.Image:
    """A mask that lets a picture's floor run out into the paper."""
    across, down = (
        np.clip(np.minimum(np.arange(n), np.arange(n)[::-1]) / (0.09 * n), 0.0, 1.0) for n in (width, height)
    )
    mask = np.outer(down * down * (3.0 - 2.0 * down), across * across * (3.0 - 2.0 * across))
    return Pillow.fromarray((255.0 * mask + 0.5).astype(np.uint8))
