"""Grasps as values, and why others were rejected.

A grasp is the pose of the gripper's frame `tcp` in the frame of the object: z out along the fingers or the way the cup
sucks, y from finger to finger, x across. Depths count from where the pads begin to touch: behind the face that looks
at the palm, and of what is round behind its widest place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from lfd_description.grasp_data import AnyGraspData, FingerGraspData
from lfd_planner.pose import Pose

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Source(StrEnum):
    """Where a grasp comes from."""

    HINT = 'hint'
    """The demonstrated hand, moved a little where that was needed."""
    FACE = 'face'
    """Straight at a face of a box."""
    EDGE = 'edge'
    """Tilted, along a face of a box."""
    CORNER = 'corner'
    """Tilted, over the corner between two faces of a box."""
    SIDE = 'side'
    """Of what is round, from the side."""
    TOP = 'top'
    """Of what is round, along its axis from +z."""
    BOTTOM = 'bottom'
    """Of what is round, along its axis from -z."""
    ANTIPODAL = 'antipodal'
    """On two places of a mesh that look away from each other."""
    SUCTION = 'suction'
    """On a flat face."""


SOURCES = tuple(Source)

_MEANING: Mapping[Source, str] = {
    Source.HINT: 'as it was shown',
    Source.FACE: 'straight at a face',
    Source.EDGE: 'tilted along a face',
    Source.CORNER: 'tilted over a corner',
    Source.SIDE: 'from the side',
    Source.TOP: 'from the top',
    Source.BOTTOM: 'from the bottom',
    Source.ANTIPODAL: 'on two opposite places',
    Source.SUCTION: 'on a flat face',
}


class Reason(StrEnum):
    """Why a grasp was rejected."""

    TOO_WIDE = 'too_wide'
    TOO_NARROW = 'too_narrow'
    TOO_THIN_FOR_FINGER = 'too_thin_for_finger'
    """Across, it is narrower than a finger."""
    TOO_SHALLOW = 'too_shallow'
    """The pads would overlap it by less than the least depth."""
    PALM_HITS_OBJECT = 'palm_hits_object'
    FINGER_HITS_OBJECT = 'finger_hits_object'
    """Another part of the object is in the fingers' way."""
    SLIPS = 'slips'
    """What the pads touch leans so much that they slide off."""
    NO_FLAT_FACE = 'no_flat_face'
    FACE_TOO_SMALL = 'face_too_small'
    """There are flat faces, and the cup is larger than each of them."""
    FACE_COVERED = 'face_covered'
    """Another part of the object is where the cup would be."""
    ENDLESS = 'endless'
    """A plane has no sides."""
    NO_SHAPE = 'no_shape'
    """There is nothing to hold."""
    HINT_TOO_FAR = 'hint_too_far'
    """The demonstrated hand is not near any grasp of this gripper."""


@dataclass(frozen=True)
class Rejection:
    """How many grasps were rejected for one reason."""

    reason: Reason
    count: int
    detail: str
    """Of the one that missed by least, such as 'box is 61 mm wide, gripper opens 44 mm'."""
    miss: float | None = None
    """By how much that one missed [m]; None where no length says it."""


@dataclass(frozen=True)
class Grasp:
    """One way to hold an object."""

    tcp: Pose
    """Of the gripper's frame `tcp` in the object's frame."""
    width: float | None
    """The gap between the pads when they touch the object [m]; None of suction."""
    posture: Mapping[str, float]
    """The positions of the gripper's joints on the object [rad or m]."""
    open_posture: Mapping[str, float]
    """Their positions on the way to it [rad or m]."""
    depth: float
    """How far the tcp is behind where the pads begin to touch, or how far the bellows is pressed in [m]."""
    score: float
    """0 to 1, higher is better."""
    source: Source
    reason: str
    """Why it is worth a try, for people."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Many grasps at once, column by column."""

    tcp: Floats
    """(N, 4, 4), object frame -> tcp [m]"""
    width: Floats
    """(N,) [m]; NaN of suction"""
    depth: Floats
    """(N,) [m]"""
    source: Integers
    """(N,), index into `SOURCES`"""
    penalty: Floats
    """(N,), lower is better"""

    def __len__(self) -> int:
        return len(self.tcp)

    def __getitem__(self, which: npt.NDArray[np.bool_] | Integers) -> Batch:
        return Batch(self.tcp[which], self.width[which], self.depth[which], self.source[which], self.penalty[which])

    @staticmethod
    def of(tcp: Floats, width: Floats | float, depth: Floats, source: Sequence[Source] | Source) -> Batch:
        """Grasps that have no penalty yet."""
        count = len(tcp)
        codes = [source] * count if isinstance(source, Source) else source
        return Batch(
            tcp,
            np.full(count, width) if isinstance(width, float) else width,
            depth,
            np.array([SOURCES.index(code) for code in codes], dtype=np.int64),
            np.zeros(count),
        )

    @staticmethod
    def join(batches: Sequence[Batch]) -> Batch:
        """All grasps of several batches, in order."""
        if not batches:
            return Batch.of(np.zeros((0, 4, 4)), np.zeros(0), np.zeros(0), ())
        if len(batches) == 1:
            return batches[0]
        return Batch(
            np.concatenate([batch.tcp for batch in batches]),
            np.concatenate([batch.width for batch in batches]),
            np.concatenate([batch.depth for batch in batches]),
            np.concatenate([batch.source for batch in batches]),
            np.concatenate([batch.penalty for batch in batches]),
        )


