"""Values of a scene file: each function turns a YAML node into a checked value, or says what is wrong with it."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from ..bodies import Colour, MeshFinder
from ..hints import nearest
from ..meshes import FORMATS
from ..shapes import Vector
from ..transforms import Quaternion
from ..urdf import UrdfError
from .colours import NAMED
from .yaml_nodes import Items, Node, Scalar, shown
from .yaml_nodes import shortened as shortened

PACKAGE = 'lfd_description'
MAX_DISTANCE = 100.0  # [m]
MIN_LENGTH = 1e-6  # [m]
MAX_NAME = 200  # characters
MAX_PATH = 4096  # characters
UNIT_TOLERANCE = 1e-3  # how far a quaternion's norm may be from 1
UNIT_ENOUGH = 1e-9  # nearer than this it is left as it is, so that reading what was written changes nothing

SHAPES = ('box', 'sphere', 'cylinder', 'cone', 'capsule', 'mesh', 'plane')
TRUE = ('true', 'yes', 'on')
FALSE = ('false', 'no', 'off')
NOTHING = ('', '~', 'null')

_NUMBER = re.compile(r'[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?')
_NOT_FINITE = re.compile(r'[-+]?\.?(nan|inf|infinity)', re.IGNORECASE)
_HEX = re.compile(r'#[0-9a-fA-F]{6}')


class Wrong(Exception):
    """A value that cannot be used; the message says what is wrong and what to write instead."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def read_name(node: Node) -> str:
    """A text that can be seen."""
    return _text(node, MAX_NAME)


def _text(node: Node, most: int) -> str:
    wanted = 'write a name, such as table'
    if not isinstance(node, Scalar):
        raise Wrong(f'{shown(node)} is no text; {wanted}.')
    if (
        node.plain
        and len(node.text) <= most
        and (_NUMBER.fullmatch(node.text) or node.text.lower() in (*TRUE, *FALSE, *NOTHING))
    ):
        raise Wrong(f'{shown(node)} is no text to YAML; {wanted}, or put it in quotes.')
    if not node.text or node.text != node.text.strip() or not node.text.isprintable() or len(node.text) > most:
        raise Wrong(f'{shown(node)} is no name; {wanted}, with up to {most} characters that can be seen.')
    return node.text


def read_kind(node: Node) -> str:
    """One of `SHAPES`."""
    kind = node.text if isinstance(node, Scalar) else ''
    if kind not in SHAPES:
        meant = nearest(kind, SHAPES)
        hint = f"did you mean '{meant}'?" if meant else f'use one of {", ".join(SHAPES)}.'
        raise Wrong(f'{shown(node)} is no shape; {hint}')
    return kind


def read_boolean(node: Node) -> bool:
    """True or false."""
    text = node.text.lower() if isinstance(node, Scalar) and node.plain else ''
    if text not in (*TRUE, *FALSE):
        raise Wrong(f'{shown(node)} is neither true nor false; write one of them.')
    return text in TRUE


def read_items(node: Node) -> tuple[Node, ...]:
    """The nodes of a list."""
    if not isinstance(node, Items):
        raise Wrong(f'{shown(node)} is no list; write [] or one line for each that begins with a dash.')
    return node.values


def read_tags(node: Node) -> tuple[str, ...]:
    """Different names."""
    tags = tuple(read_name(item) for item in read_items(node))
    if len(set(tags)) != len(tags):
        raise Wrong('a tag is there twice; remove one.')
    return tags


def _number(node: Node) -> float:
    if not isinstance(node, Scalar) or not node.plain or not _NUMBER.fullmatch(node.text):
        finite = isinstance(node, Scalar) and _NOT_FINITE.fullmatch(node.text) is not None
        raise Wrong(f'{shown(node)} is no {"finite " if finite else ""}number; write one such as 0.25.', node.line)
    number = float(node.text)
    if not math.isfinite(number):
        raise Wrong(f'{shown(node)} is too big for a number; write one such as 0.25.', node.line)
    return number


def read_length(node: Node) -> float:
    """A length above zero [m]."""
    length = _number(node)
    if length < MIN_LENGTH:
        raise Wrong(f'{length:g} is no length of a solid; write metres above zero, such as 0.25.', node.line)
    if length > MAX_DISTANCE:
        raise Wrong(f'{length:g} is more than {MAX_DISTANCE:g} m; write metres, not millimetres.', node.line)
    return length


def _coordinate(node: Node) -> float:
    number = _number(node)
    if abs(number) > MAX_DISTANCE:
        raise Wrong(f'{number:g} is more than {MAX_DISTANCE:g} m away; write metres, not millimetres.', node.line)
    return number


