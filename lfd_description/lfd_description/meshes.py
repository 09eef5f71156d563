"""Triangle meshes: read from files, and made of shapes.

A mesh is a `trimesh.Trimesh`, in metres, with its triangles counter-clockwise seen from outside.
"""

import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import trimesh
from trimesh.visual import TextureVisuals

from .shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere, Vector

Floats = npt.NDArray[np.float64]
Colour = tuple[float, float, float, float]

FORMATS = ('.stl', '.obj', '.dae', '.ply', '.glb', '.gltf')
MAX_BYTES = 200_000_000
SIDES = 48  # of the prism that a round shape is drawn as
MAX_COLOURS = 64  # of one file
NO_COLOUR: Colour = (0.70, 0.72, 0.75, 1.0)
PLANE_SIZE = 4.0  # [m], of the square that a plane is drawn as


class MeshError(ValueError):
    """A mesh file that cannot be used; the message is one sentence for the user."""


def load_mesh(file: Path, scale: Vector = (1.0, 1.0, 1.0)) -> trimesh.Trimesh:
    """All triangles of a mesh file as one mesh.

    Raises:
        MeshError: the file is missing, too big, of another format, damaged or empty; the message says which.
    """
    return _in_metres(file, read_scene(file).to_mesh(), scale)


def coloured_meshes(file: Path, scale: Vector = (1.0, 1.0, 1.0)) -> list[tuple[trimesh.Trimesh, Colour]]:
    """The triangles of a mesh file by their colour, as the file's own materials say; sRGB and opacity, 0 to 1.

    Textures become their colour at each triangle. A file without colours is `NO_COLOUR`, one with more than
    `MAX_COLOURS` their mean.

    Raises:
        MeshError: the file cannot be used, as for `load_mesh`.
    """
    scene = read_scene(file)
    _in_metres(file, scene.to_mesh(), scale)
    triangles: dict[Colour, list[Floats]] = {}
    for placed in scene.dump():
        if not isinstance(placed, trimesh.Trimesh) or len(placed.faces) == 0:
            continue
        colours = _colours_or_none(placed, linear=file.suffix.lower() in ('.glb', '.gltf'))
        kinds, kind_of = np.unique(colours, axis=0, return_inverse=True)
        for number, colour in enumerate(kinds.tolist()):
            triangles.setdefault(tuple(colour), []).append(placed.triangles[kind_of.reshape(-1) == number])
    if len(triangles) > MAX_COLOURS:
        weights = [sum(map(len, parts)) for parts in triangles.values()]
        mean = np.average(list(triangles), axis=0, weights=weights).round(4).tolist()
        triangles = {tuple(mean): [part for parts in triangles.values() for part in parts]}
    return [(_of_triangles(file, np.concatenate(parts), scale), colour) for colour, parts in triangles.items()]


def read_scene(file: Path) -> trimesh.Scene:
    """All that a mesh file holds; in metres, if the file says in what it is.

    Raises:
        MeshError: the file is missing, too big, of another format or damaged; the message says which.
    """
    if file.suffix.lower() not in FORMATS:
        raise MeshError(f'{file} has a mesh format that is not read here; use one of {", ".join(FORMATS)}.')
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise MeshError(f'{file} has {size} bytes; keep meshes below {MAX_BYTES}, simplify it.')
        return _with_unit_metre(trimesh.load_scene(file, process=False))
    except MeshError:
        raise
    except FileNotFoundError as error:
        missing = error.filename or file
        raise MeshError(f'{file} cannot be read: {missing} is missing; add it or correct the name.') from None
    except Exception as error:  # the readers of the many formats raise whatever a damaged file makes them raise
        raise MeshError(f'{file} is no mesh that can be read ({type(error).__name__}: {error}).') from None


def _with_unit_metre(scene: trimesh.Scene) -> trimesh.Scene:
    """A COLLADA file may say that its unit is a millimetre or an inch."""
    match = re.fullmatch(r'([-+.\deE]+) \* meters', str(scene.metadata.get('units') or scene.units or ''))
    return scene.scaled(float(match[1])) if match else scene


