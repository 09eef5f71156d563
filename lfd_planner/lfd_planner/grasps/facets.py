"""The flat faces of a mesh: triangles that lie in one plane, put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lfd_planner.scene import TriangleMesh

from .frames import AXES, across
from .grasp import Floats
from .groups import alike
from .pauses import pause

MOST_FACETS = 48
_TURN = 1e-3  # of a normal, within which triangles count as parallel
_ACROSS = 0.05  # the greatest cosine of what is across
_NOT_SMALL = 0.1  # the least share of the largest face that a face to go by has
EDGE = 1e-9  # [m], from its border, what is on a face
MOST_AT_ONCE = 200_000  # places times edges, so that memory stays small
_SAME = 1e-7  # [m], within which corners are the same
_STEP = 1e-4  # [m], within which parallel triangles lie in one plane


@dataclass(frozen=True, eq=False)
class Facet:
    """A flat face in the mesh's frame; it may have several pieces."""

    normal: Floats
    """(3,), out of the mesh"""
    middle: Floats
    """(3,) [m]"""
    u: Floats
    """(3,), a unit vector in the face"""
    v: Floats
    """(3,), the other one: u, v and the normal are right-handed"""
    area: float
    """[m^2]"""
    border: Floats
    """(E, 2, 2) [m], the ends of the edges around it and its holes, along u and v of the middle"""

    def holds(self, places: Floats) -> npt.NDArray[np.bool_]:
        """Whether each place (..., 2) [m], along u and v of the middle, is on the face."""
        flat = places.reshape(-1, 2)
        step = max(1, MOST_AT_ONCE // len(self.border))
        found = [self._holds(flat[start : start + step]) for start in range(0, len(flat), step)]
        return np.concatenate([np.zeros(0, dtype=np.bool_), *found]).reshape(places.shape[:-1])

    def _holds(self, places: Floats) -> npt.NDArray[np.bool_]:
        a, b = self.border[:, 0], self.border[:, 1]
        along, to = b - a, places[:, None, :] - a
        level = np.where(along[:, 1] == 0.0, 1.0, along[:, 1])
        passed = (a[:, 1] > places[:, None, 1]) != (b[:, 1] > places[:, None, 1])
        left = to[..., 0] < along[:, 0] * to[..., 1] / level
        inside = np.count_nonzero(passed & left, axis=1) % 2 == 1
        share = np.clip((to * along).sum(axis=-1) / (along * along).sum(axis=-1), 0.0, 1.0)
        away = np.linalg.norm(to - share[..., None] * along, axis=-1).min(axis=1)
        return np.asarray(inside | (away <= EDGE))


@lru_cache(maxsize=128)
def facets_of(mesh: TriangleMesh) -> tuple[Facet, ...]:
    """The flat faces of a mesh, the largest first."""
    corners = mesh.vertices[mesh.triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(normal, axis=1)
    corners, normal, double = corners[double > 1e-12], normal[double > 1e-12], double[double > 1e-12]
    normal = normal / double[:, None]
    offset = np.einsum('ij,ij->i', normal, corners[:, 0])
    key = np.column_stack([np.round(normal / _TURN), np.round(offset / _STEP)])
    group = alike(key)
    areas = np.bincount(group, weights=0.5 * double)
    largest = np.argsort(-areas, kind='stable')[:MOST_FACETS]
    return tuple(_facet(corners[group == number], normal[group == number], float(areas[number])) for number in largest)


def axes_of(mesh: TriangleMesh) -> Floats:
    """Three unit vectors across each other along which a mesh is built, (3, 3) in rows: as its flat faces look.

    A mesh without two flat faces across each other is built along the axes of its frame.
    """
    facets = facets_of(mesh)
    for facet in facets[:1]:
        for other in facets[1:]:
            along = float(other.normal @ facet.normal)
            if abs(along) < _ACROSS and other.area > _NOT_SMALL * facet.area:
                second = other.normal - along * facet.normal
                second /= np.linalg.norm(second)
                return np.array([facet.normal, second, np.cross(facet.normal, second)])
    return AXES


def _facet(corners: Floats, normals: Floats, area: float) -> Facet:
    pause()
    weights = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    normal = normals[0]
    middle = weights @ corners.mean(axis=1) / weights.sum()
    u = across(normal[None])[0]
    v = np.cross(normal, u)
    flat = np.stack([(corners - middle) @ u, (corners - middle) @ v], axis=-1)
    return Facet(normal, middle, u, v, area, _border(flat))


def _border(triangles: Floats) -> Floats:
    """The edges of flat triangles, (M, 3, 2), that only one of them has, (E, 2, 2)."""
    edges = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2, 2)
    key = np.round(edges / _SAME).astype(np.int64)
    swapped = (key[:, 0, 0] > key[:, 1, 0]) | ((key[:, 0, 0] == key[:, 1, 0]) & (key[:, 0, 1] > key[:, 1, 1]))
    key[swapped] = key[swapped][:, ::-1]
    _, first, counts = np.unique(key.reshape(-1, 4), axis=0, return_index=True, return_counts=True)
    long = (key[first, 0] != key[first, 1]).any(axis=1)
    return np.asarray(edges[first[(counts == 1) & long]])
