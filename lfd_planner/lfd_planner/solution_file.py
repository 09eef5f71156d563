"""Solutions as files: what `./lfd plan --json` writes, and what `./lfd validate` and scripts read.

A file is one JSON object. Times are in seconds, joint positions in rad or m, poses in the scene's frame in metres.

| key | value |
|---|---|
| `robot`, `gripper` | names in the suite; `gripper` is null for a bare arm |
| `joint_names` | the names of the columns of `q` and `v` |
| `points` | `[{t, q, v}]`; between two points each joint moves on the cubic that they determine |
| `segments` | `[{name, keyframe, first, last, attach, detach, gripper, contacts, outputs, awaits}]`: see `Segment` |
| `planning_time`, `cost`, `seed` | numbers |
| `scene`, `scene_digest` | where it was planned: a scene's name or file, and the digest of what was in it |
| `task`, `origin` | the MTDF text that was planned, and its `{position, orientation}` in the scene's frame |
| `start` | positions of all joints by name before the motion |
| `error` | instead of a motion: `{code, message, keyframe, reasons, stage, suggestion}` |

`attach` and `detach` are `{object, link, touch_links}` or null, and happen at the segment's end. `awaits` is
`{signal, value, timeout}` or null: an input that is waited for there. A file with `error` has no `joint_names`,
`points`, `segments` and `cost`; its `reasons` are `[{reason, subjects, count, detail}]`.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from lfd_description.files import write_atomically
from lfd_description.hints import did_you_mean
from lfd_description.scenes import Scene
from lfd_description.scenes.values import UNIT_TOLERANCE, shortened
from lfd_description.shapes import MeshFile
from lfd_planner.error_codes import Code
from lfd_planner.pose import Pose
from lfd_planner.solution import Attachment, Awaited, Segment, Solution
from lfd_planner.timing import Trajectory

MOST_BYTES = 200_000_000  # of a file
MOST_POINTS = 1_000_000
MOST_SEGMENTS = 100_000
MOST_JOINTS = 100
LONGEST_NAME = 1000  # characters

Json = None | bool | int | float | str | list['Json'] | dict[str, 'Json']
_Value = TypeVar('_Value')


class SolutionFileError(ValueError):
    """A solution file that cannot be used; the message is one sentence that names the place."""


@dataclass(frozen=True)
class Rejection:
    """How often something was tried in vain for one reason."""

    reason: str
    """Such as unreachable, joint_limit, collision, too_wide, no_path."""
    subjects: tuple[str, ...] = ()
    """What was involved, such as the two that collide or the joint."""
    count: int = 1
    detail: str = ''
    """A sentence with its numbers; empty: there is none."""


@dataclass(frozen=True)
class PlanningError:
    """Why there is no motion."""

    code: int
    """One of `lfd_planner.error_codes.Code`."""
    message: str
    keyframe: int | None = None
    """Index of the first keyframe that cannot be done; None: the task as a whole."""
    reasons: tuple[Rejection, ...] = ()
    stage: str = ''
    suggestion: str = ''
    """The nearest that can be done; empty: nothing is known."""


@dataclass(frozen=True)
class Request:
    """What was asked for, so that a file can be validated alone."""

    scene: str | None = None
    """A scene's name or file."""
    scene_digest: str | None = None
    """`scene_digest` of what was in it."""
    task: str | None = None
    """The MTDF text."""
    origin: Pose | None = None
    """Of the task's frame in the scene's."""
    start: Mapping[str, float] = field(default_factory=dict)
    """Joint positions by name before the motion [rad or m]."""


@dataclass(frozen=True, eq=False)
class SolutionFile:
    """What is in a file: a motion or the reason why there is none, and what was asked for."""

    robot: str
    gripper: str | None
    outcome: Solution | PlanningError
    request: Request = Request()


def scene_digest(scene: Scene) -> str:
    """The digest of a scene's content, whatever its file looks like; mesh files count by what is in them."""
    digest = hashlib.sha256(scene.frame.encode())
    for thing in sorted(scene.objects, key=lambda thing: thing.name):
        shape: object = thing.shape
        if isinstance(thing.shape, MeshFile):
            content = thing.shape.file.read_bytes() if thing.shape.file.is_file() else b''
            shape = hashlib.sha256(content).hexdigest(), thing.shape.scale
        parts = (thing.name, shape, thing.position, thing.orientation, thing.colour, thing.movable, thing.tags)
        digest.update(repr(parts).encode())
    return digest.hexdigest()


