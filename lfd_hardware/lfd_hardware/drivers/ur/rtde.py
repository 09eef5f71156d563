"""Bytes to values and back for RTDE, the real-time data exchange of Universal Robots (TCP 30004, big-endian).

A frame is its size in bytes (two bytes, themselves included), its kind (one byte) and a payload. Version 2 numbers the
recipes of outputs and lets the client choose the rate; version 1 does neither. Pure: no sockets here.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

HEADER = struct.Struct('>HB')
NEWEST_VERSION = 2
MOST_NAMES = 2048  # [byte] what a controller takes as one list of names
TYPES = {
    'BOOL': '?',
    'UINT8': 'B',
    'UINT32': 'I',
    'UINT64': 'Q',
    'INT32': 'i',
    'DOUBLE': 'd',
    'VECTOR3D': '3d',
    'VECTOR6D': '6d',
    'VECTOR6INT32': '6i',
    'VECTOR6UINT32': '6I',
}
NOT_FOUND = 'NOT_FOUND'
IN_USE = 'IN_USE'


class RtdeError(ValueError):
    """Bytes that are no RTDE, or not what was asked for; the message says what was wrong with them."""


class Kind(IntEnum):
    """What a frame is."""

    VERSION = ord('V')
    CONTROLLER_VERSION = ord('v')
    OUTPUTS = ord('O')
    INPUTS = ord('I')
    START = ord('S')
    PAUSE = ord('P')
    DATA = ord('U')
    TEXT = ord('M')


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame without its size."""

    kind: Kind
    payload: bytes


@dataclass(frozen=True)
class ControllerVersion:
    """The controller's software, for example 5.11.1.108318 (e-Series) or 3.15.4.106291 (CB3)."""

    major: int
    minor: int
    bugfix: int
    build: int

    @property
    def rate(self) -> float:
        """How often the controller runs its cycle [Hz]."""
        return 125.0 if self.major < 5 else 500.0

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}.{self.bugfix}.{self.build}'


@dataclass(frozen=True)
class Text:
    """What the controller has to say; level 0 is an exception, 1 an error, 2 a warning and 3 information."""

    text: str
    source: str
    level: int


@dataclass(frozen=True)
class Recipe:
    """Variables that travel together, as the controller agreed; ``number`` is 0 where version 1 has none."""

    number: int
    names: tuple[str, ...]
    types: tuple[str, ...]

    @cached_property
    def layout(self) -> struct.Struct:
        """How the numbers of a data frame are packed: the recipe's number where it has one, then the variables."""
        return struct.Struct('>' + ('B' if self.number else '') + ''.join(TYPES[each] for each in self.types))

    def pack(self, numbers: Sequence[float]) -> bytes:
        """The data frame of these numbers, vectors written out."""
        head = (self.number,) if self.number else ()
        return frame(Kind.DATA, self.layout.pack(*head, *numbers))

    def unpack(self, payload: bytes) -> tuple[float, ...]:
        """The numbers of a data frame's payload, vectors written out; raises RtdeError unless all are finite."""
        if len(payload) != self.layout.size:
            raise RtdeError(f'a data frame has {len(payload)} bytes where {self.layout.size} were agreed')
        numbers: tuple[float, ...] = self.layout.unpack(payload)
        if self.number:
            if numbers[0] != self.number:
                raise RtdeError(f'a data frame is of recipe {numbers[0]:g}, which is not {self.number}')
            numbers = numbers[1:]
        if not math.isfinite(sum(numbers)) and not all(map(math.isfinite, numbers)):
            raise RtdeError('a data frame holds a value that is not a finite number')
        return numbers


