"""Reads the tree of a scene file: every key of every object, and everything that is wrong with them at once."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ..hints import nearest
from ..shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere
from . import values
from .scene import LIGHT_GREY, NO_TURN, Scene, SceneObject
from .values import Wrong, shortened
from .yaml_nodes import Keys, Node, Scalar

MAX_PROBLEMS = 50  # told at once
GIVE_UP = 1000  # problems after which nothing more is read
SHAPE_KEYS = {
    'box': ('size',),
    'sphere': ('radius',),
    'cylinder': ('radius', 'height'),
    'cone': ('radius', 'height'),
    'capsule': ('radius', 'height'),
    'mesh': ('file', 'scale'),
    'plane': (),
}
COMMON_KEYS = ('name', 'shape', 'position', 'orientation', 'color', 'movable', 'tags')

Value = TypeVar('Value')
Default = TypeVar('Default')


class SceneReader:
    """Turns nodes into values and collects everything that is wrong on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []

    @property
    def gives_up(self) -> bool:
        """Whether so much is wrong that reading on helps nobody."""
        return len(self.problems) >= GIVE_UP

    def summary(self) -> list[str]:
        """The problems that are told, and how many are not."""
        told = self.problems[:MAX_PROBLEMS]
        more = f'{len(self.problems) - len(told)}{" or more" if self.gives_up else ""}'
        return [*told, f'and there are {more} other problems; mend these first.'] if told != self.problems else told

    def scene(self, root: Node | None) -> Scene | None:
        """The scene of a tree; to be used only if there are no problems afterwards."""
        if not isinstance(root, Keys):
            line = root.line if root is not None else 1
            self.problems.append(f'line {line}: a scene holds the keys frame and objects, and this text does not.')
            return None
        keys = _Section(self, root, '', ('frame', 'objects'))
        frame = keys.read('frame', values.read_name)
        objects = keys.read('objects', values.read_items)
        self.refuse_twins(objects or ())
        things = (self.object(node, number) for number, node in enumerate(objects or (), start=1) if not self.gives_up)
        return Scene(frame or '', tuple(thing for thing in things if thing is not None))

    def object(self, node: Node, number: int) -> SceneObject | None:
        """The object of a node, if it is right; `number` counts from 1."""
        before = len(self.problems)
        if not isinstance(node, Keys):
            self.problems.append(
                f'line {node.line}, object {number}: an object holds keys such as name and shape, and this one none.'
            )
            return None
        kind = _peek(node, 'shape')
        own = SHAPE_KEYS.get(kind) if kind is not None else None
        known = (*COMMON_KEYS, *(own if own is not None else dict.fromkeys(sum(SHAPE_KEYS.values(), ()))))
        name = _peek(node, 'name')
        place = f", object '{shortened(name)}'" if name else f', object {number}'
        keys = _Section(self, node, place, known, _other_shapes(kind) if own is not None else None)
        thing = _object(keys, self.folder)
        return thing if len(self.problems) == before else None

    def refuse_twins(self, nodes: Iterable[Node]) -> None:
        """Note objects that have the name of another."""
        first: dict[str, int] = {}
        for node in nodes:
            name = _peek(node, 'name') if isinstance(node, Keys) else None
            if name and name in first:
                self.problems.append(
                    f"line {node.line}, object '{shortened(name)}', key 'name': "
                    f'the object of line {first[name]} has this name too; give each its own.'
                )
            elif name:
                first[name] = node.line