def dump_solution(solution: Solution, request: Request | None = None) -> str:
    """The text of a file with a motion."""
    moves = solution.trajectory
    data: dict[str, Json] = {
        'robot': solution.robot,
        'gripper': solution.gripper,
        'joint_names': list(solution.joints),
        'planning_time': solution.planning_time,
        'cost': solution.cost,
        'seed': solution.seed,
        **_request_data(request or Request()),
        'segments': [_segment_data(segment) for segment in solution.segments],
        'points': [
            {'t': t, 'q': q, 'v': v}
            for t, q, v in zip(moves.times.tolist(), moves.q.tolist(), moves.v.tolist(), strict=True)
        ],
    }
    return _written(data)


def dump_error(
    robot: str,
    error: PlanningError,
    request: Request | None = None,
    *,
    gripper: str | None = None,
    planning_time: float = 0.0,
    seed: int = 0,
) -> str:
    """The text of a file that says why there is no motion; `planning_time` [s]."""
    data: dict[str, Json] = {
        'robot': robot,
        'gripper': gripper,
        'planning_time': planning_time,
        'seed': seed,
        **_request_data(request or Request()),
        'error': error_data(error),
    }
    return _written(data)


def error_data(error: PlanningError) -> Json:
    """Why there is no motion, as it stands in a file."""
    return {
        'code': int(error.code),
        'message': error.message,
        'keyframe': error.keyframe,
        'reasons': [
            {'reason': found.reason, 'subjects': list(found.subjects), 'count': found.count, 'detail': found.detail}
            for found in error.reasons
        ],
        'stage': error.stage,
        'suggestion': error.suggestion,
    }


def save_solution(file: Path, solution: Solution, request: Request | None = None) -> None:
    """Write a file with a motion; it is whole or not there.

    Raises:
        OSError: it cannot be written.
    """
    write_atomically(file, dump_solution(solution, request))


def read_solution(file: Path) -> SolutionFile:
    """Read and check a file.

    Raises:
        SolutionFileError: it cannot be read or used; the message names the file and the place in it.
    """
    try:
        with file.open('rb') as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise SolutionFileError(f'it has more than {MOST_BYTES} bytes; write fewer points.')
        return load_solution(content.decode())
    except OSError as error:
        raise SolutionFileError(f'{file} cannot be read: {error.strerror or error}; name another file.') from None
    except UnicodeDecodeError:
        raise SolutionFileError(f'{file} is no text in UTF-8; name a file that ./lfd plan --json wrote.') from None
    except SolutionFileError as error:
        raise SolutionFileError(f'{file}: {error}') from None


def load_solution(text: str) -> SolutionFile:
    """Read and check the text of a file.

    Raises:
        SolutionFileError: it cannot be used; the message names the place in it.
    """
    data = _Reader('', _parsed(text))
    data.only(
        *('robot', 'gripper', 'planning_time', 'seed', 'scene', 'scene_digest', 'task', 'origin', 'start'),
        *(('error',) if data.has('error') else ('joint_names', 'points', 'segments', 'cost')),
    )
    robot = data.key('robot').name()
    gripper = data.optional('gripper', _Reader.name)
    outcome = _error(data.key('error')) if data.has('error') else _solution(data, robot, gripper)
    return SolutionFile(robot, gripper, outcome, _request(data))


def _written(data: Mapping[str, Json]) -> str:
    """One line for each point and segment: a person finds things, and a diff shows what changed."""
    lines = []
    for key, value in data.items():
        if isinstance(value, list) and key in ('points', 'segments') and value:
            rows = ',\n  '.join(json.dumps(row, allow_nan=False) for row in value)
            lines.append(f'{json.dumps(key)}: [\n  {rows}\n]')
        else:
            lines.append(f'{json.dumps(key)}: {json.dumps(value, allow_nan=False)}')
    return '{\n' + ',\n'.join(lines) + '\n}\n'


def _request_data(request: Request) -> dict[str, Json]:
    origin: Json = None
    if request.origin is not None:
        origin = {'position': list(request.origin.position), 'orientation': list(request.origin.orientation)}
    return {
        'scene': request.scene,
        'scene_digest': request.scene_digest,
        'task': request.task,
        'origin': origin,
        'start': dict(request.start),
    }


def _segment_data(segment: Segment) -> Json:
    return {
        'name': segment.name,
        'keyframe': segment.keyframe,
        'first': segment.first,
        'last': segment.last,
        'attach': _attachment_data(segment.attach),
        'detach': _attachment_data(segment.detach),
        'gripper': dict(segment.gripper),
        'contacts': [list(pair) for pair in segment.contacts],
        'outputs': dict(segment.outputs),
        'awaits': _awaited_data(segment.awaits),
    }


def _awaited_data(awaited: Awaited | None) -> Json:
    if awaited is None:
        return None
    return {'signal': awaited.signal, 'value': awaited.value, 'timeout': awaited.timeout}


