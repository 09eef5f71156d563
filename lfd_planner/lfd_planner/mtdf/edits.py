"""Changes of a readable task's text that leave every comment where it belongs.

A comment behind an entry of a list or mapping is about that entry. So are the comment lines right above it, unless they
are indented deeper than the entry: those end the entry before.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lfd_description.scenes.yaml_nodes import Items, Keys, Node, Scalar, line_end, line_start, line_starts, next_line

from .axes import (
    ros_orientation_from_unity,
    ros_position_from_unity,
    unity_orientation_from_ros,
    unity_position_from_ros,
)
from .layout import peek
from .splices import Splice
from .values import written

_HEADER = '|>-+0123456789'  # what a block of text begins with


class Span(NamedTuple):
    """The characters from `start` to `end`."""

    start: int
    end: int


def replaced(text: str, scalar: Scalar, new: str) -> list[Splice]:
    """Another value for a scalar; of a block of text (|, >) the comment on its first line stays."""
    if text[scalar.start] not in '|>':
        return [Splice(scalar.start, scalar.end, new)]
    head = line_end(text, scalar.start)
    sign = scalar.start + len(text[scalar.start : head]) - len(text[scalar.start : head].lstrip(_HEADER))
    return [Splice(scalar.start, sign, new), Splice(head, scalar.end, '')]


def without_items(text: str, items: Items, opened: int, first: int, last: int) -> list[Splice]:
    """A list without the items `first` to `last`; `opened` is where the key that it stands after ends."""
    nodes = items.values
    if items.flow:
        if last - first + 1 == len(nodes):
            return [Splice(items.start, items.end, '[]')]
        return _flow_cut(text, [Span(node.start, node.end) for node in nodes], items.start + 1, first, last)
    before = nodes[first - 1].end if first else opened
    start = _dash(text, items, before) if first else items.start
    cut = _block_cut(text, Span(start, nodes[last].end), before, first > 0)
    if last - first + 1 < len(nodes):
        return [cut]
    colon = text.index(':', opened) + 1
    return [Splice(colon, colon, ' []'), cut]


def without_key(text: str, root: Keys, name: str) -> list[Splice]:
    """A mapping without a key; as it is if it has no such key."""
    names = [key.text for key, _ in root.entries]
    if name not in names:
        return []
    spans = [Span(key.start, value.end) for key, value in root.entries]
    at = names.index(name)
    if root.flow:
        return _flow_cut(text, spans, root.start + 1, at, at)
    return [_block_cut(text, spans[at], spans[at - 1].end if at else 0, at > 0)]


def with_head(text: str, root: Keys, head: dict[str, str]) -> list[Splice]:
    """The keys of the head with these values; those that are missing come before all others."""
    splices: list[Splice] = []
    missing: dict[str, str] = {}
    for name, value in head.items():
        node = peek(root, name)
        new = f'"{value}"' if root.flow and not value.isdigit() else value  # in braces it may be JSON
        if not isinstance(node, Scalar):
            missing[name] = new
        elif node.text != value:
            splices += replaced(text, node, new)
    return [*splices, *_head(text, root, missing)]


def turned(text: str, root: Node | None, axes: str) -> list[Splice]:
    """All numbers of a task in other axes; each keeps its digits, and may change its place and its sign."""
    to_ros = axes == 'ros'
    position = _pattern(ros_position_from_unity if to_ros else unity_position_from_ros, (1.0, 2.0, 3.0))
    quaternion = (1.0, 2.0, 3.0, 4.0)
    orientation = _pattern(ros_orientation_from_unity if to_ros else unity_orientation_from_ros, quaternion)
    return [splice for node in _mappings(root) for splice in _turned(text, node, position, orientation)]


def has_comments(text: str, root: Node | None) -> bool:
    """Whether a text that was read holds comments."""
    done = 0
    for scalar in _scalars(root):
        begins_block = text[scalar.start : scalar.start + 1] in ('|', '>')
        start = line_end(text, scalar.start) if begins_block else scalar.start
        if '#' in text[done:start]:
            return True
        done = max(done, scalar.end)
    return '#' in text[done:]


_Pattern = Sequence[tuple[int, bool]]
"""For each part of a vector: which part it is in the other axes, and whether its sign changes."""


def _pattern(turn: Callable[..., Sequence[float]], numbers: Sequence[float]) -> _Pattern:
    return [(int(abs(part)) - 1, part < 0.0) for part in turn(tuple(numbers))]


def _mappings(node: Node | None) -> Iterator[Keys]:
    match node:
        case Keys(entries=entries):
            yield node
            for _, value in entries:
                yield from _mappings(value)
        case Items(values=values):
            for value in values:
                yield from _mappings(value)


def _scalars(node: Node | None) -> Iterator[Scalar]:
    match node:
        case Scalar():
            yield node
        case Keys(entries=entries):
            for key, value in entries:
                yield key
                yield from _scalars(value)
        case Items(values=values):
            for value in values:
                yield from _scalars(value)


def _turned(text: str, node: Keys, position: _Pattern, orientation: _Pattern) -> Iterator[Splice]:
    parts = {key.text: written(value) for key, value in node.entries}
    for name in ('position', 'center', 'nearest'):
        if len(found := parts.get(name, ())) == 3:
            yield from _exchanged(found, found, found, position)
    if len(found := parts.get('orientation', ())) == 4:
        yield from _exchanged(found, found, found, orientation)
    low, high = parts.get('min', ()), parts.get('max', ())
    if len(low) == len(high) == 3:  # a part that changes its sign changes sides
        yield from _exchanged(low, low, high, position)
        yield from _exchanged(high, high, low, position)


def _exchanged(
    places: Sequence[Scalar], same: Sequence[Scalar], opposite: Sequence[Scalar], pattern: _Pattern
) -> Iterator[Splice]:
    """New numbers at places: those of `same`, or if the sign changes those of `opposite`."""
    for place, (part, negative) in zip(places, pattern, strict=True):
        new = _negated(opposite[part].text) if negative else same[part].text
        yield Splice(place.start, place.end, new)


def _negated(number: str) -> str:
    digits = number.lstrip('+-')
    return digits if number.startswith('-') or float(number) == 0.0 else f'-{digits}'


def _head(text: str, root: Keys, missing: dict[str, str]) -> list[Splice]:
    if not missing:
        return []
    first, _ = root.entries[0]
    if root.flow:
        gap = text[root.start + 1 : first.start]
        gap = gap if gap.isspace() else ' '
        words = ''.join(f'"{name}": {value},{gap}' for name, value in missing.items())
        return [Splice(first.start, first.start, words)]
    line = line_start(text, first.start)
    at = _comments_above(text, line, 0, None)
    end = text[line_end(text, first.start) : next_line(text, first.start)]
    indent = text[line : first.start]
    return [Splice(at, at, ''.join(f'{indent}{name}: {value}{end}' for name, value in missing.items()))]


def _dash(text: str, items: Items, after: int) -> int:
    """Where the dash of the next item stands, of a list whose items stand below each other."""
    line = next_line(text, after)
    while text[line : line + items.column] != f'{" " * (items.column - 1)}-':
        line = next_line(text, line)
    return line + items.column - 1


def _block_cut(text: str, span: Span, before: int, follows: bool) -> Splice:
    """The lines of an entry and its comments; `before` is the end of what stands before, an entry if it `follows`."""
    line = line_start(text, span.start)
    indent = span.start - line
    start = _comments_above(text, line, next_line(text, before) if before else 0, indent if follows else None)
    return Splice(start, _comments_below(text, next_line(text, span.end), indent), '')


def _flow_cut(text: str, spans: Sequence[Span], opened: int, first: int, last: int) -> list[Splice]:
    """Entries in brackets, not all of them: with the commas after them, or that before the last."""
    start, end = spans[first].start, spans[last].end
    comma = _comma(text, end)
    end = end if comma is None else comma + 1
    line, rest = line_start(text, start), text[end : line_end(text, end)].strip(' \t')
    before = spans[first - 1].end if first else opened
    if text[line:start].isspace() and (not rest or rest.startswith('#')):
        least = next_line(text, before if not first else (_comma(text, before) or before))
        cut = Splice(_comments_above(text, line, least, start - line if first else None), next_line(text, end), '')
    elif not rest or rest.startswith('#'):
        cut = Splice(start, line_end(text, end), '')
    else:
        cut = Splice(start, end + len(text[end:]) - len(text[end:].lstrip(' \t')), '')
    previous = _comma(text, before) if first and comma is None else None
    if previous is None:
        return [cut]
    if not text[previous + 1 : cut.start].strip(' \t'):  # nothing but space between the two cuts
        return [Splice(previous, max(spans[last].end, previous + 1), '')]
    return [Splice(previous, previous + 1, ''), cut]


def _comma(text: str, index: int) -> int | None:
    """Where the comma stands after an entry in brackets that ends at a character; None if there is none."""
    while index < len(text):
        if text[index] == '#':
            index = line_end(text, index)
        elif text[index].isspace():
            index += 1
        else:
            return index if text[index] == ',' else None
    return None


def _comments_above(text: str, line: int, least: int, deepest: int | None) -> int:
    """The start of the comment lines right above a line; those before `least` or deeper than `deepest` do not count."""
    for start in reversed(line_starts(text, least, line)):
        content = text[start:line].lstrip(' ')
        if not content.startswith('#') or (deepest is not None and line - start - len(content) > deepest):
            break
        line = start
    return line


def _comments_below(text: str, line: int, indent: int) -> int:
    """The end of the comment lines from a line on that are indented deeper than `indent`."""
    end = line
    while line < len(text):
        after = next_line(text, line)
        content = text[line:after].lstrip(' ')
        if content.startswith('#') and after - line - len(content) > indent:
            end = after
        elif content.strip():
            break
        line = after
    return end
