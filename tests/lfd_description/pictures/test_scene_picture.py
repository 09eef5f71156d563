from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from PIL import Image

from lfd_description.pictures import rasteriser
from lfd_description.pictures.scene_picture import (
    Camera,
    Item,
    Label,
    PictureError,
    frame_items,
    render,
    save_png,
    tube,
)
from lfd_description.pictures.studio import BACKDROP, warm_up

SIZE = (160, 120)
RED = (0.8, 0.05, 0.05, 1.0)
BLUE = (0.05, 0.1, 0.8, 1.0)
FRONT = Camera((4.0, 0.0, 0.5), (0.0, 0.0, 0.5))
"""Looks along -x: y is to the right, z up."""


def at(x: float, y: float, z: float) -> npt.NDArray[np.float64]:
    return np.asarray(trimesh.transformations.translation_matrix((x, y, z)))


def box(size: float, x: float, y: float, z: float, colour: tuple[float, float, float, float] = RED) -> Item:
    return Item(trimesh.creation.box((size, size, size)), at(x, y, z), colour)


def is_red(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    red, green, blue = np.moveaxis(pixels.astype(int), -1, 0)
    return np.asarray((red > green + 40) & (red > blue + 40))


def is_blue(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    red, green, blue = np.moveaxis(pixels.astype(int), -1, 0)
    return np.asarray((blue > red + 40) & (blue > green + 40))


def backdrop() -> npt.NDArray[np.float64]:
    return 255.0 * np.array(BACKDROP)


def test_a_red_box_is_red_and_where_the_camera_says() -> None:
    item = box(0.3, 0.0, 0.4, 0.6)

    image = render([item], FRONT, SIZE, with_floor=False)

    rows, columns = np.nonzero(is_red(image))
    (column, row), *_ = FRONT.pixels([[0.0, 0.4, 0.6]], SIZE)
    assert abs(columns.mean() - column) < 1.5
    assert abs(rows.mean() - row) < 1.5
    assert np.abs(image[0, 0] - backdrop()).max() <= 1.0


def test_what_is_nearer_hides_what_is_farther() -> None:
    near, far = box(0.2, 1.0, 0.0, 0.5, RED), box(0.6, -1.0, 0.0, 0.5, BLUE)

    for items in ([near, far], [far, near]):
        image = render(items, FRONT, SIZE, with_floor=False)
        assert is_red(image[55:65, 75:85]).all()
        assert is_blue(image).sum() > 100


def test_parts_that_pierce_each_other_are_cut_along_the_line_where_they_meet() -> None:
    upright = Item(trimesh.creation.box((0.02, 1.0, 1.0)), at(0.0, 0.0, 0.5), RED)
    turned = Item(trimesh.creation.box((1.0, 0.02, 1.0)), at(0.0, 0.0, 0.5), BLUE)
    camera = Camera((3.0, 3.0, 0.5), (0.0, 0.0, 0.5))

    row = render([upright, turned], camera, SIZE, with_floor=False)[60]

    # From that corner the near half of the blue wall is to the left and that of the red one to the right.
    assert is_blue(row[60:77]).all()
    assert is_red(row[83:100]).all()


def test_a_thing_throws_its_shadow_on_the_floor() -> None:
    camera = Camera((3.0, 0.0, 3.0), (0.0, 0.0, 0.0))
    hovering = box(0.5, 0.0, 0.0, 0.5)

    lit = render([hovering], camera, SIZE, with_floor=False)
    shadowed = render([hovering], camera, SIZE, floor=0.0)

    changed = (lit.astype(int) - shadowed).max(axis=-1) > 25
    _, columns = np.nonzero(changed)
    assert changed.sum() > 200
    # The light comes over the camera's left shoulder, so the shadow falls to the right.
    assert columns.mean() > SIZE[0] / 2 + 5


def test_the_shadow_is_soft_and_ends_before_the_picture_does() -> None:
    camera = Camera((6.0, 0.0, 6.0), (0.0, 0.0, 0.0))

    image = render([box(0.5, 0.0, 0.0, 0.6)], camera, (240, 180), floor=0.0).astype(int)

    grey = np.unique(image[:, :, 1][~is_red(image.astype(np.uint8))])
    assert len(grey) > 30
    assert np.abs(image[[0, -1]] - backdrop()).max() <= 3.0


def test_straight_edges_have_no_steps() -> None:
    slanted = Item(
        trimesh.creation.box((0.01, 3.0, 0.5)), trimesh.transformations.rotation_matrix(0.15, (1, 0, 0)), (0, 0, 0, 1)
    )

    image = render([slanted], Camera((4.0, 0.0, 0.0), (0.0, 0.0, 0.0)), SIZE, with_floor=False).astype(float)

    # The edge's height in each column, from how much of the column is dark.
    light, dark = image[0, :, 1], image[60, :, 1].min()
    height = ((light - image[:60, :, 1]) / (light - dark)).sum(axis=0)[20:140]
    fit = np.polyval(np.polyfit(np.arange(120), height, 1), np.arange(120))
    assert np.abs(height - fit).max() < 0.12  # [px]; a hard edge is off by half a pixel


def test_smooth_things_look_smooth_and_sharp_edges_stay_sharp() -> None:
    ball = Item(trimesh.creation.icosphere(subdivisions=3, radius=0.5), at(0.0, 0.0, 0.5))

    image = render([ball], FRONT, (320, 240), with_floor=False).astype(float)[:, :, 1]
    inside = image[80:160, 130:190]

    assert np.abs(np.diff(inside, axis=1)).max() < 12.0
    corner = render([box(0.8, 0.0, 0.0, 0.4)], Camera((3.0, 3.0, 2.0), (0.0, 0.0, 0.4)), (320, 240), with_floor=False)
    assert np.abs(np.diff(corner[140].astype(float), axis=0)).max() > 25.0


def test_one_sees_through_what_is_see_through() -> None:
    behind = box(0.6, -1.0, 0.0, 0.5, BLUE)
    glass = Item(trimesh.creation.box((0.01, 1.0, 1.0)), at(1.0, 0.0, 0.5), (0.9, 0.1, 0.1, 0.5))

    through = render([behind, glass], FRONT, SIZE, with_floor=False)[60, 80].astype(int)
    without = render([behind], FRONT, SIZE, with_floor=False)[60, 80].astype(int)

    assert through[0] > without[0] + 40
    assert through[2] > 60


def test_the_same_scene_gives_the_same_picture() -> None:
    items = [box(0.4, 0.0, 0.0, 0.2), *frame_items(at(0.5, 0.0, 0.3), 0.3)]

    assert (render(items, FRONT, SIZE) == render(items, FRONT, SIZE)).all()


def test_nothing_is_a_picture_too() -> None:
    image = render([], size=SIZE)

    assert image.shape == (120, 160, 3)
    assert np.abs(image - backdrop()).max() <= 1.0


def test_huge_and_degenerate_triangles_and_things_behind_the_camera_do_no_harm() -> None:
    corners = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [1e9, 0, 0], [0, 1e9, 0], [-1e9, -1e9, 0]], float)
    strange = trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3], [0, 0, 0], [4, 5, 6]], process=False)
    around = Item(trimesh.creation.box((20.0, 20.0, 20.0)), at(0.0, 0.0, 0.0), BLUE)

    for items in ([Item(strange, colour=RED)], [Item(strange), around], [around, box(0.3, 0.0, 0.0, 0.5)]):
        image = render(items, FRONT, SIZE)
        assert image.shape == (120, 160, 3)
    assert image[60, 80].argmax() == 0  # inside the blue box, where little light gets, is a red one
    assert image[5, 80].argmax() == 2


