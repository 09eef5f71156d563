"""Text of a file (YAML or JSON) as a tree whose parts know where they stand.

A file comes from anyone. The parser's events become nodes one by one, so that a text that is too big or too deep, or
that multiplies itself by aliases, is refused at the first node too many and nothing is built of what follows. Nodes
keep line, column and span: reports need the first two, edits in place and repairs the last.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import yaml

MAX_CHARACTERS = 10_000_000
MAX_KEY = 1024  # characters, beyond which YAML's parsers see no key

LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # libyaml where there is one: 10 times as fast

_NOT_ALLOWED = re.compile(r'[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]')
_LINE_BREAK = re.compile(r'\r\n|[\r\n\x85\u2028\u2029]')  # as YAML counts lines
_BLANKS = ' \t\r\n\x85\u2028\u2029'
# A character beyond U+FFFF as JSON escapes it: two halves, which YAML does not put together.
_PAIR = re.compile(r'(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})')
_SAVED = len(r'\ud83d\ude00') - len(r'\U0001f600')


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


class Limits(NamedTuple):
    """How much a file may hold."""

    values: int
    """Scalars, lists and mappings together."""
    depth: int
    """Lists and mappings within each other, at which reading stops."""


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


def shortened(text: str) -> str:
    """A text of a stranger, fit for a message."""
    printable = ''.join(letter if letter.isprintable() else '?' for letter in text[:61])
    return printable if len(printable) <= 60 else f'{printable[:57]}...'


def shown(node: Node) -> str:
    """A value of a stranger, fit for a message."""
    match node:
        case Scalar(text=text):
            return f"'{shortened(text)}'"
        case Items(values=values):
            return f'a list of {len(values)}'
        case _:
            return 'a mapping'


def read_nodes(text: str, limits: Limits) -> Node | None:
    """The tree of a text with one document; None if there is nothing in it.

    Raises:
        TextProblem: the text is no YAML or JSON, too big, too deep, or uses aliases or tags.
    """
    _refuse_text(text)
    if not _PAIR.search(text):
        return _parsed(text, limits)
    pairs = _Pairs(text)
    try:
        root = _parsed(pairs.text, limits)
    except TextProblem as problem:
        raise pairs.problem(problem) from None
    return None if root is None else pairs.back(root)


def same_places(text: str) -> str:
    """The text with other characters for escaped pairs, at which a parser does not stop; all else keeps its place."""
    return _PAIR.sub(r'\1\\u003f\\u003f', text)


def line_start(text: str, index: int) -> int:
    """Where the line of a character begins."""
    return max(text.rfind(end, 0, index) for end in _BLANKS[2:]) + 1


def line_starts(text: str, start: int, end: int) -> list[int]:
    """Where the lines between two characters begin; both are beginnings of lines, and the last does not count."""
    starts = [start, *(found.end() for found in _LINE_BREAK.finditer(text, start, end))]
    return [at for at in starts if at < end]


def next_line(text: str, index: int) -> int:
    """Where the line after that of a character begins; the end of the text if there is none."""
    found = _LINE_BREAK.search(text, index)
    return found.end() if found else len(text)


def line_end(text: str, index: int) -> int:
    """Where the line of a character ends, its break not counted."""
    found = _LINE_BREAK.search(text, index)
    return found.start() if found else len(text)


def _parsed(text: str, limits: Limits) -> Node | None:
    loader = LOADER(text)
    try:
        # Events are asked for one by one: yaml.parse would check for each whether it is there, which takes as long.
        return _document(iter(loader.get_event, None), text, limits)
    except yaml.MarkedYAMLError as error:
        raise _explained(text, error) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise TextProblem(1, 1, f'this is no YAML text: {" ".join(str(error).split())}', 'mend it') from None
    finally:
        loader.dispose()


def _refuse_text(text: str) -> None:
    """Refuse what no parser need look at: a text that is too long, or holds control characters."""
    if len(text) > MAX_CHARACTERS:
        raise TextProblem(1, 1, f'the text has {len(text)} characters and may have {MAX_CHARACTERS}', 'split the file')
    if found := _NOT_ALLOWED.search(text):
        code = f'U+{ord(found[0]):04X}'
        raise TextProblem(*place_of(text, found.start()), f'the character {code} is not allowed', 'remove it')


def place_of(text: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of a character."""
    line, start = 1, 0
    for found in _LINE_BREAK.finditer(text, 0, index):
        line, start = line + 1, found.end()
    return line, index - start + 1


