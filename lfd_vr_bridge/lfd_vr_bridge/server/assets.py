"""Robots and meshes for the page: only files that a URDF or the scene names are served, by the digest of their content.

    URDF ──► the same with `/assets/DIGEST/NAME` for every mesh ──► page ──► GET /assets/DIGEST/NAME

A digest's content never changes, so that browsers keep it for good. The page gets COLLADA and STL; meshes of other
formats, and those of the scene, are turned into STL.
"""

from __future__ import annotations

import hashlib
import re
import threading
import xml.etree.ElementTree as ET
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

import numpy as np

from lfd_description.bodies import MeshFinder
from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import FORMATS, MAX_BYTES
from lfd_description.model.builder import mesh_finder
from lfd_description.robots import RobotError, find_robot, robot_description
from lfd_description.shapes import MeshFile
from lfd_description.urdf import UrdfError, robot_element
from lfd_planner.scene import TriangleMesh, triangles_of

from ..studio.values import Refusal

TYPES = {
    '.dae': 'model/vnd.collada+xml',
    '.stl': 'model/stl',
    '.urdf': 'application/xml',
    '.png': 'image/png',
    '.jpg': 'image/jpeg',
    '.jpeg': 'image/jpeg',
}
IMAGES = ('.png', '.jpg', '.jpeg')
MOST = 30_000
"""Assets that are remembered; the oldest is forgotten then."""
MAX_IMAGES = 64  # that one COLLADA file may name
PRIVATE = ('ros2_control', 'transmission', 'gazebo')
"""What of a URDF is no business of a browser: controllers' addresses and the like."""

_INIT_FROM = re.compile(rb'<init_from>\s*(?:<ref>)?\s*([^<>]{1,500}?)\s*<')


@dataclass(frozen=True)
class Asset:
    """Something that is served: of a file as it is, of a mesh as STL, or text."""

    name: str
    content: Path | MeshFile | TriangleMesh | bytes

    @property
    def type(self) -> str:
        """Its MIME type."""
        return TYPES[PurePosixPath(self.name).suffix.lower()]

    @property
    def is_image(self) -> bool:
        """Whether it is a picture on a mesh."""
        return PurePosixPath(self.name).suffix.lower() in IMAGES

    def read(self) -> bytes:
        """What is served; may take its time.

        Raises:
            OSError, MeshError: the file is gone or damaged.
        """
        match self.content:
            case bytes():
                return self.content
            case Path():
                return self.content.read_bytes()
            case mesh:
                return stl(triangles_of(mesh))


@dataclass(frozen=True)
class RobotAsset:
    """A robot that a page can load."""

    name: str
    url: str
    """Where its URDF is."""
    base: str
    tip: str
    joints: tuple[str, ...]


