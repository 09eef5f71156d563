"""The bodies of a robot's links: what a URDF says they look like and what they collide with.

Mesh files are named by URI; `MeshFinder` knows where the files of a package are, on a ROS machine and in the folder
that a stranger's URDF came from.
"""

import contextlib
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from .files import without_dots
from .nearby_packages import nearby_packages
from .shapes import Box, Capsule, Cylinder, MeshFile, Shape, Sphere, Vector
from .urdf import Matrix, UrdfError, finite_number, robot_element, rotation

Colour = tuple[float, float, float, float]

VISUAL = 'visual'
COLLISION = 'collision'
_SCHEME = re.compile(r'(package|model|file)://(.*)', re.DOTALL)


@dataclass(frozen=True, eq=False)
class Body:
    """One solid of a link; `origin` is the 4x4 transform link -> solid [m]."""

    link: str
    shape: Shape
    origin: Matrix
    colour: Colour | None = None
    """Red, green, blue, opacity in 0..1; None leaves it to the mesh file or the viewer."""


@dataclass(frozen=True)
class MeshFinder:
    """Turns a mesh's URI into a file: package://, model://, file:// or a path relative to the URDF's folder."""

    folder: Path | None = None
    """Where the URDF lies; relative names start here, and packages are looked for in the folders above it."""
    places: Mapping[str, Path] = field(default_factory=dict)
    """Folders known beforehand, by the beginning of the URIs that lie in them, such as package://my_robot/."""

    def __call__(self, uri: str) -> Path:
        """The file that a URI names.

        Raises:
            UrdfError: there is no such file or package; the message says where it was looked for.
        """
        for start, folder in self.places.items():
            if uri.startswith(start) and _is_file(folder / unquote(uri.removeprefix(start))):
                return folder / unquote(uri.removeprefix(start))
        match = _SCHEME.fullmatch(uri)
        if match and match[1] != 'file':
            package, _, name = match[2].partition('/')
            return self._in_package(package, unquote(name), uri)
        if '://' in uri and not match:
            raise UrdfError(f"The mesh '{uri}' is not on this machine; download it and name the file.")
        path = Path(unquote(match[2].removeprefix('localhost'))) if match else Path(uri)
        if not path.is_absolute():
            if self.folder is None:
                raise UrdfError(f"The mesh '{uri}' is named relative to a folder that is not known; use package://.")
            path = self.folder / path
        if not _is_file(path):
            raise UrdfError(f"The mesh '{uri}' is missing: there is no file {path}.")
        return without_dots(path)

    def _in_package(self, package: str, name: str, uri: str) -> Path:
        roots = []
        if self.folder is not None and package in (near := nearby_packages(self.folder.resolve())):
            roots.append(near[package])
        for folder in self._above():
            if folder.name == package:
                roots.append(folder)
            elif (folder / package).is_dir():
                roots.append(folder / package)
        # Not a package of this machine: the folders above the URDF may have it.
        with contextlib.suppress(PackageNotFoundError, ValueError, OSError):
            roots.append(Path(get_package_share_directory(package)))
        for root in roots:
            if _is_file(root / name):
                return without_dots(root / name)
        if roots:
            raise UrdfError(f"The mesh '{uri}' is missing: there is no file {roots[0] / name}.")
        raise UrdfError(
            f"The mesh '{uri}' is in the package '{package}', which was not found; "
            f'put the URDF inside a folder called {package}, or install the package.'
        )

    def _above(self) -> tuple[Path, ...]:
        if self.folder is None:
            return ()
        folder = self.folder.resolve()
        return (folder, *folder.parents)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that may not be read
        return False


def visual_bodies(xml: str, find: MeshFinder | None = None) -> tuple[Body, ...]:
    """What the links of a URDF look like.

    Raises:
        UrdfError: the URDF is wrong, or mesh files are missing (all of them are named).
    """
    return _bodies(robot_element(xml), VISUAL, find or MeshFinder())


def collision_bodies(xml: str, find: MeshFinder | None = None) -> tuple[Body, ...]:
    """What the links of a URDF collide with.

    Raises:
        UrdfError: the URDF is wrong, or mesh files are missing (all of them are named).
    """
    return _bodies(robot_element(xml), COLLISION, find or MeshFinder())


