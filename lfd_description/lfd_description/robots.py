"""The robots the suite knows: each is a folder of `robots/`, found by listing.

A folder holds what somebody wrote down about an arm, `robot.yaml` (this module's data) and `<name>.urdf.xacro` with the
files that it reads, and what the model builder derived from it: `controllers.yaml` for ros2_control, `moveit/` and
`collision_matrix/`. Adding an arm is adding a folder.
"""

import contextlib
import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.dom.minidom import Document, Element
from xml.parsers.expat import ExpatError

import xacro
import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from .grippers import Gripper, find_gripper
from .hints import no_such
from .nearby_packages import as_if_installed
from .yaml_file import YamlFile, one_line

MOCK = 'mock'
MOTOMAN = 'motoman'
"""A Yaskawa controller with MotoROS2, which serves trajectories itself."""
MOTOROS1 = 'motoros1'
"""A Yaskawa controller with the MotoROS of ROS 1, whose simple messages lfd_hardware speaks."""
HARDWARE = (MOTOMAN, 'abb', 'ur')
EXTERNAL = 'external'
"""A hand with a driver of its own, which serves the hand's controllers; the other kind of hand is `mock`."""
HANDS = (MOCK, EXTERNAL)
RATES = {MOCK: 125, MOTOMAN: 250, 'abb': 250, 'ur': 500}  # [Hz], of current controllers
ADDRESSES = {'ur': '192.168.56.101', 'abb': '192.168.125.1'}
"""Of the controllers' service ports as they are delivered, or of their simulators."""
MESHES = ('lfd', 'vendor')
HOME = 'home'
UNKNOWN = 'unknown'
"""The vendor of an arm of which nobody said who makes it."""

_ADDRESS = re.compile(r'[A-Za-z0-9._:-]+')
_PREFIX = re.compile(r'([A-Za-z][A-Za-z0-9_]*)?')
_PARAMETER = re.compile(r'[A-Za-z][A-Za-z0-9_/]*')
# What a wrong xacro file makes xacro raise; endless recursion is a RuntimeError.
_XACRO_FAULTS = (
    *(xacro.XacroException, ExpatError, yaml.YAMLError),
    *(RuntimeError, ValueError, OSError, AttributeError, LookupError, TypeError),
)
# xacro keeps the file it reads and its arguments in module variables.
_xacro_lock = threading.Lock()


class RobotError(Exception):
    """A robot's folder or a request for its description is wrong; the message is one sentence for the user."""


class UnknownRobot(RobotError):
    """There is no robot of that name."""


@dataclass(frozen=True)
class Robot:
    """An arm: who makes it, what it reaches and lifts, and its named poses."""

    name: str
    title: str
    vendor: str
    hardware: str
    """The kind of its real controller; every robot also runs on `mock`."""
    reach: float
    """[m]"""
    payload: float | None
    """[kg], if known"""
    joints: tuple[str, ...]
    """From base to tool."""
    poses: Mapping[str, tuple[float, ...]]
    """Joint positions [rad or m] by name, in the order of `joints`; `home` is always among them."""
    accelerations: tuple[float, ...] | None
    """The joints' limits [rad/s^2 or m/s^2], in the order of `joints`, if known."""
    control_rate: int
    """[Hz], at which its real controller takes commands."""
    base: str
    """The first link of the planning group, without prefix."""
    tip: str
    """The last link of the planning group, without prefix."""
    gripper: str | None
    """The gripper that it carries unless another is asked for."""
    own_gripper: bool
    """Whether its last link carries a gripper already, so that none can be mounted."""
    conservative_collision: bool
    """Whether its collision solids are known to be larger than its links."""
    folder: Path

    @property
    def label(self) -> str:
        """Its title, after its vendor's name where the title lacks that."""
        if self.vendor == UNKNOWN or self.vendor in self.title:
            return self.title
        return f'{self.vendor} {self.title}'

    @property
    def kinds_of_hardware(self) -> tuple[str, ...]:
        """What its ros2_control tag can be for."""
        kinds = tuple(dict.fromkeys((MOCK, self.hardware)))
        return (*kinds, MOTOROS1) if self.hardware == MOTOMAN else kinds

    @property
    def controllers_file(self) -> Path:
        """The parameters of its controller manager and controllers, in ros2_control's format."""
        return self.controllers_file_on(MOCK)

    def controllers_file_on(self, hardware: str) -> Path:
        """The same for a kind of hardware."""
        return self.folder / ('controllers.yaml' if hardware == MOCK else f'controllers_{hardware}.yaml')

    @property
    def xacro_file(self) -> Path:
        """Its description's source."""
        return self.folder / f'{self.name}.urdf.xacro'

    def default_gripper(self) -> Gripper | None:
        """The gripper that it carries unless another is asked for.

        Raises:
            GripperError: there is no gripper of the name in robot.yaml, or its folder is wrong.
        """
        return find_gripper(self.gripper) if self.gripper else None


