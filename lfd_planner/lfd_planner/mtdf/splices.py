"""Changes of a text at known places; all that lies between keeps every character."""

from collections.abc import Iterable
from typing import NamedTuple


class Splice(NamedTuple):
    """New text for the characters from `start` to `end`."""

    start: int
    end: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all changes made; they must not overlap."""
    parts, done = [], 0
    for splice in sorted(splices):
        parts += [text[done : splice.start], splice.text]
        done = splice.end
    return ''.join([*parts, text[done:]])
