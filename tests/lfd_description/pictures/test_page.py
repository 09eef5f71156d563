import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from lfd_description.grippers import find_gripper
from lfd_description.kinematics import Tree
from lfd_description.model.builder import mesh_finder
from lfd_description.pictures.page import RobotPage, page_html, write_page
from lfd_description.pictures.robot_picture import resting_joints
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.urdf import parse_urdf

SEED = 20
SHOTS = 3
GROUND = (236, 237, 240)
DARK_GROUND = (36, 39, 45)

HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">&amp;"\''
RED_BOX = """
<robot name="box">
  <link name="base"><visual><geometry><box size="0.4 0.4 0.4"/></geometry>
    <material name="red"><color rgba="0.8 0 0 1"/></material></visual>
    <collision><geometry><sphere radius="0.5"/></geometry></collision></link>
  <link name="lift"><visual><geometry><box size="0.2 0.2 0.6"/></geometry>
    <material name="blue"><color rgba="0 0.1 0.8 1"/></material></visual></link>
  <joint name="JOINT" type="prismatic"><parent link="base"/><child link="lift"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.5" velocity="1" effort="1"/></joint>
</robot>"""


def robot_page(name: str, gripper: str | None = None) -> RobotPage:
    robot = find_robot(name)
    poses = {pose: dict(zip(robot.joints, values, strict=True)) for pose, values in robot.poses.items()}
    urdf = robot_description(robot, gripper=find_gripper(gripper) if gripper else None)
    return RobotPage(urdf, robot.title, 'reach and payload', poses, find=mesh_finder(robot), shots=SHOTS)


def view(browser: object) -> npt.NDArray[np.int64]:
    """The 3-D view's part of a screenshot, without the hint at its bottom."""
    width = browser.run('document.getElementById("view").clientWidth')
    return browser.screenshot()[:-40, :width].astype(int)


def share_of(image: npt.NDArray[np.int64], channel: int) -> float:
    others = [other for other in range(3) if other != channel]
    return float((image[:, :, channel] > image[:, :, others].max(axis=-1) + 40).mean())


@pytest.mark.parametrize('name', robot_names())
def test_an_arm_is_shown_and_the_console_stays_silent(name: str, browser: object, tmp_path: Path) -> None:
    write_page(robot_page(name), tmp_path / 'arm.html')
    browser.console.clear()

    browser.open(tmp_path / 'arm.html')
    browser.rest()

    image = view(browser)
    changed = np.abs(image - GROUND).max(axis=-1) > 30
    assert 0.02 < changed.mean() < 0.7
    assert browser.run('document.title') == find_robot(name).title
    assert browser.console == []


@pytest.mark.parametrize('name', robot_names())
def test_the_page_moves_links_as_the_kinematics_do(name: str, browser: object, tmp_path: Path) -> None:
    page = robot_page(name, 'two_finger')
    write_page(page, tmp_path / 'arm.html')
    tree = parse_urdf(page.urdf)
    random = np.random.default_rng(SEED)
    joints = {
        joint: float(value) for joint, value in zip(resting_joints(tree), random.uniform(-1, 1, 99), strict=False)
    }
    browser.open(tmp_path / 'arm.html')

    poses = browser.run(
        f'Object.assign(positions, {json.dumps(joints)}); '
        '[data.links.map(link => link.name), linkPoses().map(pose => [...pose])]'
    )

    expected = Tree(tree).poses_at(joints)
    for link, pose in zip(*poses, strict=True):
        np.testing.assert_allclose(np.reshape(pose, (4, 4)).T, expected[link], atol=1e-5)


def test_a_slider_moves_its_joint(browser: object, tmp_path: Path) -> None:
    write_page(RobotPage(RED_BOX, 'Box', shots=SHOTS), tmp_path / 'box.html')
    browser.open(tmp_path / 'box.html')
    browser.rest()
    before = view(browser)

    browser.run("""const slider = document.querySelector('input[type=range]');
        slider.value = 500; slider.dispatchEvent(new Event('input'))""")
    browser.rest()

    assert share_of(before, 0) > 0.01  # the red box
    assert share_of(view(browser), 2) > share_of(before, 2) + 0.01  # the blue one came out of it
    assert browser.run("document.querySelector('input[type=number]').value") == '500.0'


