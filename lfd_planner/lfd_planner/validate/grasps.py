"""Whether an object is really in the hand when it is taken: between two pads, or under the lip of a suction cup."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lfd_description.grasp_data import FingerGraspData, SuctionGraspData
from lfd_description.grippers import TCP_LINK
from lfd_description.urdf import Matrix

from .contacts import PRESS
from .replay import Stage, Stretch
from .report import Check, Finding
from .solids import Numbers, Place, Solid, nearest
from .stability import Shapes
from .surfaces import heights, moved

GAP = 0.0015  # [m], between a pad or a lip and what it holds
OPPOSED = 0.85  # the least cosine between a pad's way and the face that it presses on, and between two pads' ways
FLAT = 0.001  # [m], by which a face may bend under a cup
BACK = 0.0005  # [m], from where a pad touches, to see which face it will touch
RIM = 16  # lines around the lip of a cup


class _Pad(NamedTuple):
    link: str
    gap: float
    """[m]; below zero: how deep it is in the object."""
    way: Numbers
    """The direction in which it closes, (3,)."""
    presses: bool
    """Whether it closes on a face that looks at it."""


@dataclass(frozen=True, eq=False)
class GraspCheck:
    """Checks how objects are taken."""

    stage: Stage
    links: Sequence[Solid]
    objects: Mapping[str, Sequence[Solid]]
    shapes: Shapes

    def check(self, stretch: Stretch, name: str, pose: Matrix) -> Iterator[Finding]:
        """How an object, at its transform scene -> object, is taken at the end of a stretch."""
        gripper = self.stage.model.gripper
        if gripper is None:
            return
        if isinstance(gripper.grasp_data, FingerGraspData):
            messages = self._fingers(stretch.q[-1], gripper.grasp_data, name, pose)
        else:
            messages = self._suction(stretch.q[-1], gripper.grasp_data, name, pose)
        for message, subjects, amount in messages:
            yield Finding(Check.GRASP, message, stretch.index, stretch.end, subjects, amount)

    def _fingers(
        self, q: Numbers, data: FingerGraspData, name: str, pose: Matrix
    ) -> Iterator[tuple[str, tuple[str, ...], float | None]]:
        pads = self._pads(q, data, name, pose)
        for pad in pads:
            subjects = pad.link, name
            if pad.gap > GAP:
                yield f"'{pad.link}' is {1e3 * pad.gap:.2f} mm away from '{name}', which it takes.", subjects, pad.gap
            elif pad.gap < -PRESS:
                yield f"'{pad.link}' is {-1e3 * pad.gap:.2f} mm in '{name}', which it takes.", subjects, -pad.gap
        touching = [pad for pad in pads if -PRESS <= pad.gap <= GAP]
        pressing = [pad for pad in touching if pad.presses]
        opposed = any(float(a.way @ b.way) < -OPPOSED for a, b in itertools.combinations(pressing, 2))
        if len(touching) == len(pads) and not opposed:
            links = tuple(pad.link for pad in touching)
            yield f"'{name}' is not between two faces that {' and '.join(links)} press on.", (*links, name), None

    def _pads(self, q: Numbers, data: FingerGraspData, name: str, pose: Matrix) -> list[_Pad]:
        model = self.stage.model
        touch_links = model.gripper.touch_links if model.gripper is not None else ()
        shut, opened = (
            self.stage.link_poses(self._posed(q, data, posture)[np.newaxis])[0]
            for posture in (data.grasp_posture, data.pregrasp_posture)
        )
        now = self.stage.link_poses(q[np.newaxis])[0]
        pads = []
        for bare in touch_links:
            link = f'{model.prefix}{bare}'
            row = self.stage.links[link]
            solids = [solid for solid in self.links if solid.owner == link]
            gap, mine, its = min(
                ((_apart(mine, now[row], its, pose), mine, its) for mine in solids for its in self.objects[name]),
                key=lambda found: found[0],
            )
            way = shut[row, :3, 3] - opened[row, :3, 3]
            way = way / max(float(np.linalg.norm(way)), 1e-12)
            facing = nearest(mine, _back(now[row] @ mine.origin, way, gap), its, Place.of(pose @ its.origin)).normal
            pads.append(_Pad(link, gap, way, bool(facing @ way > OPPOSED)))
        return pads

    def _posed(self, q: Numbers, data: FingerGraspData, posture: Sequence[float]) -> Numbers:
        """All joints' positions with the fingers in a posture."""
        found = q.copy()
        for joint, position in zip(data.joints, posture, strict=True):
            column = self.stage.column.get(f'{self.stage.model.prefix}{joint}')
            if column is not None:  # the others follow
                found[column] = position
        return found

    def _suction(
        self, q: Numbers, data: SuctionGraspData, name: str, pose: Matrix
    ) -> Iterator[tuple[str, tuple[str, ...], float | None]]:
        link = f'{self.stage.model.prefix}{TCP_LINK}'
        tcp = self.stage.link_pose(q, link)
        surface = moved(self.shapes.triangles(name), np.linalg.inv(tcp) @ pose)
        angles = np.linspace(0.0, 2.0 * np.pi, RIM, endpoint=False)
        rim = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        lines = np.concatenate([np.zeros((1, 2)), rim * (0.5 * np.array(_ranges(data)))])
        hits = heights(surface, lines)
        missed = np.isnan(hits).all(axis=1)
        if missed.any():
            share = float(missed.mean())
            yield f"{100.0 * share:.0f} % of the cup's lip is beside '{name}', which it takes.", (link, name), share
            return
        face = np.nanmin(hits, axis=1)
        if face.max() > GAP or face.min() < -(data.grasp_max_depth + GAP):
            amount = float(max(face.max(), -face.min()))
            yield f"The cup's lip is {1e3 * amount:.2f} mm off the face of '{name}'.", (link, name), amount
        if np.ptp(face) > FLAT:
            bend = float(np.ptp(face))
            yield f"The face of '{name}' is not flat under the cup, by {1e3 * bend:.2f} mm.", (link, name), bend


def _ranges(data: SuctionGraspData) -> tuple[float, float]:
    return data.active_suction_range_x, data.active_suction_range_y


def _back(pose: Matrix, way: Numbers, gap: float) -> Place:
    """The place of a pad a little before it touches: two that touch have no clear direction between them."""
    found = pose.copy()
    found[:3, 3] -= way * (BACK + max(0.0, -gap))
    return Place.of(found)


def _apart(mine: Solid, at_mine: Matrix, its: Solid, at_its: Matrix) -> float:
    return nearest(mine, Place.of(at_mine @ mine.origin), its, Place.of(at_its @ its.origin)).distance
