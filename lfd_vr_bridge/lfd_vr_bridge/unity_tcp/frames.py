"""Frames on the wire, both ways, little endian: `u32 n | destination (n bytes) | u32 m | payload (m bytes)`.

Unity counts a NUL at the end of a destination, and sends eight zero bytes to keep a connection alive.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

LARGEST_PAYLOAD = 64 * 2**20  # [bytes]
LONGEST_DESTINATION = 1024  # [bytes]
_U32 = struct.Struct('<I')


class FrameError(ValueError):
    """What came is no frame, and nobody can say where the next one starts; the message is one sentence."""


@dataclass(frozen=True)
class Frame:
    """What is sent at once: to a topic, to a service or, if the destination starts with `__`, a command."""

    destination: str
    payload: bytes


def encoded(destination: str, payload: bytes) -> tuple[bytes, bytes]:
    """A frame for Unity, in two parts so that a big payload needs no copy."""
    name = destination.encode()
    return _U32.pack(len(name)) + name + _U32.pack(len(payload)), payload


class FrameReader:
    """Finds the frames in a stream of bytes that comes in any pieces.

    It holds no more than what has come: lengths are judged as soon as they are there, before anything is kept for them.
    """

    def __init__(self, largest_payload: int = LARGEST_PAYLOAD, longest_destination: int = LONGEST_DESTINATION) -> None:
        self._largest_payload = largest_payload
        self._longest_destination = longest_destination
        self._buffer = bytearray()

    def feed(self, data: bytes) -> tuple[list[Frame], FrameError | None]:
        """The frames that are complete now, and why there will be no more of them, if so."""
        self._buffer += data
        frames: list[Frame] = []
        start, fault = 0, None
        try:
            while (end := self._end(start)) is not None:
                frame = self._frame(start, end)
                start = end
                if frame is not None:
                    frames.append(frame)
        except FrameError as error:
            fault = error
        del self._buffer[:start]
        return frames, fault

    def _end(self, start: int) -> int | None:
        """Where the frame ends that begins at `start`, or None while it is not all there."""
        name = self._length(start, 'destination', self._longest_destination)
        if name is None:
            return None
        body = self._length(start + 4 + name, 'payload', self._largest_payload)
        if body is None:
            return None
        end = start + 8 + name + body
        return end if end <= len(self._buffer) else None

    def _length(self, at: int, part: str, largest: int) -> int | None:
        if at + 4 > len(self._buffer):
            return None
        length: int = _U32.unpack_from(self._buffer, at)[0]
        if length > largest:
            raise FrameError(
                f"A frame's {part} claims {length} bytes, and {largest} are allowed; "
                'connect with ROS-TCP-Connector 0.7 and the protocol ROS2.'
            )
        return length

    def _frame(self, start: int, end: int) -> Frame | None:
        """The frame that lies there; None for a keepalive."""
        name: int = _U32.unpack_from(self._buffer, start)[0]
        body = start + 8 + name
        if name == 0 and body == end:
            return None
        return Frame(_destination(bytes(self._buffer[start + 4 : start + 4 + name])), bytes(self._buffer[body:end]))


def _destination(raw: bytes) -> str:
    try:
        name = raw.rstrip(b'\0').decode()
    except UnicodeDecodeError:
        name = ''
    if not name or not name.isprintable():
        raise FrameError(
            f"A frame's destination is {raw[:40]!r}, which is no name; "
            'connect with ROS-TCP-Connector 0.7 and the protocol ROS2.'
        )
    return name