class Assets:
    """All that pages may load, by address; may be used from any thread.

    Args:
        gripper: what robots of the suite carry that have no gripper of their own; empty: their usual one, if any.
    """

    def __init__(self, gripper: str = '') -> None:
        self._gripper = gripper
        self._assets: OrderedDict[tuple[str, str], Asset] = OrderedDict()
        self._robots: dict[str, RobotAsset] = {}
        self._lock = threading.Lock()

    def find(self, digest: str, name: str) -> Asset | None:
        """What an address stands for."""
        return self._assets.get((digest, name))

    def mesh_url(self, mesh: MeshFile | TriangleMesh) -> str:
        """Where a mesh of the scene can be had, as STL in metres; reads no file."""
        if isinstance(mesh, TriangleMesh):
            return self._keep(mesh.digest.hex(), Asset('mesh.stl', mesh))
        status = mesh.file.stat() if mesh.file.is_file() else None
        version = (status.st_mtime_ns, status.st_size) if status else None
        return self._keep(_digest(repr((mesh, version)).encode()), Asset(f'{_safe(mesh.file.stem)}.stl', mesh))

    def urdf_url(self, name: str, urdf: str, find: MeshFinder | None = None) -> str:
        """Where the page's version of a URDF can be had; may take its time.

        Raises:
            UrdfError: the URDF is wrong.
        """
        text = self.page_urdf(urdf, find).encode()
        return self._keep(_digest(text), Asset(f'{_safe(name)}.urdf', text))

    def page_urdf(self, urdf: str, find: MeshFinder | None = None) -> str:
        """A URDF with addresses in place of its files, and without what is no business of a browser.

        A body whose mesh is missing is left out, so that the rest of the robot is seen.

        Raises:
            UrdfError: the URDF is wrong.
        """
        robot = robot_element(urdf)
        for tag in PRIVATE:
            for element in robot.findall(tag):
                robot.remove(element)
        files: dict[str, str] = {}
        for link in robot.findall('link'):
            for body in (*link.findall('visual'), *link.findall('collision')):
                if not self._readdressed(body, find or MeshFinder(), files):
                    link.remove(body)
        for texture in [*robot.iter('texture')]:
            texture.attrib.clear()  # a material's colour is shown instead
        return ET.tostring(robot, encoding='unicode')

    def robot(self, name: str) -> RobotAsset:
        """A robot of the suite with a gripper; may take its time.

        Raises:
            Refusal: there is no such robot, or it is broken.
        """
        known = self._robots.get(name)
        if known is not None:
            return known
        try:
            robot = find_robot(name)
            other = find_gripper(self._gripper) if self._gripper and not robot.own_gripper else None
            urdf = robot_description(robot, gripper=other or robot.default_gripper())
            url = self.urdf_url(name, urdf, mesh_finder(robot))
        except (RobotError, GripperError, UrdfError) as error:
            raise Refusal('no_robot', str(error)) from None
        self._robots[name] = RobotAsset(name, url, robot.base, robot.tip, robot.joints)
        return self._robots[name]

    def _readdressed(self, body: ET.Element, find: MeshFinder, files: dict[str, str]) -> bool:
        """Give the meshes of a body their addresses; False if one cannot be served."""
        for mesh in body.iter('mesh'):
            uri = mesh.get('filename', '')
            try:
                if uri not in files:
                    files[uri] = self._file_url(find(uri))
            except (UrdfError, OSError, ValueError):
                return False
            mesh.set('filename', files[uri])
        return True

    def _file_url(self, file: Path) -> str:
        """Where a mesh file can be had; with it, the images that it names are.

        Raises:
            ValueError: it is no mesh, or too big.
        """
        kind = file.suffix.lower()
        if kind not in FORMATS or file.stat().st_size > MAX_BYTES:
            raise ValueError(f'{file} is no mesh that can be shown')
        if kind not in TYPES:
            return self.mesh_url(MeshFile(file))
        content = file.read_bytes()
        images = _images(file, content) if kind == '.dae' else {}
        digest = _digest(content, *(image.read_bytes() for image in images.values()))
        for name, image in images.items():
            self._keep(digest, Asset(name, image))
        return self._keep(digest, Asset(_safe(file.name), file))

    def _keep(self, digest: str, asset: Asset) -> str:
        with self._lock:
            self._assets[digest, asset.name] = asset
            self._assets.move_to_end((digest, asset.name))
            while len(self._assets) > MOST:
                self._assets.popitem(last=False)
        return f'/assets/{digest}/{quote(asset.name)}'


def stl(mesh: TriangleMesh) -> bytes:
    """A mesh as binary STL, in metres."""
    corners = mesh.vertices[mesh.triangles].astype('<f4')
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facets = np.zeros(len(corners), dtype=[('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
    facets['normal'] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0.0)
    facets['corners'] = corners
    return b'lfd'.ljust(80, b'\0') + len(corners).to_bytes(4, 'little') + facets.tobytes()


def _images(file: Path, content: bytes) -> dict[str, Path]:
    """The images that a COLLADA file names and that lie beside or below it, by the name that it gives them."""
    found: dict[str, Path] = {}
    for name in _INIT_FROM.findall(content)[:MAX_IMAGES]:
        relative = PurePosixPath(unquote(name.decode('utf-8', 'replace')).removeprefix('./'))
        if relative.is_absolute() or '..' in relative.parts or relative.suffix.lower() not in IMAGES:
            continue
        image = file.parent / relative
        if image.is_file() and image.stat().st_size <= MAX_BYTES:
            found[str(relative)] = image
    return found


def _digest(*contents: bytes) -> str:
    digest = hashlib.blake2b(digest_size=20)
    for content in contents:
        digest.update(len(content).to_bytes(8, 'little'))
        digest.update(content)
    return digest.hexdigest()


def _safe(name: str) -> str:
    """A file's name as an address has it."""
    return re.sub(r'[^A-Za-z0-9._-]', '_', name)[-100:].lstrip('.') or 'file'
