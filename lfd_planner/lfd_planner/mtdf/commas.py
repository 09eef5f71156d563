"""Commas that a print or an editor lost between the entries of a flow mapping, found in one pass over the tokens.

{ position: [ 0.534, 0.0237, 0.321 ]          <- here
orientation: [ 0.0, 0.0, 0.0, 1.0 ] }
"""

from typing import Any, NamedTuple

import yaml

from lfd_description.scenes.yaml_nodes import LOADER, same_places

from .nodes import LIMITS
from .splices import Insertion

MAX_COMMAS = 100_000

_CLOSED = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)


class MissingComma(NamedTuple):
    """A place where a comma must go."""

    at: int
    """In characters from the start of the text."""
    line: int
    column: int
    before: str
    """The key that follows."""


def missing_commas(text: str) -> tuple[MissingComma, ...]:
    """Where a list or mapping in braces ends and a key follows at once; none if the text cannot be followed."""
    found: list[MissingComma] = []
    mappings: list[bool] = []
    last: Any = None
    try:
        for token in yaml.scan(same_places(text), Loader=LOADER):
            inside = bool(mappings) and mappings[-1]
            if inside and isinstance(last, _CLOSED) and isinstance(token, yaml.ScalarToken):
                mark = last.end_mark
                found.append(MissingComma(mark.index, mark.line + 1, mark.column + 1, token.value))
            if isinstance(token, yaml.FlowMappingStartToken | yaml.FlowSequenceStartToken):
                mappings.append(isinstance(token, yaml.FlowMappingStartToken))
            elif isinstance(token, _CLOSED) and mappings:
                mappings.pop()
            if len(mappings) > LIMITS.depth or len(found) > MAX_COMMAS:
                return ()
            last = token
    except yaml.YAMLError:
        return ()
    return tuple(found)


def insertions(commas: tuple[MissingComma, ...]) -> list[Insertion]:
    """The commas as changes of the text."""
    return [Insertion(comma.at, comma.line, comma.column, ',') for comma in commas]
