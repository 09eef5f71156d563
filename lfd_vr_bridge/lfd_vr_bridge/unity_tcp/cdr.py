"""Whether bytes are one whole message of a type, without making the message: little endian CDR with its header.

Bytes are published as they came from Unity. A message that is too short, or of another type, would reach every
subscriber and fail there; some end their process then. So it is judged here, by walking over it: runs of numbers are
skipped at once, and only texts and sequences are looked at.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping

HEADER = b'\x00\x01\x00\x00'
"""Little endian CDR, no options."""
SPARE = 64
"""[bytes] that may follow a message, beside half its length: some middlewares reserve too much, and send it."""
_U32 = struct.Struct('<I')
_SIZES = {
    **dict.fromkeys(('octet', 'char', 'int8', 'uint8'), 1),
    **dict.fromkeys(('int16', 'uint16'), 2),
    **dict.fromkeys(('float', 'int32', 'uint32'), 4),
    **dict.fromkeys(('double', 'int64', 'uint64'), 8),
}  # [bytes]; a number is aligned to its size
_ARRAY = re.compile(r'(.+)\[(\d+)\]')
_SEQUENCE = re.compile(r'sequence<(.+?)(?:, (\d+))?>')
_STRING = re.compile(r'string(?:<(\d+)>)?')
FieldsOf = Callable[[str], Mapping[str, str]]
"""The types of the fields of a type such as `geometry_msgs/Pose`, by name, as rosidl writes them."""
Table = tuple[int, ...]
"""How long something of fixed size is [bytes], padding included, by where it starts modulo 8."""
Walk = Callable[[memoryview, int], int]
"""From a position in the bytes (the header not counted) to the one behind; IndexError if the bytes end before."""


class CdrError(ValueError):
    """The bytes are no message of the type; the message is the end of a sentence."""


class Layout:
    """How the messages of one type lie in memory.

    Raises:
        CdrError: it has texts of wide characters, which lie differently from one middleware to the next.
    """

    def __init__(self, fields: Mapping[str, str], fields_of: FieldsOf) -> None:
        self.is_empty = not fields
        made = _struct(fields, fields_of)
        self._walk = _walk_over(made) if isinstance(made, tuple) else made

    def completed(self, payload: bytes) -> bytes:
        """The payload, with the one byte that ROS 2 has in a message without fields and Unity has not."""
        return payload + b'\0' if self.is_empty and payload == HEADER else payload

    def check(self, payload: bytes) -> None:
        """Accept one whole message.

        Raises:
            CdrError: it is none.
        """
        end = self._end(payload)
        if len(payload) > end + end // 2 + SPARE:
            raise CdrError(f'has {len(payload)} bytes where {end} are expected: the definition in Unity is another')

    def trimmed(self, payload: bytes) -> bytes:
        """A message without what follows it, which may be anything that was in memory.

        Raises:
            CdrError: it is none.
        """
        return payload[: self._end(payload)]

    def _end(self, payload: bytes) -> int:
        if payload[:2] != HEADER[:2] or len(payload) < len(HEADER):
            raise CdrError(f'does not start with {HEADER.hex(" ")}: set the protocol ROS2 in Unity')
        body = memoryview(payload)[4:]
        try:
            return len(HEADER) + self._walk(body, 0)
        except IndexError:
            raise CdrError(f'ends too early, after {len(body)} bytes: the definition in Unity is another') from None


def _struct(fields: Mapping[str, str], fields_of: FieldsOf) -> Table | Walk:
    parts = [_member(kind, fields_of) for kind in fields.values()] or [_number(1)]
    return _chain(parts)


def _member(kind: str, fields_of: FieldsOf) -> Table | Walk:
    if found := _ARRAY.fullmatch(kind):
        return _repeated(_member(found[1], fields_of), int(found[2]))
    if found := _SEQUENCE.fullmatch(kind):
        return _sequence(_member(found[1], fields_of), int(found[2]) if found[2] else None)
    if found := _STRING.fullmatch(kind):
        return _string(int(found[1]) if found[1] else None)
    if kind == 'boolean':
        return _boolean
    if kind in _SIZES:
        return _number(_SIZES[kind])
    if '/' in kind:
        return _struct(fields_of(kind), fields_of)
    raise CdrError(f'has a field of type {kind}')


def _number(size: int) -> Table:
    return tuple(-start % size + size for start in range(8))


def _chain(parts: list[Table | Walk]) -> Table | Walk:
    """One thing after the other; neighbours of fixed size become one."""
    joined: list[Table | Walk] = []
    for part in parts:
        if isinstance(part, tuple) and joined and isinstance(before := joined[-1], tuple):
            joined[-1] = tuple(before[start] + part[(start + before[start]) % 8] for start in range(8))
        else:
            joined.append(part)
    if len(joined) == 1:
        return joined[0]
    walks = [_walk_over(part) if isinstance(part, tuple) else part for part in joined]

    def walk(body: memoryview, at: int) -> int:
        for step in walks:
            at = step(body, at)
        return at

    return walk


def _walk_over(table: Table) -> Walk:
    def walk(body: memoryview, at: int) -> int:
        at += table[at % 8]
        if at > len(body):
            raise IndexError
        return at

    return walk


def _repeated(part: Table | Walk, count: int) -> Table | Walk:
    if isinstance(part, tuple):
        return tuple(_span(part, start, count) for start in range(8))

    def walk(body: memoryview, at: int) -> int:
        for _ in range(count):
            at = part(body, at)
        return at

    return walk


def _span(table: Table, start: int, count: int) -> int:
    """How long `count` things are one after the other [bytes]; after eight of them at most, the padding repeats."""
    at, done, seen = start, 0, dict[int, tuple[int, int]]()
    while done < count:
        if at % 8 in seen:
            done_then, at_then = seen[at % 8]
            rounds = (count - done) // (done - done_then)
            at += rounds * (at - at_then)
            done += rounds * (done - done_then)
            seen.clear()
            if done == count:
                break
        seen[at % 8] = (done, at)
        at += table[at % 8]
        done += 1
    return at - start


def _count(body: memoryview, at: int, bound: int | None) -> tuple[int, int]:
    """The number at the front of a text or sequence, and where its content starts."""
    at += -at % 4
    if at + 4 > len(body):
        raise IndexError
    count: int = _U32.unpack_from(body, at)[0]
    if bound is not None and count > bound:
        raise CdrError(f'has {count} elements where {bound} are allowed: the definition in Unity is another')
    if count > len(body) - at - 4:  # every element takes a byte at least
        raise IndexError
    return count, at + 4


def _sequence(part: Table | Walk, bound: int | None) -> Walk:
    if isinstance(part, tuple):
        table = part

        def skip(body: memoryview, at: int) -> int:
            count, at = _count(body, at, bound)
            at += _span(table, at % 8, count)
            if at > len(body):
                raise IndexError
            return at

        return skip
    step = part

    def walk(body: memoryview, at: int) -> int:
        count, at = _count(body, at, bound)
        for _ in range(count):
            at = step(body, at)
        return at

    return walk


def _string(bound: int | None) -> Walk:
    limit = None if bound is None else bound + 1  # with the NUL at its end

    def walk(body: memoryview, at: int) -> int:
        count, at = _count(body, at, limit)
        return at + count

    return walk


def _boolean(body: memoryview, at: int) -> int:
    if body[at] > 1:
        raise CdrError(f'has the number {body[at]} for true or false: the definition in Unity is another')
    return at + 1
