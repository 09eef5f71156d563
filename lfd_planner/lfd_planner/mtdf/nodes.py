"""Text of a task file (YAML or JSON) as a tree whose parts know where they stand.

A file comes from anyone. The parser's events become nodes one by one, so that a text that is too big or too deep, or
that multiplies itself by aliases, is refused at the first node too many and nothing is built of what follows. Nodes
keep line, column and span: reports need the first two, edits in place and repairs the last.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import yaml

from lfd_description.scenes.values import shortened

MAX_BYTES = 10_000_000
MAX_NODES = 500_000
MAX_DEPTH = 24
BOM = '\ufeff'

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # libyaml where there is one: 10 times as fast

_NOT_ALLOWED = re.compile(r'[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_LINE_BREAK = re.compile(r'\r\n|[\r\n\x85\u2028\u2029]')  # as YAML counts lines


class Scalar(NamedTuple):
    """A single value as it was written, without quotes."""

    text: str
    plain: bool
    """Whether it stood without quotes, so that it may mean a number or true."""
    line: int
    column: int
    start: int
    end: int


class Items(NamedTuple):
    """A list."""

    values: tuple['Node', ...]
    flow: bool
    """Whether it is in brackets; else its items stand below each other, each after a dash."""
    line: int
    column: int
    start: int
    end: int


class Keys(NamedTuple):
    """Keys and their values, in the order of the text; a key may be there twice."""

    entries: tuple[tuple[Scalar, 'Node'], ...]
    flow: bool
    """Whether it is in braces; else its keys stand below each other."""
    line: int
    column: int
    start: int
    end: int


Node: TypeAlias = Scalar | Items | Keys


class TextProblem(ValueError):
    """A text that is no tree: the message says what is wrong, `fix` what to do, at a line and column from 1.

    lacks_comma: it is a mapping in braces whose entries are not all followed by a comma.
    """

    def __init__(self, line: int, column: int, message: str, fix: str, *, lacks_comma: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.fix = fix
        self.lacks_comma = lacks_comma


def read_nodes(text: str) -> Node | None:
    """The tree of a text with one document; None if there is nothing in it.

    Raises:
        TextProblem: the text is no YAML or JSON, too big, too deep, or uses aliases or tags.
    """
    refuse_text(text)
    loader = LOADER(text)
    try:
        # Events are asked for one by one: yaml.parse would check for each whether it is there, which takes as long.
        return _document(iter(loader.get_event, None))
    except yaml.MarkedYAMLError as error:
        raise _explained(text, error) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise TextProblem(1, 1, f'this is no YAML text: {" ".join(str(error).split())}', 'mend it') from None
    finally:
        loader.dispose()


def refuse_text(text: str) -> None:
    """Refuse what no parser need look at.

    Raises:
        TextProblem: the text is too long, begins with a byte order mark or holds control characters.
    """
    if len(text) > MAX_BYTES:
        raise TextProblem(1, 1, f'the text has {len(text)} characters and may have {MAX_BYTES}', 'split the task')
    if text.startswith(BOM):
        raise TextProblem(
            1, 1, 'the text begins with a byte order mark', 'save it as UTF-8 without one, or use ./lfd mtdf repair'
        )
    if found := _NOT_ALLOWED.search(text):
        code = f'U+{ord(found[0]):04X}'
        raise TextProblem(*place_of(text, found.start()), f'the character {code} is not allowed', 'remove it')


def place_of(text: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of a character."""
    line, start = 1, 0
    for found in _LINE_BREAK.finditer(text, 0, index):
        line, start = line + 1, found.end()
    return line, index - start + 1


class _Open:
    """A list or mapping that has not ended yet."""

    __slots__ = ('column', 'flow', 'is_mapping', 'line', 'nodes', 'start')

    def __init__(self, event: Any) -> None:
        mark = event.start_mark
        self.is_mapping = type(event) is yaml.MappingStartEvent
        self.flow = bool(event.flow_style)
        self.line, self.column, self.start = mark.line + 1, mark.column + 1, mark.index
        self.nodes: list[Node] = []

    def closed(self, end: int) -> Node:
        # The parser ends a block where the next token begins; what belongs to it ends with its last value.
        end = end if self.flow or not self.nodes else self.nodes[-1].end
        if not self.is_mapping:
            return Items(tuple(self.nodes), self.flow, self.line, self.column, self.start, end)
        entries: Any = tuple(zip(self.nodes[::2], self.nodes[1::2], strict=True))
        return Keys(entries, self.flow, self.line, self.column, self.start, end)


def _document(events: Iterator[Any]) -> Node | None:
    root: Node | None = None
    open_nodes: list[_Open] = []
    count = 0
    for event in events:
        kind = type(event)
        node: Node
        if kind is yaml.ScalarEvent:
            start = event.start_mark
            if event.anchor is not None or event.tag is not None:
                _refuse_extras(event)
            # A style is None with one parser and '' with the other.
            node = Scalar(
                event.value, not event.style, start.line + 1, start.column + 1, start.index, event.end_mark.index
            )
        elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent or kind is yaml.AliasEvent:
            _refuse_extras(event)
            _refuse_as_key(open_nodes, event)
            open_nodes.append(_Open(event))
            if len(open_nodes) >= MAX_DEPTH:
                raise _problem(event, f'lists and keys are nested {MAX_DEPTH} levels deep', 'flatten them')
            continue
        elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
            node = open_nodes.pop().closed(event.end_mark.index)
        elif kind is yaml.DocumentStartEvent and root is not None:
            raise _problem(event, 'a second document begins', 'keep one task in a file')
        else:
            continue
        count += 1
        if count > MAX_NODES:
            raise _problem(event, f'there are more than {MAX_NODES} values', 'split the task')
        if open_nodes:
            open_nodes[-1].nodes.append(node)
        else:
            root = node
    return root


def _refuse_extras(event: Any) -> None:
    if event.anchor is not None:  # an alias has one, too
        raise _problem(event, 'anchors (&) and aliases (*) are not used in tasks', 'write the value out')
    if event.tag not in (None, '!'):
        raise _problem(event, f"the tag '{shortened(event.tag)}' is not used in tasks", 'remove it')


def _refuse_as_key(open_nodes: list[_Open], event: Any) -> None:
    if open_nodes and open_nodes[-1].is_mapping and len(open_nodes[-1].nodes) % 2 == 0:
        raise _problem(event, 'a list or mapping stands where a key should be', 'write a name')


def _problem(event: Any, message: str, fix: str) -> TextProblem:
    mark = event.start_mark
    return TextProblem(mark.line + 1, mark.column + 1, message, fix)


def _explained(text: str, error: yaml.MarkedYAMLError) -> TextProblem:
    mark = error.problem_mark or error.context_mark
    line, column, index = (mark.line + 1, mark.column + 1, mark.index) if mark else (1, 1, 0)
    problem = error.problem or error.context or 'unknown'
    if text[index : index + 1] == '\t':
        return TextProblem(line, column, 'a tab stands where YAML asks for spaces', 'indent with spaces')
    if "expected ','" in problem:
        in_braces = "'}'" in problem
        message = f"a ',' or '{'}' if in_braces else ']'}' is missing before this"
        return TextProblem(line, column, message, 'add it', lacks_comma=in_braces)
    return TextProblem(line, column, f'this is no YAML or JSON ({problem})', 'mend the text here')
