"""MCAP files of demonstrations: written while it goes on, read whole or cut short."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from struct import error as struct_error
from types import TracebackType
from typing import Any

from mcap.exceptions import EndOfFile, InvalidMagic, McapError
from mcap.records import Channel, Footer, Message, Schema
from mcap.stream_reader import CRCValidationError, StreamReader
from mcap.writer import CompressionType, Writer
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import String

from ..studio import events
from .codec import WrongEvent, event_of
from .definitions import definition, type_name
from .messages import EVENTS, TYPES, nanoseconds_of

LIBRARY = 'lfd_vr_bridge'
PROFILE = 'ros2'
ENDING = '.mcap'
CHUNK = 256 * 1024  # bytes
LARGEST_RECORD = 512 * 1024 * 1024  # bytes


class LogError(Exception):
    """A log cannot be written or read; the message is one sentence for the person."""


@dataclass(frozen=True)
class Log:
    """What a log tells."""

    events: tuple[events.Event, ...]
    is_finished: bool
    """Whether the file has its end."""
    messages: dict[str, int] = field(default_factory=dict)
    """How many there are on each topic."""


class LogWriter:
    """Writes a log; what was flushed survives the end of the process.

    Raises:
        LogError: the file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = path.open('wb')
        except OSError as error:
            raise LogError(f'{path} cannot be written: {error.strerror or error}.') from None
        self._writer: Any = Writer(self._stream, chunk_size=CHUNK, compression=CompressionType.LZ4)
        self._writer.start(PROFILE, LIBRARY)
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self._stream.close()

    def write(self, topic: str, message: Any, time: float) -> None:
        """Write a message of a topic; `time` [s]."""
        self.copy(topic, type_name(TYPES[topic]), serialize_message(message), nanoseconds_of(time))

    def copy(self, topic: str, kind: str, data: bytes, nanoseconds: int) -> None:
        """Write a message that is serialized already."""
        if topic not in self._channels:
            if kind not in self._schemas:
                self._schemas[kind] = self._writer.register_schema(kind, 'ros2msg', definition(kind).encode())
            self._channels[topic] = self._writer.register_channel(f'/{topic}', 'cdr', self._schemas[kind])
        count = self._counts[topic] = self._counts.get(topic, -1) + 1
        self._writer.add_message(self._channels[topic], nanoseconds, data, nanoseconds, count)

    def append(self, source: Path) -> None:
        """Write all that another log has.

        Raises:
            LogError: it cannot be read.
        """
        for topic, kind, data, nanoseconds in _Records(source):
            self.copy(topic, kind, data, nanoseconds)

    def flush(self) -> None:
        """Hand all over to the operating system."""
        self._writer.flush()

    def finish(self) -> None:
        """Write the end, with indexes."""
        self._writer.finish()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()

    def abandon(self) -> None:
        """Leave the file without an end; it can be read, and finished by `finished_copy`."""
        if not self._stream.closed:
            self._writer.flush()
            self._stream.close()


def read_log(path: Path) -> Log:
    """What a log tells; of one that was cut short, up to there.

    Raises:
        LogError: the file is no log of a demonstration.
    """
    found: list[events.Event] = []
    counts: dict[str, int] = {}
    reader = _Records(path)
    for topic, _, data, _ in reader:
        counts[topic] = counts.get(topic, 0) + 1
        if topic == EVENTS:
            found.append(_event(path, data))
    if not found or not isinstance(found[0], events.Began):
        raise LogError(f'{path} is no log of a demonstration: it does not begin with how things were.')
    return Log(tuple(found), reader.is_finished, counts)


def finished_copy(source: Path, target: Path) -> None:
    """Write a log with its end and indexes; the source may be cut short.

    Raises:
        LogError: one cannot be read or the other not written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix='.log.')
        os.close(handle)
    except OSError as error:
        raise LogError(f'{target} cannot be written: {error.strerror or error}.') from None
    try:
        with LogWriter(Path(temporary)) as writer:
            writer.append(source)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except OSError as error:
        raise LogError(f'{target} cannot be written: {error.strerror or error}.') from None
    finally:
        Path(temporary).unlink(missing_ok=True)


class _Records:
    """The messages of a file that are ours: topic, type, CDR data, nanoseconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_finished = False

    def __iter__(self) -> Iterator[tuple[str, str, bytes, int]]:
        try:
            with self.path.open('rb') as stream:
                yield from self._messages(StreamReader(stream, validate_crcs=True, record_size_limit=LARGEST_RECORD))
        except OSError as error:
            raise LogError(f'{self.path} cannot be read: {error.strerror or error}.') from None
        except (EndOfFile, struct_error):
            return  # cut short: what is whole was told
        except InvalidMagic:
            if not self.is_finished:
                raise LogError(f'{self.path} is no MCAP file; choose a log that ends with {ENDING}.') from None
        except (McapError, CRCValidationError, ValueError, RuntimeError, KeyError) as error:
            raise LogError(f'{self.path} is damaged: {str(error)[:200]}.') from None

    def _messages(self, reader: StreamReader) -> Iterator[tuple[str, str, bytes, int]]:
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        for record in reader.records:
            match record:
                case Schema():
                    schemas[record.id] = record
                case Channel():
                    channels[record.id] = record
                case Message():
                    channel = channels[record.channel_id]
                    topic, kind = channel.topic.removeprefix('/'), schemas[channel.schema_id].name
                    if topic in TYPES and kind == type_name(TYPES[topic]) and channel.message_encoding == 'cdr':
                        yield topic, kind, record.data, record.log_time
                case Footer():
                    self.is_finished = True


def _event(path: Path, data: bytes) -> events.Event:
    try:
        return event_of(deserialize_message(data, String).data)
    except WrongEvent as error:
        raise LogError(f'{path} is damaged: {error}.') from None
    except Exception as error:
        # rclpy raises whatever its C library finds
        raise LogError(f'{path} is damaged: an event is no text ({str(error)[:100]}).') from None
