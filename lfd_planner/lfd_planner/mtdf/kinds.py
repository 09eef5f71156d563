"""Kinds of values in a task file: each says how a node is read and how JSON Schema says the same.

The two stand side by side so that the reader and the published schema cannot drift apart. Reading never stops at the
first mistake: it is noted, and reading goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from lfd_description.hints import nearest
from lfd_description.scenes.yaml_nodes import Items, Keys, Node, shortened, shown

from .problems import GIVE_UP, Problem

T = TypeVar('T')
Schema = dict[str, Any]


class Wrong(Exception):
    """A value that cannot be used: what is wrong, what to write instead, and the part it is about."""

    def __init__(self, message: str, fix: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.fix = fix
        self.node = node
        self.others: tuple[Wrong, ...] = ()
        """Of other parts of the same value."""


class Notes:
    """What is wrong so far, and where the reader is."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.problems: list[Problem] = []
        self.keyframe: int | None = None
        self.object: str | None = None

    @property
    def gives_up(self) -> bool:
        """Whether so much is wrong that reading on helps nobody."""
        return len(self.problems) >= GIVE_UP

    def add(self, node: Node, message: str, fix: str) -> None:
        """Note a mistake."""
        self.problems.append(Problem(node.line, node.column, self.keyframe, self.object, message, fix))


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of value: `read` gives None after it noted what is wrong; `schema` is that of a version of the format."""

    read: Callable[[Node, Notes], T | None]
    schema: Callable[[int], Schema]


@dataclass(frozen=True)
class Key(Generic[T]):
    """A key of a mapping, and what stands after it."""

    name: str
    kind: Kind[T]
    meaning: str
    needed: bool = True
    since: int = 1
    """The version of the format that brought it."""


@dataclass(frozen=True)
class Fields:
    """The values of a mapping by key; those that are missing or wrong are not there."""

    node: Keys
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Node] = field(default_factory=dict)
    """What stands after each known key, right or wrong."""

    def get(self, key: Key[T]) -> T | None:
        """The value of a key that may be missing."""
        value: T | None = self.values.get(key.name)
        return value

    def need(self, key: Key[T]) -> T:
        """The value of a key that was needed to come here."""
        value: T = self.values[key.name]
        return value

    def place(self, key: Key[Any]) -> Node:
        """Where the value of a key stands; the mapping if it is missing."""
        return self.places.get(key.name, self.node)


def leaf(convert: Callable[[Node], T], schema: Schema) -> Kind[T]:
    """A value without parts of its own; `convert` raises Wrong."""

    def read(node: Node, notes: Notes) -> T | None:
        try:
            return convert(node)
        except Wrong as wrong:
            for found in (wrong, *wrong.others):
                notes.add(found.node or node, str(found), found.fix)
            return None

    return Kind(read, lambda version: dict(schema))


def mapping(
    keys: Sequence[Key[Any]],
    build: Callable[[Fields, Notes], T | None],
    *,
    what: str,
    example: str = '',
    can_be_empty: bool = True,
    schema: Schema | None = None,
) -> Kind[T]:
    """A mapping with known keys.

    Args:
        keys: what it may hold.
        build: makes the value once all needed keys are there and right; it may note more.
        what: such as 'a pose', for messages.
        example: for the message about something that is no mapping.
        can_be_empty: false if one of its keys must be there, whichever it is.
        schema: what else the schema says, such as oneOf.
    """
    known = {key.name: key for key in keys}
    wanted = f'write keys and values{f" such as {example}" if example else ""}'

    def read(node: Node, notes: Notes) -> T | None:
        if not isinstance(node, Keys):
            notes.add(node, f'{shown(node)} is not {what}', wanted)
            return None
        if not node.entries and not can_be_empty:
            notes.add(node, f'{what} must say something', suggestion('', list(known)))
            return None
        fields = _fields(node, known, notes)
        complete = True
        for key in keys:
            if key.needed and key.name not in fields.values:
                complete = False
                if key.name not in fields.places and not notes.gives_up:
                    notes.add(node, f"the key '{key.name}' is missing", f'add it: {key.meaning}')
        return build(fields, notes) if complete else None

    def schema_of(version: int) -> Schema:
        there = [key for key in keys if key.since <= version]
        needed = [key.name for key in there if key.needed]
        return {
            'type': 'object',
            'properties': {key.name: {'description': key.meaning, **key.kind.schema(version)} for key in there},
            **({'required': needed} if needed else {}),
            **({} if can_be_empty else {'minProperties': 1}),
            'additionalProperties': False,
            **(schema or {}),
        }

    return Kind(read, schema_of)


def list_of(
    kind: Kind[T], *, what: str, least: int = 0, enter: Callable[[int, Node, Notes], None] | None = None
) -> Kind[tuple[T, ...]]:
    """A list; what is wrong in it is noted and left out. `enter` is told of each item before it is read."""

    def read(node: Node, notes: Notes) -> tuple[T, ...] | None:
        if not isinstance(node, Items):
            notes.add(
                node, f'{shown(node)} is no list of {what}', 'write [] or a line for each that begins with a dash'
            )
            return None
        if len(node.values) < least:
            notes.add(node, f'the list holds {len(node.values)} {what}', f'write at least {least}')
            return None
        found = []
        for index, item in enumerate(node.values):
            if notes.gives_up:
                break
            if enter is not None:
                enter(index, item, notes)
            if (value := kind.read(item, notes)) is not None:
                found.append(value)
        return tuple(found)

    return Kind(read, lambda version: {'type': 'array', 'items': kind.schema(version), 'minItems': least})


def suggestion(text: str, known: Sequence[str]) -> str:
    """The word that was probably meant, or all there are."""
    meant = nearest(text, known)
    return f"did you mean '{meant}'?" if meant else f'use {", ".join(known)}'


def _fields(node: Keys, known: dict[str, Key[Any]], notes: Notes) -> Fields:
    fields = Fields(node)
    for name, value in node.entries:
        key = known.get(name.text)
        if notes.gives_up:
            break
        if name.text in fields.places:
            notes.add(name, f"the key '{shortened(name.text)}' is there twice", 'remove one')
        elif key is None:
            offered = [key.name for key in known.values() if key.since <= notes.version]
            notes.add(name, f"the key '{shortened(name.text)}' is not known here", suggestion(name.text, offered))
        else:
            fields.places[name.text] = value
            if key.since > notes.version:
                message = f"the key '{name.text}' belongs to version {key.since} of the format"
                notes.add(name, message, f"begin the file with 'version: {key.since}'")
            elif (read := key.kind.read(value, notes)) is not None:
                fields.values[name.text] = read
    return fields