def _attachment_data(attachment: Attachment | None) -> Json:
    if attachment is None:
        return None
    return {'object': attachment.object, 'link': attachment.link, 'touch_links': list(attachment.touch_links)}


def _parsed(text: str) -> Json:
    def once(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for key, value in pairs:
            if key in found:
                raise SolutionFileError(f"the key '{shortened(key)}' is there twice; remove one.")
            found[key] = value
        return found

    def refuse(constant: str) -> Json:
        raise SolutionFileError(f'{constant} is no finite number; write one such as 0.25.')

    try:
        parsed: Json = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise SolutionFileError(
            f'line {error.lineno}, column {error.colno}: this is no JSON ({error.msg}); '
            'name a file that ./lfd plan --json wrote.'
        ) from None
    except RecursionError:
        raise SolutionFileError('it is nested too deeply; name a file that ./lfd plan --json wrote.') from None
    except SolutionFileError:
        raise
    except ValueError:  # Python refuses to read endless digits
        raise SolutionFileError('a number has too many digits; write one such as 0.25.') from None
    return parsed


class _Reader:
    """A value of the file and where it stands."""

    def __init__(self, place: str, value: Json) -> None:
        self.place = place
        self.value = value

    def wrong(self, wanted: str) -> SolutionFileError:
        shown = shortened(json.dumps(self.value) if not isinstance(self.value, list | dict) else _kind(self.value))
        return SolutionFileError(f'{self.place or "the file"} is {shown}; write {wanted}.')

    def keys(self) -> dict[str, Json]:
        if not isinstance(self.value, dict):
            raise self.wrong('{"key": value, ...}')
        return self.value

    def only(self, *known: str) -> None:
        for key in self.keys():
            if key not in known:
                where = f'{self.place} has' if self.place else 'there is'
                raise SolutionFileError(
                    f"{where} the unknown key '{shortened(key)}'{did_you_mean(key, known)}; remove or correct it."
                )

    def has(self, key: str) -> bool:
        return self.keys().get(key) is not None

    def key(self, key: str) -> _Reader:
        place = f'{self.place}.{key}' if self.place else key
        if key not in self.keys():
            raise SolutionFileError(f"{place} is missing; add '{key}'.")
        return _Reader(place, self.keys()[key])

    def optional(self, key: str, read: Callable[[_Reader], _Value]) -> _Value | None:
        return read(self.key(key)) if self.has(key) else None

    def items(self, most: int) -> list[_Reader]:
        if not isinstance(self.value, list):
            raise self.wrong('a list [...]')
        if len(self.value) > most:
            raise SolutionFileError(f'{self.place} has {len(self.value)} entries; {most} are the most that are read.')
        return [_Reader(f'{self.place}[{number}]', value) for number, value in enumerate(self.value)]

    def entries(self) -> dict[str, _Reader]:
        return {key: _Reader(f"{self.place}['{shortened(key)}']", value) for key, value in self.keys().items()}

    def name(self) -> str:
        if not isinstance(self.value, str) or not self.value or len(self.value) > LONGEST_NAME:
            raise self.wrong('a name in quotes')
        if not self.value.isprintable():
            raise self.wrong('a name of characters that can be seen')
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong('a text in quotes')
        return self.value

    def names(self, most: int = MOST_JOINTS) -> tuple[str, ...]:
        found = tuple(item.name() for item in self.items(most))
        if len(set(found)) != len(found):
            raise self.wrong('each name once')
        return found

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong('a number such as 0.25')
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.wrong('a finite number such as 0.25')
        return number

    def not_negative(self) -> float:
        if self.number() < 0.0:
            raise self.wrong('a number that is not below zero')
        return self.number()

    def numbers(self, count: int) -> list[float]:
        found = [item.number() for item in self.items(max(count, MOST_JOINTS))]
        if len(found) != count:
            raise SolutionFileError(f'{self.place} has {len(found)} numbers; write {count}.')
        return found

    def index(self, most: int = 2**31 - 1) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not 0 <= self.value <= most:
            raise self.wrong(f'a whole number from 0 to {most}')
        return self.value


def _kind(value: list[Json] | dict[str, Json]) -> str:
    return f'a list of {len(value)}' if isinstance(value, list) else 'an object'


def _request(data: _Reader) -> Request:
    return Request(
        data.optional('scene', _Reader.text),
        data.optional('scene_digest', _Reader.text),
        data.optional('task', _Reader.text),
        data.optional('origin', _pose),
        data.optional('start', _positions) or {},
    )


def _pose(data: _Reader) -> Pose:
    data.only('position', 'orientation')
    x, y, z = data.key('position').numbers(3)
    a, b, c, d = data.key('orientation').numbers(4)
    norm = math.hypot(a, b, c, d)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        raise data.key('orientation').wrong('a unit quaternion [x, y, z, w]')
    return Pose((x, y, z), (a, b, c, d))


def _positions(data: _Reader) -> dict[str, float]:
    return {name: value.number() for name, value in data.entries().items()}


def _error(data: _Reader) -> PlanningError:
    data.only('code', 'message', 'keyframe', 'reasons', 'stage', 'suggestion')
    code = data.key('code')
    if isinstance(code.value, bool) or code.value not in [int(known) for known in Code] or code.value == Code.SUCCESS:
        raise code.wrong('a code of moveit_msgs/MoveItErrorCodes that is no success')
    reasons = data.optional('reasons', lambda found: found.items(MOST_SEGMENTS)) or []
    return PlanningError(
        int(code.number()),
        data.key('message').text(),
        data.optional('keyframe', _Reader.index),
        tuple(_rejection(reason) for reason in reasons),
        data.optional('stage', _Reader.text) or '',
        data.optional('suggestion', _Reader.text) or '',
    )


def _rejection(data: _Reader) -> Rejection:
    data.only('reason', 'subjects', 'count', 'detail')
    subjects = data.optional('subjects', lambda found: tuple(item.text() for item in found.items(MOST_JOINTS)))
    detail = data.optional('detail', _Reader.text) or ''
    return Rejection(data.key('reason').text(), subjects or (), data.key('count').index(), detail)


def _solution(data: _Reader, robot: str, gripper: str | None) -> Solution:
    joints = data.key('joint_names').names()
    trajectory = _trajectory(data.key('points'), len(joints))
    points = len(trajectory.times)
    return Solution(
        robot,
        gripper,
        joints,
        trajectory,
        tuple(_segment(item, points) for item in data.key('segments').items(MOST_SEGMENTS)),
        data.optional('cost', _Reader.number) or 0.0,
        data.key('planning_time').not_negative(),
        data.optional('seed', _Reader.index) or 0,
    )


def _trajectory(data: _Reader, dof: int) -> Trajectory:
    points = data.items(MOST_POINTS)
    if not points:
        raise data.wrong('at least one point {t, q, v}')
    times, q, v = np.empty(len(points)), np.empty((len(points), dof)), np.empty((len(points), dof))
    for row, point in enumerate(points):
        point.only('t', 'q', 'v')
        times[row] = point.key('t').number()
        q[row] = point.key('q').numbers(dof)
        v[row] = point.key('v').numbers(dof)
        if row == 0 and times[0] != 0.0:
            raise point.key('t').wrong('0, for the motion starts there')
        if row and times[row] <= times[row - 1]:
            raise point.key('t').wrong(f'a time after {times[row - 1]:g} s, that of the point before')
    return Trajectory(times, q, v)


def _segment(data: _Reader, points: int) -> Segment:
    data.only('name', 'keyframe', 'first', 'last', 'attach', 'detach', 'gripper', 'contacts', 'outputs', 'awaits')
    first, last = data.key('first').index(points - 1), data.key('last').index(points - 1)
    if last < first:
        raise data.key('last').wrong(f'a point that is not before the first, {first}')
    contacts = data.optional('contacts', lambda found: found.items(MOST_SEGMENTS)) or []
    return Segment(
        data.key('name').name(),
        data.key('keyframe').index(),
        first,
        last,
        data.optional('attach', _attachment),
        data.optional('detach', _attachment),
        data.optional('gripper', _positions) or {},
        tuple(_pair(contact) for contact in contacts),
        data.optional('outputs', _outputs) or {},
        data.optional('awaits', _awaited),
    )


def _awaited(data: _Reader) -> Awaited:
    data.only('signal', 'value', 'timeout')
    return Awaited(
        data.key('signal').name(), _signal_value(data.key('value')), data.optional('timeout', _Reader.not_negative)
    )


def _attachment(data: _Reader) -> Attachment:
    data.only('object', 'link', 'touch_links')
    touch_links = data.optional('touch_links', _Reader.names) or ()
    return Attachment(data.key('object').name(), data.key('link').name(), touch_links)


def _pair(data: _Reader) -> tuple[str, str]:
    names = [item.name() for item in data.items(2)]
    if len(names) != 2:
        raise data.wrong('the names of two that may touch')
    return names[0], names[1]


def _outputs(data: _Reader) -> dict[str, bool | float]:
    return {name: _signal_value(item) for name, item in data.entries().items()}


def _signal_value(data: _Reader) -> bool | float:
    return data.value if isinstance(data.value, bool) else data.number()
