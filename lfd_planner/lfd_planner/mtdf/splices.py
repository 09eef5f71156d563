"""Changes of a text at known places; all that lies between keeps every character."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple


class Splice(NamedTuple):
    """New text for the characters from `start` to `end`."""

    start: int
    end: int
    text: str


class Insertion(NamedTuple):
    """New text, without a line break, before the character `at`, which stands at a line and column from 1."""

    at: int
    line: int
    column: int
    text: str


def spliced(text: str, splices: Iterable[Splice]) -> str:
    """The text with all changes made; they must not overlap."""
    parts, done = [], 0
    for splice in sorted(splices):
        parts += [text[done : splice.start], splice.text]
        done = splice.end
    return ''.join([*parts, text[done:]])


def inserted(text: str, insertions: Iterable[Insertion]) -> str:
    """The text with all insertions made."""
    return spliced(text, (Splice(insertion.at, insertion.at, insertion.text) for insertion in insertions))


class WayBack:
    """Finds the places of a text with insertions in the text without them."""

    def __init__(self, insertions: Iterable[Insertion]) -> None:
        by_line: dict[int, list[Insertion]] = {}
        for insertion in sorted(insertions):
            by_line.setdefault(insertion.line, []).append(insertion)
        self._lines = {line: _Line(found) for line, found in by_line.items()}

    def __call__(self, line: int, column: int) -> tuple[int, int]:
        """Line and column as they were; those of inserted text are where it was inserted."""
        shifts = self._lines.get(line)
        return line, column if shifts is None else shifts.column(column)


class _Line:
    def __init__(self, insertions: list[Insertion]) -> None:
        self._starts = [insertion.column for insertion in insertions]
        self._shifts = [0, *accumulate(len(insertion.text) for insertion in insertions)]
        self._ends = [start + shift for start, shift in zip(self._starts, self._shifts[1:], strict=True)]

    def column(self, column: int) -> int:
        before = bisect_right(self._ends, column)
        found = column - self._shifts[before]
        return found if before == len(self._starts) else min(found, self._starts[before])
