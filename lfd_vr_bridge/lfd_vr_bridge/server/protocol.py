"""Frames of a page, read and checked: what comes out is what docs/vr_protocol.md allows, or `BadFrame` says why not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import NoReturn

from lfd_description.scenes.values import MAX_DISTANCE, MAX_NAME, MIN_LENGTH, UNIT_ENOUGH, UNIT_TOLERANCE, shortened
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Shape, Sphere, Vector
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part

from ..studio.values import Hand, Hands, HandState
from .frames import (
    AddObject,
    Assess,
    ChangeSettings,
    Colour,
    CompleteRecording,
    DeleteTask,
    DiscardRecording,
    Frame,
    GiveControl,
    Grab,
    HandsMoved,
    Hello,
    Invite,
    Move,
    OpenTask,
    PauseMotion,
    Ping,
    PlaceObject,
    PlanTask,
    Release,
    RemoveObject,
    RenameTask,
    ResetScene,
    RestoreTask,
    ResumeMotion,
    RunPlan,
    Save,
    StartRecording,
    Stop,
    TakeControl,
    Trim,
    Undo,
)

PROTOCOL = 1
MAX_PARTS = 64  # of an object
MAX_TAGS = 32  # of an object
MAX_WHOLE = 2**53 - 1  # the largest whole number that every browser holds exactly
MAX_TIME = 1e15  # [s or ms], larger than any clock
PAGE = re.compile(r'[A-Za-z0-9_-]{8,64}')


class BadFrame(ValueError):
    """What is no frame of the protocol; the message is one sentence that names the place."""

    def __init__(self, message: str, id: int | None = None) -> None:
        super().__init__(message)
        self.id = id
        """The request's, if it could be read."""


def parse(text: str) -> Frame:
    """The frame that a text holds.

    Raises:
        BadFrame: it holds none.
    """
    data = _json(text)
    if not isinstance(data, dict):
        raise BadFrame('A frame is one JSON object, such as {"type": "ping", "t": 0}; send that.')
    kind = data.get('type')
    id = _id_of(data)
    if not isinstance(kind, str) or kind not in READERS:
        raise BadFrame(f"'{shortened(str(kind))}' is no type of a frame; see docs/vr_protocol.md.", id)
    fields = _Fields(data, kind, ('type', 'id'))
    try:
        frame = READERS[kind](fields)
        fields.end()
    except BadFrame as error:
        raise BadFrame(str(error), id) from None
    return frame


def _json(text: str) -> object:
    def no_number(word: str) -> NoReturn:
        raise BadFrame(f'{word} is no number in JSON; send finite numbers.')

    try:
        return json.loads(text, parse_constant=no_number)
    except BadFrame:
        raise
    except RecursionError:
        raise BadFrame('The frame is nested too deeply; see docs/vr_protocol.md for what is sent.') from None
    except ValueError as error:
        raise BadFrame(f'The frame is no JSON ({shortened(str(error))}); send one JSON object.') from None


def _id_of(data: Mapping[str, object]) -> int | None:
    id = data.get('id')
    return id if isinstance(id, int) and not isinstance(id, bool) and 0 <= id <= MAX_WHOLE else None


