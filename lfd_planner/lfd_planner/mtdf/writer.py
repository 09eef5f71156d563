"""Task files out: one task has one text, in YAML or JSON, and reading it gives an equal task back.

Keys come in a fixed order, what is not set is left out, numbers have all digits that matter. In YAML a list or mapping
stands on one line if it fits into `WIDTH` columns, and each entry on its own otherwise.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lfd_description.files import write_atomically
from lfd_description.scenes.values import FALSE, NOTHING, TRUE
from lfd_planner.pose import Pose

from .axes import unity_task_from_ros
from .problems import MtdfError, Problem, errors
from .reader import read_report
from .rules import AllOf, AnyOf, HasColour, HasShape, HasSize, HasTag, InBall, InBox, Nearest, Not, Rule
from .task import (
    AwaitInput,
    Descriptor,
    GraspHint,
    Keyframe,
    Origin,
    Pick,
    Place,
    Recorder,
    SetOutput,
    Task,
    Trajectory,
    Wait,
)

WIDTH = 120
FORMATS = ('yaml', 'json')

_PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_-]*')
_WORDS = (*TRUE, *FALSE, *NOTHING, 'y', 'n')  # that YAML does not take for text

Data = dict[str, Any]


def dump_task(task: Task, *, file_format: str = 'yaml', version: int = 2, axes: str = 'ros') -> str:
    """The text of a task in its one form.

    Args:
        task: in ROS axes.
        file_format: yaml or json.
        version: of the format; version 1 can say less.
        axes: of the numbers in the text.

    Raises:
        MtdfError: the task holds what a file of this version may not, or what no task may.
    """
    if version == 1:
        refuse_in_version_1(task, axes)
    data = task_data(task, version, axes)
    text = f'{json.dumps(data, indent=2, ensure_ascii=False)}\n' if file_format == 'json' else _yaml(data)
    if problems := errors(read_report(text).problems):
        raise MtdfError(problems)
    return text


def save_task(task: Task, file: Path, *, version: int = 2, axes: str = 'ros') -> None:
    """Write a task file, all of it or nothing: JSON if its name ends so, YAML otherwise.

    Raises:
        MtdfError: the task holds what a file of this version may not.
        OSError: the file cannot be written.
    """
    write_atomically(file, dump_task(task, file_format=format_of(file), version=version, axes=axes))


def format_of(file: Path) -> str:
    """The format that a file's name stands for."""
    return 'json' if file.suffix.lower() == '.json' else 'yaml'


def task_data(task: Task, version: int = 2, axes: str = 'ros') -> Data:
    """The task as plain lists, keys and values, as JSON Schema sees it."""
    turned = unity_task_from_ros(task) if axes == 'unity' else task
    return _present(
        version=version if version > 1 else None,
        axes=axes if version > 1 else None,
        recorder=_recorder(turned.recorder),
        recorded_at=turned.recorded_at.isoformat() if turned.recorded_at is not None else None,
        task_origin=_origin(turned.origin),
        object_descriptors=[_descriptor(descriptor) for descriptor in turned.descriptors],
        keyframes=[_keyframe(keyframe) for keyframe in turned.keyframes],
    )


