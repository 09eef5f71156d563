import argparse
import webbrowser
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from lfd_bringup import show
from lfd_description.grippers import gripper_names
from lfd_description.robots import robot_names


def arguments(*names: str, **changes: object) -> argparse.Namespace:
    defaults = {
        'names': list(names), 'all': False, 'gripper': None, 'pose': 'home', 'out': None, 'size': (160, 120),
        'browser': False,
    }  # fmt: skip
    return argparse.Namespace(**(defaults | changes))


def picture(file: str) -> npt.NDArray[np.int64]:
    with Image.open(file) as image:
        return np.asarray(image).astype(int)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a browser on a screen would have been told to open."""
    pages: list[str] = []

    class Browser:
        name = 'firefox'

        def open(self, page: str) -> None:
            pages.append(page)

    monkeypatch.setenv('DISPLAY', ':0')
    monkeypatch.setattr(webbrowser, 'get', Browser)
    return pages


def test_an_arm_becomes_a_picture_and_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(arguments('ur5e')) == 0

    assert capsys.readouterr().out.split() == ['ur5e.png', 'ur5e.html']
    assert picture('ur5e.png').shape == (120, 160, 3)
    assert 'Universal Robots UR5e' in Path('ur5e.html').read_text(encoding='utf-8')


def test_the_pose_and_the_gripper_are_those_asked_for() -> None:
    pictures = []
    for changes in ({}, {'pose': 'left'}, {'gripper': 'two_finger'}, {'gripper': 'suction'}):
        assert show.main(arguments('gp8', **changes)) == 0
        pictures.append(picture('gp8.png'))

    for number, one in enumerate(pictures):
        for other in pictures[:number]:
            assert (np.abs(one - other).max(axis=-1) > 40).mean() > 0.001


def test_files_go_where_they_are_wanted(tmp_path: Path) -> None:
    assert show.main(arguments('ur3', out=Path('new/arm.png'))) == 0

    assert sorted(file.name for file in (tmp_path / 'new').iterdir()) == ['arm.html', 'arm.png']


@pytest.mark.parametrize('name', gripper_names())
def test_a_gripper_is_shown_alone(name: str) -> None:
    assert show.main(arguments(name)) == 0

    assert np.ptp(picture(f'{name}.png')) > 100


def test_all_arms_and_grippers_go_on_one_sheet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, 'SHEET_SIZE', (120, 100))

    assert show.main(arguments(all=True, out=Path('docs/robots.png'))) == 0

    assert capsys.readouterr().out.split() == ['docs/robots.png']
    height, width, _ = picture('docs/robots.png').shape
    assert (width // 120) * (height // 100) >= len(robot_names()) + len(gripper_names())


def test_several_arms_and_one_file_make_a_sheet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(show, 'SHEET_SIZE', (120, 100))

    assert show.main(arguments('gp8', 'ur3', out=Path('two.png'))) == 0

    assert [file.name for file in tmp_path.iterdir()] == ['two.png']


def test_the_page_opens_where_there_is_a_screen(opened: list[str], tmp_path: Path) -> None:
    assert show.main(arguments('ur5e', browser=True)) == 0

    assert opened == [(tmp_path / 'ur5e.html').as_uri()]


def test_no_page_opens_when_none_is_wanted(opened: list[str]) -> None:
    assert show.main(arguments('ur5e', browser=False)) == 0

    assert opened == []


@pytest.mark.parametrize(
    ('environment', 'platform', 'expected'),
    [
        ({'DISPLAY': ':0'}, 'linux', True),
        ({'WAYLAND_DISPLAY': 'wayland-0'}, 'linux', True),
        ({}, 'linux', False),
        ({'DISPLAY': ''}, 'linux', False),
        ({'SSH_CONNECTION': '1'}, 'linux', False),
        ({}, 'darwin', True),
        ({'SSH_CONNECTION': '1'}, 'darwin', False),
    ],
)
def test_a_browser_needs_a_screen_in_front_of_the_user(
    environment: dict[str, str], platform: str, expected: bool
) -> None:
    assert show.can_open_browser(environment, platform) is expected


@pytest.mark.parametrize(
    ('wrong', 'sentence'),
    [
        (arguments('ur55'), "There is no robot 'ur55' (did you mean 'ur5e'?)"),
        (arguments(), 'Name a robot to show, or use --all'),
        (arguments('ur5e', pose='dance'), "ur5e has no pose 'dance'; choose one of home"),
        (arguments('ur5e', gripper='hook'), "There is no gripper 'hook'"),
        (arguments('suction', gripper='two_finger'), 'suction is a gripper itself'),
        (arguments('ur5e', size=(0, 5)), 'A picture of 0x5 pixels cannot be made'),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_sentence(
    wrong: argparse.Namespace, sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert show.main(wrong) == 1

    error = capsys.readouterr().err
    assert error.startswith(f'lfd: {sentence}')
    assert error.count('\n') == 1
    assert list(tmp_path.iterdir()) == []