class FrameReader:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._rest = b''

    def feed(self, data: bytes) -> list[Frame]:
        """Take more bytes and return the frames that are complete now; raises RtdeError at what is no frame."""
        data, at, frames = self._rest + data, 0, []
        while len(data) - at >= HEADER.size:
            size, kind = HEADER.unpack_from(data, at)
            if size < HEADER.size:
                raise RtdeError(f'a frame claims a size of {size} bytes')
            if kind not in _KINDS:
                raise RtdeError(f'a frame is of the unknown kind {kind}')
            if len(data) - at < size:
                break
            frames.append(Frame(_KINDS[kind], data[at + HEADER.size : at + size]))
            at += size
        self._rest = data[at:]
        return frames


_KINDS = {int(kind): kind for kind in Kind}


def frame(kind: Kind, payload: bytes = b'') -> bytes:
    """The bytes of one frame."""
    return HEADER.pack(HEADER.size + len(payload), kind) + payload


def version_request(version: int) -> bytes:
    """Ask to speak this version of RTDE."""
    return frame(Kind.VERSION, struct.pack('>H', version))


def outputs_request(names: Sequence[str], rate: float, version: int) -> bytes:
    """Ask for these variables ``rate`` times a second [Hz]; version 1 sends them 125 times."""
    return frame(Kind.OUTPUTS, (struct.pack('>d', rate) if version > 1 else b'') + _names(names))


def inputs_request(names: Sequence[str]) -> bytes:
    """Ask to set these variables."""
    return frame(Kind.INPUTS, _names(names))


def accepted(payload: bytes) -> bool:
    """Whether the controller agreed, out of its one-byte answer."""
    return bool(_unpack('>B', payload, 'an answer')[0])


def controller_version(payload: bytes) -> ControllerVersion:
    """The controller's version out of its answer."""
    return ControllerVersion(*_unpack('>4I', payload, 'the version of the controller'))


def outputs_answer(payload: bytes, names: Sequence[str], version: int) -> Recipe:
    """The recipe of outputs; a type may be NOT_FOUND."""
    if version > 1:
        return _recipe(payload[:1], payload[1:], names)
    return _recipe(b'\0', payload, names)


def inputs_answer(payload: bytes, names: Sequence[str]) -> Recipe:
    """The recipe of inputs; a type may be NOT_FOUND or IN_USE."""
    return _recipe(payload[:1], payload[1:], names)


def text(payload: bytes, version: int) -> Text:
    """The message out of a text frame."""
    if version == 1:
        return Text(payload[1:].decode('utf-8', 'replace'), '', payload[0] if payload else 3)
    words, rest = _counted(payload)
    source, rest = _counted(rest)
    return Text(words, source, *_unpack('>B', rest, 'the level of a message'))


def _recipe(number: bytes, types: bytes, names: Sequence[str]) -> Recipe:
    try:
        found = tuple(types.decode('ascii').split(','))
    except UnicodeDecodeError:
        raise RtdeError('a list of types is no text') from None
    if len(number) != 1 or len(found) != len(names):
        raise RtdeError(f'{len(found)} types came for {len(names)} variables')
    for each in found:
        if each not in TYPES and each not in (NOT_FOUND, IN_USE):
            raise RtdeError(f"'{each[:40]}' is no type of a variable")
    return Recipe(number[0], tuple(names), found)


def _names(names: Sequence[str]) -> bytes:
    listed = ','.join(names).encode('ascii')
    if len(listed) > MOST_NAMES:
        raise RtdeError(f'a list of names has {len(listed)} bytes, more than {MOST_NAMES}')
    return listed


def _counted(payload: bytes) -> tuple[str, bytes]:
    if not payload or len(payload) < 1 + payload[0]:
        raise RtdeError('a message is cut short')
    end = 1 + payload[0]
    return payload[1:end].decode('utf-8', 'replace'), payload[end:]


def _unpack(layout: str, payload: bytes, what: str) -> tuple[int, ...]:
    if len(payload) != struct.calcsize(layout):
        raise RtdeError(f'{what} has {len(payload)} bytes where {struct.calcsize(layout)} were expected')
    return struct.unpack(layout, payload)
