import numpy as np
import pytest

from lfd_description.pictures.contact_sheet import PAPER, Captioned, contact_sheet
from lfd_description.pictures.scene_picture import PictureError


def plain(level: int) -> np.ndarray:
    return np.full((90, 120, 3), level, dtype=np.uint8)


def test_pictures_stand_in_a_grid_with_their_captions_below() -> None:
    sheet = contact_sheet([Captioned(plain(40 * number), f'arm {number}', 'reach 1 m') for number in range(6)])

    found = sorted(int(level) for level in np.unique(sheet[:, :, 0]) if (sheet[:, :, 0] == level).sum() > 4000)
    assert [level for level in found if level != PAPER[0]] == [0, 40, 80, 120, 160, 200]
    assert sheet.shape[1] > 3 * 120
    assert sheet.shape[0] > 2 * 90


def test_a_caption_is_never_wider_than_its_picture() -> None:
    short = contact_sheet([Captioned(plain(0), 'a')])
    long = contact_sheet([Captioned(plain(0), 'a very long name of an arm ' * 5, 'and as many facts ' * 9)])

    assert short.shape == long.shape
    assert (long[:, :4] == PAPER).all()
    assert (long[:, -4:] == PAPER).all()


def test_no_pictures_or_unequal_ones_are_refused() -> None:
    with pytest.raises(PictureError, match='at least one'):
        contact_sheet([])
    with pytest.raises(PictureError, match='one size'):
        contact_sheet([Captioned(plain(0), 'a'), Captioned(plain(0)[:50], 'b')])
