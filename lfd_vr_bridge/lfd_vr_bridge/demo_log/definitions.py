"""Message definitions as MCAP's schema `ros2msg` wants them: the type's own, then those of all types in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory

RULE = '=' * 80
_BUILT_IN = frozenset(
    [
        *('bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring'),
        *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)),
    ]
)
_FIELD = re.compile(r'\s*(?P<type>[A-Za-z][A-Za-z0-9_/]*)(<=\d+)?(\[[^\]]*\])?\s+[a-z][A-Za-z0-9_]*')


def type_name(kind: Any) -> str:
    """The name of a message's class, such as geometry_msgs/msg/Pose."""
    package, folder, *_ = kind.__module__.split('.')
    return f'{package}/{folder}/{kind.__name__}'


@cache
def definition(name: str) -> str:
    """The definition of a message type, with all that it is made of."""
    package, _, kind = name.split('/')
    first = f'{package}/{kind}'
    texts = {first: _text(first)}
    waiting = [first]
    while waiting:
        for inner in _types_in(texts[waiting[0]], waiting[0].partition('/')[0]):
            if inner not in texts:
                texts[inner] = _text(inner)
                waiting.append(inner)
        del waiting[0]
    others = (f'{RULE}\nMSG: {inner}\n{text}' for inner, text in texts.items() if inner != first)
    return '\n'.join([texts[first], *others])


def _text(name: str) -> str:
    package, _, kind = name.partition('/')
    return Path(get_package_share_directory(package), 'msg', f'{kind}.msg').read_text(encoding='utf-8')


def _types_in(text: str, package: str) -> Iterator[str]:
    """The types of fields that are messages themselves, as package/Type."""
    for line in text.splitlines():
        found = _FIELD.match(line.partition('#')[0])
        if found is None or found['type'] in _BUILT_IN:
            continue
        yield found['type'] if '/' in found['type'] else f'{package}/{found["type"]}'