def _in_metres(file: Path, mesh: object, scale: Vector) -> trimesh.Trimesh:
    if not isinstance(mesh, trimesh.Trimesh) or len(mesh.faces) == 0:
        raise MeshError(f'{file} holds no triangles; export the surface of the body.')
    vertices = np.asarray(mesh.vertices, dtype=np.float64) * scale
    if not np.isfinite(vertices).all():
        raise MeshError(f'{file} has vertices that are no finite numbers; export it again.')
    faces = np.asarray(mesh.faces)
    if np.prod(scale) < 0.0:  # mirrored, which turns triangles inside out
        faces = faces[:, ::-1]
    return trimesh.Trimesh(vertices, faces, process=False)


def _of_triangles(file: Path, triangles: Floats, scale: Vector) -> trimesh.Trimesh:
    faces = np.arange(3 * len(triangles)).reshape(-1, 3)
    return _in_metres(file, trimesh.Trimesh(triangles.reshape(-1, 3), faces, process=False), scale)


def _colours_or_none(mesh: trimesh.Trimesh, *, linear: bool) -> Floats:
    """A colour for each triangle, (N, 4); a body whose material cannot be read is still worth seeing."""
    try:
        return _face_colours(mesh, linear=linear)
    except (ValueError, LookupError, TypeError, AttributeError):
        return np.tile(NO_COLOUR, (len(mesh.faces), 1))


def _face_colours(mesh: trimesh.Trimesh, *, linear: bool) -> Floats:
    """A colour for each triangle, (N, 4), sRGB; `linear` tells that the file's materials are not."""
    visual = mesh.visual
    if isinstance(visual, TextureVisuals) and not _has_texture(visual):
        colours = np.tile(np.asarray(visual.material.main_color, dtype=np.float64) / 255.0, (len(mesh.faces), 1))
    else:
        plain = cast('Any', visual).to_color() if isinstance(visual, TextureVisuals) else visual
        if plain is None or not plain.defined:
            return np.tile(NO_COLOUR, (len(mesh.faces), 1))
        if isinstance(visual, TextureVisuals):  # colours of corners, which know no triangles
            corners = np.asarray(plain.vertex_colors, dtype=np.float64)[mesh.faces].mean(axis=1)
        else:
            corners = np.asarray(plain.face_colors, dtype=np.float64)
        colours, linear = corners / 255.0, False
    if linear:
        rgb = colours[:, :3]
        colours[:, :3] = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * rgb ** (1.0 / 2.4) - 0.055)
    colours[colours[:, 3] == 0.0, 3] = 1.0  # exporters disagree on which end is opaque; nobody draws the unseen
    return np.asarray(colours.round(4))


def _has_texture(visual: TextureVisuals) -> bool:
    material = visual.material
    image = getattr(material, 'baseColorTexture', None) or getattr(material, 'image', None)
    return visual.uv is not None and image is not None


def shape_mesh(shape: Shape) -> trimesh.Trimesh:
    """A shape's surface as triangles, to be drawn or to be collided with; round shapes get `SIDES` sides.

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    match shape:
        case Box(size):
            mesh = trimesh.creation.box(size)
        case Sphere(radius):
            mesh = trimesh.creation.icosphere(subdivisions=3, radius=radius)
        case Cylinder(radius, height):
            mesh = trimesh.creation.cylinder(radius, height, sections=SIDES)
        case Capsule(radius, height):
            mesh = trimesh.creation.capsule(height - 2.0 * radius, radius, count=[SIDES, SIDES // 2])
            mesh.apply_translation(-mesh.bounds.mean(axis=0))
        case Cone(radius, height):
            mesh = trimesh.creation.cone(radius, height, sections=SIDES)
            mesh.apply_translation((0.0, 0.0, -0.5 * height))
        case Plane():
            mesh = trimesh.creation.box((PLANE_SIZE, PLANE_SIZE, 1e-3))
            mesh.apply_translation((0.0, 0.0, -0.5e-3))
        case MeshFile(file, scale):
            mesh = load_mesh(file, scale)
    return cast('trimesh.Trimesh', mesh)
