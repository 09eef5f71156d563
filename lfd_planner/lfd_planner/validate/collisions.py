"""Exact collision checks of a whole motion: robot with itself and the world, held objects with both.

Two solids are measured at a sample, and again only where their motion since then could have brought them as near as
what is looked for: a distance cannot shrink faster than the solids move. So every sample is decided, few are measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lfd_description.urdf import Matrix

from .contacts import FREE, Contacts, Mask, Permission, near_rest
from .replay import Held, Stage, Stretch
from .report import Check, Clearance, Finding, millimetres
from .solids import TOUCH, Numbers, Place, Solid, distance, steps

FARTHEST = 0.5  # [m], beyond which nobody asks how far apart things are


@dataclass(frozen=True, eq=False)
class _Track:
    """A solid on its way: where it is at each sample, in the scene's frame."""

    solid: Solid
    turns: Matrix
    """(N, 3, 3)"""
    shifts: Matrix
    """(N, 3) [m]"""
    centres: Matrix
    """Of the ball around it, (N, 3) [m]."""
    travelled: Numbers
    """How far any of its points can have moved since the first sample, (N,) [m]."""

    def place(self, sample: int) -> Place:
        row = min(sample, len(self.shifts) - 1)  # what stands has one row for all samples
        return Place(self.turns[row], self.shifts[row])


_Tracks = Mapping[str, Sequence[_Track]]


class _Closest(NamedTuple):
    sample: int
    distance: float


class CollisionCheck:
    """Checks stretches one after the other; remembers the smallest clearance and how much was measured."""

    def __init__(self, stage: Stage, contacts: Contacts) -> None:
        self._stage = stage
        self._contacts = contacts
        self.clearance: Clearance | None = None
        self.counts: Counter[str] = Counter()

    def check(self, stretch: Stretch) -> Iterator[Finding]:
        """What touches in a stretch and may not; the deepest sample of each pair."""
        poses = self._stage.link_poses(stretch.q)
        links = [_track(solid, poses[:, self._stage.links[solid.owner]]) for solid in self._stage.link_solids]
        carried = {name: self._carried(held, poses) for name, held in stretch.held.items()}
        standing = {
            name: [_fixed(solid, at) for solid in self._stage.object_solids[name]]
            for name, at in stretch.standing.items()
        }
        self.counts['states'] += len(stretch.times)
        worst: dict[tuple[str, str], _Closest] = {}
        for pair, found in self._pairs(stretch, poses, links, carried, standing):
            if found.distance < -TOUCH and found.distance < worst.get(pair, _Closest(0, 0.0)).distance:
                worst[pair] = found
        for (a, b), found in worst.items():
            time = float(stretch.times[found.sample])
            message = f"'{a}' is {millimetres(found.distance)} in '{b}'."
            yield Finding(Check.COLLISION, message, stretch.index, time, (a, b), -found.distance)

    def _carried(self, held: Held, poses: Matrix) -> list[_Track]:
        carrier = poses[:, self._stage.links[held.attachment.link]] @ held.grip
        return [_track(solid, carrier) for solid in self._stage.object_solids[held.object]]

    def _pairs(
        self, stretch: Stretch, poses: Matrix, links: Sequence[_Track], carried: _Tracks, standing: _Tracks
    ) -> Iterator[tuple[tuple[str, str], _Closest]]:
        """All pairs that come nearer than they may, or than any before."""
        for number, one in enumerate(links):
            for other in links[number + 1 :]:
                if not self._contacts.links(one.solid.owner, other.solid.owner):
                    yield from self._sweep(stretch, one, other, None)
            for name, tracks in (*standing.items(), *carried.items()):
                permission = self._contacts.link_and_object(stretch, one.solid.owner, name)
                for track in tracks:
                    yield from self._sweep(stretch, one, track, permission)
        names = list(carried)
        for number, name in enumerate(names):
            held = stretch.held[name]
            at = poses[:, self._stage.links[held.attachment.link]] @ held.grip
            near = near_rest(held, at)
            others = {**standing, **{other: carried[other] for other in names[number + 1 :]}}
            for other_name, tracks in others.items():
                permission = self._contacts.objects(stretch, held, other_name, at)
                for mine in carried[name]:
                    for track in tracks:
                        yield from self._sweep(stretch, mine, track, permission, near)

    def _sweep(
        self, stretch: Stretch, one: _Track, other: _Track, permission: Permission | None, near: Mask | None = None
    ) -> Iterator[tuple[tuple[str, str], _Closest]]:
        """How near two come; where a contact is permitted, only if it is deeper than that.

        What is `near` to where it stands or will stand is no clearance that anybody asks for.
        """
        if permission is FREE:
            return
        pair = one.solid.owner, other.solid.owner
        self.counts['pairs'] += 1
        nowhere = np.zeros(len(stretch.times), dtype=np.bool_)
        permitted = nowhere if permission is None else ~nowhere if permission.where is None else permission.where
        standing = nowhere if near is None else near & ~permitted
        best = self.clearance.distance if self.clearance is not None else FARTHEST
        found = self._closest(one, other, ~permitted & ~standing, max(best, 0.0))
        if found is not None:
            self._remember(stretch, pair, found)
        deepest = [found, self._closest(one, other, standing, 0.0)]
        if permission is not None:
            deepest.append(self._closest(one, other, permitted, -permission.depth))
        yield from ((pair, closest) for closest in deepest if closest is not None)

    def _closest(self, one: _Track, other: _Track, where: Mask, below: float) -> _Closest | None:
        """The nearest that two come to each other at some samples, if that is less than `below` [m]."""
        if not where.any():
            return None
        gaps = np.linalg.norm(one.centres - other.centres, axis=1) - one.solid.radius - other.solid.radius
        samples = np.flatnonzero(where & (gaps < below))
        if not len(samples):
            return None
        travelled = _relative_travel(one, other)[samples]
        found, at = None, 0
        while at < len(samples):
            sample = int(samples[at])
            self.counts['distances'] += 1
            apart = distance(one.solid, one.place(sample), other.solid, other.place(sample))
            if apart < below:
                found, below = _Closest(sample, apart), apart
            reach = travelled[at] + (apart - below)
            at = max(at + 1, int(np.searchsorted(travelled, reach, side='right')))
        return found

    def _remember(self, stretch: Stretch, pair: tuple[str, str], found: _Closest) -> None:
        if self.clearance is None or found.distance < self.clearance.distance:
            time = float(stretch.times[found.sample])
            self.clearance = Clearance(*pair, found.distance, time, stretch.index)


