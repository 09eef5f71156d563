"""The robots the suite knows: each is a folder of `robots/`, found by listing.

A folder holds `robot.yaml` (this module's data), `model.yaml` and `<name>.urdf.xacro` (its description) and
`controllers.yaml` (its ros2_control controllers). Adding an arm is adding a folder.
"""

import difflib
import math
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from xml.parsers.expat import ExpatError

import xacro
import yaml
from ament_index_python.packages import get_package_share_directory

MOCK = 'mock'
HARDWARE = ('motoman', 'abb', 'ur')
HOME = 'home'

_PREFIX = re.compile(r'([A-Za-z][A-Za-z0-9_]*)?')
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
    payload: float
    """[kg]"""
    joints: tuple[str, ...]
    """From base to tool."""
    poses: Mapping[str, tuple[float, ...]]
    """Joint positions [rad] by name, in the order of `joints`; `home` is always among them."""
    folder: Path

    @property
    def controllers_file(self) -> Path:
        """The parameters of its controller manager and controllers, in ros2_control's format."""
        return self.folder / 'controllers.yaml'

    @property
    def xacro_file(self) -> Path:
        """Its description's source."""
        return self.folder / f'{self.name}.urdf.xacro'


def robot_names() -> tuple[str, ...]:
    """The names of all robots, in alphabetical order."""
    return tuple(sorted(file.parent.name for file in _robots_folder().glob('*/robot.yaml')))


def find_robot(name: str) -> Robot:
    """The robot of that name.

    Raises:
        UnknownRobot: there is none; the message names those there are.
        RobotError: its robot.yaml is wrong; the message names the file and the key.
    """
    names = robot_names()
    if name not in names:
        nearest = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f" (did you mean '{nearest[0]}'?)" if nearest else ''
        raise UnknownRobot(f"There is no robot '{name}'{hint}; choose one of {', '.join(names)}.")
    return load_robot(_robots_folder() / name)


def load_robot(folder: Path) -> Robot:
    """Read and check the robot.yaml of a robot's folder.

    Raises:
        RobotError: the file is missing or wrong; the message names the file and the key.
    """
    data = _RobotFile(folder / 'robot.yaml')
    joints = data.names('joints')
    return Robot(
        name=folder.name,
        title=data.text('title'),
        vendor=data.text('vendor'),
        hardware=data.choice('hardware', HARDWARE),
        reach=data.positive('reach_m'),
        payload=data.positive('payload_kg'),
        joints=joints,
        poses=data.poses('poses', len(joints)),
        folder=folder,
    )


def robot_description(robot: Robot, *, hardware: str = MOCK, prefix: str = '') -> str:
    """The robot's URDF as XML text, with the ros2_control tag of `hardware`; `prefix` goes before all names.

    A motoman's own controller serves trajectories, so that with `hardware='motoman'` there is no ros2_control tag.

    Raises:
        RobotError: the robot does not run on that hardware, or its xacro file is wrong.
    """
    if hardware not in (MOCK, robot.hardware):
        raise RobotError(f"{robot.name} does not run on hardware '{hardware}'; choose {MOCK} or {robot.hardware}.")
    if not _PREFIX.fullmatch(prefix):
        raise RobotError(f"The prefix '{prefix}' makes no valid name; use letters, digits and _, a letter first.")
    try:
        with _xacro_lock:
            document = xacro.process_file(str(robot.xacro_file), mappings={'hardware': hardware, 'prefix': prefix})
    except (xacro.XacroException, ExpatError, yaml.YAMLError, OSError, AttributeError, LookupError, TypeError) as error:
        raise RobotError(f'{robot.xacro_file} gives no URDF: {_one_line(error)}.') from error
    return str(document.toprettyxml(indent='  '))


def _robots_folder() -> Path:
    return Path(get_package_share_directory('lfd_description')) / 'robots'


def _one_line(error: BaseException) -> str:
    return ' '.join(str(error).split()).rstrip('.') or type(error).__name__


class _RobotFile:
    """The mapping in a robot.yaml, read key by key so that an error can say which one is wrong."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            data = yaml.safe_load(file.read_text(encoding='utf-8'))
        except (OSError, UnicodeError, yaml.YAMLError) as error:
            raise RobotError(f'{file} cannot be read: {_one_line(error)}.') from None
        if not isinstance(data, dict):
            raise RobotError(f'{file} must hold keys and values, such as title: My arm.')
        self.data = data

    def text(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, value, 'a text')
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        value = self._value(key)
        if not isinstance(value, str) or value not in choices:
            raise self._wrong(key, value, f'one of {", ".join(choices)}')
        return value

    def positive(self, key: str) -> float:
        number = _finite(self._value(key))
        if number is None or number <= 0.0:
            raise self._wrong(key, self._value(key), 'a number above zero')
        return number

    def names(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(name, str) and name for name in value)
            or len(set(value)) != len(value)
        ):
            raise self._wrong(key, value, 'a list of different names')
        return tuple(value)

    def poses(self, key: str, length: int) -> Mapping[str, tuple[float, ...]]:
        value = self._value(key)
        if not isinstance(value, dict) or HOME not in value:
            raise self._wrong(key, value, f'named poses, {HOME} among them')
        poses = {}
        for name, pose in value.items():
            numbers = [_finite(number) for number in pose] if isinstance(pose, list) else []
            finite = tuple(number for number in numbers if number is not None)
            if len(numbers) != length or len(finite) != length:
                raise self._wrong(f'{key}.{name}', pose, f'a list of {length} angles [rad], one for each joint')
            poses[str(name)] = finite
        return MappingProxyType(poses)

    def _value(self, key: str) -> object:
        if key not in self.data:
            raise RobotError(f"{self.file} lacks the key '{key}'.")
        value: object = self.data[key]
        return value

    def _wrong(self, key: str, value: object, wanted: str) -> RobotError:
        return RobotError(f"{self.file} has {value!r} for the key '{key}', which must be {wanted}.")


def _finite(value: object) -> float | None:
    """The value as a number, if it is a finite one; YAML's true and false are not."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
