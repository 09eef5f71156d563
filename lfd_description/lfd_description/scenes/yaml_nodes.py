"""YAML text as a small tree whose parts know their line; what only an attacker writes is refused while it is read.

Standard loaders expand aliases, recurse as deep as the text asks for and forget where a value stood. Here the parser's
events become at most `MAX_NODES` nodes of at most `MAX_DEPTH` levels, and reading stops at the first one too many.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

MAX_CHARACTERS = 10_000_000
MAX_NODES = 200_000
MAX_DEPTH = 8

_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # libyaml where there is one: 10 times as fast


class YamlProblem(ValueError):
    """YAML that cannot be read; the message is a sentence, `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Scalar:
    """A single value as it was written, without quotes."""

    line: int
    text: str
    plain: bool
    """Whether it stood without quotes, so that it may mean a number or true."""


@dataclass(frozen=True)
class Items:
    """A list."""

    line: int
    values: tuple['Node', ...]


@dataclass(frozen=True)
class Keys:
    """Keys and their values, in the order of the text; a key may be there twice."""

    line: int
    entries: tuple[tuple[Scalar, 'Node'], ...]


Node = Scalar | Items | Keys


def read_nodes(text: str) -> Node | None:
    """The tree of a YAML text with one document; None if there is nothing in it.

    Raises:
        YamlProblem: the text is no YAML, too big, too deep, or uses aliases or tags.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlProblem(1, f'the text has {len(text)} characters; keep it below {MAX_CHARACTERS}.')
    try:
        return _Builder(text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(mark.line + 1 if mark else 1, f'this is no YAML: {error.problem or error.context}.') from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlProblem(1, f'this is no YAML text: {" ".join(str(error).split())}.') from None


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


class _Builder:
    """Builds nodes from the parser's events, as few of them as possible before it refuses."""

    def __init__(self, text: str) -> None:
        self.events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self.nodes = 0

    def document(self) -> Node | None:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                raise YamlProblem(_line(event), 'a second document begins; keep one in a file.')
            if isinstance(event, yaml.NodeEvent):
                root = self.node(event, 1)
        return root

    def node(self, event: yaml.Event, depth: int) -> Node:
        line = _line(event)
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise YamlProblem(line, f'lists and keys are nested more than {MAX_DEPTH} levels deep; flatten them.')
        if self.nodes > MAX_NODES:
            raise YamlProblem(line, f'there are more than {MAX_NODES} values; split the file.')
        if getattr(event, 'anchor', None) is not None:  # an alias has one, too
            raise YamlProblem(line, 'anchors (&) and aliases (*) are not used here; write the value out.')
        if (tag := getattr(event, 'tag', None)) not in (None, '!'):
            raise YamlProblem(line, f"the tag '{tag}' is not used here; remove it.")
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(line, event.value, event.style in (None, ''))
        if isinstance(event, yaml.SequenceStartEvent):
            return Items(line, tuple(self.until(yaml.SequenceEndEvent, depth)))
        return self.keys(line, depth)

    def until(self, end: type[yaml.Event], depth: int) -> Iterator[Node]:
        for event in self.events:
            if isinstance(event, end):
                return
            yield self.node(event, depth + 1)

    def keys(self, line: int, depth: int) -> Keys:
        entries = []
        nodes = self.until(yaml.MappingEndEvent, depth)
        for key in nodes:
            if not isinstance(key, Scalar):
                raise YamlProblem(key.line, 'a list or mapping stands where a key should be; use a name.')
            entries.append((key, next(nodes)))
        return Keys(line, tuple(entries))
