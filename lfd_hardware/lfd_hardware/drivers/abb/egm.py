"""The messages of ABB's Externally Guided Motion: values <-> datagrams.

One datagram holds one message of the protobuf package ``abb.egm`` (proto2). Only two messages matter for joints: the
controller's ``EgmRobot`` and the answer ``EgmSensor``; of these, only what is used here becomes a value, and the rest
is skipped as protobuf does with fields that it does not know. Angles stay as they are on the wire, in deg and deg/s.

The codec is written out because the two messages need three wire types; the protobuf runtime would be a dependency of
some megabytes for that.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

MAX_DATAGRAM = 4096  # [bytes] real messages have some hundred
MAX_ANGLE = 36000.0  # [deg] a hundred turns: beyond that a message is garbled

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DATA, _CORRECTION = 2, 3  # EgmHeader.MessageType
_UINT32 = 0xFFFFFFFF


class EgmError(ValueError):
    """A datagram that is no usable EGM message; the message says why."""


class Motors(IntEnum):
    """EgmMotorState."""

    UNDEFINED = 0
    ON = 1
    OFF = 2


class Guidance(IntEnum):
    """EgmMCIState: whether EGMRunJoint moves the arm."""

    UNDEFINED = 0
    ERROR = 1
    STOPPED = 2
    RUNNING = 3


class Rapid(IntEnum):
    """EgmRapidCtrlExecState."""

    UNDEFINED = 0
    STOPPED = 1
    RUNNING = 2


State = TypeVar('State', bound=IntEnum)


@dataclass(frozen=True)
class EgmRobot:
    """What the controller reports each cycle; what it left out is UNDEFINED."""

    seqno: int
    time: int | None  # [ms] of the controller's own clock, modulo 2^32
    joints: tuple[float, ...]  # [deg] measured
    planned: tuple[float, ...] = ()  # [deg] what the controller makes of the set-points
    motors: Motors = Motors.UNDEFINED
    guidance: Guidance = Guidance.UNDEFINED
    rapid: Rapid = Rapid.UNDEFINED
    converged: bool = False


@dataclass(frozen=True)
class EgmSensor:
    """The answer: where the arm shall be, and how fast it shall go there."""

    seqno: int
    time: int | None  # [ms] of the sender's clock, modulo 2^32
    joints: tuple[float, ...]  # [deg]
    speeds: tuple[float, ...] = ()  # [deg/s] the feed-forward; without it the controller only closes the gap


def encode_robot(message: EgmRobot) -> bytes:
    """Write the controller's message."""
    return b''.join(
        (
            _header(message.seqno, message.time, _DATA),
            _nested(2, _nested(1, _doubles(message.joints))),
            _nested(3, _nested(1, _doubles(message.planned))) if message.planned else b'',
            _nested(4, b'\x08' + _varint(message.motors)),
            _nested(5, b'\x08' + _varint(message.guidance)),
            b'\x30' + _varint(message.converged),
            _nested(8, b'\x08' + _varint(message.rapid)),
        )
    )


def decode_robot(datagram: bytes) -> EgmRobot:
    """Read the controller's message, or raise EgmError."""
    fields = _fields(datagram)
    seqno, time = _read_header(fields)
    return EgmRobot(
        seqno,
        time,
        _angles(fields, 2, 'feedBack'),
        _angles(fields, 3, 'planned', required=False),
        _state(fields, 4, Motors, 'motorState'),
        _state(fields, 5, Guidance, 'mciState'),
        _state(fields, 8, Rapid, 'rapidExecState'),
        bool(_last(fields, 6, 0)),
    )


def encode_sensor(message: EgmSensor) -> bytes:
    """Write the answer."""
    return b''.join(
        (
            _header(message.seqno, message.time, _CORRECTION),
            _nested(2, _nested(1, _doubles(message.joints))),
            _nested(3, _nested(1, _doubles(message.speeds))) if message.speeds else b'',
        )
    )


def decode_sensor(datagram: bytes) -> EgmSensor:
    """Read an answer, or raise EgmError."""
    fields = _fields(datagram)
    seqno, time = _read_header(fields)
    return EgmSensor(seqno, time, _angles(fields, 2, 'planned'), _angles(fields, 3, 'speedRef', required=False))


Fields = dict[tuple[int, int], list[bytes | int]]  # by field number and wire type; all that came, in order


