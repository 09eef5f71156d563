"""What a gripper can grasp and how it does it: MoveIt Grasps' grasp_data.yaml, read, checked and written.

The keys are MoveIt Grasps' own. They speak of the gripper's tcp frame: z points out at the object, y runs from finger
to finger, x across. The tcp lies at the finger tips or at the lip of the suction cup, so that a grasp of depth d [m]
has the tcp d behind the face of the object that looks at the palm.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import yaml

from .yaml_file import YamlFile

FINGER = 'finger'
SUCTION = 'suction'
KINDS = (FINGER, SUCTION)

MAX_LENGTH = 1.0  # [m], of anything a gripper measures; more was written in millimetres
MAX_STEPS = 360  # of angle_resolution in a full turn; more make grasps without end
_TOLERANCE = 1e-9  # [m] and [deg], of the rounding of decimal numbers

_Reader = Callable[[YamlFile, str], object]


class GraspDataError(ValueError):
    """A grasp_data.yaml that cannot be used; the message has one line for each problem."""


@dataclass(frozen=True)
class GraspData:
    """What both kinds of grippers need."""

    base_link: str
    """The frame that grasps are given in."""
    end_effector_name: str
    """The end effector's name in the SRDF."""
    joints: tuple[str, ...]
    """The joints that the postures speak of."""
    pregrasp_posture: tuple[float, ...]
    """Their positions [rad or m] when open."""
    grasp_posture: tuple[float, ...]
    """Their positions [rad or m] when closed."""
    tcp_to_eef_mount_transform: tuple[float, ...]
    """x, y, z [m], roll, pitch, yaw [rad]: the end effector's parent link in the tcp frame."""
    grasp_resolution: float
    """[m], between neighbouring grasps along the object."""
    angle_resolution: float
    """[deg], between neighbouring grasps about the object."""
    grasp_max_depth: float
    """[m], the furthest that the tcp goes behind the object's face."""
    grasp_min_depth: float
    """[m], the least that it goes behind it."""
    grasp_depth_resolution: float
    """[m], between neighbouring depths; where it exceeds the range of depths, only the greatest is tried."""
    approach_distance_desired: float
    """[m], of the straight way to the grasp, on top of `grasp_max_depth`."""
    retreat_distance_desired: float
    """[m], of the straight way back from the grasp, on top of `grasp_max_depth`."""
    lift_distance_desired: float
    """[m], the least that the object is lifted off what it stands on."""
    grasp_padding_on_approach: float
    """[m], the space left at each side of the object on the way to it."""
    pregrasp_time_from_start: float
    """[s], to open."""
    grasp_time_from_start: float
    """[s], to close."""


@dataclass(frozen=True)
class FingerGraspData(GraspData):
    """A gripper with two parallel fingers."""

    max_finger_width: float
    """[m], the gap between the pads at `pregrasp_posture`."""
    min_finger_width: float
    """[m], the gap between the pads at `grasp_posture`."""
    max_grasp_width: float
    """[m], the widest object to grasp."""
    gripper_finger_width: float
    """[m], of a finger across: so much of the object must lie between the pads."""

    end_effector_type: ClassVar[str] = FINGER

    def width(self, posture: Sequence[float]) -> float:
        """The gap [m] between the pads at a posture [rad or m], one position for each of `joints`."""
        if len(posture) != len(self.joints):
            raise ValueError(f'A posture of {", ".join(self.joints)} has {len(self.joints)} positions: {posture}.')
        closed = np.array(self.grasp_posture)
        travel = np.array(self.pregrasp_posture) - closed
        opening = float((np.array(posture) - closed) @ travel / (travel @ travel))
        return self.min_finger_width + opening * (self.max_finger_width - self.min_finger_width)

    def posture(self, width: float) -> tuple[float, ...]:
        """The positions [rad or m] of `joints` at which the gap between the pads is `width` [m].

        Raises:
            ValueError: the fingers do not open or close so far.
        """
        low, high = self.min_finger_width, self.max_finger_width
        if not low - _TOLERANCE <= width <= high + _TOLERANCE:
            raise ValueError(f'The fingers open from {low:.4g} m to {high:.4g} m, not to {width:.4g} m.')
        opening = min(max((width - low) / (high - low), 0.0), 1.0)
        return tuple(
            closed + opening * (opened - closed)
            for opened, closed in zip(self.pregrasp_posture, self.grasp_posture, strict=True)
        )


