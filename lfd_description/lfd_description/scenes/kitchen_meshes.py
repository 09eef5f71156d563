"""Makes the meshes of the kitchen scene: cereal box, milk carton, cup, bowl and fork.

Each is a closed surface with its triangles counter-clockwise seen from outside, in metres, upright, with the middle
of its bounding box at the origin, so that a primitive of the same size can stand in for it at the same pose.

`python -m lfd_description.scenes.kitchen_meshes FOLDER` writes them as STL files.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np
import numpy.typing as npt
import trimesh

from ..files import write_atomically
from ..shapes import Vector

Points = npt.NDArray[np.float64]

SIZES: Mapping[str, Vector] = MappingProxyType(
    {  # [m] along x, y, z
        'cereal': (0.060, 0.150, 0.210),
        'milk': (0.070, 0.070, 0.165),
        'cup': (0.080, 0.080, 0.095),
        'bowl': (0.150, 0.150, 0.060),
        'fork': (0.180, 0.026, 0.020),
    }
)
SIDES = 64


def kitchen_meshes() -> dict[str, trimesh.Trimesh]:
    """The meshes by name; their bounding boxes are `SIZES`."""
    meshes = {'cereal': _cereal(), 'milk': _milk(), 'cup': _cup(), 'bowl': _bowl(), 'fork': _fork()}
    for mesh in meshes.values():
        mesh.apply_translation(-mesh.bounds.mean(axis=0))
    return meshes


def write_kitchen_meshes(folder: Path) -> None:
    """Write each mesh as a binary STL file named after it."""
    for name, mesh in kitchen_meshes().items():
        write_atomically(folder / f'{name}.stl', cast('bytes', mesh.export(file_type='stl')))


def _cereal() -> trimesh.Trimesh:
    """A carton with edges that are broken by a millimetre."""
    x, y, z = SIZES['cereal']
    edge = 0.001
    rings = [
        _rectangle(x - 2 * edge, y - 2 * edge, 0.0, edge),
        _rectangle(x, y, edge, edge),
        _rectangle(x, y, z - edge, edge),
        _rectangle(x - 2 * edge, y - 2 * edge, z, edge),
    ]
    return _lofted(rings)


def _milk() -> trimesh.Trimesh:
    """A carton with a gable roof along y and the sealed seam on top of it."""
    x, y, z = SIZES['milk']
    edge, seam, shoulder, ridge = 0.001, 0.003, 0.120, 0.150
    rings = [
        _rectangle(x - 2 * edge, y - 2 * edge, 0.0, edge),
        _rectangle(x, y, edge, edge),
        _rectangle(x, y, shoulder, edge),
        _rectangle(seam, y - 2 * edge, ridge, 0.1 * edge),
        _rectangle(seam, y - 2 * edge, z, 0.1 * edge),
    ]
    return _lofted(rings)


def _cup() -> trimesh.Trimesh:
    """A cup without a handle: walls of 3 mm that widen upwards, hollow down to a floor of 5 mm."""
    radius, height = SIZES['cup'][0] / 2, SIZES['cup'][2]
    outside = [(0.028, 0.0), (0.030, 0.002), (radius, height - 0.0015), (radius - 0.0008, height)]
    inside = [(radius - 0.0022, height), (radius - 0.003, height - 0.0015), (0.0275, 0.007), (0.0255, 0.005)]
    return _revolved([*outside, *inside])


def _bowl() -> trimesh.Trimesh:
    """A bowl with a foot ring's width of flat floor: round outside, hollow, its walls 3.5 mm thick."""
    radius, height = SIZES['bowl'][0] / 2, SIZES['bowl'][2]
    foot, wall, floor = 0.030, 0.0035, 0.005
    turns = np.linspace(0.0, 0.5 * np.pi, 13)
    outside = [(foot + (radius - foot) * np.sin(t), (height - 0.001) * (1.0 - np.cos(t))) for t in turns]
    lip = [(radius - 0.0008, height), (radius - wall + 0.0008, height)]
    inner = radius - wall
    inside = [(foot + (inner - foot) * np.sin(t), floor + (height - floor - 0.001) * (1.0 - np.cos(t))) for t in turns]
    return _revolved([*outside, *lip, *reversed(inside)])


