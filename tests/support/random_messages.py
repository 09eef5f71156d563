"""Messages of any type with random content."""

from __future__ import annotations

import random
import re
from typing import Any

from lfd_vr_bridge.nodes.unity_types import message_type

_ARRAY = re.compile(r'(.+)\[(\d+)\]')
_SEQUENCE = re.compile(r'sequence<(.+?)(?:, (\d+))?>')
_BITS = re.compile(r'(u?)int(\d+)')


def random_message(kind: type[Any], chance: random.Random, depth: int = 0) -> Any:
    """A message; sequences have up to three elements, fewer the deeper they are."""
    message = kind()
    for name, field in kind.get_fields_and_field_types().items():
        setattr(message, name, _value(field, chance, depth))
    return message


def _value(field: str, chance: random.Random, depth: int) -> Any:
    if found := _ARRAY.fullmatch(field):
        return [_value(found[1], chance, depth) for _ in range(int(found[2]))]
    if found := _SEQUENCE.fullmatch(field):
        most = max(0, min(int(found[2] or 3), 3 - depth))
        return [_value(found[1], chance, depth) for _ in range(chance.randint(0, most))]
    if found := _BITS.fullmatch(field):
        bits = int(found[2])
        return chance.getrandbits(bits) if found[1] else chance.getrandbits(bits) - 2 ** (bits - 1)
    if field.startswith(('string', 'wstring')):
        return 'x' * chance.randint(0, 9)
    if '/' in field:
        return random_message(message_type(field), chance, depth + 1)
    return {
        'boolean': chance.random() < 0.5,
        'octet': bytes([chance.randrange(256)]),
        'char': chance.randrange(256),
    }.get(field, float(chance.randint(-1000, 1000)))