@dataclass(frozen=True)
class SuctionGraspData(GraspData):
    """A gripper that holds by vacuum; its area is cut into equal regions that can be switched one by one."""

    active_suction_range_x: float
    """[m], of the area that sucks, along the tcp's x."""
    active_suction_range_y: float
    """[m], of the area that sucks, along the tcp's y."""
    suction_rows_count: int
    """Regions along y."""
    suction_cols_count: int
    """Regions along x."""

    end_effector_type: ClassVar[str] = SUCTION


AnyGraspData = FingerGraspData | SuctionGraspData


def load_grasp_data(file: Path) -> AnyGraspData:
    """Read and check a grasp_data.yaml with one end effector.

    Raises:
        GraspDataError: the file is wrong; the message has a line for each problem, with its key, its value and the fix.
    """
    data = YamlFile(file, GraspDataError, example='base_link: world')
    problems: list[Exception] = []
    base_link = _read(data, {'base_link': YamlFile.text}, problems)
    hand = _hand(data)
    kind = _read(hand, {'end_effector_type': _kind}, problems).get('end_effector_type')
    if kind is None:
        raise _all_in_one(problems)
    keys = {key: reader for group in _groups(kind).values() for key, reader in group.items()}
    problems += hand.unknown_keys(keys)
    values = _read(hand, keys, problems)
    problems += [hand.wrong(key, hand.value(key), wanted) for key, wanted in _conflicts(values)]
    if problems:
        raise _all_in_one(problems)
    del values['end_effector_type']
    return _TYPES[kind](**base_link, **values)


def grasp_data_yaml(data: AnyGraspData, *, base_link: str, end_effector_name: str, prefix: str = '') -> str:
    """The text of a grasp_data.yaml for an arm: grasps in the frame `base_link`, `prefix` before the joints' names."""
    joints = tuple(f'{prefix}{joint}' for joint in data.joints)
    mounted = replace(data, base_link=base_link, end_effector_name=end_effector_name, joints=joints)
    lines = [f'base_link: {_yaml(base_link)}', f'{_yaml(end_effector_name)}:']
    for title, keys in _groups(data.end_effector_type).items():
        lines += [f'    # {title}', *(f'    {key}: {_yaml(getattr(mounted, key))}' for key in keys)]
    return '\n'.join(lines) + '\n'


def _all_in_one(problems: Iterable[Exception]) -> GraspDataError:
    return GraspDataError('\n'.join(map(str, problems)))


def _hand(data: YamlFile) -> YamlFile:
    names = [key for key in data.data if key != 'base_link']
    if len(names) != 1 or not isinstance(names[0], str):
        found = f'the keys {", ".join(map(str, names))}' if names else 'nothing'
        raise GraspDataError(f"{data.file} has {found} beside base_link; describe one end effector there, as 'hand'.")
    return data.section(names[0])


def _read(data: YamlFile, keys: Mapping[str, _Reader], problems: list[Exception]) -> dict[str, Any]:
    """The values of all keys that are right; those that are wrong add to `problems`."""
    values = {key: value for key, value in _DEFAULTS.items() if key in keys and key not in data.data}
    for key, reader in keys.items():
        if key in values:
            continue
        try:
            values[key] = reader(data, key)
        except GraspDataError as error:
            problems.append(error)
    return values