def test_a_floor_that_runs_under_the_camera_is_cut_at_the_camera() -> None:
    ground = Item(trimesh.creation.box((40.0, 40.0, 0.1)), at(0.0, 0.0, -0.05), RED)

    image = render([ground], Camera((0.0, 0.0, 1.0), (-1.0, 0.0, 1.0)), SIZE, with_floor=False)

    assert is_red(image[-40:]).all()
    assert not is_red(image[:20]).any()


@pytest.mark.parametrize('azimuth', [-2.0, 0.0, 0.7, 3.0])
@pytest.mark.parametrize('elevation', [-0.3, 0.2, 1.5])
@pytest.mark.parametrize('size', [(160, 120), (90, 160)])
def test_a_camera_around_a_box_has_all_of_it_and_no_more_than_needed(
    azimuth: float, elevation: float, size: tuple[int, int]
) -> None:
    bounds = np.array([[-0.2, 0.3, 0.0], [0.5, 0.9, 1.4]])

    camera = Camera.around(bounds, azimuth, elevation, aspect=size[0] / size[1], margin=0.1)

    corners = [[x, y, z] for x in bounds[:, 0] for y in bounds[:, 1] for z in bounds[:, 2]]
    share = camera.pixels(corners, size) / size
    assert share.min() >= 0.1 - 1e-6
    assert share.max() <= 0.9 + 1e-6
    assert max(np.ptp(share, axis=0)) == pytest.approx(0.8, abs=1e-6)


