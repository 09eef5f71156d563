"""A tokeniser that knows where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .replay import ProgramError


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    line: int


def tokens(text: str, kinds: dict[str, str]) -> Iterator[Token]:
    """The tokens of a text; `kinds` maps the kind to its pattern, in order; `space` is dropped."""
    pattern = re.compile('|'.join(f'(?P<{kind}>{each})' for kind, each in kinds.items()))
    place, line = 0, 1
    while place < len(text):
        found = pattern.match(text, place)
        if found is None or found.end() == place:
            raise ProgramError(f'line {line}: {text[place : place + 20]!r} is no token')
        if found.lastgroup != 'space':
            yield Token(str(found.lastgroup), found.group(), line)
        line += found.group().count('\n')
        place = found.end()


class Reader:
    """Tokens one after the other."""

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.place = 0

    @property
    def next(self) -> Token:
        if self.place == len(self.found):
            return Token('end of file', '', self.found[-1].line if self.found else 0)
        return self.found[self.place]

    def take(self) -> Token:
        token = self.next
        if token.kind == 'end of file':
            raise ProgramError('the program ends too early')
        self.place += 1
        return token

    def is_next(self, *texts: str) -> bool:
        return self.next.text in texts

    def expect(self, text: str) -> Token:
        token = self.take()
        if token.text != text:
            raise ProgramError(f'line {token.line}: {text!r} should stand where {token.text!r} stands')
        return token

    def expect_kind(self, kind: str) -> Token:
        token = self.take()
        if token.kind != kind:
            raise ProgramError(f'line {token.line}: {token.text!r} is no {kind}')
        return token

    def wrong(self) -> ProgramError:
        return ProgramError(f'line {self.next.line}: {self.next.text!r} is not expected here')
