"""Events of the studio as JSON texts; what is read back is equal to what was written."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from ..studio import events
from ..studio.encoding import Data, Unreadable, object_data, object_of, pose_data, pose_of, scene_data, scene_of
from ..studio.values import Hand, Settings

KINDS: dict[str, type[Any]] = {
    'began': events.Began,
    'grabbed': events.Grabbed,
    'carried': events.Carried,
    'let_go': events.LetGo,
    'lost': events.Lost,
    'added': events.Added,
    'placed': events.Placed,
    'removed': events.Removed,
    'adjusted': events.Adjusted,
    'undone': events.Undone,
    'trimmed': events.Trimmed,
    'completed': events.Completed,
    'discarded': events.Discarded,
    'robot_took': events.RobotTook,
    'robot_put': events.RobotPut,
}
"""All but hands, which are messages of their own and change no task."""
_NAMES = {kind: name for name, kind in KINDS.items()}
_POSES = ('pose', 'hand_pose', 'rest', 'origin')
_TEXTS = ('client', 'object', 'name')


class WrongEvent(ValueError):
    """A text that is no event; the message is one sentence."""


def event_text(event: events.Event) -> str:
    """An event as one line of JSON."""
    return json.dumps(event_data(event), ensure_ascii=False, separators=(',', ':'))


def event_data(event: events.Event) -> Data:
    """An event as JSON data."""
    data: Data = {'event': _NAMES[type(event)]}
    for field in dataclasses.fields(event):
        data[field.name] = _written(event, field.name, getattr(event, field.name))
    if isinstance(event, events.Added):
        data['object'] = object_data(event.object, event.colour)
        del data['colour']
    return data


def event_of(text: str) -> events.Event:
    """The event of a line.

    Raises:
        WrongEvent: it is none.
    """
    try:
        data = json.loads(text)
        kind = KINDS[data['event']]
        if kind is events.Added:
            return events.Added(_time(data['time']), *object_of(data['object']))
        values = {field.name: _read(field.name, data[field.name]) for field in dataclasses.fields(kind)}
    except (*Unreadable, RecursionError, OverflowError) as error:
        raise WrongEvent(f'an event cannot be read ({type(error).__name__}: {str(error)[:100]})') from None
    event: events.Event = kind(**values)
    return event


def _written(event: events.Event, name: str, value: Any) -> Any:
    if name in _POSES:
        return None if value is None else pose_data(value)
    match value:
        case datetime():
            return value.isoformat()
        case Settings():
            return dataclasses.asdict(value)
        case Hand():
            return value.value
    if name == 'scene':
        return scene_data(value)
    return None if name == 'object' and isinstance(event, events.Added) else value


def _read(name: str, value: Any) -> Any:
    if name in _TEXTS:
        return _as(str, value)
    if name in _POSES:
        return None if value is None else _finite_pose(value)
    return _READERS[name](value)


def _finite_pose(value: Any) -> Any:
    if not all(math.isfinite(number) for number in value):
        raise ValueError('a pose has a number that is not finite')
    return pose_of(value)


def _time(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError('a time is no finite number')
    return float(value)


def _settings(value: Any) -> Settings:
    return Settings(**{field.name: _as(bool, value[field.name]) for field in dataclasses.fields(Settings)})


def _as(kind: type[Any], value: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f'{str(value)[:50]!r} is no {kind.__name__}')
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    'time': _time,
    'recorded_at': datetime.fromisoformat,
    'settings': _settings,
    'scene': scene_of,
    'hand': Hand,
    'kept': lambda value: _as(bool, value),
    'first': lambda value: _as(int, value),
    'last': lambda value: _as(int, value),
}