def _bodies(robot: ET.Element, kind: str, find: MeshFinder) -> tuple[Body, ...]:
    colours = {element.get('name', ''): _rgba(element) for element in robot.findall('material')}
    bodies: list[Body] = []
    faults: list[str] = []
    for link in robot.findall('link'):
        for element in link.findall(kind):
            try:
                bodies.append(_body(link.get('name', ''), element, colours, find))
            except UrdfError as error:
                faults.append(str(error))
    if faults:
        more = f' ({len(faults) - 1} more like this)' if len(faults) > 1 else ''
        raise UrdfError(faults[0] + more)
    return tuple(bodies)


def _body(link: str, element: ET.Element, colours: Mapping[str, Colour | None], find: MeshFinder) -> Body:
    where = f"A <{element.tag}> of link '{link}'"
    geometry = element.find('geometry')
    if geometry is None or len(geometry) == 0:
        raise UrdfError(f'{where} has no geometry; add <geometry> with a box, cylinder, sphere or mesh.')
    origin = element.find('origin')
    pose = np.eye(4)
    pose[:3, :3] = rotation(_triple(origin, 'rpy', where, (0.0, 0.0, 0.0)))
    pose[:3, 3] = _triple(origin, 'xyz', where, (0.0, 0.0, 0.0))
    return Body(link, _shape(geometry[0], where, find), pose, _colour(element.find('material'), colours))


def _shape(element: ET.Element, where: str, find: MeshFinder) -> Shape:
    if element.tag == 'box':
        size = _triple(element, 'size', where, None)
        _positive(min(size), where, 'size')
        return Box(size)
    if element.tag == 'sphere':
        return Sphere(_length(element, 'radius', where))
    if element.tag == 'cylinder':
        return Cylinder(_length(element, 'radius', where), _length(element, 'length', where))
    if element.tag == 'capsule':  # its length is that of the cylinder between the half balls
        radius = _length(element, 'radius', where)
        return Capsule(radius, _length(element, 'length', where) + 2.0 * radius)
    if element.tag == 'mesh':
        uri = element.get('filename', '')
        if not uri:
            raise UrdfError(f'{where} has a <mesh> without filename; add filename="package://...".')
        scale = _triple(element, 'scale', where, (1.0, 1.0, 1.0))
        if 0.0 in scale:
            raise UrdfError(f'{where} has a mesh scaled by zero; write scale="1 1 1".')
        return MeshFile(find(uri), scale)
    raise UrdfError(f'{where} has the unknown geometry <{element.tag}>; use box, cylinder, sphere, capsule or mesh.')


def _triple(element: ET.Element | None, attribute: str, where: str, default: Vector | None) -> Vector:
    text = None if element is None else element.get(attribute)
    if text is None:
        if default is None:
            raise UrdfError(f'{where} lacks {attribute}="..."; write three numbers.')
        return default
    numbers = [finite_number(part) for part in text.split()]
    finite = [number for number in numbers if number is not None]
    if len(numbers) != 3 or len(finite) != 3:
        raise UrdfError(f'{where} has {attribute}="{text}"; write three finite numbers.')
    return finite[0], finite[1], finite[2]


def _length(element: ET.Element, attribute: str, where: str) -> float:
    value = finite_number(element.get(attribute, ''))
    if value is None:
        raise UrdfError(f'{where} has a <{element.tag}> without a finite {attribute}; add {attribute}="..." [m].')
    return _positive(value, where, attribute)


def _positive(value: float, where: str, attribute: str) -> float:
    if value <= 0.0:
        raise UrdfError(f'{where} has the {attribute} {value:g}; it must be above zero.')
    return value


def _colour(material: ET.Element | None, colours: Mapping[str, Colour | None]) -> Colour | None:
    if material is None:
        return None
    return _rgba(material) or colours.get(material.get('name', ''))


def _rgba(material: ET.Element) -> Colour | None:
    """A material's colour; one that is not four numbers is as good as none, because nothing depends on it."""
    element = material.find('color')
    numbers = [finite_number(part) for part in element.get('rgba', '').split()] if element is not None else []
    values = [min(max(number, 0.0), 1.0) for number in numbers if number is not None]
    return (values[0], values[1], values[2], values[3]) if len(values) == 4 else None
