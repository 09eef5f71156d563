"""A planning scene with a robot in it, ready for collision checks."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
from types import MappingProxyType
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from lfd_description.shapes import Vector
from lfd_description.urdf import Matrix
from lfd_planner.scene import (
    AttachedObject,
    BodyKind,
    Code,
    Contact,
    PersistentMap,
    PlanningScene,
    SceneFault,
    WorldObject,
)

from .contacts import CONTACT_WIDTH, DEPTH, NORMAL, ONE, OTHER, POSITION, find_contacts, find_nearest
from .hierarchies import build
from .library import ShapeLibrary
from .robot_geometry import MovingFrames, RobotGeometry
from .rows import BALL, CENTRE, FRAME, HALF, KIND, OWNER, PLANE, POSE, WIDTH, Numbers
from .solids import solid_of
from .world import Room, World, collide_many, collides, edge_free, is_stuck, room_for

_NOBODY = ''
"""The name of an object of which allowed collisions say nothing: no object has it."""
_MOST_CONTACTS = 100
Entry = TypeVar('Entry')
Indices = npt.NDArray[np.int64]


class CollisionWorld:
    """An immutable snapshot of a robot in a scene; several threads may use it at once.

    Links are checked against each other, against objects and against what is attached; attached objects against links,
    objects and each other; objects in the world not among themselves. What `scene.may_touch` allows is left out.
    Padding and scale of links count against the world only, as in MoveIt.

    Args:
        robot: the robot's solids.
        scene: where it stands; in the frame that the robot was made for.
        joints: the columns of q. All other joints stand where the scene says, or at 0; mimics follow.
        padding: how close links and attached objects may come to the world [m].
        self_padding: how close they may come to each other [m].
        moving_only: leave out what none of the joints moves, neither the one nor the other: the robot's foot on a table
            says nothing about what a group may do.

    Raises:
        ValueError: a joint does not exist, the scene is in another frame, or a padding is no length.
        SceneFault: something is attached to a link that does not exist.
        MeshError: the mesh of an object cannot be used.
    """

    def __init__(
        self,
        robot: RobotGeometry,
        scene: PlanningScene,
        joints: Sequence[str],
        *,
        padding: float = 0.0,
        self_padding: float = 0.0,
        moving_only: bool = False,
    ) -> None:
        if scene.frame != robot.frame:
            raise ValueError(
                f"The scene is in the frame '{scene.frame}', but the robot was made ready for '{robot.frame}'; "
                f'make it ready for the scene.'
            )
        self.joints = tuple(joints)
        self._scene = scene
        parts = _RobotParts(robot, scene, robot.moving_frames(self.joints, scene.joints), moving_only)
        self._robot_names, self._objects = parts.names, tuple(scene.objects)
        self._bare = _world(parts, scene, len(self.joints), _surroundings(robot, parts.library, scene))
        self._pad(padding, self_padding)

    def padded(
        self, padding: float, self_padding: float, but: Mapping[str, float] = MappingProxyType({})
    ) -> CollisionWorld:
        """The same with other paddings [m], which is much less work than to make it anew.

        Args:
            padding: how close links and attached objects may come to the world [m].
            self_padding: how close they may come to each other [m].
            but: the `padding` of links and attached objects that have another [m].

        Raises:
            ValueError: a padding is no length.
        """
        other = copy(self)
        other._pad(padding, self_padding, but)
        return other

    def _pad(self, padding: float, self_padding: float, but: Mapping[str, float] = MappingProxyType({})) -> None:
        for value in (padding, self_padding, *but.values()):
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f'A padding of {value} is no length; give 0 or more, in metres.')
        outer = self._bare.outer.copy()
        paddings = np.array([but.get(name, padding) for name in self._robot_names])
        owners = self._bare.solids[outer[:, 0].astype(np.int64), OWNER].astype(np.int64)
        outer[:, 1] = np.maximum(outer[:, 1] + paddings[owners], 0.0)
        data = self._bare._replace(outer=outer, self_margin=float(self_padding))
        room = room_for(data)
        self.data = data._replace(stuck=is_stuck(data, room))
        self._rooms = threading.local()
        self._rooms.room = room

    @property
    def dof(self) -> int:
        """How many numbers q has."""
        return len(self.joints)

    def collides(self, q: npt.ArrayLike) -> bool:
        """Whether anything touches that must not, at joint positions q, (dof,) [rad or m]."""
        return collides(self.data, self._row(q), self._room)

    def collide(self, q: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """The same for many at once: for each row of q, (N, dof), whether it collides, (N,)."""
        rows = self._checked(q, 2)
        found = np.zeros(len(rows), dtype=np.bool_)
        collide_many(self.data, rows, found, self._room)
        return found

    def contacts(self, q: npt.ArrayLike, most: int = _MOST_CONTACTS) -> tuple[Contact, ...]:
        """What touches at joint positions q, (dof,): the deepest contact of each two, `most` of them at most.

        They come in the order of the robot's bodies, then of attached objects, then of the scene's objects.
        """
        deepest: dict[tuple[str, str], Contact] = {}
        for values in self._touching(q):
            contact = self._contact(values)
            known = deepest.get((contact.a, contact.b))
            if known is None or contact.depth > known.depth:
                deepest[contact.a, contact.b] = contact
        return tuple(deepest.values())[:most]

    def first_contact(self, q: npt.ArrayLike) -> Contact | None:
        """One contact at joint positions q, (dof,), of the first two that touch; much less work than all of them."""
        found = np.empty((1, CONTACT_WIDTH))
        return self._contact(found[0]) if find_contacts(self.data, self._row(q), found, 1, self._room) else None

    def touching(self, q: npt.ArrayLike) -> tuple[tuple[str, str, BodyKind], ...]:
        """Who touches whom at joint positions q, (dof,), and what the second is; each two once."""
        found = ((int(values[ONE]), int(values[OTHER])) for values in self._touching(q, described=0))
        return tuple(dict.fromkeys((self._name(one), self._name(other), self._kind(other)) for one, other in found))

    def _touching(self, q: npt.ArrayLike, described: int = sys.maxsize) -> Numbers:
        """The rows of all contacts; all but so many say who touches and not where."""
        row = self._row(q)
        found = np.empty((64, CONTACT_WIDTH))
        count = find_contacts(self.data, row, found, described, self._room)
        if count > len(found):
            found = np.empty((count, CONTACT_WIDTH))
            find_contacts(self.data, row, found, described, self._room)
        return found[:count]

    def clearance(self, q: npt.ArrayLike) -> tuple[float, str, str]:
        """The smallest distance of two that must not touch [m], 0 if they do, and their names; padding left aside.

        Endless, with empty names, if there are no two such.
        """
        distance, one, other = find_nearest(self.data, self._row(q), self._room)
        return (math.inf, '', '') if one < 0 else (distance, self._name(one), self._name(other))

    def edge_free(self, q0: npt.ArrayLike, q1: npt.ArrayLike, step: float) -> bool:
        """Whether the straight way from q0 to q1, (dof,) each, is free.

        Samples lie so close that no joint moves more than `step` [rad or m] between them; both ends are among them.
        """
        if not step > 0.0:
            raise ValueError(f'A step of {step} leads nowhere; give one above 0, in radians or metres.')
        return edge_free(self.data, self._row(q0), self._row(q1), step, self._room)

    @property
    def _room(self) -> Room:
        room: Room | None = getattr(self._rooms, 'room', None)
        if room is None:
            room = self._rooms.room = room_for(self.data)
        return room

    def _row(self, q: npt.ArrayLike) -> Numbers:
        return self._checked(q, 1)

    def _checked(self, q: npt.ArrayLike, dimensions: int) -> Numbers:
        rows: Numbers = np.asarray(q, dtype=np.float64, order='C')
        if rows.ndim != dimensions or rows.shape[-1] != self.dof:
            wanted = f'({self.dof},)' if dimensions == 1 else f'(N, {self.dof})'
            raise ValueError(f'Joint positions must have the shape {wanted}, not {rows.shape}.')
        if not math.isfinite(sum(rows.tolist()) if dimensions == 1 else rows.sum()):
            raise ValueError('Joint positions must be finite numbers; one of these is not.')
        return rows

    def _contact(self, values: Numbers) -> Contact:
        one, other = int(values[ONE]), int(values[OTHER])
        return Contact(
            a=self._name(one),
            b=self._name(other),
            kind_a=self._kind(one),
            kind_b=self._kind(other),
            position=_vector(values, POSITION),
            normal=_vector(values, NORMAL),
            depth=float(values[DEPTH]),
        )

    def _name(self, solid: int) -> str:
        names = self._robot_names if solid < self.data.moving else self._objects
        return names[int(self.data.solids[solid, OWNER])]

    def _kind(self, solid: int) -> BodyKind:
        if solid >= self.data.moving:
            return 'object'
        return 'attached' if self._name(solid) in self._scene.attached else 'link'


def _vector(values: Numbers, at: int) -> Vector:
    x, y, z = values[at : at + 3].tolist()
    return x, y, z


# The robot and what is attached to it ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LinkPairs:
    """Rows of links that must not touch, for the pairs of links that must not."""

    forbidden: tuple[tuple[int, int], ...]
    rows: Indices
    """(n, 2), those first that a joint moves against each other."""
    moving: int
    """How many these are."""


@dataclass(frozen=True, eq=False)
class _Links:
    """The rows of a robot's links as some joints move them, kept for the next scene."""

    library: ShapeLibrary
    rows: Numbers
    owners: tuple[int, ...]
    """Of each row, which link it is."""
    pairs: dict[bool, _LinkPairs] = field(default_factory=dict)
    """Which of them must not touch; of the moving ones only, or of all."""


