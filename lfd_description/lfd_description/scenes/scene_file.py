"""Scene files: YAML in, a checked `Scene` out, and back without loss.

A file comes from outside, so that everything in it is checked here, and all that is wrong is told at once, each with
its line, object and key. The format is in the table of `lfd_description.scenes`.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from ..files import without_dots, write_atomically
from ..shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere
from .scene import Scene, SceneError, SceneObject
from .scene_reader import SceneReader
from .values import FALSE, NOTHING, PACKAGE, TRUE, share_folder
from .yaml_nodes import Limits, TextProblem, read_nodes

MAX_BYTES = 10_000_000
LIMITS = Limits(values=200_000, depth=9)

_PLAIN = re.compile(r'[A-Za-z_][A-Za-z0-9_-]*')


def load_scene(file: Path) -> Scene:
    """Read and check a scene file.

    Raises:
        SceneError: the file is missing or wrong; the message names the file and each problem with its line.
    """
    try:
        text = _read_text(file)
    except OSError as error:
        raise SceneError(f'{file} cannot be read: {error.strerror or error}.') from None
    except UnicodeError:
        raise SceneError(f'{file} is no UTF-8 text; save it as such.') from None
    try:
        return parse_scene(text, file.parent)
    except SceneError as error:
        raise SceneError(*(f'{file}, {problem}' for problem in error.problems)) from None


def parse_scene(text: str, folder: Path) -> Scene:
    """The scene of a YAML text; `folder` is where relative names of mesh files start.

    Raises:
        SceneError: the text is wrong; there is a sentence for each problem, with its line, object and key.
    """
    try:
        root = read_nodes(text, LIMITS)
    except TextProblem as problem:
        raise SceneError(f'line {problem.line}: {problem}; {problem.fix}.') from None
    reader = SceneReader(without_dots(folder))
    scene = reader.scene(root)
    if scene is None or reader.problems:
        raise SceneError(*reader.summary())
    return scene


def dump_scene(scene: Scene, folder: Path | None = None) -> str:
    """A scene as YAML text: `parse_scene` with the same folder gives an equal scene back.

    Mesh files below `folder` are named relative to it, those of the suite by `package://`, all others absolutely.

    Raises:
        SceneError: the scene holds what a scene file may not, such as two objects of one name.
    """
    lines = [f'frame: {_text(scene.frame)}', 'objects:' if scene.objects else 'objects: []']
    for thing in scene.objects:
        entries = [('name', _text(thing.name)), *_shape_entries(thing.shape, folder), *_common_entries(thing)]
        lines += [f'{"  " if n else "- "}{key}: {value}' for n, (key, value) in enumerate(entries)]
    text = '\n'.join(lines) + '\n'
    parse_scene(text, folder or Path())
    return text


def save_scene(scene: Scene, file: Path) -> None:
    """Write a scene file, all of it or nothing.

    Raises:
        SceneError: the scene holds what a scene file may not.
        OSError: the file cannot be written.
    """
    write_atomically(file, dump_scene(scene, file.parent))


def _read_text(file: Path) -> str:
    if file.exists() and not file.is_file():  # a pipe would be waited for, a device may have no end
        raise SceneError(f'{file} is no file; name a YAML file.')
    with file.open('rb') as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SceneError(f'{file} has more than {MAX_BYTES} bytes; split the scene or keep shapes in mesh files.')
    return data.decode('utf-8')


def _shape_entries(shape: Shape, folder: Path | None) -> list[tuple[str, str]]:
    match shape:
        case Box(size):
            return [('shape', 'box'), ('size', _list(size))]
        case Sphere(radius):
            return [('shape', 'sphere'), ('radius', _float(radius))]
        case Plane():
            return [('shape', 'plane')]
        case MeshFile(file, scale):
            scaled = [('scale', _list(scale))] if scale != (1.0, 1.0, 1.0) else []
            return [('shape', 'mesh'), ('file', _text(_mesh_name(file, folder))), *scaled]
        case Cylinder(radius, height) | Cone(radius, height) | Capsule(radius, height):
            kind = type(shape).__name__.lower()
            return [('shape', kind), ('radius', _float(radius)), ('height', _float(height))]


def _common_entries(thing: SceneObject) -> list[tuple[str, str]]:
    return [
        ('position', _list(thing.position)),
        ('orientation', _list(thing.orientation)),
        ('color', _list(thing.colour)),
        ('movable', 'true' if thing.movable else 'false'),
        ('tags', f'[{", ".join(_text(tag) for tag in thing.tags)}]'),
    ]


def _mesh_name(file: Path, folder: Path | None) -> str:
    file = without_dots(file)
    here = without_dots(folder) if folder is not None else None
    share = share_folder()
    if here is not None and file.is_relative_to(here):
        return file.relative_to(here).as_posix()
    if share is not None and file.is_relative_to(share):
        return f'package://{PACKAGE}/{quote(file.relative_to(share).as_posix())}'
    return file.as_posix()


def _text(text: str) -> str:
    """A text so that YAML reads it as one."""
    if _PLAIN.fullmatch(text) and text.lower() not in (*TRUE, *FALSE, *NOTHING, 'y', 'n'):
        return text
    return json.dumps(text, ensure_ascii=False)


def _list(numbers: Iterable[float]) -> str:
    return f'[{", ".join(_float(number) for number in numbers)}]'


def _float(number: float) -> str:
    """All digits of a number, with the point before the exponent that YAML 1.1 asks for."""
    mantissa, exponent, power = repr(float(number)).partition('e')
    return f'{mantissa}{"" if "." in mantissa or not exponent else ".0"}{exponent}{power}'