class _Section:
    """The keys of the scene or of one object, read one by one; what is wrong goes to the reader's problems."""

    def __init__(
        self,
        reader: SceneReader,
        keys: Keys,
        place: str,
        known: tuple[str, ...],
        explain: Callable[[str], str | None] | None = None,
    ) -> None:
        self.reader = reader
        self.line = keys.line
        self.place = place
        self.nodes: dict[str, Node] = {}
        for key, value in keys.entries:
            if reader.gives_up:
                return
            if key.text in self.nodes:
                self.problem(key.line, key.text, 'the key is there twice; remove one.')
            elif key.text in known:
                self.nodes[key.text] = value
            else:
                reason = explain(key.text) if explain else None
                self.problem(key.line, key.text, reason or _unknown(key.text, known))

    def problem(self, line: int, key: str, message: str) -> None:
        self.reader.problems.append(f"line {line}{self.place}, key '{shortened(key)}': {message}")

    def read(self, key: str, convert: Callable[[Node], Value]) -> Value | None:
        """The converted value of a key that is needed; None if it is missing or wrong, which is noted."""
        if key not in self.nodes:
            self.problem(self.line, key, 'the key is missing; add it.')
            return None
        return self.read_optional(key, convert, None)

    def read_optional(self, key: str, convert: Callable[[Node], Value], default: Default) -> Value | Default:
        """The converted value of a key that may be missing; the default if it is, or if it is wrong, which is noted."""
        if key not in self.nodes:
            return default
        try:
            return convert(self.nodes[key])
        except Wrong as wrong:
            self.problem(wrong.line or self.nodes[key].line, key, str(wrong))
            return default


def _object(keys: _Section, folder: Path) -> SceneObject | None:
    """The object; none if it has no name or shape. Other keys that are wrong are noted, and have their defaults."""
    name = keys.read('name', values.read_name)
    kind = keys.read('shape', values.read_kind)
    shape = _shape(kind, keys, folder) if kind is not None else None
    position = keys.read('position', values.read_position) if kind != 'plane' or 'position' in keys.nodes else None
    orientation = keys.read_optional('orientation', values.read_orientation, NO_TURN)
    colour = keys.read_optional('color', values.read_colour, LIGHT_GREY)
    movable = keys.read_optional('movable', values.read_boolean, False)
    tags = keys.read_optional('tags', values.read_tags, ())
    if movable and kind == 'plane':
        keys.problem(keys.nodes['movable'].line, 'movable', 'a plane has no end and cannot be moved; write false.')
    if name is None or shape is None:
        return None
    return SceneObject(name, shape, position or (0.0, 0.0, 0.0), orientation, colour, movable, tags)


def _shape(kind: str, keys: _Section, folder: Path) -> Shape | None:
    match kind:
        case 'plane':
            return Plane()
        case 'box':
            size = keys.read('size', values.read_size)
            return Box(size) if size else None
        case 'mesh':
            file = keys.read('file', lambda node: values.read_mesh_file(node, folder))
            scale = keys.read_optional('scale', values.read_scale, (1.0, 1.0, 1.0))
            return MeshFile(file, scale) if file else None
        case 'sphere':
            radius = keys.read('radius', values.read_length)
            return Sphere(radius) if radius else None
        case _:
            return _round_shape(kind, keys)


def _round_shape(kind: str, keys: _Section) -> Shape | None:
    """A shape with a radius and a height."""
    radius, height = keys.read('radius', values.read_length), keys.read('height', values.read_length)
    if not radius or not height:
        return None
    if kind == 'capsule' and height < 2.0 * radius:
        less = f'{height:g} is less than two radii of {radius:g}'
        line = keys.nodes['height'].line
        keys.problem(line, 'height', f'{less}; a capsule reaches from pole to pole, make it longer or a sphere.')
    match kind:
        case 'cylinder':
            return Cylinder(radius, height)
        case 'cone':
            return Cone(radius, height)
        case _:
            return Capsule(radius, height)


def _peek(keys: Keys, key: str) -> str | None:
    """The text of a key, right or wrong: to know what the object is meant to be."""
    return next((value.text for name, value in keys.entries if name.text == key and isinstance(value, Scalar)), None)


def _unknown(key: str, known: Iterable[str]) -> str:
    meant = nearest(key, known)
    hint = f"did you mean '{meant}'?" if meant else f'use {", ".join(known) or "none"}.'
    return f'the key is not known; {hint}'


def _other_shapes(kind: str | None) -> Callable[[str], str | None]:
    """Explains keys that belong to other shapes."""

    def explain(key: str) -> str | None:
        if not any(key in keys for keys in SHAPE_KEYS.values()):
            return None
        own = SHAPE_KEYS.get(kind or '', ())
        return f'the key does not go with a {kind}, which has {" and ".join(own) or "no dimensions"}; remove it.'

    return explain
