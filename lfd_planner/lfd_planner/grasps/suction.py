"""Suction grasps: the cup on flat faces that are large enough for it, in the frame of the shape."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lfd_description.grasp_data import SuctionGraspData
from lfd_description.shapes import Box, Cone, Cylinder
from lfd_planner.scene import SceneShape, TriangleMesh

from .facets import Facet, facets_of
from .frames import AXES, frames
from .grasp import Batch, Floats, Integers, Reason, Source, Tally, millimetres
from .limits import EXACT, MOST_PLACES, angles_of, depths_of, spread
from .probe import protrusion
from .surface import Surface

MOST_TURNS = 8  # of the hand about the cup
MOST_DEPTHS = 3
_RIM = 24  # places on the rim of the cup that must be on a face of a mesh


@dataclass(frozen=True)
class _Face:
    """A flat face: a rectangle, or a disc if it has a radius."""

    middle: Floats
    normal: Floats
    u: Floats
    half_u: float
    half_v: float
    radius: float | None = None

    @cached_property
    def v(self) -> Floats:
        return np.cross(self.normal, self.u)


_Row = tuple[Floats, float, _Face | Facet]
"""Places on a face (N, 2) [m] along its u and v, how the hand is turned there [rad], and the face."""


def suction_grasps(shape: SceneShape, data: SuctionGraspData, tally: Tally) -> Batch:
    """All suction grasps of a shape, in its own frame."""
    if isinstance(shape, TriangleMesh):
        return _mesh(shape, data, tally)
    faces = _faces(shape)
    if not faces:
        word = type(shape).__name__.lower()
        tally.add(Reason.NO_FLAT_FACE, f'{word} has no flat face for the cup of {_cup_text(data)}')
    return _together([row for face in faces for row in _on_face(face, data, tally)], data)


def clear_for_cup(batch: Batch, surface: Surface, data: SuctionGraspData, tally: Tally) -> Batch:
    """The grasps whose cup is not in the way of anything of the object that sticks out beside it."""
    if not len(batch):
        return batch
    # Grasp data do not tell what is behind the cup: it is taken to be twice as wide at once, and four times farther up.
    size = max(data.active_suction_range_x, data.active_suction_range_y)
    places, place_of = _places_of(batch)
    near, far = (protrusion(places, surface.points, times * size) for times in (1.0, 2.0))
    out = np.maximum(near, far - 2.0 * size)[place_of]
    kept = out <= 0.0002
    if not kept.all():
        miss = float(out[~kept].min())
        detail = f'the object sticks out by {millimetres(miss)} beside the cup'
        tally.add(Reason.FACE_COVERED, detail, miss, int((~kept).sum()))
    return batch[kept]


def _places_of(batch: Batch) -> tuple[Floats, Integers]:
    """Where the cup meets the object, (M, 4, 4) [m], each once, and which of these each grasp is at."""
    lip = batch.tcp.copy()
    lip[:, :3, 3] -= batch.depth[:, None] * batch.tcp[:, :3, 2]
    key = np.concatenate([lip[:, :3, 3], lip[:, :3, 2]], axis=1).round(6) + 0.0
    _, first, place_of = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return lip[first], place_of.reshape(-1)


def _faces(shape: SceneShape) -> list[_Face]:
    x, z = AXES[0], AXES[2]
    match shape:
        case Box(size):
            found = []
            for axis in range(3):
                u, v = (axis + 1) % 3, (axis + 2) % 3
                for sign in (1.0, -1.0):
                    normal = sign * AXES[axis]
                    found.append(_Face(0.5 * size[axis] * normal, normal, AXES[u], 0.5 * size[u], 0.5 * size[v]))
            return found
        case Cylinder(radius, height):
            return [_Face(0.5 * sign * height * z, sign * z, x, radius, radius, radius) for sign in (1.0, -1.0)]
        case Cone(radius, height):
            return [_Face(-0.5 * height * z, -z, x, radius, radius, radius)]
        case _:
            return []


def _turns(data: SuctionGraspData) -> tuple[float, ...]:
    angles = angles_of(data)
    return angles[:: math.ceil(len(angles) / MOST_TURNS)]


def _half_cup(data: SuctionGraspData, turn: float) -> tuple[float, float]:
    """Half of what the cup, turned by an angle [rad], takes along two axes [m]; a single region is round."""
    x, y = 0.5 * data.active_suction_range_x, 0.5 * data.active_suction_range_y
    cos, sin = abs(math.cos(turn)), abs(math.sin(turn))
    if data.suction_rows_count * data.suction_cols_count == 1:
        return math.hypot(x * cos, y * sin), math.hypot(x * sin, y * cos)
    return x * cos + y * sin, x * sin + y * cos


def _cup_radius(data: SuctionGraspData) -> float:
    x, y = 0.5 * data.active_suction_range_x, 0.5 * data.active_suction_range_y
    return max(x, y) if data.suction_rows_count * data.suction_cols_count == 1 else math.hypot(x, y)


def _cup_text(data: SuctionGraspData) -> str:
    return f'{1e3 * data.active_suction_range_x:g} x {millimetres(data.active_suction_range_y)}'


def _on_face(face: _Face, data: SuctionGraspData, tally: Tally) -> Iterator[_Row]:
    for turn in _turns(data):
        places = _places_on(face, data, turn)
        if places:
            yield np.array(places), turn, face
        else:
            _too_small(face, data, turn, tally)


def _places_on(face: _Face, data: SuctionGraspData, turn: float) -> list[tuple[float, float]]:
    """Where on a face the cup can be, along u and v of its middle [m]."""
    if face.radius is not None:
        room = face.radius - _cup_radius(data)
        if room < -EXACT:
            return []
        line = spread(2.0 * room, data.grasp_resolution)
        return [(u, v) for u in line for v in line if math.hypot(u, v) <= room + EXACT]
    need_u, need_v = _half_cup(data, turn)
    if face.half_u < need_u - EXACT or face.half_v < need_v - EXACT:
        return []
    along = spread(2.0 * (face.half_u - need_u), data.grasp_resolution)
    beside = spread(2.0 * (face.half_v - need_v), data.grasp_resolution)
    return [(u, v) for u in along for v in beside]


def _too_small(face: _Face, data: SuctionGraspData, turn: float, tally: Tally) -> None:
    if face.radius is not None:
        miss = 2.0 * (_cup_radius(data) - face.radius)
        detail = f'flat face is {millimetres(2.0 * face.radius)} across, the cup takes {_cup_text(data)}'
    else:
        need_u, need_v = _half_cup(data, turn)
        miss = 2.0 * max(need_u - face.half_u, need_v - face.half_v)
        detail = f'flat face is {2e3 * face.half_u:g} x {millimetres(2.0 * face.half_v)}, the cup takes '
        detail += _cup_text(data)
    tally.add(Reason.FACE_TOO_SMALL, detail, miss)


def _together(rows: list[_Row], data: SuctionGraspData) -> Batch:
    """The grasps at all places of all faces, with the hand turned about their normals."""
    if not rows:
        return Batch.join([])
    counts = [len(places) for places, _, _ in rows]
    places = np.concatenate([places for places, _, _ in rows])
    axes = np.array([_axes(turn, face) for _, turn, face in rows])
    middle, u, v, normal, y = np.repeat(axes, counts, axis=0).transpose(1, 0, 2)
    on_face = middle + places[:, :1] * u + places[:, 1:] * v
    batches = []
    for depth in depths_of(data)[:MOST_DEPTHS]:
        tcp = frames(y, -normal, on_face - depth * normal)
        batches.append(Batch.of(tcp, math.nan, np.full(len(tcp), depth), Source.SUCTION))
    return Batch.join(batches)


def _axes(turn: float, face: _Face | Facet) -> list[Floats]:
    y = -math.sin(turn) * face.u - math.cos(turn) * face.v
    return [face.middle, face.u, face.v, face.normal, y]


def _mesh(mesh: TriangleMesh, data: SuctionGraspData, tally: Tally) -> Batch:
    needed = math.pi * 0.25 * data.active_suction_range_x * data.active_suction_range_y
    facets = [facet for facet in facets_of(mesh) if facet.area >= needed]
    if not facets:
        largest = max((facet.area for facet in facets_of(mesh)), default=0.0)
        detail = f"the mesh's largest flat face has {1e4 * largest:.1f} cm2, the cup takes {1e4 * needed:.1f} cm2"
        tally.add(Reason.NO_FLAT_FACE, detail)
    return _together([row for facet in facets for row in _on_facet(facet, data, tally)], data)


def _on_facet(facet: Facet, data: SuctionGraspData, tally: Tally) -> Iterator[_Row]:
    grid = _grid(facet, data.grasp_resolution)
    grid = grid[facet.holds(grid)]
    for turn in _turns(data):
        rim = _rim(data, turn)
        kept = facet.holds(grid[:, None, :] + rim).all(axis=1)
        if kept.any():
            yield grid[kept], turn, facet
        else:
            tally.add(Reason.FACE_TOO_SMALL, f'a flat face of the mesh does not hold the cup of {_cup_text(data)}')


def _grid(facet: Facet, step: float) -> Floats:
    """Places on a face, (N, 2) [m], its middle first."""
    low, high = facet.border.min(axis=(0, 1)), facet.border.max(axis=(0, 1))
    step = max(step, float((high - low).max()) / MOST_PLACES)
    lines = []
    for axis in range(2):
        reach = max(-low[axis], high[axis])
        steps = np.arange(-math.floor(reach / step), math.floor(reach / step) + 1) * step
        lines.append(steps[(steps >= low[axis]) & (steps <= high[axis])])
    u, v = np.meshgrid(*lines, indexing='ij')
    places = np.column_stack([u.ravel(), v.ravel()])
    return np.asarray(places[np.argsort(np.linalg.norm(places, axis=1), kind='stable')])


def _rim(data: SuctionGraspData, turn: float) -> Floats:
    """The middle of the cup and places on its rim, turned, (N, 2) [m]."""
    angle = np.arange(_RIM) * 2.0 * math.pi / _RIM
    x, y = 0.5 * data.active_suction_range_x, 0.5 * data.active_suction_range_y
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    if data.suction_rows_count * data.suction_cols_count > 1:
        rim /= np.abs(rim).max(axis=1)[:, None]
    rim *= (x, y)
    cos, sin = math.cos(turn), math.sin(turn)
    turned = np.column_stack([cos * rim[:, 0] - sin * rim[:, 1], sin * rim[:, 0] + cos * rim[:, 1]])
    return np.concatenate([np.zeros((1, 2)), turned])