def _fork() -> trimesh.Trimesh:
    """A plastic fork along x with four tines at +x: a sheet of 2 mm on a curved line, cut between the tines.

    It lies on the end of its handle and on the belly of its tines.
    """
    x, y, z = SIZES['fork']
    thick = 0.0022
    along = np.array([0.0, 0.004, 0.010, 0.04, 0.08, 0.105, 0.115, 0.123, 0.130, 0.137, 0.145, 0.155, 0.165, 0.175, x])
    half = 0.5 * np.interp(
        along,
        [0.0, 0.004, 0.010, 0.04, 0.08, 0.105, 0.115, 0.123, 0.130, 0.137, 0.165, x],
        [0.006, 0.010, 0.012, 0.009, 0.007, 0.008, 0.014, 0.021, 0.0252, y, y, 0.022],
    )
    bend = np.interp(
        along,
        [0.0, 0.04, 0.08, 0.105, 0.115, 0.123, 0.130, 0.137, 0.145, 0.155, 0.165, 0.175, x],
        [0.0, 0.40, 0.80, 1.0, 0.93, 0.78, 0.58, 0.38, 0.2, 0.06, 0.0, 0.03, 0.12],
    )
    across = np.array([-1.0, -0.62, -0.48, -0.10, 0.10, 0.48, 0.62, 1.0])  # tine, gap, tine, gap, ...
    grid = np.empty((len(along), len(across), 3))
    grid[..., 0] = along[:, None]
    grid[..., 1] = half[:, None] * across
    grid[..., 2] = (z - thick) * bend[:, None]
    kept = np.ones((len(along) - 1, len(across) - 1), dtype=bool)
    kept[along[:-1] >= 0.137, 1::2] = False
    return _sheet(grid, thick, kept)


def _rectangle(x: float, y: float, z: float, corner: float) -> Points:
    """A level rectangle around the z axis with its corners cut, counter-clockwise seen from above."""
    a, b = 0.5 * x, 0.5 * y
    c = min(corner, 0.4 * a, 0.4 * b)
    flat = [(a, c - b), (a, b - c), (a - c, b), (c - a, b), (-a, b - c), (-a, c - b), (c - a, -b), (a - c, -b)]
    return np.array([(u, v, z) for u, v in flat])


def _revolved(profile: Sequence[tuple[float, float]]) -> trimesh.Trimesh:
    """The body whose surface is swept by a profile (radius, height) that runs up its outside and down its inside."""
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(SIDES)])
    return _lofted([circle * radius + (0.0, 0.0, height) for radius, height in profile])


def _lofted(rings: Sequence[Points]) -> trimesh.Trimesh:
    """The surface through rings of equally many points, closed at the first and the last by a fan."""
    count = len(rings[0])
    vertices = np.vstack([*rings, rings[0].mean(axis=0), rings[-1].mean(axis=0)])
    here = np.arange(count)
    following = np.roll(here, -1)
    first, last = len(rings) * count, len(rings) * count + 1
    faces = [np.column_stack([np.full(count, first), following, here])]
    for ring in range(len(rings) - 1):
        low, high = ring * count, (ring + 1) * count
        faces.append(np.column_stack([low + here, low + following, high + following]))
        faces.append(np.column_stack([low + here, high + following, high + here]))
    top = (len(rings) - 1) * count
    faces.append(np.column_stack([np.full(count, last), top + here, top + following]))
    return trimesh.Trimesh(vertices, np.vstack(faces), process=False)


def _sheet(grid: Points, thick: float, kept: npt.NDArray[np.bool_]) -> trimesh.Trimesh:
    """The kept cells of a grid of points, `thick` metres deep along z, with walls wherever a kept cell ends."""
    rows, columns = grid.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    upper = rows * columns
    quads: list[tuple[int, int, int, int]] = []
    for i, j in np.argwhere(kept):
        corners = [int(number[i + a, j + b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        a, b, c, d = corners
        quads += [(a + upper, b + upper, c + upper, d + upper), (d, c, b, a)]
        around = ((i, j - 1), (i + 1, j), (i, j + 1), (i - 1, j))
        for (p, q), side in zip(around, range(4), strict=True):
            if not (0 <= p < kept.shape[0] and 0 <= q < kept.shape[1] and kept[p, q]):
                begin, end = corners[side], corners[(side + 1) % 4]
                quads.append((begin, end, end + upper, begin + upper))
    lower_side = grid.reshape(-1, 3)
    vertices = np.vstack([lower_side, lower_side + np.array([0.0, 0.0, thick])])
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    mesh = trimesh.Trimesh(vertices, np.array(faces), process=False)
    mesh.remove_unreferenced_vertices()
    return mesh


if __name__ == '__main__':
    write_kitchen_meshes(Path(sys.argv[1]))