def robot_names() -> tuple[str, ...]:
    """The names of all robots, in alphabetical order."""
    return tuple(sorted(file.parent.name for file in robots_folder().glob('*/robot.yaml')))


def find_robot(name: str) -> Robot:
    """The robot of that name.

    Raises:
        UnknownRobot: there is none; the message names those there are.
        RobotError: its robot.yaml is wrong; the message names the file and the key.
    """
    names = robot_names()
    if name not in names:
        raise UnknownRobot(no_such('robot', name, names))
    return load_robot(robots_folder() / name)


def load_robot(folder: Path) -> Robot:
    """Read and check the robot.yaml of a robot's folder.

    Raises:
        RobotError: the file is missing or wrong; the message names the file and the key.
    """
    data = YamlFile(folder / 'robot.yaml', RobotError, example='title: My arm')
    joints = data.names('joints')
    hardware = data.choice('hardware', (MOCK, *HARDWARE))
    return Robot(
        name=folder.name,
        title=data.text('title'),
        vendor=data.text('vendor'),
        hardware=hardware,
        reach=data.positive('reach_m'),
        payload=data.positive('payload_kg') if 'payload_kg' in data.data else None,
        joints=joints,
        poses=data.poses('poses', len(joints), needed=HOME),
        accelerations=_accelerations(data, len(joints)),
        control_rate=round(data.positive('control_rate_hz')) if 'control_rate_hz' in data.data else RATES[hardware],
        base=data.text('base') if 'base' in data.data else 'base_link',
        tip=data.text('tip') if 'tip' in data.data else 'tool0',
        gripper=data.text('gripper') if 'gripper' in data.data else None,
        own_gripper=data.flag('own_gripper'),
        conservative_collision=data.flag('conservative_collision'),
        folder=folder,
    )


def usual_hand(hardware: str) -> str:
    """What moves the hand of an arm on that hardware unless another is asked for: a real arm has no simulated one."""
    return MOCK if hardware == MOCK else EXTERNAL


