"""`./lfd robots show`: pictures of arms and grippers, and a 3-D page to move them on."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lfd_description.bodies import MeshFinder
from lfd_description.grasp_data import FingerGraspData
from lfd_description.grippers import Gripper, GripperError, find_gripper, gripper_names
from lfd_description.meshes import MeshError
from lfd_description.model.builder import mesh_finder
from lfd_description.pictures.contact_sheet import Captioned, contact_sheet
from lfd_description.pictures.page import RobotPage, write_page
from lfd_description.pictures.robot_picture import robot_picture
from lfd_description.pictures.scene_picture import PictureError, save_png
from lfd_description.robots import (
    HOME,
    Robot,
    RobotError,
    UnknownRobot,
    expand_xacro,
    find_robot,
    robot_description,
    robot_names,
)
from lfd_description.urdf import UrdfError

from .home.console import StepLine

ALL_FILE = Path('robots.png')
SHEET_SIZE = (600, 520)  # [px], of one picture on a contact sheet
TEXT_BROWSERS = ('www-browser', 'links', 'elinks', 'lynx', 'w3m')


@dataclass(frozen=True)
class Exhibit:
    """An arm, with or without a gripper, or a gripper alone, and what is said about it."""

    name: str
    title: str
    text: str
    urdf: str
    find: MeshFinder
    poses: Mapping[str, Mapping[str, float]]
    """Joint positions [rad or m] by the pose's name, then by joint."""
    start: Mapping[str, float]
    """Positions of the joints that the poses do not speak of: those of the gripper."""

    def joints(self, pose: str) -> Mapping[str, float]:
        """The positions of all its joints in a named pose.

        Raises:
            PictureError: it has no such pose; the message names those it has.
        """
        if pose not in self.poses:
            raise PictureError(f"{self.name} has no pose '{pose}'; choose one of {', '.join(self.poses)}.")
        return {**self.start, **self.poses[pose]}


def main(arguments: argparse.Namespace) -> int:
    """Draw what is named, or everything; returns the exit code."""
    try:
        return _show(arguments)
    except (RobotError, GripperError, UrdfError, MeshError, PictureError, OSError) as error:
        print(f'lfd: {error}', file=sys.stderr)
        return 1


def exhibit(name: str, gripper: str | None = None) -> Exhibit:
    """What there is to show of an arm or a gripper of that name.

    Raises:
        RobotError, GripperError: there is none, or its folder is wrong.
    """
    if name in gripper_names():
        if gripper is not None:
            raise GripperError(f'{name} is a gripper itself; name an arm to mount {gripper} on.')
        return _gripper_alone(find_gripper(name))
    try:
        robot = find_robot(name)
    except UnknownRobot as error:
        raise UnknownRobot(f'{str(error)[:-1]}, or a gripper: {", ".join(gripper_names())}.') from None
    return _arm(robot, find_gripper(gripper) if gripper else robot.default_gripper())


def can_open_browser(environment: Mapping[str, str], platform: str) -> bool:
    """Whether a page that is opened appears on a screen in front of the user."""
    if platform == 'darwin':
        return 'SSH_CONNECTION' not in environment
    return bool(environment.get('DISPLAY') or environment.get('WAYLAND_DISPLAY'))


def _show(arguments: argparse.Namespace) -> int:
    names = [*robot_names(), *gripper_names()] if arguments.all else list(arguments.names)
    if not names:
        raise UnknownRobot(f'Name a robot to show, or use --all; there are {", ".join(robot_names())}.')
    bare = gripper_names() if arguments.all else ()  # grippers carry no gripper
    exhibits = [exhibit(name, None if name in bare else arguments.gripper) for name in names]
    if arguments.all or (arguments.out is not None and len(exhibits) > 1):
        _write_sheet(exhibits, arguments.pose, arguments.out or ALL_FILE)
        return 0
    for shown in exhibits:
        picture = arguments.out or Path(f'{shown.name}.png')
        page = picture.with_suffix('.html')
        joints = shown.joints(arguments.pose)
        save_png(robot_picture(shown.urdf, joints, arguments.size, find=shown.find), picture)
        print(picture)
        write_page(_page(shown, arguments.pose), page)
        print(page)
        if arguments.browser:
            _open(page)
    return 0


