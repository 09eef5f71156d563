"""Whether an object is really in the hand from when it is taken until it is let go of, and not in it afterwards.

Between two pads that are deep enough on it, or under the lip of a suction cup whose vacuum is on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lfd_description.grasp_data import FingerGraspData, SuctionGraspData
from lfd_description.grippers import TCP_LINK, Gripper
from lfd_description.urdf import Matrix
from lfd_planner.solution import Attachment

from .contacts import PRESS
from .replay import Stage, Stretch
from .report import Check, Finding, millimetres
from .solids import Numbers, Place, Solid, nearest
from .stability import Shapes
from .surfaces import heights, moved

GAP = 0.0005  # [m], between a pad or a lip and what it holds
CLEAR = 0.0005  # [m], of a pad from what it let go of, before the arm moves
OPPOSED = 0.85  # the least cosine between a pad's way and the face that it presses on, and between two pads' ways
BESIDE = 0.0005  # [m], by which a pad may overlap less than it should
TOUCHED = 0.0002  # [m], from where the pads stop, what they press on
FLAT = 0.001  # [m], by which a face may bend under a cup
BACK = 0.0005  # [m], from where a pad touches, to see which face it will touch
RIM = 16  # lines around the lip of a cup
ACROSS, ALONG = 7, 25  # lines across a pad, and along it

_Fault = tuple[str, tuple[str, ...], float | None]
"""A sentence, whom it is about, and how much is too much."""


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
    """Checks how objects are taken and let go of."""

    stage: Stage
    shapes: Shapes

    def taken(self, stretch: Stretch, attachment: Attachment, leaving: Stretch | None) -> Iterator[Finding]:
        """How an object is taken at the end of a stretch, for the arm to leave with it in another, if it does."""
        gripper = self.stage.model.gripper
        if gripper is None:
            return
        name, pose = attachment.object, stretch.standing[attachment.object]
        faults = [*self._carrier(attachment)]
        if isinstance(gripper.grasp_data, FingerGraspData):
            faults += self._fingers(stretch.q[-1], gripper.grasp_data, name, pose)
        else:
            faults += self._suction(stretch.q[-1], gripper.grasp_data, name, pose)
        if leaving is not None and gripper.gpio is not None and leaving.outputs.get(gripper.gpio) is not True:
            faults.append((f"'{name}' is taken, and '{gripper.gpio}' is not on.", (name, gripper.gpio), None))
        yield from (Finding(Check.GRASP, *_told(fault, stretch)) for fault in faults)

    def let_go(self, stretch: Stretch, name: str, leaving: Stretch | None) -> Iterator[Finding]:
        """Whether an object stays behind that is let go of, when the arm leaves it in a later stretch, if it does."""
        gripper = self.stage.model.gripper
        if gripper is None or leaving is None or name not in leaving.standing:
            return
        faults: list[_Fault] = []
        if gripper.gpio is not None and leaving.outputs.get(gripper.gpio) is True:
            faults.append((f"'{name}' is let go of, and '{gripper.gpio}' is still on.", (name, gripper.gpio), None))
        if isinstance(gripper.grasp_data, FingerGraspData):
            poses = self.stage.link_poses(leaving.q[:1])[0]
            for link in self._touch_links(gripper):
                gap = self._nearest(link, poses, name, leaving.standing[name])[0]
                if gap < CLEAR:
                    message = f"'{link}' is {millimetres(max(gap, 0.0))} from '{name}', which it let go of."
                    faults.append((message, (link, name), CLEAR - gap))
        yield from (Finding(Check.GRASP, *_told(fault, stretch)) for fault in faults)

    def _carrier(self, attachment: Attachment) -> Iterator[_Fault]:
        """Whether the link that carries an object from now on is one with the hand."""
        if self._fixed_to(attachment.link) != self._fixed_to(self._tcp):
            message = f"'{attachment.object}' is to move with '{attachment.link}', which is not one with '{self._tcp}'."
            yield message, (attachment.object, attachment.link), None

    def _fixed_to(self, link: str) -> str:
        """The uppermost link of those that are as good as one with a link."""
        above = {joint.child: joint for joint in self.stage.model.tree.joints if not joint.moves}
        while link in above:
            link = above[link].parent
        return link

    @property
    def _tcp(self) -> str:
        return f'{self.stage.model.prefix}{TCP_LINK}'

    def _touch_links(self, gripper: Gripper) -> list[str]:
        return [f'{self.stage.model.prefix}{link}' for link in gripper.touch_links]

    def _fingers(self, q: Numbers, data: FingerGraspData, name: str, pose: Matrix) -> Iterator[_Fault]:
        pads = self._pads(q, data, name, pose)
        for pad in pads:
            subjects = pad.link, name
            if pad.gap > GAP:
                yield f"'{pad.link}' is {millimetres(pad.gap)} away from '{name}', which it takes.", subjects, pad.gap
            elif pad.gap < -PRESS:
                yield f"'{pad.link}' is {millimetres(pad.gap)} in '{name}', which it takes.", subjects, -pad.gap
        links = tuple(pad.link for pad in pads)
        if any(not -PRESS <= pad.gap <= GAP for pad in pads):
            return
        pressing = [pad for pad in pads if pad.presses]
        if not any(float(a.way @ b.way) < -OPPOSED for a, b in itertools.combinations(pressing, 2)):
            yield f"'{name}' is not between two faces that {' and '.join(links)} press on.", (*links, name), None
            return
        yield from self._overlap(q, data, name, pose, links)

    def _overlap(
        self, q: Numbers, data: FingerGraspData, name: str, pose: Matrix, links: tuple[str, ...]
    ) -> Iterator[_Fault]:
        """Whether the pads hold an object far enough from their tips and with their whole width."""
        tcp = self.stage.link_pose(q, self._tcp)
        along_closing = tcp[:, [2, 0, 1, 3]]  # what is the tcp's z, x and y becomes x, y and up
        surface = moved(self.shapes.triangles(name), np.linalg.inv(along_closing) @ pose)
        half = 0.5 * data.gripper_finger_width
        z = np.linspace(0.0, -2.0 * data.grasp_max_depth, ALONG)
        x = np.linspace(-half, half, ACROSS)
        x[[0, -1]] += BESIDE, -BESIDE
        lines = np.stack(np.meshgrid(z, x, indexing='ij'), axis=-1).reshape(-1, 2)
        hits = heights(surface, lines)
        hits[np.abs(hits) > 0.5 * data.max_finger_width] = np.nan  # outside of the hand
        met = ~np.isnan(hits).all(axis=1).reshape(ALONG, ACROSS)
        if not met[:, [0, -1]].any(axis=0).all():
            message = f"'{name}' is not as wide as the fingers where they hold it, {millimetres(2.0 * half)}."
            yield message, (*links, name), None
            return
        high, low = (
            np.nanmax(np.where(np.isnan(values), -np.inf, values), axis=1).reshape(ALONG, ACROSS).max(axis=1)
            for values in (hits, -hits)
        )
        deepest = min(-float(z[side >= side.max() - TOUCHED].min()) for side in (high, low))
        if deepest < data.grasp_min_depth - BESIDE:
            missing = data.grasp_min_depth - deepest
            message = f"The fingers hold '{name}' with {millimetres(deepest)} of their tips, they need "
            yield message + f'{millimetres(data.grasp_min_depth)}.', (*links, name), missing

    def _pads(self, q: Numbers, data: FingerGraspData, name: str, pose: Matrix) -> list[_Pad]:
        gripper = self.stage.model.gripper
        shut, opened = (
            self.stage.link_poses(self._posed(q, data, posture)[np.newaxis])[0]
            for posture in (data.grasp_posture, data.pregrasp_posture)
        )
        now = self.stage.link_poses(q[np.newaxis])[0]
        pads = []
        for link in self._touch_links(gripper) if gripper is not None else ():
            row = self.stage.links[link]
            gap, mine, its = self._nearest(link, now, name, pose)
            way = shut[row, :3, 3] - opened[row, :3, 3]
            way = way / max(float(np.linalg.norm(way)), 1e-12)
            facing = nearest(mine, _back(now[row] @ mine.origin, way, gap), its, Place.of(pose @ its.origin)).normal
            pads.append(_Pad(link, gap, way, bool(facing @ way > OPPOSED)))
        return pads

    def _nearest(self, link: str, poses: Matrix, name: str, pose: Matrix) -> tuple[float, Solid, Solid]:
        """How far a link is from an object [m], and the solids of both that are so near."""
        at = poses[self.stage.links[link]]
        mine = [solid for solid in self.stage.link_solids if solid.owner == link]
        return min(
            ((_apart(one, at, its, pose), one, its) for one in mine for its in self.stage.object_solids[name]),
            key=lambda found: found[0],
        )

    def _posed(self, q: Numbers, data: FingerGraspData, posture: Sequence[float]) -> Numbers:
        """All joints' positions with the fingers in a posture."""
        found = q.copy()
        for joint, position in zip(data.joints, posture, strict=True):
            column = self.stage.column.get(f'{self.stage.model.prefix}{joint}')
            if column is not None:  # the others follow
                found[column] = position
        return found

    def _suction(self, q: Numbers, data: SuctionGraspData, name: str, pose: Matrix) -> Iterator[_Fault]:
        link = self._tcp
        tcp = self.stage.link_pose(q, link)
        surface = moved(self.shapes.triangles(name), np.linalg.inv(tcp) @ pose)
        hits = heights(surface, _lip(data))
        missed = np.isnan(hits).all(axis=1)
        if missed.any():
            share = float(missed.mean())
            yield f"{100.0 * share:.0f} % of the cup's lip is beside '{name}', which it takes.", (link, name), share
            return
        face = np.nanmin(hits, axis=1)
        if face.max() > GAP or face.min() < -(data.grasp_max_depth + GAP):
            amount = float(max(face.max(), -face.min()))
            yield f"The cup's lip is {millimetres(amount)} off the face of '{name}'.", (link, name), amount
        if np.ptp(face) > FLAT:
            bend = float(np.ptp(face))
            yield f"The face of '{name}' is not flat under the cup, by {millimetres(bend)}.", (link, name), bend


def _told(fault: _Fault, stretch: Stretch) -> tuple[str, int, float, tuple[str, ...], float | None]:
    message, subjects, amount = fault
    return message, stretch.index, stretch.end, subjects, amount


def _lip(data: SuctionGraspData) -> Matrix:
    """The middle and the lip of a cup along the tcp's x and y, (N, 2) [m]; an area of several cups has corners."""
    angles = np.linspace(0.0, 2.0 * np.pi, RIM, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    if data.suction_rows_count * data.suction_cols_count > 1:
        rim /= np.abs(rim).max(axis=1)[:, np.newaxis]
    rim *= 0.5 * np.array([data.active_suction_range_x, data.active_suction_range_y])
    return np.concatenate([np.zeros((1, 2)), rim])


def _back(pose: Matrix, way: Numbers, gap: float) -> Place:
    """The place of a pad a little before it touches: two that touch have no clear direction between them."""
    found = pose.copy()
    found[:3, 3] -= way * (BACK + max(0.0, -gap))
    return Place.of(found)


def _apart(mine: Solid, at_mine: Matrix, its: Solid, at_its: Matrix) -> float:
    return nearest(mine, Place.of(at_mine @ mine.origin), its, Place.of(at_its @ its.origin)).distance