def text_in_yaml(text: str) -> str:
    """A text so that YAML reads it as one, wherever it stands."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text, ensure_ascii=False)


def number_in_yaml(number: float) -> str:
    """A number with all its digits, for YAML and JSON alike."""
    return _float(_number(number))


def rule_data(rule: Rule) -> Data:
    """A rule as plain keys and values."""
    match rule:
        case HasShape(shape):
            return {'shape': shape}
        case HasSize(longest, middle, shortest):
            ranges = _present(longest=longest, middle=middle, shortest=shortest)
            return {'size': {edge: _numbers(limits) for edge, limits in ranges.items()}}
        case HasColour(colour):
            return {'color': colour if isinstance(colour, str) else _numbers(colour)}
        case HasTag(tag):
            return {'tag': tag}
        case InBox(low, high):
            return {'region': {'min': _numbers(low), 'max': _numbers(high)}}
        case InBall(centre, radius):
            return {'region': {'center': _numbers(centre), 'radius': _number(radius)}}
        case Nearest(to):
            return {'nearest': to if isinstance(to, str) else _numbers(to)}
        case AllOf(rules):
            return _all_of([rule_data(part) for part in rules])
        case AnyOf(rules):
            return {'any': [rule_data(part) for part in rules]}
        case Not(part):
            return {'not': rule_data(part)}


def _all_of(parts: list[Data]) -> Data:
    """Several rules in one mapping where each has a key of its own: that reads the same."""
    keys = [key for part in parts for key in part]
    if len(parts) > 1 and len(parts) == len(keys) == len(set(keys)):
        return {key: value for part in parts for key, value in part.items()}
    return {'all': parts}


def _descriptor(descriptor: Descriptor) -> str | Data:
    if descriptor.rule is None:
        return descriptor.name
    return {'name': descriptor.name, 'rule': rule_data(descriptor.rule)}


def _keyframe(keyframe: Keyframe) -> Data:
    time = keyframe.time
    match keyframe:
        case Pick(name, grasp):
            return _present(type='pick', object_descriptor=name, time=time, grasp=_grasp(grasp))
        case Place(name, pose):
            return _present(type='place', object_descriptor=name, time=time, place_pose=_pose(pose))
        case Trajectory(name, poses, times, speed):
            timed = [
                {**_pose(pose), 'time': _number(at)} if at is not None else _pose(pose)
                for pose, at in zip(poses, times or (None,) * len(poses), strict=True)
            ]
            return _present(type='trajectory', object_descriptor=name, time=time, speed=speed, poses=timed)
        case Wait(duration):
            return _present(type='wait', duration=duration, time=time)
        case SetOutput(signal, value):
            return _present(type='io', output=signal, value=value, time=time)
        case AwaitInput(signal, value, timeout):
            return _present(type='io', input=signal, value=value, timeout=timeout, time=time)


def _grasp(grasp: GraspHint | None) -> Data | None:
    return None if grasp is None else _present(**_pose(grasp.hand), width=grasp.width)


def _origin(origin: Origin | None) -> Data | None:
    return None if origin is None else _present(frame=origin.frame, **_pose(origin.pose))


def _recorder(recorder: Recorder | None) -> Data | None:
    return None if recorder is None else _present(name=recorder.name, version=recorder.version)


def _pose(pose: Pose) -> Data:
    return {'position': _numbers(pose.position), 'orientation': _numbers(pose.orientation)}


def _numbers(numbers: Sequence[float]) -> list[float]:
    return [_number(number) for number in numbers]


def _number(number: float) -> float:
    return float(number) + 0.0  # no zero with a sign


def _present(**entries: Any) -> Data:
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in entries.items()}
    return {key: value for key, value in plain.items() if value is not None}


def refuse_in_version_1(task: Task, axes: str) -> None:
    """Refuse what version 1 of the format cannot say, so that nothing is lost silently.

    Raises:
        MtdfError: the task says more.
    """
    lost = [
        *(['axes other than those of ROS'] if axes != 'ros' else []),
        *(['the task origin'] if task.origin else []),
        *(['the recorder'] if task.recorder else []),
        *(['the time of the recording'] if task.recorded_at else []),
        *(['descriptors by rule'] if any(task.rules()) else []),
        *(['times'] if any(keyframe.time is not None for keyframe in task.keyframes) else []),
        *(['grasps'] if any(isinstance(keyframe, Pick) and keyframe.grasp for keyframe in task.keyframes) else []),
        *(
            ['keyframes other than pick and place']
            if not all(isinstance(keyframe, Pick | Place) for keyframe in task.keyframes)
            else []
        ),
    ]
    if lost:
        message = f'version 1 of the format has no {", no ".join(part.removeprefix("the ") for part in lost)}'
        raise MtdfError([Problem(0, 0, None, None, message, 'write version 2')])


def _yaml(data: Data) -> str:
    """The text of a task; its two lists always stand below each other, as they are what is read and compared."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, list) and value:
            lines.append(f'{key}:')
            lines += [line for item in value for line in _item(item, '')]
        else:
            lines += _entry(key, value, '')
    return '\n'.join(lines) + '\n'


def _item(value: Any, indent: str) -> list[str]:
    flow = _flow(value)
    if not isinstance(value, dict) or len(indent) + 2 + len(flow) <= WIDTH:
        return [f'{indent}- {flow}']
    lines = [line for key, part in value.items() for line in _entry(key, part, f'{indent}  ')]
    return [f'{indent}- {lines[0].lstrip()}', *lines[1:]]


def _entry(key: str, value: Any, indent: str) -> list[str]:
    flow = _flow(value)
    if len(indent) + len(key) + 2 + len(flow) <= WIDTH or not isinstance(value, dict | list):
        return [f'{indent}{key}: {flow}']
    if isinstance(value, dict):
        return [
            f'{indent}{key}:',
            *(line for name, part in value.items() for line in _entry(name, part, f'{indent}  ')),
        ]
    return [f'{indent}{key}:', *(line for part in value for line in _item(part, indent))]


def _flow(value: Any) -> str:
    """A value on one line."""
    match value:
        case bool():
            return 'true' if value else 'false'
        case int():
            return str(value)
        case float():
            return _float(value)
        case str():
            return text_in_yaml(value)
        case list():
            return f'[{", ".join(map(_flow, value))}]'
        case _:
            return f'{{{", ".join(f"{key}: {_flow(part)}" for key, part in value.items())}}}'


def _float(number: float) -> str:
    """All digits of a number, with the point before the exponent that YAML 1.1 asks for."""
    mantissa, exponent, power = repr(number).partition('e')
    return f'{mantissa}{"" if "." in mantissa or not exponent else ".0"}{exponent}{power}'