def test_a_number_beyond_the_limits_becomes_the_limit(browser: object, tmp_path: Path) -> None:
    write_page(RobotPage(RED_BOX, 'Box', shots=SHOTS), tmp_path / 'box.html')
    browser.open(tmp_path / 'box.html')

    browser.run("""const number = document.querySelector('input[type=number]');
        number.value = 9000; number.dispatchEvent(new Event('change'))""")

    assert browser.run('positions.JOINT') == pytest.approx(0.5)


def test_named_poses_are_buttons(browser: object, tmp_path: Path) -> None:
    poses = {'down': {'JOINT': 0.0}, 'up': {'JOINT': 0.4}}
    write_page(RobotPage(RED_BOX, 'Box', poses=poses, shots=SHOTS), tmp_path / 'box.html')
    browser.open(tmp_path / 'box.html')

    assert browser.run("[...document.querySelectorAll('#poses button')].map(b => b.textContent)") == ['down', 'up']
    browser.run("document.querySelectorAll('#poses button')[1].click()")
    browser.wait_for('Math.abs(positions.JOINT - 0.4) < 1e-6')

    assert browser.run("document.querySelectorAll('#poses button')[1].ariaPressed") == 'true'


def test_visual_collision_and_frames_can_be_switched(browser: object, tmp_path: Path) -> None:
    write_page(RobotPage(RED_BOX, 'Box', shots=SHOTS), tmp_path / 'box.html')
    browser.console.clear()
    browser.open(tmp_path / 'box.html')
    pictures = []
    for switch in ('collision', 'visual', 'frames'):
        browser.run(f"document.getElementById('{switch}').click()")
        browser.rest()
        pictures.append(view(browser))

    differing = [np.abs(one - other).max() for one, other in pairwise(pictures)]
    assert min(differing) > 60
    assert share_of(pictures[2], 0) > share_of(pictures[1], 0) + 0.0001  # the red axis
    assert browser.console == []


def test_the_view_is_turned_zoomed_and_moved(browser: object, tmp_path: Path) -> None:
    write_page(RobotPage(RED_BOX, 'Box', shots=SHOTS), tmp_path / 'box.html')
    browser.open(tmp_path / 'box.html')
    browser.rest()
    start = view(browser)
    canvas = "const canvas = document.getElementById('view');"
    drag = (
        'canvas.setPointerCapture = () => {};'
        'const mouse = (kind, x, buttons) => canvas.dispatchEvent('
        'new PointerEvent(kind, {pointerId: 1, clientX: x, clientY: 100, buttons}));'
        'mouse("pointerdown", 50, BUTTON); mouse("pointermove", 110, BUTTON); mouse("pointerup", 110, 0)'
    )
    gestures = {
        'turned': f'{{{canvas}{drag.replace("BUTTON", "1")}}}',
        'moved': f'{{{canvas}{drag.replace("BUTTON", "2")}}}',
        'zoomed': f'{{{canvas}canvas.dispatchEvent(new WheelEvent("wheel", {{deltaY: -100}}))}}',
    }

    for gesture in gestures.values():
        browser.run(gesture)
        browser.rest()
        assert np.abs(view(browser) - start).max() > 60
        browser.run(f"{{{canvas}canvas.dispatchEvent(new MouseEvent('dblclick'))}}")
        browser.rest()
        assert np.abs(view(browser) - start).max() < 12


def test_dark_rooms_get_a_dark_page(browser: object, tmp_path: Path) -> None:
    write_page(RobotPage(RED_BOX, 'Box', shots=SHOTS), tmp_path / 'box.html')

    browser.open(tmp_path / 'box.html', dark=True)
    browser.rest()

    assert np.abs(view(browser)[2, 2] - DARK_GROUND).max() <= 3


def test_names_of_a_stranger_are_shown_and_never_run(browser: object, tmp_path: Path) -> None:
    escaped = HOSTILE.replace('&', '&amp;').replace('<', '&lt;').replace('"', '&quot;')
    page = RobotPage(RED_BOX.replace('JOINT', escaped), HOSTILE, HOSTILE, {HOSTILE: {HOSTILE: 0.1}}, shots=SHOTS)
    write_page(page, tmp_path / 'hostile.html')
    browser.console.clear()

    browser.open(tmp_path / 'hostile.html')
    browser.rest()

    assert browser.run('window.hacked === undefined')
    assert browser.run("document.getElementById('title').textContent") == HOSTILE
    assert browser.run("document.querySelector('.joint label').textContent") == HOSTILE
    assert browser.run('document.title') == HOSTILE
    assert browser.console == []


def test_the_page_needs_no_network() -> None:
    text = page_html(RobotPage(RED_BOX, 'Box'))

    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert 'import(' not in text