@dataclass(frozen=True, eq=False)
class GraspSet:
    """The grasps of an object for a gripper, the best first, and why others were rejected."""

    data: AnyGraspData
    batch: Batch
    rejections: tuple[Rejection, ...] = ()
    notes: Mapping[int, str] = field(default_factory=dict)
    """What is special about a grasp, by its index."""
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The centre of mass in the object's frame [m]."""

    def __post_init__(self) -> None:
        # Sets are kept and given to everybody who asks the same.
        for column in vars(self.batch).values():
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.batch)

    def __iter__(self) -> Iterator[Grasp]:
        return iter(self.grasps)

    def __getitem__(self, index: int) -> Grasp:
        return self.grasps[index] if 'grasps' in vars(self) else self._grasp(range(len(self))[index])

    @property
    def tcp_matrices(self) -> Floats:
        """The 4x4 transforms object frame -> tcp, (N, 4, 4) [m], the best first."""
        return self.batch.tcp

    @property
    def widths(self) -> Floats:
        """The gaps between the pads, (N,) [m]; NaN of suction."""
        return self.batch.width

    @property
    def scores(self) -> Floats:
        """0 to 1, (N,), higher is better."""
        return np.asarray(1.0 / (1.0 + self.batch.penalty))

    @cached_property
    def grasps(self) -> tuple[Grasp, ...]:
        """All grasps as values, the best first; made when they are first asked for."""
        return tuple(self._grasp(index) for index in range(len(self)))

    def explain(self) -> str:
        """What there is and what was rejected, in one line for people."""
        found = f'{len(self)} grasps, the best {self[0].reason}' if len(self) else 'no grasp'
        rejected = '; '.join(f'{rejection.detail} ({rejection.count} rejected)' for rejection in self.rejections)
        return f'{found}: {rejected}' if rejected and not len(self) else f'{found}; {rejected}' if rejected else found

    @cached_property
    def _beside(self) -> Floats:
        """How far the centre of mass is beside the tcp's z axis, (N,) [m]."""
        return beside(self.batch.tcp, np.array(self.centre))

    def _grasp(self, index: int) -> Grasp:
        batch = self.batch
        width = float(batch.width[index]) if isinstance(self.data, FingerGraspData) else None
        closed, opened = _postures(self.data, width)
        return Grasp(
            tcp=Pose.of(batch.tcp[index]),
            width=width,
            posture=closed,
            open_posture=opened,
            depth=float(batch.depth[index]),
            score=1.0 / (1.0 + float(batch.penalty[index])),
            source=SOURCES[int(batch.source[index])],
            reason=self._reason(index),
        )

    def _reason(self, index: int) -> str:
        off = float(self._beside[index])
        source = SOURCES[int(self.batch.source[index])]
        facts = [
            self.notes.get(index, _MEANING[source]),
            f'{millimetres(off)} beside the centre of mass',
            f'{millimetres(float(self.batch.depth[index]))} deep',
        ]
        if isinstance(self.data, FingerGraspData):
            facts.append(f'fingers {millimetres(float(self.batch.width[index]))} apart')
        return ', '.join(facts)


class Tally:
    """Collects rejections; of each reason the one that missed by least is told."""

    def __init__(self) -> None:
        self._found: dict[Reason, Rejection] = {}

    def add(self, reason: Reason, detail: str, miss: float | None = None, count: int = 1) -> None:
        """Count grasps that were rejected."""
        if count == 0:
            return
        known = self._found.get(reason)
        if known is None:
            self._found[reason] = Rejection(reason, count, detail, miss)
            return
        nearer = miss is not None and (known.miss is None or miss < known.miss)
        best = Rejection(reason, count, detail, miss) if nearer else known
        self._found[reason] = Rejection(reason, known.count + count, best.detail, best.miss)

    def rejections(self) -> tuple[Rejection, ...]:
        """One for each reason, the most frequent first."""
        return tuple(sorted(self._found.values(), key=lambda rejection: -rejection.count))


def millimetres(length: float) -> str:
    """A length [m] as people read it: '41.5 mm'; never shorter than a tenth of a millimetre can tell."""
    return f'{round(length * 1e3, 1) + 0.0:g} mm'


def beside(tcp: Floats, point: Floats) -> Floats:
    """How far a point is beside the z axis of each tcp, (N,) [m]; all in the object's frame."""
    to, z = point - tcp[:, :3, 3], tcp[:, :3, 2]
    along = np.einsum('ij,ij->i', to, z)
    return np.asarray(np.sqrt(np.maximum(np.einsum('ij,ij->i', to, to) - along * along, 0.0)))


def _postures(data: AnyGraspData, width: float | None) -> tuple[dict[str, float], dict[str, float]]:
    """Joint positions on the object and on the way to it; the fingers open no farther than they need to."""
    if not isinstance(data, FingerGraspData) or width is None:
        return _by_joint(data, data.grasp_posture), _by_joint(data, data.pregrasp_posture)
    gap = min(max(width, data.min_finger_width), data.max_finger_width)
    opened = min(gap + 2.0 * data.grasp_padding_on_approach, data.max_finger_width)
    return _by_joint(data, data.posture(gap)), _by_joint(data, data.posture(opened))


def _by_joint(data: AnyGraspData, posture: Sequence[float]) -> dict[str, float]:
    return dict(zip(data.joints, posture, strict=True))