def _track(solid: Solid, owners: Matrix) -> _Track:
    """The way of a solid whose owner has the 4x4 transforms scene -> owner, (N, 4, 4)."""
    poses = owners @ solid.origin
    turns, shifts = np.ascontiguousarray(poses[:, :3, :3]), np.ascontiguousarray(poses[:, :3, 3])
    centres = shifts + turns @ solid.centre
    return _Track(solid, turns, shifts, centres, _travel(turns, centres, solid.radius))


def _fixed(solid: Solid, owner: Matrix) -> _Track:
    """A solid that stands; its arrays have one row, which goes for all samples."""
    return _track(solid, owner[np.newaxis])


def _relative_travel(one: _Track, other: _Track) -> Numbers:
    """How far any point of one solid can have moved against the other since the first sample, (N,) [m]."""
    if len(other.shifts) == 1:
        return one.travelled
    if one.solid.radius > other.solid.radius:
        one, other = other, one
    back = np.swapaxes(other.turns, 1, 2)
    centres = (back @ (one.centres - other.shifts)[:, :, np.newaxis])[:, :, 0]
    return _travel(back @ one.turns, centres, one.solid.radius)


def _travel(turns: Matrix, centres: Matrix, radius: float) -> Numbers:
    """How far any point of a ball can have moved since the first sample, (N,) [m]."""
    if len(turns) == 1:
        return np.zeros(1)
    return np.concatenate([np.zeros(1), np.cumsum(steps(turns, centres, radius))])