_links: WeakKeyDictionary[MovingFrames, _Links] = WeakKeyDictionary()


def _links_of(robot: RobotGeometry, library: ShapeLibrary, frames: MovingFrames, names: Sequence[str]) -> _Links:
    """The rows of all links, one for each body."""
    kept = _links.get(frames)
    if kept is None or kept.library is not library:
        number = {name: n for n, name in enumerate(names)}
        places = [frames.places[body.link] for body in robot.bodies]
        poses = [pose @ body.origin for (_, pose), body in zip(places, robot.bodies, strict=True)]
        rows = _placed_rows([library.row(solid) for solid in robot.solids], poses)
        owners = tuple(number[body.link] for body in robot.bodies)
        rows[:, OWNER], rows[:, FRAME] = owners, [frame for frame, _ in places]
        kept = _links[frames] = _Links(library, rows, owners)
    return kept


class _RobotParts:
    """The rows of the robot's solids and of attached objects, and which of them are checked against what."""

    def __init__(self, robot: RobotGeometry, scene: PlanningScene, frames: MovingFrames, moving_only: bool) -> None:
        self.library = robot.library()
        self.frames = frames
        self._robot, self._scene, self._moving_only = robot, scene, moving_only
        links = tuple(dict.fromkeys(body.link for body in robot.bodies))
        self.names: tuple[str, ...] = (*links, *scene.attached)
        self._links = _links_of(robot, self.library, frames, links)
        self._count = len(self._links.owners)
        self._shapes: list[Numbers] = []
        self._poses: list[Matrix] = []
        self._owners: list[int] = list(self._links.owners)
        self._frames: list[int] = self._links.rows[:, FRAME].astype(int).tolist()
        self.outer: list[tuple[int, float]] = []
        """Solids that are checked against the scene, and the padding of their links [m]."""
        self.of: list[list[int]] = [[] for _ in self.names]
        """By owner, the solids that are checked against other owners."""
        self._add_links(scene)
        self._add_attached(scene)
        if moving_only:
            self.outer = [entry for entry in self.outer if self.moves(entry)]
        added = _placed_rows(self._shapes, self._poses)
        added[:, OWNER], added[:, FRAME] = self._owners[self._count :], self._frames[self._count :]
        self.rows = np.vstack([self._links.rows, added])

    def _add_links(self, scene: PlanningScene) -> None:
        for number, body in enumerate(self._robot.bodies):
            owner = self._owners[number]
            padding = scene.link_padding.get(body.link, 0.0) if scene.link_padding else 0.0
            self.of[owner].append(number)
            scale = scene.link_scale.get(body.link, 1.0) if scene.link_scale else 1.0
            here = number
            if scale != 1.0:
                frame, pose = self.frames.places[body.link]
                here = self._add(self.library.row(self._robot.scaled(number, scale)), owner, frame, pose @ body.origin)
            self.outer.append((here, padding))

    def _add_attached(self, scene: PlanningScene) -> None:
        first = len(self.names) - len(scene.attached)
        for owner, held in enumerate(scene.attached.values(), first):
            frame, pose = self._place(held)
            for part in held.body.parts:
                row = self.library.row(solid_of(part.shape))
                here = self._add(row, owner, frame, pose @ held.pose.matrix @ part.pose.matrix)
                self.of[owner].append(here)
                self.outer.append((here, 0.0))

    def _place(self, held: AttachedObject) -> tuple[int, Matrix]:
        if held.link not in self.frames.places:
            raise SceneFault(
                Code.INVALID_LINK_NAME,
                f"Object '{held.id}' is attached to link '{held.link}', which the robot does not have; detach it.",
            )
        return self.frames.places[held.link]

    def _add(self, row: Numbers, owner: int, frame: int, pose: Matrix) -> int:
        self._shapes.append(row)
        self._poses.append(pose)
        self._owners.append(owner)
        self._frames.append(frame)
        return len(self._owners) - 1

    def pairs(self) -> tuple[Indices, int]:
        """Solids of different owners that must not touch, (n, 2), those first that move, and how many these are."""
        scene, links = self._scene, self._link_pairs()
        owners = [
            (a, b)
            for b in range(len(self.names) - len(scene.attached), len(self.names))
            for a in range(b)
            if not scene.may_touch(self.names[a], self.names[b])
        ]
        if not owners:
            return links.rows, links.moving
        held, moving = _those_first(self._solids_of(owners), self.move)
        rows = np.array(held, dtype=np.int64).reshape(-1, 2)
        parts = (links.rows[: links.moving], rows[:moving], links.rows[links.moving :], rows[moving:])
        return np.vstack(parts), links.moving + moving

    def _link_pairs(self) -> _LinkPairs:
        links = self.names[: len(self.names) - len(self._scene.attached)]
        forbidden = _forbidden_links(self._robot, self._scene, links)
        kept = self._links.pairs.get(self._moving_only)
        if kept is None or kept.forbidden is not forbidden:
            pairs, moving = _those_first(self._solids_of(forbidden), self.move)
            rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
            kept = self._links.pairs[self._moving_only] = _LinkPairs(forbidden, rows, moving)
        return kept

    def _solids_of(self, owners: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The solids of owners that must not touch."""
        for a, b in owners:
            for one in self.of[a]:
                for other in self.of[b]:
                    if not self._moving_only or self._frames[one] or self._frames[other]:
                        yield one, other

    def move(self, pair: tuple[int, int]) -> bool:
        """Whether a joint moves two solids against each other."""
        return self._frames[pair[0]] != self._frames[pair[1]]

    def moves(self, outer: tuple[int, float]) -> bool:
        """Whether a joint moves a solid against the scene."""
        return self._frames[outer[0]] != 0


@dataclass(frozen=True, eq=False)
class _Forbidden:
    """Which links of a robot must not touch, for the entries of the links that say so."""

    entries: tuple[object, ...]
    pairs: tuple[tuple[int, int], ...]


_forbidden: WeakKeyDictionary[RobotGeometry, _Forbidden] = WeakKeyDictionary()


def _forbidden_links(robot: RobotGeometry, scene: PlanningScene, links: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Pairs of links, as numbers, that must not touch; kept for the next scene, which mostly says the same of links."""
    allowed = scene.allowed
    entries = (allowed.defaults, *(allowed.rows.get(link) for link in links))
    kept = _forbidden.get(robot)
    if kept is None or any(old is not new for old, new in zip(kept.entries, entries, strict=True)):
        pairs = combinations(range(len(links)), 2)
        kept = _Forbidden(entries, tuple((a, b) for a, b in pairs if not allowed.allows(links[a], links[b])))
        _forbidden[robot] = kept
    return kept.pairs


def _placed_rows(shapes: Sequence[Numbers], poses: Sequence[Matrix]) -> Numbers:
    """The rows of shapes at transforms moving frame -> solid, (4, 4) [m]."""
    rows: Numbers = np.array(shapes).reshape(-1, WIDTH)
    places = np.array(poses).reshape(-1, 4, 4)
    rows[:, BALL : BALL + 3] = np.einsum('nij,nj->ni', places[:, :3, :3], rows[:, BALL : BALL + 3]) + places[:, :3, 3]
    rows[:, POSE : POSE + 12] = places[:, :3].reshape(-1, 12)
    return rows


# The scene ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Kept:
    """The rows of a scene's objects, kept for the next scene, in which most stand still."""

    library: ShapeLibrary
    objects: PersistentMap[str, WorldObject]
    rows: Numbers
    spans: dict[str, tuple[int, int]]
    """By object, its rows: from the first to the end."""
    tree: Numbers
    leaves: Indices
    """Rows in the order of the tree's leaves, then planes."""
    planes: int


_kept: WeakKeyDictionary[RobotGeometry, _Kept] = WeakKeyDictionary()


def _surroundings(robot: RobotGeometry, library: ShapeLibrary, scene: PlanningScene) -> _Kept:
    """The solids of the objects in the scene; not to be written to."""
    kept = _kept.get(robot)
    if kept is None or kept.library is not library:
        kept = _with_tree(library, PersistentMap(), np.empty((0, WIDTH)), {})
    if kept.objects is scene.objects:
        return kept
    changes = scene.objects.changes_from(kept.objects)
    fresh = [after for _, after in changes.values() if after is not None]
    placed = [part for thing in fresh for part in thing.placed]
    shapes = [library.row(solid_of(part.shape)) for part in placed]
    rows, first = np.vstack([kept.rows, _placed_rows(shapes, [part.pose for part in placed])]), len(kept.rows)
    spans = dict(kept.spans)
    for thing in fresh:
        spans[thing.id] = first, first + len(thing.body.parts)
        first += len(thing.body.parts)
    kept = _in_order_of(scene, library, rows, spans)
    _kept[robot] = kept
    return kept


def _in_order_of(
    scene: PlanningScene, library: ShapeLibrary, rows: Numbers, spans: Mapping[str, tuple[int, int]]
) -> _Kept:
    """The rows of the scene's objects, in their order, from rows in any order."""
    taken: list[int] = []
    owners: list[int] = []
    ordered: dict[str, tuple[int, int]] = {}
    for owner, id in enumerate(scene.objects):
        first, end = spans[id]
        ordered[id] = len(taken), len(taken) + end - first
        taken.extend(range(first, end))
        owners.extend([owner] * (end - first))
    sorted_rows: Numbers = rows[np.array(taken, dtype=np.int64)]
    sorted_rows[:, OWNER] = owners
    return _with_tree(library, scene.objects, sorted_rows, ordered)


def _with_tree(
    library: ShapeLibrary, objects: PersistentMap[str, WorldObject], rows: Numbers, spans: dict[str, tuple[int, int]]
) -> _Kept:
    endless = rows[:, KIND] == PLANE
    ended = np.flatnonzero(~endless)
    order = np.empty(len(ended), dtype=np.int64)
    tree = build(np.ascontiguousarray(_boxes(rows[ended])), order)
    leaves = np.concatenate([ended[order], np.flatnonzero(endless)])
    return _Kept(library, objects, rows, spans, tree, leaves, int(endless.sum()))


def _boxes(rows: Numbers) -> Numbers:
    """The boxes around solids of the scene, low and high corner in its frame, (n, 6) [m]."""
    poses = rows[:, POSE : POSE + 12].reshape(-1, 3, 4)
    middle = np.einsum('nij,nj->ni', poses[:, :, :3], rows[:, CENTRE : CENTRE + 3]) + poses[:, :, 3]
    half = np.einsum('nij,nj->ni', np.abs(poses[:, :, :3]), rows[:, HALF : HALF + 3])
    half += 1e-12 * (1.0 + np.abs(middle))
    return np.hstack([middle - half, middle + half])


def _may_touch(scene: PlanningScene, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each of the names may touch each object in the scene; only those that are mentioned are asked for."""
    allowed = scene.allowed
    mentioned = {*allowed.rows, *allowed.defaults}
    for held in scene.attached.values():
        mentioned |= {held.link, *held.touch_links}
    usual = np.array([scene.may_touch(name, _NOBODY) if name in mentioned else False for name in names])
    table = np.repeat(usual.astype(np.bool_)[:, np.newaxis], len(scene.objects), axis=1)
    for column, id in enumerate(scene.objects):
        if id in mentioned:
            table[:, column] = [scene.may_touch(name, id) for name in names]
    return np.ascontiguousarray(table)


def _those_first(entries: Iterable[Entry], wanted: Callable[[Entry], bool]) -> tuple[list[Entry], int]:
    """The entries that are wanted, then the others, and how many are wanted."""
    first: list[Entry] = []
    others: list[Entry] = []
    for entry in entries:
        (first if wanted(entry) else others).append(entry)
    return first + others, len(first)


def _world(parts: _RobotParts, scene: PlanningScene, dof: int, around: _Kept) -> World:
    """The world without any padding but that of links, of which it is not known yet whether it is stuck."""
    moving = len(parts.rows)
    pairs, moving_pairs = parts.pairs()
    outer, moving_outer = _those_first(parts.outer, parts.moves)
    return World(
        dof=dof,
        joints=parts.frames.joints,
        solids=np.vstack([parts.rows, around.rows]),
        moving=moving,
        pairs=pairs,
        moving_pairs=moving_pairs,
        self_margin=0.0,
        outer=np.array(outer, dtype=np.float64).reshape(-1, 2),
        moving_outer=moving_outer,
        may_touch=_may_touch(scene, parts.names),
        tree=around.tree,
        leaves=moving + around.leaves,
        planes=around.planes,
        shapes=parts.library.shapes(),
        stuck=False,
    )
