"""Coloured pieces of a link's looks: triangle meshes in the link's frame [m]."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .slices import Array

Indices = npt.NDArray[np.int64]

CREASE = math.radians(35.0)
EVEN = math.radians(12.0)


@dataclass(frozen=True)
class Paint:
    """A colour with a name; `shine` is 0 for rubber, 1 for polished metal."""

    name: str
    rgb: tuple[float, float, float]
    shine: float = 0.3


@dataclass(frozen=True)
class Mesh:
    """Triangles, counter-clockwise seen from outside."""

    vertices: Array
    """(n, 3) [m]"""
    faces: Indices
    """(m, 3)"""
    normals: Array | None = None
    """Of each triangle's corners, (m, 3, 3), where they are known better than from the triangles."""


@dataclass(frozen=True)
class Part:
    """A mesh of one colour."""

    mesh: Mesh
    paint: Paint


def joined(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return Mesh(vertices, np.concatenate([mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=True)]))


def corner_normals(mesh: Mesh) -> Array:
    """The normals of each triangle's corners, (m, 3, 3): the given ones, or the triangles' own."""
    if mesh.normals is not None:
        return mesh.normals
    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-18)
    return np.repeat(normals[:, None], 3, axis=1)


def shaded(mesh: Mesh) -> tuple[Array, Array, Indices]:
    """Vertices, normals and faces of a mesh, a vertex being split where faces meet at more than `CREASE`.

    The normal of each corner is the mean of those corners around its vertex whose normals lie within `CREASE` of its
    own, weighted by their angles; given normals are only evened out.
    """
    crease = CREASE if mesh.normals is None else EVEN
    faces = mesh.faces
    corners = mesh.vertices[faces]
    edges = corners[:, [1, 2, 0]] - corners
    lengths = np.linalg.norm(edges, axis=2, keepdims=True)
    units = edges / np.maximum(lengths, 1e-12)
    normals = corner_normals(mesh).reshape(-1, 3)
    angles = np.arccos(np.clip(-(units * units[:, [2, 0, 1]]).sum(axis=2), -1.0, 1.0))

    # All pairs of corners that share a vertex.
    owner = faces.ravel()
    order = np.argsort(owner, kind='stable')
    counts = np.bincount(owner, minlength=len(mesh.vertices))
    starts = np.cumsum(counts) - counts
    repeats = counts[owner]
    first = np.repeat(np.arange(len(owner)), repeats)
    within = np.arange(len(first)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    second = order[starts[owner[first]] + within]
    close = (normals[first] * normals[second]).sum(axis=1) >= np.cos(crease)
    first, second = first[close], second[close]
    smooth = np.zeros((len(owner), 3))
    np.add.at(smooth, first, normals[second] * angles.ravel()[second, None])
    smooth /= np.maximum(np.linalg.norm(smooth, axis=1, keepdims=True), 1e-18)

    keys = np.column_stack([owner, np.round(smooth * 100.0)])
    _, chosen, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return mesh.vertices[owner[chosen]], smooth[chosen], number.reshape(-1, 3)