def _conflicts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Keys whose values do not go together, each with what it must be."""
    for low, high in (
        ('min_finger_width', 'max_finger_width'),
        ('max_grasp_width', 'max_finger_width'),
        ('min_finger_width', 'max_grasp_width'),
        ('grasp_min_depth', 'grasp_max_depth'),
    ):
        if low in values and high in values and values[low] > values[high]:
            yield low, f'at most {high}, which is {values[high]:g}'
    if values.get('max_finger_width') == values.get('min_finger_width', -1.0):
        yield 'max_finger_width', 'above min_finger_width, or the fingers cannot move'
    if 'max_finger_width' in values and 'pregrasp_posture' in values and 'grasp_posture' in values:
        pairs = zip(values['pregrasp_posture'], values['grasp_posture'], strict=True)
        if any(opened == closed for opened, closed in pairs):
            yield 'pregrasp_posture', f'different from grasp_posture, {list(values["grasp_posture"])}, in every joint'


def _yaml(value: object) -> str:
    """The value as YAML on one line."""
    plain = list(value) if isinstance(value, tuple) else value
    return yaml.safe_dump([plain], default_flow_style=True, width=float('inf')).strip()[1:-1]


def _kind(hand: YamlFile, key: str) -> str:
    return hand.choice(key, KINDS)


def _length(hand: YamlFile, key: str) -> float:
    return _in_metres(hand, key, hand.positive(key))


def _depth(hand: YamlFile, key: str) -> float:
    return _in_metres(hand, key, hand.not_negative(key))


def _in_metres(hand: YamlFile, key: str, number: float) -> float:
    if number > MAX_LENGTH:
        raise hand.wrong(key, hand.value(key), f'in metres, and at most {MAX_LENGTH:g}')
    return number


def _angle(hand: YamlFile, key: str) -> float:
    number = hand.positive(key)
    steps = round(360.0 / number)
    if steps < 1 or steps > MAX_STEPS or abs(steps * number - 360.0) > _TOLERANCE * steps:
        raise hand.wrong(key, hand.value(key), 'a part of a full turn [deg], such as 90, 45 or 30')
    return number


def _transform(hand: YamlFile, key: str) -> tuple[float, ...]:
    return hand.numbers(key, 6, 'numbers: x, y, z [m], roll, pitch, yaw [rad]')


def _posture(hand: YamlFile, key: str) -> tuple[float, ...]:
    joints, posture = hand.data.get('joints'), hand.value(key)
    counted = joints if isinstance(joints, list) else posture if isinstance(posture, list) else ()
    return hand.numbers(key, len(counted), 'positions, one for each of joints')


def _joints_or_none(hand: YamlFile, key: str) -> tuple[str, ...]:
    return () if hand.value(key) == [] else hand.names(key)


def _groups(kind: str) -> Mapping[str, Mapping[str, _Reader]]:
    """The keys in the order in which they are written, each with its reader, under the title of their group."""
    own: dict[str, dict[str, dict[str, _Reader]]] = {
        FINGER: {
            'Fingers [m]': {
                'max_finger_width': _length,
                'min_finger_width': _depth,
                'max_grasp_width': _length,
                'gripper_finger_width': _length,
            }
        },
        SUCTION: {
            'Area that sucks [m] and its regions': {
                'active_suction_range_x': _length,
                'active_suction_range_y': _length,
                'suction_rows_count': YamlFile.whole,
                'suction_cols_count': YamlFile.whole,
            }
        },
    }
    return {
        'Name and kind': {'end_effector_name': YamlFile.text, 'end_effector_type': _kind},
        **own[kind],
        'Joints, open and closed': {
            'joints': YamlFile.names if kind == FINGER else _joints_or_none,
            'pregrasp_posture': _posture,
            'grasp_posture': _posture,
        },
        "The end effector's parent link in the tcp frame [x, y, z, r, p, y]": {
            'tcp_to_eef_mount_transform': _transform,
        },
        'Which grasps to try: distances and depths [m], angles [deg]': {
            'grasp_resolution': YamlFile.positive,
            'angle_resolution': _angle,
            'grasp_max_depth': _depth,
            'grasp_min_depth': _depth,
            'grasp_depth_resolution': YamlFile.positive,
        },
        'How to move: distances [m], times [s]': {
            'approach_distance_desired': YamlFile.not_negative,
            'retreat_distance_desired': YamlFile.not_negative,
            'lift_distance_desired': YamlFile.not_negative,
            'grasp_padding_on_approach': YamlFile.not_negative,
            'pregrasp_time_from_start': YamlFile.not_negative,
            'grasp_time_from_start': YamlFile.not_negative,
        },
    }


_DEFAULTS: Mapping[str, Any] = {'suction_rows_count': 1, 'suction_cols_count': 1}
_TYPES: Mapping[str, Callable[..., AnyGraspData]] = {FINGER: FingerGraspData, SUCTION: SuctionGraspData}
