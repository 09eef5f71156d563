"""ROS-Industrial simple messages as MotoROS speaks them: frames on a TCP stream, to values and back. No sockets here.

A frame is ``i32 length`` (of what follows), ``i32 type``, ``i32 communication``, ``i32 reply code``, body. All numbers
have four bytes, little-endian but for the FS100. Arrays have ten entries, in the controller's order of axes from base
to tool; positions are in rad (or m for linear axes), velocities in rad/s (or m/s), times in s.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from typing import Any, NamedTuple

AXES = 10  # entries of every array on the wire
HEADER_SIZE = 12  # [bytes] type, communication and reply code
LARGEST_FRAME = 1024  # [bytes] the largest message of MotoROS has 548


class FrameError(ValueError):
    """Bytes that are no simple message, or not the one that was expected; the message is one sentence."""


class ByteOrder(Enum):
    """How the controller writes numbers."""

    LITTLE = '<'
    BIG = '>'  # FS100


class MessageType(IntEnum):
    """The messages used here."""

    STATUS = 13
    TRAJECTORY_POINT = 14
    FEEDBACK = 15
    MOTION_CONTROL = 2001
    MOTION_REPLY = 2002


class Communication(IntEnum):
    """Who expects what."""

    TOPIC = 1
    REQUEST = 2
    REPLY = 3


class Valid(IntFlag):
    """Which fields of a point or a feedback hold data."""

    TIME = 1
    POSITION = 2
    VELOCITY = 4
    ACCELERATION = 8


class Command(IntEnum):
    """What MOTION_CONTROL asks for."""

    CHECK_MOTION_READY = 200101
    CHECK_QUEUE_COUNT = 200102
    STOP_MOTION = 200111
    START_SERVOS = 200112
    STOP_SERVOS = 200113
    RESET_ALARM = 200114
    START_TRAJECTORY_MODE = 200121
    STOP_TRAJECTORY_MODE = 200122


class Result(IntEnum):
    """How the controller took a request."""

    SUCCESS = 0
    BUSY = 1
    FAILURE = 2
    INVALID = 3
    ALARM = 4
    NOT_READY = 5
    MP_FAILURE = 6


class Frame(NamedTuple):
    """A message whose body is not read yet."""

    type: int
    communication: int
    reply_code: int
    body: bytes


class FrameReader:
    """Cuts the bytes of a TCP stream into frames; they may come in pieces of any size."""

    def __init__(self, order: ByteOrder) -> None:
        self._header = struct.Struct(f'{order.value}4i')
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now; raises FrameError when the stream is no simple message stream."""
        self._buffer += data
        frames = []
        while len(self._buffer) >= self._header.size:
            length, kind, communication, reply_code = self._header.unpack_from(self._buffer)
            if not HEADER_SIZE <= length <= LARGEST_FRAME:
                raise FrameError(
                    f'a message claims to have {length} bytes, but simple messages have {HEADER_SIZE} to '
                    f'{LARGEST_FRAME}: check the port and byte_order (big for an FS100, else little)'
                )
            if len(self._buffer) < 4 + length:
                break
            frames.append(Frame(kind, communication, reply_code, bytes(self._buffer[self._header.size : 4 + length])))
            del self._buffer[: 4 + length]
        return frames


def encode(frame: Frame, order: ByteOrder) -> bytes:
    """The bytes of a frame."""
    header = struct.pack(
        f'{order.value}4i', HEADER_SIZE + len(frame.body), frame.type, frame.communication, frame.reply_code
    )
    return header + frame.body


@dataclass(frozen=True)
class RobotStatus:
    """The controller's state: 1 yes, 0 no, -1 unknown; ``mode`` is 1 manual or 2 automatic."""

    drives_powered: int
    e_stopped: int
    error_code: int
    in_error: int
    in_motion: int
    mode: int
    motion_possible: int

    def frame(self, order: ByteOrder) -> Frame:
        """As the state server sends it."""
        fields = (self.drives_powered, self.e_stopped, self.error_code, self.in_error, self.in_motion, self.mode)
        body = struct.pack(f'{order.value}7i', *fields, self.motion_possible)
        return Frame(MessageType.STATUS, Communication.TOPIC, 0, body)

    @classmethod
    def of(cls, frame: Frame, order: ByteOrder) -> RobotStatus:
        """Read a frame, or raise FrameError."""
        return cls(*_unpack(frame, MessageType.STATUS, f'{order.value}7i'))