def _vector(node: Node, convert: Callable[[Node], float], meaning: str) -> Vector:
    if not isinstance(node, Items) or len(node.values) != 3:
        raise Wrong(f'{shown(node)} is not three numbers; write {meaning}.')
    x, y, z = (convert(value) for value in node.values)
    return x, y, z


def read_size(node: Node) -> Vector:
    """Three lengths above zero [m]."""
    return _vector(node, read_length, 'the lengths of the edges [x, y, z] in metres')


def read_position(node: Node) -> Vector:
    """Three coordinates [m]."""
    return _vector(node, _coordinate, 'the position [x, y, z] in metres')


def read_scale(node: Node) -> Vector:
    """Three factors that are not zero; a single one goes for all."""

    def factor(value: Node) -> float:
        number = _number(value)
        if not 1e-9 <= abs(number) <= 1e9:
            raise Wrong(f'{number:g} is no scale; write a factor such as 0.001.', value.line)
        return number

    if isinstance(node, Scalar):
        number = factor(node)
        return number, number, number
    return _vector(node, factor, 'one factor, or [x, y, z]')


def read_orientation(node: Node) -> Quaternion:
    """A unit quaternion x, y, z, w; one that is nearly unit is made so."""
    wanted = 'write a unit quaternion [x, y, z, w], [0, 0, 0, 1] for no turn'
    if not isinstance(node, Items) or len(node.values) != 4:
        raise Wrong(f'{shown(node)} is not four numbers; {wanted}.')
    x, y, z, w = (_number(value) for value in node.values)
    norm = math.hypot(x, y, z, w)
    if not abs(norm - 1.0) <= UNIT_TOLERANCE:
        raise Wrong(f'the quaternion has the length {norm:.4g} and not 1; {wanted}.')
    if abs(norm - 1.0) <= UNIT_ENOUGH:
        return x, y, z, w
    return x / norm, y / norm, z / norm, w / norm


def read_colour(node: Node) -> Colour:
    """Red, green, blue, opacity in 0..1, from a list, a name or #rrggbb."""
    if isinstance(node, Scalar):
        return _named_colour(node)
    if not isinstance(node, Items) or len(node.values) not in (3, 4):
        raise Wrong(f'{shown(node)} is no colour; write a name such as red, [r, g, b] or [r, g, b, a], 0 to 1.')
    parts = [_number(value) for value in node.values]
    if not all(0.0 <= part <= 1.0 for part in parts):
        raise Wrong('a part of the colour is not within 0 to 1; divide by 255 if it was counted to that.')
    red, green, blue, opacity = (*parts, 1.0)[:4]
    return red, green, blue, opacity


def _named_colour(node: Scalar) -> Colour:
    if _HEX.fullmatch(node.text):
        red, green, blue = (int(node.text[at : at + 2], 16) / 255 for at in (1, 3, 5))
        return red, green, blue, 1.0
    if node.text.lower() not in NAMED:
        meant = nearest(node.text, NAMED)
        hint = f"did you mean '{meant}'?" if meant else f'use one of {", ".join(NAMED)}, or [r, g, b].'
        raise Wrong(f'{shown(node)} is no colour with a name; {hint}')
    return NAMED[node.text.lower()]


def read_mesh_file(node: Node, folder: Path) -> Path:
    """The file that a name or URI stands for, which exists; relative names start at `folder`."""
    uri = _text(node, MAX_PATH)
    _refuse_escape(uri)
    if Path(uri).suffix.lower() not in FORMATS:
        raise Wrong(f"'{shortened(uri)}' is no mesh that can be read; use one of {', '.join(FORMATS)}.")
    share = share_folder()
    try:
        return MeshFinder(folder, {f'package://{PACKAGE}/': share} if share else {})(uri)
    except (UrdfError, OSError) as error:
        raise Wrong(f'{str(error).rstrip(".")}; add the file or correct the name.') from None


def _refuse_escape(uri: str) -> None:
    """Refuse names that climb out of the folder or package they start in; an absolute path says what it means."""
    name = unquote(uri.partition('://')[2] or uri)
    depth = 0
    if Path(name).is_absolute():
        return
    for part in Path(name).parts:
        depth += -1 if part == '..' else 1
        if depth < (1 if '://' in uri else 0):
            raise Wrong(f"'{shortened(uri)}' leaves its folder; put the mesh below it, or write an absolute path.")


def share_folder() -> Path | None:
    """Where the suite's own files are installed; none outside of a ROS environment."""
    try:
        return Path(get_package_share_directory(PACKAGE))
    except (PackageNotFoundError, OSError):  # not installed, or not in a ROS environment
        return None