def _write_sheet(exhibits: list[Exhibit], pose: str, file: Path) -> None:
    pictures = []
    line = StepLine(f'Draw {len(exhibits)} pictures', 1, 1)
    for number, shown in enumerate(exhibits):
        line.update(number / len(exhibits), shown.title)
        joints = shown.joints(pose if pose in shown.poses else HOME)
        image = robot_picture(shown.urdf, joints, SHEET_SIZE, find=shown.find)
        pictures.append(Captioned(image, shown.title, shown.text))
    save_png(contact_sheet(pictures), file)
    line.end(True)
    print(file)


def _page(shown: Exhibit, pose: str) -> RobotPage:
    first = {pose: shown.poses[pose]}
    poses = first | {name: joints for name, joints in shown.poses.items() if name != pose}
    return RobotPage(shown.urdf, shown.title, shown.text, poses, shown.start, shown.find)


def _arm(robot: Robot, gripper: Gripper | None) -> Exhibit:
    facts = [f'reach {robot.reach:.2f} m']
    if robot.payload is not None:
        facts.append(f'payload {robot.payload:g} kg')
    if gripper is not None:
        facts.append(gripper.title)
    return Exhibit(
        name=robot.name,
        title=robot.label,
        text=' · '.join(facts),
        urdf=robot_description(robot, gripper=gripper),
        find=mesh_finder(robot),
        poses={name: dict(zip(robot.joints, pose, strict=True)) for name, pose in robot.poses.items()},
        start={} if gripper is None else _open_fingers(gripper),
    )


def _gripper_alone(gripper: Gripper) -> Exhibit:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'gripper.urdf.xacro'
        file.write_text(
            f'<robot name="{gripper.name}" xmlns:xacro="http://www.ros.org/wiki/xacro">'
            f'<xacro:include filename="{gripper.xacro_file}"/><link name="flange"/>'
            '<xacro:lfd_gripper prefix="" parent="flange" rpy="0 0 0"/></robot>',
            encoding='utf-8',
        )
        urdf = expand_xacro(file, {})
    opened = _open_fingers(gripper)
    poses = {HOME: opened} if not opened else {HOME: opened, 'closed': _closed_fingers(gripper)}
    return Exhibit(
        name=gripper.name,
        title=gripper.title,
        text=_gripper_facts(gripper),
        urdf=urdf,
        find=MeshFinder(),
        poses=poses,
        start={},
    )


def _gripper_facts(gripper: Gripper) -> str:
    facts = [f'holds {gripper.payload:g} kg']
    if isinstance(gripper.grasp_data, FingerGraspData):
        facts.insert(0, f'opens {1000 * gripper.grasp_data.max_finger_width:.0f} mm')
    return ' · '.join(facts)


def _open_fingers(gripper: Gripper) -> Mapping[str, float]:
    return _drive(gripper, gripper.grasp_data.pregrasp_posture)


def _closed_fingers(gripper: Gripper) -> Mapping[str, float]:
    return _drive(gripper, gripper.grasp_data.grasp_posture)


def _drive(gripper: Gripper, posture: tuple[float, ...]) -> Mapping[str, float]:
    """The position of the joint that the others follow."""
    if gripper.joint is None:
        return {}
    return {gripper.joint: posture[gripper.grasp_data.joints.index(gripper.joint)]}


def _open(page: Path) -> None:
    """Open the page if that makes sense here; the user has its path in any case."""
    if not can_open_browser(os.environ, sys.platform):
        return
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if getattr(browser, 'name', '') not in TEXT_BROWSERS:
        browser.open(page.resolve().as_uri())