class _Fields:
    """The fields of one JSON object, each taken once; `end` refuses those that nobody took."""

    def __init__(self, data: Mapping[str, object], place: str, taken: tuple[str, ...] = ()) -> None:
        self._data = data
        self._place = place
        self._taken = set(taken)

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def take(self, key: str) -> object:
        """The field's value; None if it is not there or null."""
        self._taken.add(key)
        return self._data.get(key)

    def at(self, key: str) -> str:
        """The field's place, for messages."""
        return f'{self._place}.{key}'

    def end(self) -> None:
        """Refuse what is left."""
        for key in self._data:
            if key not in self._taken:
                raise BadFrame(f"{self._place} has the unknown field '{shortened(key)}'; leave it out.")

    @property
    def id(self) -> int:
        """The request's number."""
        return _whole(self.take('id'), self.at('id'))

    def name(self, key: str) -> str:
        """A name that must be there."""
        return _name(self.take(key), self.at(key))

    def maybe_name(self, key: str) -> str | None:
        """A name, or None."""
        value = self.take(key)
        return None if value is None else _name(value, self.at(key))

    def whole(self, key: str) -> int:
        """A whole number of 0 or more."""
        return _whole(self.take(key), self.at(key))

    def maybe_whole(self, key: str) -> int | None:
        """A whole number of 0 or more, or None."""
        value = self.take(key)
        return None if value is None else _whole(value, self.at(key))

    def number(self, key: str, low: float, high: float) -> float:
        """A number within bounds."""
        return _number(self.take(key), self.at(key), low, high)

    def maybe_number(self, key: str, low: float, high: float) -> float | None:
        """A number within bounds, or None."""
        value = self.take(key)
        return None if value is None else _number(value, self.at(key), low, high)

    def maybe_flag(self, key: str) -> bool | None:
        """True, false or None."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise BadFrame(f'{self.at(key)} is neither true nor false; send one of them.')
        return value

    def pose(self, key: str) -> Pose:
        """A pose that must be there."""
        return _pose(self.take(key), self.at(key))

    def maybe_pose(self, key: str) -> Pose | None:
        """A pose, or None."""
        value = self.take(key)
        return None if value is None else _pose(value, self.at(key))

    def list(self, key: str, most: int) -> list[object]:
        """A list with a bounded number of values."""
        return _list(self.take(key), self.at(key), most)

    def fields(self, key: str) -> _Fields:
        """A JSON object."""
        return _fields(self.take(key), self.at(key))


def _fields(value: object, place: str) -> _Fields:
    if not isinstance(value, dict):
        raise BadFrame(f'{place} is no JSON object; send {{...}}.')
    return _Fields(value, place)


def _list(value: object, place: str, most: int) -> list[object]:
    if not isinstance(value, list):
        raise BadFrame(f'{place} is no list; send [...].')
    if len(value) > most:
        raise BadFrame(f'{place} has {len(value)} entries; send at most {most}.')
    return value


def _name(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise BadFrame(f'{place} is no text; send a name.')
    if not value or value != value.strip() or len(value) > MAX_NAME or not value.isprintable():
        raise BadFrame(f'{place} is no name; send 1 to {MAX_NAME} characters that can be seen.')
    return value


def _whole(value: object, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_WHOLE:
        raise BadFrame(f'{place} is no whole number from 0 on; send one.')
    return value


def _number(value: object, place: str, low: float, high: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadFrame(f'{place} is no number; send one.')
    if not low <= value <= high:  # infinities and NaN are never within
        raise BadFrame(f'{place} is not within {low:g} and {high:g}; send a number that is.')
    return float(value)


def _numbers(value: object, place: str, count: int, low: float, high: float) -> tuple[float, ...]:
    values = _list(value, place, count)
    if len(values) != count:
        raise BadFrame(f'{place} has {len(values)} numbers; send {count}.')
    return tuple(_number(number, f'{place}[{index}]', low, high) for index, number in enumerate(values))


def _pose(value: object, place: str) -> Pose:
    x, y, z, *turn = _numbers(value, place, 7, -MAX_DISTANCE, MAX_DISTANCE)
    qx, qy, qz, qw = turn
    norm = math.hypot(qx, qy, qz, qw)
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise BadFrame(f'{place} has a quaternion of the length {norm:.4g}; send x, y, z, qx, qy, qz, qw.')
    if abs(norm - 1.0) > UNIT_ENOUGH:
        qx, qy, qz, qw = qx / norm, qy / norm, qz / norm, qw / norm
    return Pose((x, y, z), (qx, qy, qz, qw))


def _choice(value: object, place: str, choices: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise BadFrame(f'{place} is none of {", ".join(choices)}; send one of them.')
    return value


# Frames ---------------------------------------------------------------------------------------------------------------


def _hello(fields: _Fields) -> Hello:
    protocol = fields.whole('protocol')
    code, token = fields.maybe_name('code'), fields.maybe_name('token')
    name, page = fields.maybe_name('name') or 'a browser', fields.maybe_name('page')
    if page is not None and not PAGE.fullmatch(page):
        raise BadFrame(f'{fields.at("page")} is no name of a page; send 8 to 64 letters, digits, - and _.')
    return Hello(protocol, code, token, name, page)


def _hand_state(fields: _Fields, key: str) -> HandState | None:
    value = fields.take(key)
    if value is None:
        return None
    inner = _fields(value, fields.at(key))
    state = HandState(inner.pose('pose'), inner.maybe_number('grip', 0.0, 1.0) or 0.0)
    inner.end()
    return state


def _hands(fields: _Fields) -> HandsMoved:
    hands = Hands(*(_hand_state(fields, key) for key in ('left', 'right', 'head')))
    return HandsMoved(fields.whole('seq'), fields.number('t', 0.0, MAX_TIME), hands)


def _grab(fields: _Fields) -> Grab:
    hand = Hand(_choice(fields.take('hand'), fields.at('hand'), tuple(each.value for each in Hand)))
    return Grab(fields.id, fields.name('object'), hand, fields.maybe_pose('hand_pose'), fields.pose('pose'))


def _move(fields: _Fields) -> Move:
    return Move(fields.whole('seq'), fields.name('object'), fields.pose('pose'), fields.maybe_pose('hand_pose'))


def _release(fields: _Fields) -> Release:
    return Release(fields.id, fields.name('object'), fields.pose('pose'), fields.maybe_pose('hand_pose'))


def _settings(fields: _Fields) -> ChangeSettings:
    flags = (fields.maybe_flag(key) for key in ('snap', 'gravity', 'keep_paths'))
    return ChangeSettings(fields.id, *flags)


def _run(fields: _Fields) -> RunPlan:
    speed = fields.maybe_number('speed', 0.01, 1.0)
    return RunPlan(fields.id, 1.0 if speed is None else speed, fields.maybe_whole('first_keyframe') or 0)


def _add_object(fields: _Fields) -> AddObject:
    inner = fields.fields('object')
    parts = inner.list('parts', MAX_PARTS)
    if not parts:
        raise BadFrame(f'{inner.at("parts")} is empty; send at least one shape.')
    tags = tuple(_name(tag, inner.at('tags')) for tag in inner.list('tags', MAX_TAGS)) if 'tags' in inner else ()
    body = Body(
        tuple(_part(_fields(part, f'{inner.at("parts")}[{index}]')) for index, part in enumerate(parts)),
        tags=tuple(dict.fromkeys(tags)),
        movable=inner.maybe_flag('movable') is not False,
    )
    frame = AddObject(fields.id, inner.maybe_name('name'), body, inner.pose('pose'), _colour(inner))
    for told_by_server in ('held', 'owner'):  # a copy of what `scene` has is a fine new object
        inner.take(told_by_server)
    inner.end()
    return frame


def _colour(fields: _Fields) -> Colour | None:
    value = fields.take('color')
    if value is None:
        return None
    red, green, blue, opacity = _numbers(value, fields.at('color'), 4, 0.0, 1.0)
    return red, green, blue, opacity


def _part(fields: _Fields) -> Part:
    shape = _shape(fields)
    part = Part(shape, fields.maybe_pose('pose') or Pose())
    fields.end()
    return part


def _shape(fields: _Fields) -> Shape:
    kind = _choice(fields.take('shape'), fields.at('shape'), (*SHAPES, 'plane', 'box', 'sphere'))
    if kind == 'plane':
        return Plane()
    if kind == 'box':
        return Box(_size(fields))
    radius = fields.number('radius', MIN_LENGTH, MAX_DISTANCE)
    if kind == 'sphere':
        return Sphere(radius)
    return SHAPES[kind](radius, fields.number('height', MIN_LENGTH, MAX_DISTANCE))


def _size(fields: _Fields) -> Vector:
    x, y, z = _numbers(fields.take('size'), fields.at('size'), 3, MIN_LENGTH, MAX_DISTANCE)
    return x, y, z


SHAPES: Mapping[str, Callable[[float, float], Shape]] = {
    'cylinder': Cylinder,
    'cone': Cone,
    # The wire has the height without the caps, as three.js does; the suite's is from pole to pole.
    'capsule': lambda radius, height: Capsule(radius, height + 2.0 * radius),
}

READERS: Mapping[str, Callable[[_Fields], Frame]] = {
    'hello': _hello,
    'ping': lambda fields: Ping(fields.number('t', -MAX_TIME, MAX_TIME)),
    'hands': _hands,
    'grab': _grab,
    'move': _move,
    'release': _release,
    'settings': _settings,
    'add_object': _add_object,
    'run': _run,
    'take_control': lambda fields: TakeControl(fields.id),
    'give_control': lambda fields: GiveControl(fields.id, fields.maybe_name('client')),
    'invite': lambda fields: Invite(fields.id),
    'place_object': lambda fields: PlaceObject(fields.id, fields.name('object'), fields.pose('pose')),
    'remove_object': lambda fields: RemoveObject(fields.id, fields.name('object')),
    'start_recording': lambda fields: StartRecording(fields.id, fields.maybe_name('name')),
    'complete_recording': lambda fields: CompleteRecording(fields.id),
    'discard_recording': lambda fields: DiscardRecording(fields.id),
    'undo': lambda fields: Undo(fields.id),
    'trim': lambda fields: Trim(fields.id, fields.whole('first'), fields.whole('last')),
    'save': lambda fields: Save(fields.id, fields.maybe_name('name')),
    'open_task': lambda fields: OpenTask(fields.id, fields.name('name'), fields.maybe_whole('version')),
    'delete_task': lambda fields: DeleteTask(fields.id, fields.name('name')),
    'restore_task': lambda fields: RestoreTask(fields.id, fields.name('name')),
    'rename_task': lambda fields: RenameTask(fields.id, fields.name('name'), fields.name('to')),
    'reset_scene': lambda fields: ResetScene(fields.id),
    'assess': lambda fields: Assess(fields.id),
    'plan': lambda fields: PlanTask(fields.id, fields.maybe_name('robot')),
    'stop': lambda fields: Stop(fields.id),
    'pause': lambda fields: PauseMotion(fields.id),
    'resume': lambda fields: ResumeMotion(fields.id),
}
