"""Texts of programs: what comes from outside is made harmless here, before it stands in a program.

Names of objects, tasks and signals may hold any character that can be seen. In a comment only plain ones remain, none
of which ends a comment or begins code in any of the languages.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection

_NOT_PLAIN = re.compile(r'[^A-Za-z0-9 _.,:;+()/=%-]+')
_NOT_IN_NAMES = re.compile(r'[^A-Za-z0-9_]+')


class ExportError(ValueError):
    """A solution that cannot be exported as asked; the message is one sentence that names the place and the fix."""


def plain(text: str, longest: int = 60) -> str:
    """A text for a comment: plain characters only, at most `longest` of them."""
    return ' '.join(_NOT_PLAIN.sub('?', text).split())[:longest].strip()


def identifier(text: str, longest: int, reserved: Collection[str] = (), otherwise: str = 'program') -> str:
    """A name of letters, digits and _, a letter first; `reserved` are names in lower case that it must not be."""
    name = _NOT_IN_NAMES.sub('_', text).strip('_') or otherwise
    if not name[0].isalpha() or name.lower() in reserved:
        name = f'p_{name}'
    return name[:longest].rstrip('_')


def wrapped(text: str, width: int) -> list[str]:
    """A sentence in lines of a width."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or ['']


def number(value: float, decimals: int) -> str:
    """A number with a fixed count of decimals, without a minus before zero.

    Raises:
        ExportError: it is not finite, or larger than any of the languages reads.
    """
    if not math.isfinite(value) or abs(value) >= 1e9:
        raise ExportError(f'The number {value} cannot be written into a program; plan again.')
    text = f'{value:.{decimals}f}'
    return text.removeprefix('-') if float(text) == 0.0 else text
