"""System commands: frames whose destination starts with `__` and whose payload is a JSON object.

`parse_command` reads all that Unity says, checked; the functions at the end write all that Unity is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .frames import Frame, encoded

VERSION = 'v0.7.0'
"""Unity accepts any endpoint whose version starts with `v0.7.`."""
LONGEST_JSON = 64 * 2**10  # [bytes]
LONGEST_NAME = 256  # characters of a topic, service or type
LARGEST_QUEUE = 1000  # messages
LARGEST_ID = 2**31 - 1
_TYPE = re.compile(r'([A-Za-z][A-Za-z0-9_]*)/(?:(?:msg|srv)/)?([A-Za-z][A-Za-z0-9_]*)')
Parts = tuple[bytes, ...]
"""What goes to Unity at once, with nothing between its parts."""


class CommandError(ValueError):
    """A command cannot be used; the message says which, why, and what to do."""


@dataclass(frozen=True)
class Subscribe:
    """Unity wants a topic's messages."""

    topic: str
    type_name: str


@dataclass(frozen=True)
class Publish:
    """Unity will send a topic's messages."""

    topic: str
    type_name: str
    queue_size: int
    latch: bool


@dataclass(frozen=True)
class CallService:
    """Unity will call a service of ROS (`__ros_service`)."""

    service: str
    type_name: str


@dataclass(frozen=True)
class OfferService:
    """Unity will answer a service's requests (`__unity_service`)."""

    service: str
    type_name: str


@dataclass(frozen=True)
class Request:
    """The next frame to a service is a request."""

    id: int


@dataclass(frozen=True)
class Response:
    """The next frame to a service is the answer to the request with this number."""

    id: int


@dataclass(frozen=True)
class Remove:
    """Unity takes back what it registered: `subscriber`, `publisher`, `ros_service` or `unity_service`."""

    kind: str
    name: str


@dataclass(frozen=True)
class TopicList:
    """Unity asks for all topics and their types."""


@dataclass(frozen=True)
class Ping:
    """Unity wants to hear its own time again."""

    request_time: str | float | int


Command = Subscribe | Publish | CallService | OfferService | Request | Response | Remove | TopicList | Ping


def parse_command(frame: Frame) -> Command:
    """The command in a frame whose destination starts with `__`.

    Raises:
        CommandError: there is no such command, or it cannot be used.
    """
    if (read := _READERS.get(frame.destination)) is None:
        known = ', '.join(_READERS)
        raise CommandError(f'There is no command {frame.destination[:100]!r}; choose one of {known}.')
    return read(_Fields(frame.destination, _object(frame)))


def _object(frame: Frame) -> Mapping[str, Any]:
    raw = frame.payload.rstrip(b'\0')
    if len(raw) > LONGEST_JSON:
        raise CommandError(f'{frame.destination} has {len(raw)} bytes of JSON; {LONGEST_JSON} are allowed.')
    try:
        found = json.loads(raw or b'{}')
    except (ValueError, RecursionError) as error:
        raise CommandError(f'{frame.destination} has a payload that is no JSON ({str(error)[:100]}).') from error
    if not isinstance(found, dict):
        raise CommandError(f'{frame.destination} has a payload that is no JSON object; send {{"topic": ...}}.')
    return found


@dataclass(frozen=True)
class _Fields:
    """A command's JSON object, read field by field."""

    command: str
    values: Mapping[str, Any]

    def name(self) -> str:
        value = self.values.get('topic')
        if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
            raise self._wrong('topic', f'a name of 1 to {LONGEST_NAME} characters')
        return value

    def type_name(self) -> str:
        value = self.values.get('message_name')
        found = _TYPE.fullmatch(value) if isinstance(value, str) and len(value) <= LONGEST_NAME else None
        if found is None:
            raise self._wrong('message_name', 'a type such as "std_msgs/String"')
        return f'{found[1]}/{found[2]}'

    def id(self) -> int:
        value = self.values.get('srv_id')
        if type(value) is not int or not 0 <= value <= LARGEST_ID:
            raise self._wrong('srv_id', f'a whole number from 0 to {LARGEST_ID}')
        return value

    def queue_size(self) -> int:
        value = self.values.get('queue_size', 10)
        if type(value) is not int:
            raise self._wrong('queue_size', 'a whole number')
        return min(max(value, 1), LARGEST_QUEUE)

    def latch(self) -> bool:
        value = self.values.get('latch', False)
        if type(value) is not bool:
            raise self._wrong('latch', 'true or false')
        return value

    def time(self) -> str | float | int:
        value = self.values.get('request_time', '')
        if type(value) not in (str, int, float) or len(str(value)) > LONGEST_NAME:
            raise self._wrong('request_time', f'a number, or a text of at most {LONGEST_NAME} characters')
        time: str | float | int = value
        return time

    def _wrong(self, field: str, wanted: str) -> CommandError:
        told = repr(self.values[field])[:100] if field in self.values else 'missing'
        return CommandError(f'The field {field} of {self.command} is {told}; send {wanted}.')


def _remove(kind: str) -> Callable[[_Fields], Command]:
    return lambda fields: Remove(kind, fields.name())


_READERS: dict[str, Callable[[_Fields], Command]] = {
    '__subscribe': lambda fields: Subscribe(fields.name(), fields.type_name()),
    '__publish': lambda fields: Publish(fields.name(), fields.type_name(), fields.queue_size(), fields.latch()),
    '__ros_service': lambda fields: CallService(fields.name(), fields.type_name()),
    '__unity_service': lambda fields: OfferService(fields.name(), fields.type_name()),
    '__request': lambda fields: Request(fields.id()),
    '__response': lambda fields: Response(fields.id()),
    '__topic_list': lambda _: TopicList(),
    '__remove_subscriber': _remove('subscriber'),
    '__remove_publisher': _remove('publisher'),
    '__remove_ros_service': _remove('ros_service'),
    '__remove_unity_service': _remove('unity_service'),
    '__ping': lambda fields: Ping(fields.time()),
}


# To Unity -------------------------------------------------------------------------------------------------------------


def handshake() -> Parts:
    """The first that Unity hears."""
    return _command('__handshake', {'version': VERSION, 'metadata': json.dumps({'protocol': 'ROS2'})})


def note(level: str, text: str) -> Parts:
    """A sentence for Unity's console; `level` is log, warn or error."""
    return _command(f'__{level}', {'text': text})


def topic_list(topics: Iterable[tuple[str, str]]) -> Parts:
    """All topics with their types."""
    listed = list(topics)
    return _command('__topic_list', {'topics': [name for name, _ in listed], 'types': [kind for _, kind in listed]})


def ping_response(request_time: str | float | int) -> Parts:
    """The answer to `__ping`."""
    return _command('__ping_response', {'request_time': request_time})


def service_message(kind: str, id: int, service: str, payload: bytes) -> Parts:
    """A service's request or response (`kind`): the command that numbers it and, inseparable, its body."""
    return (*_command(f'__{kind}', {'srv_id': id}), *encoded(service, payload))


def _command(name: str, fields: Mapping[str, Any]) -> Parts:
    return encoded(name, json.dumps(fields).encode())
