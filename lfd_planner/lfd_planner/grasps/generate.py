"""Makes the grasps of an object for a gripper: of each part, checked against the others, the best first."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from lfd_description.grasp_data import AnyGraspData, FingerGraspData, SuctionGraspData
from lfd_description.shapes import MeshFile, Plane
from lfd_planner.mtdf.task import GraspHint
from lfd_planner.scene import Body, Part, SceneShape, TriangleMesh, triangles_of
from lfd_planner.stopping import ShouldStop, never

from .antipodal import antipodal_grasps
from .fit import clear_of_parts
from .frames import flipped
from .grasp import SOURCES, Batch, Floats, GraspSet, Reason, Source, Tally, beside
from .hint import with_hint
from .limits import FingerLimits
from .pauses import stoppable
from .primitives import primitive_grasps
from .suction import clear_for_cup, suction_grasps
from .surface import centre_of, has_surface, size_of, surface_of

MOST_GRASPS = 2000
"""Of one object; the worst of more are left out."""

_Parts = tuple[Part, ...]
_LESS_LIKED = {Source.EDGE: 0.3, Source.CORNER: 0.4, Source.BOTTOM: 0.05, Source.ANTIPODAL: 0.1}
_SOURCE_PENALTIES = np.array([_LESS_LIKED.get(source, 0.0) for source in SOURCES])


def generate_grasps(
    body: Body,
    data: AnyGraspData,
    *,
    hint: GraspHint | None = None,
    seed: int = 0,
    should_stop: ShouldStop = never,
) -> GraspSet:
    """The grasps of an object for a gripper, the best first; without regard to robot and scene.

    Both ways to swap the fingers are there. With a hint, the nearest grasp to the demonstrated hand is the first one,
    and those near to it come early. Meshes are sampled; the same seed gives the same grasps. Results are kept, so that
    the same question costs nothing.

    Raises:
        MeshError: the object has a mesh file that cannot be used.
        Interrupted: `should_stop` said yes meanwhile.
    """
    parts = tuple(_loaded(part) for part in body.parts)
    with stoppable(should_stop):
        return _hinted(parts, data, hint, seed) if hint is not None else _all(parts, data, seed)


def _loaded(part: Part) -> Part:
    """The part with the triangles of its file, which may change while we run."""
    return replace(part, shape=triangles_of(part.shape)) if isinstance(part.shape, MeshFile) else part


@lru_cache(maxsize=1024)
def _hinted(parts: _Parts, data: AnyGraspData, hint: GraspHint, seed: int) -> GraspSet:
    found = _all(parts, data, seed)
    solid = tuple(part for part in parts if not isinstance(part.shape, Plane))
    return with_hint(found, surface_of(solid), hint) if len(found) else found


@lru_cache(maxsize=1024)
def _all(parts: _Parts, data: AnyGraspData, seed: int) -> GraspSet:
    tally = Tally()
    flat = tuple(part for part in parts if isinstance(part.shape, TriangleMesh) and not has_surface(part.shape))
    if flat:
        tally.add(Reason.NO_SHAPE, 'a mesh of the object has no surface', count=len(flat))
        parts = tuple(part for part in parts if part not in flat)
    elif not parts:
        tally.add(Reason.NO_SHAPE, 'the object has no shape')
    if any(isinstance(part.shape, Plane) for part in parts):
        tally.add(Reason.ENDLESS, 'a plane has no end to hold')
        return GraspSet(data, Batch.join([]), tally.rejections())
    batch = Batch.join([_of_part(part, parts, data, seed, tally) for part in parts])
    centre = centre_of(parts)
    if isinstance(data, FingerGraspData):
        batch = Batch.join([batch, replace(batch, tcp=flipped(batch.tcp))])
    batch = _sorted(batch, centre, size_of(parts) if parts else 0.0, data)
    x, y, z = centre.tolist()
    return GraspSet(data, batch, tally.rejections(), centre=(x, y, z))


def _of_part(part: Part, parts: _Parts, data: AnyGraspData, seed: int, tally: Tally) -> Batch:
    """The grasps of one part of an object, in the object's frame."""
    is_mesh = isinstance(part.shape, TriangleMesh)
    if isinstance(data, SuctionGraspData):
        batch = _moved(suction_grasps(part.shape, data, tally), part)
        return clear_for_cup(batch, surface_of(parts), data, tally) if len(parts) > 1 or is_mesh else batch
    limits = FingerLimits.of(data)
    batch = _moved(_fingers(part.shape, limits, seed, tally), part)
    return clear_of_parts(batch, surface_of(parts), limits, tally) if len(parts) > 1 else batch


def _fingers(shape: SceneShape, limits: FingerLimits, seed: int, tally: Tally) -> Batch:
    match shape:
        case TriangleMesh():
            return antipodal_grasps(shape, limits, seed, tally)
        case Plane() | MeshFile():
            raise TypeError(f'{shape} has no grasps')  # planes are refused before, files are read before
        case _:
            return primitive_grasps(shape, limits, tally)


def _moved(batch: Batch, part: Part) -> Batch:
    return batch if part.pose.is_identity else replace(batch, tcp=part.pose.matrix @ batch.tcp)


def _sorted(batch: Batch, centre: Floats, size: float, data: AnyGraspData) -> Batch:
    """The best first: near the centre of mass, straight, deep, and with room to spare in the hand."""
    if not len(batch):
        return batch
    penalty = batch.penalty + beside(batch.tcp, centre) / max(size, 1e-6) + _SOURCE_PENALTIES[batch.source]
    penalty += 0.2 * (1.0 - batch.depth / max(data.grasp_max_depth, 1e-9)).clip(0.0, 1.0)
    if isinstance(data, FingerGraspData):
        penalty += 0.05 * batch.width / data.max_grasp_width
    penalty = penalty.round(9)
    order = np.argsort(penalty, kind='stable')[:MOST_GRASPS]
    return replace(batch, penalty=penalty)[order]