def test_labels_stand_beside_their_points() -> None:
    plain = render([box(0.2, 0.0, 0.0, 0.5)], FRONT, SIZE)

    labelled = render([box(0.2, 0.0, 0.0, 0.5)], FRONT, SIZE, labels=[Label('tcp', (0.0, 0.3, 0.5))])

    _, columns = np.nonzero((plain != labelled).any(axis=-1))
    (column, _), *_ = FRONT.pixels([[0.0, 0.3, 0.5]], SIZE)
    assert columns.min() > column
    assert columns.max() < column + 50


def test_a_line_is_a_thin_tube_through_its_points() -> None:
    line = tube([[0, 0, 0], [1, 0, 0], [1, 1, 0]], 0.01)

    np.testing.assert_allclose(line.bounds, [[-0.01, -0.01, -0.01], [1.01, 1.01, 0.01]], atol=1e-3)
    with pytest.raises(PictureError, match='points'):
        tube([])


def test_frames_have_red_green_and_blue_along_x_y_and_z() -> None:
    for axis, item in enumerate(frame_items(at(1.0, 2.0, 3.0), 0.5)):
        corners = np.asarray(item.mesh.vertices) @ item.pose[:3, :3].T + item.pose[:3, 3]
        tip = np.array([1.0, 2.0, 3.0])
        tip[axis] += 0.5
        assert np.linalg.norm(corners - tip, axis=1).min() < 1e-6
        assert int(np.argmax(item.colour[:3])) == axis


@pytest.mark.parametrize('size', [(0, 10), (10, -1), (100_000, 10)])
def test_a_size_that_makes_no_picture_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(PictureError, match='pixels'):
        render([], FRONT, size)


def test_a_camera_that_looks_nowhere_is_refused() -> None:
    with pytest.raises(PictureError, match='looks nowhere'):
        render([], Camera((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)), SIZE)


def test_a_pose_that_is_no_number_is_refused() -> None:
    with pytest.raises(PictureError, match='Item 0'):
        render([Item(trimesh.creation.box((1, 1, 1)), np.full((4, 4), np.nan))], FRONT, SIZE)


def test_a_picture_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    image = render([box(0.4, 0.0, 0.0, 0.2)], FRONT, SIZE)

    save_png(image, tmp_path / 'new' / 'box.png')

    assert (np.asarray(Image.open(tmp_path / 'new' / 'box.png')) == image).all()
    assert [file.name for file in (tmp_path / 'new').iterdir()] == ['box.png']


def test_after_warming_up_nothing_is_left_to_compile() -> None:
    warm_up()
    loops = [loop for loop in vars(rasteriser).values() if hasattr(loop, 'signatures')]
    compiled = [list(loop.signatures) for loop in loops]

    render([box(0.4, 0.0, 0.0, 0.2), *frame_items(np.asfortranarray(np.eye(4)))], FRONT, SIZE)

    assert [list(loop.signatures) for loop in loops] == compiled
    assert all(len(signatures) == 1 for signatures in compiled)