def robot_description(
    robot: Robot,
    *,
    hardware: str = MOCK,
    hand: str | None = None,
    prefix: str = '',
    gripper: Gripper | None = None,
    meshes: str = 'lfd',
    robot_ip: str | None = None,
    hardware_parameters: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """The robot's URDF as XML text.

    A controller with MotoROS2 serves trajectories itself, so that with `hardware='motoman'` the arm has no ros2_control
    tag. With `motoros1` it has the tag of the driver in lfd_hardware, which the official ros2_control does not know.

    Args:
        robot: the arm.
        hardware: whose ros2_control tag it has: one of the robot's `kinds_of_hardware`.
        hand: one of `HANDS`, what moves the gripper; else the usual one for the hardware.
        prefix: goes before the names of all links, joints and materials.
        gripper: what it carries on its flange.
        meshes: `lfd`, or `vendor` for those of the vendor's ROS package, which must then be installed where they are
            looked at.
        robot_ip: the address of the real controller; else the one that its vendor ships it with.
        hardware_parameters: of the driver, by name, in place of or beside those that the arm's tag has.

    Raises:
        RobotError: the robot does not run on that hardware, or its xacro file is wrong.
    """
    if hardware not in robot.kinds_of_hardware:
        choices = f'choose {MOCK} or {robot.hardware}' if robot.hardware != MOCK else f'it only has {MOCK}'
        raise RobotError(f"{robot.name} does not run on hardware '{hardware}'; {choices}.")
    if hand not in (None, *HANDS):
        raise RobotError(f"There is no hand of the kind '{hand}'; choose {' or '.join(HANDS)}.")
    if gripper is not None and robot.own_gripper:
        raise RobotError(f'{robot.name} has a gripper of its own, so that no other can be mounted.')
    if not _PREFIX.fullmatch(prefix):
        raise RobotError(f"The prefix '{prefix}' makes no valid name; use letters, digits and _, a letter first.")
    if robot_ip is not None and not _ADDRESS.fullmatch(robot_ip):
        raise RobotError(f"The address '{robot_ip}' is no host; write 192.168.56.101, for instance.")
    if meshes not in MESHES:
        raise RobotError(f"There are no meshes of '{meshes}'; choose {' or '.join(MESHES)}.")
    mappings = {
        'hardware': hardware,
        'hand': hand or usual_hand(hardware),
        'prefix': prefix,
        'gripper': '' if gripper is None else gripper.name,
        'meshes': meshes,
        'robot_ip': ADDRESSES.get(hardware, '') if robot_ip is None else robot_ip,
        **_driver_folders(),
    }
    document = _expanded(robot.xacro_file, mappings)
    if hardware_parameters:
        _set_parameters(document, f'{prefix}{robot.name}', hardware_parameters)
    return _text(document)


def _set_parameters(document: Document, name: str, parameters: Mapping[str, str]) -> None:
    """Give parameters to the driver of the ros2_control tag of that name."""
    tags = [each for each in document.getElementsByTagName('ros2_control') if each.getAttribute('name') == name]
    if not tags:
        raise RobotError(f"{name} has no driver here that could take the parameter '{next(iter(parameters))}'.")
    (hardware,) = tags[0].getElementsByTagName('hardware')
    _remove_parameters(hardware, parameters)
    for key, value in parameters.items():
        if not _PARAMETER.fullmatch(key):
            raise RobotError(f"'{key}' is no name of a hardware parameter; write one such as connect_timeout.")
        parameter = document.createElement('param')
        parameter.setAttribute('name', key)
        parameter.appendChild(document.createTextNode(value))
        hardware.appendChild(parameter)


def _remove_parameters(hardware: Element, names: Collection[str]) -> None:
    for parameter in list(hardware.getElementsByTagName('param')):
        if parameter.getAttribute('name') in names:
            hardware.removeChild(parameter)


def _driver_folders() -> dict[str, str]:
    """Where the files of vendors' drivers are, if those are installed."""
    folders = {}
    for package in ('ur_robot_driver', 'ur_client_library'):
        with contextlib.suppress(PackageNotFoundError):
            folders[package] = get_package_share_directory(package)
    return folders


def expand_xacro(file: Path, arguments: Mapping[str, str], packages: Mapping[str, Path] | None = None) -> str:
    """The URDF that a xacro file gives with these arguments; `packages` are found although they are not installed.

    Raises:
        RobotError: it gives none; the message names the file and the reason.
    """
    return _text(_expanded(file, arguments, packages))


def _expanded(file: Path, arguments: Mapping[str, str], packages: Mapping[str, Path] | None = None) -> Document:
    try:
        with _xacro_lock, as_if_installed(packages or {}):
            document: Document = xacro.process_file(str(file), mappings=dict(arguments))
    except _XACRO_FAULTS as error:
        raise RobotError(f'{file} gives no URDF: {one_line(error)}.') from error
    return document


def _text(document: Document) -> str:
    return str(document.toprettyxml(indent='  '))


def robots_folder() -> Path:
    """Where the robots' folders are."""
    return Path(get_package_share_directory('lfd_description')) / 'robots'


def _accelerations(data: YamlFile, length: int) -> tuple[float, ...] | None:
    key = 'accelerations'
    if key not in data.data:
        return None
    values = data.numbers(key, length, 'accelerations [rad/s^2], one for each joint')
    if min(values) <= 0.0:
        raise data.wrong(key, list(values), 'a list of numbers above zero')
    return values