class _Pairs:
    """A text whose escaped pairs are in YAML's spelling, and the way back to the places of the text as it was."""

    def __init__(self, original: str) -> None:
        self.text = _PAIR.sub(_in_yaml, original)
        ends = [found.end() for found in _PAIR.finditer(original)]
        self._ends = [end - _SAVED * (count + 1) for count, end in enumerate(ends)]

    def back(self, node: Node) -> Node:
        """The node at the places that it has in the text as it was."""
        column = self._column(node.column, node.start)
        start, end = (index + _SAVED * self._before(index) for index in (node.start, node.end))
        match node:
            case Scalar():
                if end - start != node.end - node.start and self.text[node.start] != '"':
                    message = 'an escape such as \\ud83d stands outside of double quotes'
                    raise TextProblem(node.line, column, message, 'put the text in double quotes')
                return node._replace(column=column, start=start, end=end)
            case Items(values=values):
                items = tuple(self.back(value) for value in values)
                return node._replace(values=items, column=column, start=start, end=end)
            case Keys(entries=entries):
                moved = tuple((self._key(key), self.back(value)) for key, value in entries)
                return node._replace(entries=moved, column=column, start=start, end=end)

    def problem(self, problem: TextProblem) -> TextProblem:
        """The problem at its place in the text as it was."""
        index = 0
        for _ in range(problem.line - 1):
            index = next_line(self.text, index)
        column = self._column(problem.column, index + problem.column - 1)
        return TextProblem(problem.line, column, str(problem), problem.fix, lacks_comma=problem.lacks_comma)

    def _key(self, key: Scalar) -> Scalar:
        moved = self.back(key)
        assert isinstance(moved, Scalar)
        return moved

    def _before(self, index: int) -> int:
        """How many pairs end before a character."""
        return bisect_right(self._ends, index)

    def _column(self, column: int, index: int) -> int:
        return column + _SAVED * (self._before(index) - self._before(index - column + 1))


def _in_yaml(pair: re.Match[str]) -> str:
    high, low = (int(half, 16) & 0x3FF for half in pair.groups()[1:])
    return f'{pair[1]}\\U{0x10000 + (high << 10 | low):08x}'


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


def _document(events: Iterator[Any], text: str, limits: Limits) -> Node | None:
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
            end = event.end_mark.index
            style = event.style  # None with one parser and '' with the other if there are no quotes
            if style == '|' or style == '>':  # the parser goes on over the empty lines below
                end = start.index + len(text[start.index : end].rstrip(_BLANKS))
            node = Scalar(event.value, not style, start.line + 1, start.column + 1, start.index, end)
        elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent or kind is yaml.AliasEvent:
            _refuse_extras(event)
            _refuse_as_key(open_nodes, event)
            open_nodes.append(_Open(event))
            if len(open_nodes) >= limits.depth:
                raise _problem(event, f'lists and keys are nested {limits.depth} levels deep', 'flatten them')
            continue
        elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
            node = open_nodes.pop().closed(event.end_mark.index)
        elif kind is yaml.DocumentStartEvent and root is not None:
            raise _problem(event, 'a second document begins', 'keep one in a file')
        else:
            continue
        count += 1
        if count > limits.values:
            raise _problem(event, f'there are more than {limits.values} values', 'split the file')
        if open_nodes:
            open_nodes[-1].nodes.append(node)
        else:
            root = node
    return root


def _refuse_extras(event: Any) -> None:
    if event.anchor is not None:  # an alias has one, too
        raise _problem(event, 'anchors (&) and aliases (*) are not used here', 'write the value out')
    if event.tag not in (None, '!'):
        raise _problem(event, f"the tag '{shortened(event.tag)}' is not used here", 'remove it')


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
    if (start := _long_key(text, index, error)) is not None:
        return TextProblem(*place_of(text, start), f'a key has more than {MAX_KEY} characters', 'use a shorter one')
    if 'Unicode character escape' in problem:
        message = f"'{shortened(text[index - 2 : index + 4])}' is half of a character"
        return TextProblem(line, column - 2, message, 'write both halves, or the character itself')
    if text[index : index + 1] == '\t':
        return TextProblem(line, column, 'a tab stands where YAML asks for spaces', 'indent with spaces')
    if "expected ','" in problem:
        in_braces = "'}'" in problem
        message = f"a ',' or '{'}' if in_braces else ']'}' is missing before this"
        return TextProblem(line, column, message, 'add it', lacks_comma=in_braces)
    return TextProblem(line, column, f'this is no YAML or JSON ({problem})', 'mend the text here')


def _long_key(text: str, index: int, error: yaml.MarkedYAMLError) -> int | None:
    """Where a key begins that is too long to be one; None if that is not what is wrong."""
    if text[index : index + 1] != ':':
        return None
    if error.context_mark and "expected ':'" in (error.problem or ''):
        start = error.context_mark.index
    else:
        start = _last_scalar(text, index)
    return start if index - start > MAX_KEY else None


def _last_scalar(text: str, index: int) -> int:
    """Where the last value before a character begins; that character if there is none."""
    start = index
    try:
        for token in yaml.scan(text, Loader=LOADER):
            if token.start_mark.index >= index:
                break
            if isinstance(token, yaml.ScalarToken):
                start = token.start_mark.index
    except yaml.YAMLError:  # which is why this is asked
        pass
    return start
