"""The line by which people, and programs that read the console, learn where the page is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

START = 'The page:'
_LINE = re.compile(rf'{START} (http://[^\s,]+/)(?:#code=\d+)?(?:,.*)?, code (\d+)')


@dataclass(frozen=True)
class PageLine:
    """Where the page is, and which code pairs the next device."""

    address: str
    """On this machine, without the code."""
    code: str
    network: Sequence[str] = ()
    """Addresses for other devices."""

    @property
    def opening(self) -> str:
        """The address that pairs when it is opened; no server and no log ever sees what is behind the #."""
        return f'{self.address}#code={self.code}'

    def __str__(self) -> str:
        network = f', on the network {" or ".join(self.network)}' if self.network else ''
        return f'{START} {self.opening}{network}, code {self.code}'

    @staticmethod
    def read(line: str) -> PageLine | None:
        """What a line tells; None if it is another."""
        found = _LINE.fullmatch(line.strip())
        return PageLine(found[1], found[2]) if found else None