def _fields(data: bytes) -> Fields:
    """Split a message into its fields; the contents of nested ones stay bytes."""
    if len(data) > MAX_DATAGRAM:
        raise EgmError(f'it has {len(data)} bytes, more than {MAX_DATAGRAM}')
    fields: Fields = {}
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        value: bytes | int
        if wire == _VARINT:
            value, at = _read_varint(data, at)
        else:
            value, at = _read_bytes(data, at, wire)
        if not 1 <= number <= 0x1FFFFFFF:
            raise EgmError(f'field number {number} is none of protobuf')
        fields.setdefault((number, wire), []).append(value)
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at this place and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise EgmError('it ends within a number')
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
    raise EgmError('a number in it has no end')


def _read_bytes(data: bytes, at: int, wire: int) -> tuple[bytes, int]:
    """Return the content of a field that is no varint, and the place after it."""
    if wire == _BYTES:
        size, at = _read_varint(data, at)
    elif wire in (_FIXED64, _FIXED32):
        size = 8 if wire == _FIXED64 else 4
    else:
        raise EgmError(f'wire type {wire} is none that EGM uses')
    if at + size > len(data):
        raise EgmError('it is cut off')
    return data[at : at + size], at + size


def _message(fields: Fields, number: int) -> bytes | None:
    """The content of a nested message; of several, protobuf's merge, which is what their contents in a row mean."""
    parts = fields.get((number, _BYTES))
    return None if parts is None else b''.join(part for part in parts if isinstance(part, bytes))


def _last(fields: Fields, number: int, default: int) -> int:
    """A number; of several the last counts."""
    values = fields.get((number, _VARINT))
    return values[-1] if values and isinstance(values[-1], int) else default


def _read_header(fields: Fields) -> tuple[int, int | None]:
    content = _message(fields, 1)
    if content is None:
        raise EgmError('it has no header')
    header = _fields(content)
    if (1, _VARINT) not in header:
        raise EgmError('its header has no seqno')
    time = _last(header, 2, 0) & _UINT32 if (2, _VARINT) in header else None
    return _last(header, 1, 0) & _UINT32, time


def _state(fields: Fields, number: int, kind: type[State], name: str) -> State:
    content = _message(fields, number)
    if content is None:
        return kind(0)
    nested = _fields(content)
    if (1, _VARINT) not in nested:
        raise EgmError(f'its {name} has no state')
    known = [state for value in nested[(1, _VARINT)] for state in kind if state == value]
    return known[-1] if known else kind(0)


def _angles(fields: Fields, number: int, name: str, required: bool = True) -> tuple[float, ...]:
    """The joints of feedBack, planned or speedRef."""
    group = _message(fields, number)
    content = None if group is None else _message(_fields(group), 1)
    values = () if content is None else _read_doubles(content)
    if required and not values:
        raise EgmError(f'it has no joints in {name}')
    for value in values:
        if not abs(value) <= MAX_ANGLE:  # also true for NaN
            raise EgmError(f'{name} has a joint at {value} deg')
    return values


def _read_doubles(content: bytes) -> tuple[float, ...]:
    """The repeated double of field 1, written one by one as in proto2 or packed."""
    count, rest = divmod(len(content), 9)
    if rest == 0 and content[::9] == b'\x09' * count:  # the usual form, read at once
        return _ONE_BY_ONE[count].unpack(content)[1::2] if count < len(_ONE_BY_ONE) else _refuse_count(count)
    fields = _fields(content)
    packed = [part for part in fields.get((1, _BYTES), ()) if isinstance(part, bytes)]
    single = [part for part in fields.get((1, _FIXED64), ()) if isinstance(part, bytes)]
    if packed and single:
        raise EgmError('its joints are written in two ways at once')
    data = b''.join(packed or single)
    count, rest = divmod(len(data), 8)
    if rest:
        raise EgmError('its joints are cut off')
    return struct.unpack(f'<{count}d', data) if count < len(_ONE_BY_ONE) else _refuse_count(count)


def _refuse_count(count: int) -> tuple[float, ...]:
    raise EgmError(f'it has {count} joints')


_ONE_BY_ONE = [struct.Struct('<' + 'Bd' * count) for count in range(17)]


def _header(seqno: int, time: int | None, kind: int) -> bytes:
    content = b'\x08' + _varint(seqno & _UINT32)
    if time is not None:
        content += b'\x10' + _varint(time & _UINT32)
    return _nested(1, content + b'\x18' + _varint(kind))


def _doubles(values: tuple[float, ...]) -> bytes:
    if not all(map(math.isfinite, values)):
        raise EgmError(f'only finite angles can be sent, not {values}')
    return b''.join(b'\x09' + struct.pack('<d', value) for value in values)


def _nested(number: int, content: bytes) -> bytes:
    return bytes((number << 3 | _BYTES,)) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
