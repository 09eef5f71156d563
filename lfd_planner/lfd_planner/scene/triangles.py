"""Triangle meshes that are nowhere in a file: what messages carry. Two of the same content are equal."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import trimesh

from lfd_description.collision_geometry import Geometry, mesh_geometry
from lfd_description.collision_geometry import collision_geometry as shape_geometry
from lfd_description.meshes import load_mesh, shape_mesh
from lfd_description.shapes import MeshFile, Shape, Vector

Vertices = npt.NDArray[np.float64]
Indices = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False, repr=False)
class TriangleMesh:
    """Triangles in the shape's own frame, counter-clockwise seen from outside; equal if all numbers are."""

    vertices: Vertices
    """(N, 3) [m]"""
    triangles: Indices
    """(M, 3): which vertices each triangle has."""
    digest: bytes = field(init=False)
    """Of the content: equal meshes have equal digests, and different ones different ones."""

    def __post_init__(self) -> None:
        # Copies: whoever made the arrays may go on writing to them. Adding 0.0 turns -0.0 into 0.0.
        vertices = np.array(self.vertices, dtype=np.float64, order='C').reshape(-1, 3) + 0.0
        triangles = np.array(self.triangles, dtype=np.uint32, order='C').reshape(-1, 3)
        vertices.flags.writeable = triangles.flags.writeable = False
        digest = hashlib.blake2b(len(vertices).to_bytes(8, 'little'), digest_size=20)
        digest.update(vertices.data)
        digest.update(triangles.data)
        object.__setattr__(self, 'vertices', vertices)
        object.__setattr__(self, 'triangles', triangles)
        object.__setattr__(self, 'digest', digest.digest())

    @staticmethod
    def of(mesh: trimesh.Trimesh) -> TriangleMesh:
        """The triangles of a mesh."""
        return TriangleMesh(np.asarray(mesh.vertices), np.asarray(mesh.faces))

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, TriangleMesh) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        counts = f'{len(self.vertices)} vertices, {len(self.triangles)} triangles'
        return f'TriangleMesh({counts}, {self.digest.hex()[:8]})'


SceneShape = Shape | TriangleMesh
"""What objects in a planning scene are made of."""


def triangles_of(shape: SceneShape) -> TriangleMesh:
    """The surface of a shape as triangles; a mesh file is read once and again only after it has changed.

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    match shape:
        case TriangleMesh():
            return shape
        case MeshFile(file, scale):
            status = file.stat() if file.is_file() else None
            return _file_triangles(file, scale, (status.st_mtime_ns, status.st_size) if status else None)
        case _:
            return TriangleMesh.of(shape_mesh(shape))


@lru_cache(maxsize=256)
def _file_triangles(file: Path, scale: Vector, version: tuple[int, int] | None) -> TriangleMesh:
    """The triangles of one version of a mesh file."""
    return TriangleMesh.of(load_mesh(file, scale))


def collision_geometry(shape: SceneShape) -> Geometry:
    """The geometry that coal checks for a shape: exact for primitives.

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    if isinstance(shape, TriangleMesh):
        return mesh_geometry(trimesh.Trimesh(shape.vertices, shape.triangles, process=False))
    return shape_geometry(shape)
