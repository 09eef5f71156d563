"""Single values of a task file: names, numbers, vectors, quaternions, colours and times."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from lfd_description.scenes import values as scene_values
from lfd_description.scenes.values import MAX_DISTANCE, MAX_NAME, MIN_LENGTH, SHAPES, UNIT_TOLERANCE
from lfd_description.scenes.yaml_nodes import Items, Node, Scalar, shown
from lfd_description.shapes import Vector
from lfd_description.transforms import Quaternion

from .kinds import Kind, Schema, Wrong, leaf, suggestion
from .quaternions import lost_exponents, unit
from .rules import Range

MAX_TIME = 86_400.0  # [s], a day
MAX_SPEED = 10.0  # [m/s]
MAX_DIGITS = 64  # of a number

_NUMBER = re.compile(r'[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?')
_LEADING_ZERO = re.compile(r'[-+]?0[0-9]')
_TOO_FINE = re.compile(r'[.,][0-9]{6}0*[1-9]')
_NOT_FINITE = re.compile(r'[-+]?\.?(nan|inf|infinity)', re.IGNORECASE)
_PARTS = 'xyzw'

T = TypeVar('T')


def read_number(node: Node) -> float:
    """A finite number."""
    text = node.text if isinstance(node, Scalar) and node.plain else ''
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        infinite = isinstance(node, Scalar) and _NOT_FINITE.fullmatch(node.text)
        raise Wrong(f'{shown(node)} is no {"finite " if infinite else ""}number', 'write one such as 0.25', node)
    if _LEADING_ZERO.match(text):  # 010 is 8 to YAML 1.1, 10 to YAML 1.2, and nothing to JSON
        raise Wrong(f'{shown(node)} begins with a zero, which some readers take for octal', 'remove that zero', node)
    number = float(text)
    if not math.isfinite(number):
        raise Wrong(f'{shown(node)} is too big for a number', 'write one such as 0.25', node)
    return number


def written(node: Node) -> tuple[Scalar, ...]:
    """The values of a list as they are written; those that are no single values are left out."""
    return tuple(value for value in node.values if isinstance(value, Scalar)) if isinstance(node, Items) else ()


def _bounded(least: float, most: float, unit_name: str, *, above: bool = False) -> Kind[float]:
    """A number from `least` (or only above it) to `most`."""

    def read(node: Node) -> float:
        number = read_number(node)
        if number > most or number < least or (above and number == least):
            start = f'above {least:g}' if above else f'from {least:g}'
            raise Wrong(f'{number:g} {unit_name} is out of range', f'write a number {start} to {most:g}', node)
        return number

    low: Schema = {'exclusiveMinimum': least} if above else {'minimum': least}
    return leaf(read, {'type': 'number', **low, 'maximum': most})


def _coordinate(node: Node) -> float:
    number = read_number(node)
    if abs(number) > MAX_DISTANCE:
        raise Wrong(f'{number:g} is more than {MAX_DISTANCE:g} m away', 'write metres, not millimetres', node)
    return number


def _part_of_colour(node: Node) -> float:
    number = read_number(node)
    if not 0.0 <= number <= 1.0:
        raise Wrong(f'{number:g} is no part of a colour', 'write numbers from 0 to 1', node)
    return number


def _numbers(node: Node, count: int, convert: Callable[[Node], float], fix: str) -> tuple[float, ...]:
    if not isinstance(node, Items) or len(node.values) != count:
        raise Wrong(f'{shown(node)} is not {count} numbers', fix)
    try:
        return tuple([convert(value) for value in node.values])
    except Wrong as wrong:
        wrong.others = _other_mistakes(node, convert)
        raise


def _other_mistakes(node: Items, convert: Callable[[Node], float]) -> tuple[Wrong, ...]:
    """What is wrong besides the first mistake."""
    found: list[Wrong] = []
    for value in node.values:
        try:
            convert(value)
        except Wrong as wrong:
            found.append(wrong)
    return tuple(found[1:])


def _read_position(node: Node) -> Vector:
    x, y, z = _numbers(node, 3, _coordinate, 'write [x, y, z] in metres')
    return x, y, z


def _read_orientation(node: Node) -> Quaternion:
    wanted = 'write a unit quaternion [x, y, z, w], [0, 0, 0, 1] for no turn'
    x, y, z, w = _numbers(node, 4, read_number, wanted)
    turn = unit((x, y, z, w))
    if turn is not None:
        return turn
    length = math.hypot(x, y, z, w)
    message = f'the quaternion has the length {length:.4g} and not 1 (within {UNIT_TOLERANCE:g})'
    if lost := lost_exponents([part.text for part in written(node)]):
        parts = ' and '.join(f'{_PARTS[n]} ({(x, y, z, w)[n]:g})' for n in lost)
        raise Wrong(f'{message}: {parts} probably lost an exponent', 'put it back, or use ./lfd mtdf repair')
    raise Wrong(message, wanted)


def _read_range(node: Node) -> Range:
    least, most = _numbers(node, 2, read_number, 'write [least, most] in metres')
    if not 0.0 <= least <= most <= MAX_DISTANCE:
        raise Wrong(f'{least:g} to {most:g} is no range of lengths', f'write [least, most], 0 to {MAX_DISTANCE:g} m')
    return least, most


def _of_scene(read: Callable[[Node], T]) -> Callable[[Node], T]:
    """A value that scene files have, too, read as there."""

    def convert(node: Node) -> T:
        if not isinstance(node, Scalar):
            raise Wrong(f'{shown(node)} is no text', 'write a name')
        try:
            return read(node)
        except scene_values.Wrong as wrong:
            message, _, fix = str(wrong).rstrip('.').rpartition('; ')
            raise Wrong(message or fix, fix) from None

    return convert


def _read_colour(node: Node) -> str | Vector:
    if isinstance(node, Items):
        red, green, blue = _numbers(node, 3, _part_of_colour, 'write [r, g, b], 0 to 1, or a name such as red')
        return red, green, blue
    _of_scene(scene_values.read_colour)(node)
    return node.text.lower() if isinstance(node, Scalar) else ''


def _read_point_or_name(node: Node) -> Vector | str:
    return _read_position(node) if isinstance(node, Items) else _of_scene(scene_values.read_name)(node)


def _read_flag_or_number(node: Node) -> bool | float:
    if isinstance(node, Scalar) and node.plain and _NUMBER.fullmatch(node.text[:MAX_DIGITS]):
        return read_number(node)
    try:
        return _of_scene(scene_values.read_boolean)(node)
    except Wrong:
        raise Wrong(f'{shown(node)} is no value of a signal', 'write true, false or a number') from None


def _read_moment(node: Node) -> datetime:
    fix = 'write date, time and zone, such as "2026-03-01T14:05:09Z"'
    try:
        moment = datetime.fromisoformat(node.text if isinstance(node, Scalar) else '')
    except ValueError:
        raise Wrong(f'{shown(node)} is no moment', fix) from None
    if isinstance(node, Scalar) and _TOO_FINE.search(node.text):
        raise Wrong(f'{shown(node)} is told more finely than by the microsecond', 'keep six digits of the second')
    if moment.tzinfo is None:
        raise Wrong(f'{shown(node)} has no time zone', fix)
    return moment


def choice(words: Sequence[str], what: str) -> Kind[str]:
    """One of a few words."""

    def read(node: Node) -> str:
        text = node.text if isinstance(node, Scalar) else ''
        if text not in words:
            raise Wrong(f'{shown(node)} is no {what}', suggestion(text, words))
        return text

    return leaf(read, {'const': words[0]} if len(words) == 1 else {'enum': list(words)})


def whole(numbers: Sequence[int], what: str) -> Kind[int]:
    """One of a few whole numbers."""
    words = {str(number): number for number in numbers}

    def read(node: Node) -> int:
        number = words.get(node.text) if isinstance(node, Scalar) and node.plain else None
        if number is None:
            raise Wrong(f'{shown(node)} is no {what} that is known', f'use {" or ".join(words)}')
        return number

    return leaf(read, {'enum': list(numbers)})


_POINT: Schema = {
    'type': 'array',
    'items': {'type': 'number', 'minimum': -MAX_DISTANCE, 'maximum': MAX_DISTANCE},
    'minItems': 3,
    'maxItems': 3,
}
_NAME: Schema = {'type': 'string', 'minLength': 1, 'maxLength': MAX_NAME, 'pattern': r'^\S(.*\S)?$'}

NAME = leaf(_of_scene(scene_values.read_name), _NAME)
POSITION = leaf(_read_position, _POINT)
ORIENTATION = leaf(
    _read_orientation,
    {
        'type': 'array',
        'items': {'type': 'number', 'minimum': -1.0 - UNIT_TOLERANCE, 'maximum': 1.0 + UNIT_TOLERANCE},
        'minItems': 4,
        'maxItems': 4,
    },
)
SECONDS = _bounded(0.0, MAX_TIME, 's')
DURATION = _bounded(0.0, MAX_TIME, 's', above=True)
SPEED = _bounded(0.0, MAX_SPEED, 'm/s', above=True)
LENGTH = _bounded(MIN_LENGTH, MAX_DISTANCE, 'm')
RANGE = leaf(
    _read_range,
    {
        'type': 'array',
        'items': {'type': 'number', 'minimum': 0.0, 'maximum': MAX_DISTANCE},
        'minItems': 2,
        'maxItems': 2,
    },
)
MOMENT = leaf(_read_moment, {'type': 'string', 'format': 'date-time'})
SIGNAL_VALUE = leaf(_read_flag_or_number, {'type': ['boolean', 'number']})
COLOUR = leaf(
    _read_colour,
    {
        'oneOf': [
            {'type': 'string', 'minLength': 1},
            {
                'type': 'array',
                'items': {'type': 'number', 'minimum': 0.0, 'maximum': 1.0},
                'minItems': 3,
                'maxItems': 3,
            },
        ]
    },
)
POINT_OR_NAME = leaf(_read_point_or_name, {'oneOf': [_POINT, _NAME]})
SHAPE = choice([shape for shape in SHAPES if shape != 'plane'], 'shape that can be moved')