@dataclass(frozen=True)
class JointFeedback:
    """Where a group of axes is; ten entries each, zero where there is no axis."""

    group: int
    valid: int
    time: float  # [s] of the controller, zero from many controllers
    positions: tuple[float, ...]  # [rad] or [m]
    velocities: tuple[float, ...]  # [rad/s] or [m/s]

    @property
    def has_velocities(self) -> bool:
        """Whether the controller gave the velocities."""
        return bool(self.valid & Valid.VELOCITY)

    def frame(self, order: ByteOrder) -> Frame:
        """As the state server sends it."""
        numbers = (*_ten(self.positions), *_ten(self.velocities), *_ten(()))
        body = struct.pack(f'{order.value}2i31f', self.group, self.valid, self.time, *numbers)
        return Frame(MessageType.FEEDBACK, Communication.TOPIC, 0, body)

    @classmethod
    def of(cls, frame: Frame, order: ByteOrder) -> JointFeedback:
        """Read a frame, or raise FrameError; positions are always finite."""
        group, valid, time, *numbers = _unpack(frame, MessageType.FEEDBACK, f'{order.value}2i31f')
        if not valid & Valid.POSITION:
            raise FrameError(f'the joint feedback of group {group} has no positions')
        if not all(map(math.isfinite, numbers)):
            raise FrameError(f'the joint feedback of group {group} has numbers that are not finite')
        return cls(group, valid, time, tuple(numbers[:AXES]), tuple(numbers[AXES : 2 * AXES]))


@dataclass(frozen=True)
class TrajectoryPoint:
    """One point of a trajectory; number 0 is where the arm stands and starts a new trajectory."""

    group: int
    sequence: int
    time: float  # [s] from the trajectory's start; the controller cuts it to whole milliseconds
    positions: tuple[float, ...]  # [rad] or [m]
    velocities: tuple[float, ...]  # [rad/s] or [m/s]
    valid: int = Valid.TIME | Valid.POSITION | Valid.VELOCITY

    def frame(self, order: ByteOrder) -> Frame:
        """As the motion server wants it."""
        numbers = (*_ten(self.positions), *_ten(self.velocities), *_ten(()))
        body = struct.pack(f'{order.value}3i31f', self.group, self.sequence, self.valid, self.time, *numbers)
        return Frame(MessageType.TRAJECTORY_POINT, Communication.REQUEST, 0, body)

    @classmethod
    def of(cls, frame: Frame, order: ByteOrder) -> TrajectoryPoint:
        """Read a frame, or raise FrameError."""
        body = _unpack(frame, MessageType.TRAJECTORY_POINT, f'{order.value}3i31f')
        group, sequence, valid, time, *numbers = body
        return cls(group, sequence, time, tuple(numbers[:AXES]), tuple(numbers[AXES : 2 * AXES]), valid)


@dataclass(frozen=True)
class MotionControl:
    """A request that is no motion."""

    group: int
    sequence: int  # comes back in the reply
    command: int

    def frame(self, order: ByteOrder) -> Frame:
        """As the motion server wants it."""
        body = struct.pack(f'{order.value}3i10f', self.group, self.sequence, self.command, *_ten(()))
        return Frame(MessageType.MOTION_CONTROL, Communication.REQUEST, 0, body)

    @classmethod
    def of(cls, frame: Frame, order: ByteOrder) -> MotionControl:
        """Read a frame, or raise FrameError."""
        group, sequence, command, *_ = _unpack(frame, MessageType.MOTION_CONTROL, f'{order.value}3i10f')
        return cls(group, sequence, command)


@dataclass(frozen=True)
class MotionReply:
    """The answer to a point or to a control request."""

    group: int
    sequence: int
    command: int  # of a control request, or the type of another message
    result: int
    subcode: int

    def frame(self, order: ByteOrder) -> Frame:
        """As the motion server sends it; the reply code says success even for refusals."""
        fields = (self.group, self.sequence, self.command, self.result, self.subcode)
        body = struct.pack(f'{order.value}5i10f', *fields, *_ten(()))
        return Frame(MessageType.MOTION_REPLY, Communication.REPLY, 1, body)

    @classmethod
    def of(cls, frame: Frame, order: ByteOrder) -> MotionReply:
        """Read a frame, or raise FrameError."""
        group, sequence, command, result, subcode, *_ = _unpack(frame, MessageType.MOTION_REPLY, f'{order.value}5i10f')
        return cls(group, sequence, command, result, subcode)


def _unpack(frame: Frame, kind: MessageType, layout: str) -> tuple[Any, ...]:
    if frame.type != kind:
        raise FrameError(f'a message has the type {frame.type} where {kind.value} ({kind.name}) was expected')
    size = struct.calcsize(layout)
    if len(frame.body) != size:
        raise FrameError(f'a {kind.name} message has a body of {len(frame.body)} bytes instead of {size}')
    return struct.unpack(layout, frame.body)


def _ten(values: Sequence[float]) -> tuple[float, ...]:
    return (*values, *(0.0,) * (AXES - len(values)))
