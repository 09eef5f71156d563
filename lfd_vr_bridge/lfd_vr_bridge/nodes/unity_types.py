"""Message and service types by the names that Unity knows: `std_msgs/String`, `std_srvs/Trigger`."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ament_index_python.packages import PackageNotFoundError
from ament_index_python.resources import get_resource, get_resources
from rclpy.serialization import deserialize_message, serialize_message

from lfd_vr_bridge.unity_tcp.cdr import CdrError, Layout
from lfd_vr_bridge.unity_tcp.ports import Refused

_INDEX = 'rosidl_interfaces'
_KINDS = {'msg': 'message', 'srv': 'service'}


@cache
def message_type(name: str) -> type[Any]:
    """The class of a message type.

    Raises:
        Refused: there is none of that name.
    """
    return _found(name, 'msg')


@cache
def service_type(name: str) -> type[Any]:
    """The class of a service type.

    Raises:
        Refused: there is none of that name.
    """
    return _found(name, 'srv')


def type_names(folder: str) -> Iterator[str]:
    """The types that are installed; `folder` is msg or srv."""
    for package in sorted(get_resources(_INDEX)):
        yield from (f'{package}/{short}' for short in sorted(_names(package, folder)))


def unity_name(type_name: str) -> str:
    """What Unity calls `std_msgs/msg/String`: `std_msgs/String`."""
    package, _, name = type_name.partition('/')
    return f'{package}/{name.rpartition("/")[2]}'


class Codec:
    """Turns Unity's bytes into what ROS takes, and judges them first; for one message class."""

    def __init__(self, message_class: type[Any], name: str) -> None:
        self.message_class, self._name = message_class, name
        fields = message_class.get_fields_and_field_types()
        try:
            self._layout: Layout | None = Layout(fields, _fields_of)
        except CdrError:
            self._layout = None

    def checked(self, payload: bytes) -> bytes:
        """The bytes of one whole message.

        Raises:
            Refused: they are none.
        """
        if self._layout is None:
            self.decoded(payload)
            return payload
        payload = self._layout.completed(payload)
        try:
            self._layout.check(payload)
        except CdrError as error:
            raise Refused(f'A message of type {self._name} {error}; generate it anew from the ROS package.') from error
        return payload

    def decoded(self, payload: bytes) -> Any:
        """The message that the bytes are.

        Raises:
            Refused: they are none.
        """
        checked = payload if self._layout is None else self.checked(payload)
        try:
            return deserialize_message(checked, self.message_class)
        except RuntimeError as error:
            raise Refused(f'A message of type {self._name} cannot be read; generate it anew.') from error

    def encoded(self, message: Any) -> bytes:
        """The bytes of a message."""
        payload: bytes = serialize_message(message)
        return payload if self._layout is None else self._layout.trimmed(payload)

    def default(self, problem: str = '') -> bytes:
        """A message whose fields have their defaults; if it has a text `message`, that is the problem."""
        return self.encoded(self.empty(problem))

    def empty(self, problem: str = '') -> Any:
        """The same, not serialised."""
        made = self.message_class()
        if self.message_class.get_fields_and_field_types().get('message') == 'string':
            made.message = problem
        return made


def _fields_of(name: str) -> Mapping[str, str]:
    fields: Mapping[str, str] = message_type(name).get_fields_and_field_types()
    return fields


def _found(name: str, folder: str) -> type[Any]:
    package, _, short = name.partition('/')
    if short not in _names(package, folder):
        nearest = difflib.get_close_matches(name, list(type_names(folder)), n=1, cutoff=0.0)
        hint = f'the nearest is {nearest[0]}' if nearest else 'none is installed'
        raise Refused(f"There is no {_KINDS[folder]} type '{name}' in this ROS installation; {hint}.")
    found: type[Any] = getattr(importlib.import_module(f'{package}.{folder}'), short)
    return found


@cache
def _names(package: str, folder: str) -> frozenset[str]:
    """The types that a package has."""
    try:
        listed, _ = get_resource(_INDEX, package)
    except (LookupError, PackageNotFoundError):
        return frozenset()
    paths = (line.partition('/') for line in listed.split())
    return frozenset(path.partition('.')[0] for kind, _, path in paths if kind == folder)
