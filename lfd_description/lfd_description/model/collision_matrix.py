"""Which pairs of links need no collision check, found by moving the robot about, with the evidence.

A pair is left out of the checks for one of MoveIt's reasons:

========  =============================================================================================
Adjacent  the links are neighbours: no other body and no more than one moving joint lies between them
Never     no configuration was found in which they touch or nearly do: neither among the samples nor by going on
          from the closest of them, step by step, towards contact
Always    they touch in every sample, so that nothing can be done about it
Default   they touch in the robot's home position, which must be allowed
========  =============================================================================================

All other pairs are checked. Where an arm's collision solids are known to be larger than its links, a pair also counts
as never touching when the visuals never do, as long as two joints at most move them: square solids would
else keep an elbow from bending that bends well. Bounding spheres, computed for all samples at once, tell most pairs
apart; coal decides the rest exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

import coal
import numpy as np
import numpy.typing as npt

from lfd_description.bodies import Body
from lfd_description.collision_geometry import Geometry, collision_geometry
from lfd_description.compiled import compiled
from lfd_description.kinematics import Tree
from lfd_description.urdf import Joint, Matrix, RobotTree

SAMPLES = 4000
SAMPLES_OF_FEW = {1: 200, 2: 1000}  # enough where only so many joints move one link against the other
MOST_JOINTS_BY_VISUALS = 2  # beyond, samples are too sparse for links to be trusted that nearly touch
SEED = 3
# The search for a contact that the samples did not show: many configurations by their balls, few by true distance.
LEAST_CLEARANCE = 0.003  # [m]; links that come nearer are not trusted never to touch
PARENTS = 12
CHILDREN = 5
SINK_ROUNDS = 20
EXACT_ROUNDS = 12
EXACT_TRIES = 4

Progress = Callable[[float], None]


class Reason(StrEnum):
    """Why a pair needs no check, in the words of an SRDF."""

    ADJACENT = 'Adjacent'
    NEVER = 'Never'
    ALWAYS = 'Always'
    DEFAULT = 'Default'


@dataclass(frozen=True)
class Pair:
    """Two links with bodies, in the order of the URDF, and what was seen of them."""

    link1: str
    link2: str
    reason: Reason | None
    """None: the pair is checked."""
    samples: int = 0
    """Configurations looked at until the reason was clear."""
    collisions: int = 0
    """How many of them were collisions."""
    clearance: float | None = None
    """[m], the smallest distance found, where no sample touched and the search came near."""
    by_visual: bool = False
    """Whether all this was seen of the visuals, and not of the collision solids."""


@dataclass(frozen=True)
class CollisionMatrix:
    """What sampling found out about all pairs of links that have bodies."""

    seed: int
    pairs: tuple[Pair, ...]

    @property
    def disabled(self) -> tuple[Pair, ...]:
        """The pairs that need no check."""
        return tuple(pair for pair in self.pairs if pair.reason is not None)

    def counts(self) -> Mapping[str, int]:
        """How many pairs there are for each reason; '' counts those that are checked."""
        counts = {reason.value: 0 for reason in Reason} | {'': 0}
        for pair in self.pairs:
            counts[pair.reason or ''] += 1
        return counts


def sample_collision_matrix(
    tree: RobotTree,
    bodies: Sequence[Body],
    home: Mapping[str, float],
    *,
    visuals: Sequence[Body] = (),
    seed: int = SEED,
    samples: int = SAMPLES,
    progress: Progress = lambda _: None,
) -> CollisionMatrix:
    """Find out which pairs of links need no collision check.

    Args:
        tree: the robot.
        bodies: what its links collide with.
        visuals: what its links look like, if its collision solids are known to be larger than that.
        home: joint positions by name [rad or m] of the position in which touching links are let pass; others are zero.
        seed: of the random configurations; the same seed gives the same matrix.
        samples: how many configurations are tried.
        progress: told the finished share, 0..1.

    Raises:
        MeshError: a mesh file cannot be used.
    """
    search = _Search(tree, bodies, [home], seed, samples)
    second = _Search(tree, visuals, [home], seed, samples if visuals else 0)
    links = [link for link in tree.links if link in search.solids]
    adjacent = set(_adjacent_pairs(tree, set(links)))
    todo = list(combinations(links, 2))
    pairs = []
    for done, (a, b) in enumerate(todo):
        if frozenset((a, b)) in adjacent:
            pairs.append(Pair(a, b, Reason.ADJACENT))
        else:
            pairs.append(_judged_by_visuals(search.judge(a, b), second))
        progress((done + 1) / len(todo))
    return CollisionMatrix(seed, tuple(pairs))


def _judged_by_visuals(pair: Pair, search: _Search) -> Pair:
    """What the links' visuals say about a pair whose solids touch."""
    if pair.reason is Reason.NEVER or not {pair.link1, pair.link2} <= search.solids.keys():
        return pair
    if len(search.joints_between(pair.link1, pair.link2)) > MOST_JOINTS_BY_VISUALS:
        return pair
    seen = search.judge(pair.link1, pair.link2)
    return replace(seen, by_visual=True) if seen.reason is Reason.NEVER else pair


def least_contact_position(
    tree: RobotTree, bodies: Sequence[Body], joints: Sequence[str], candidates: Sequence[Mapping[str, float]]
) -> tuple[int, int]:
    """Which of several positions, given by joint [rad or m], has the fewest contacts, and how many those are.

    Only contacts that the named joints can change count; of equally good positions, the first is taken.

    Raises:
        MeshError: a mesh file cannot be used.
    """
    search = _Search(tree, bodies, candidates, SEED, 0)
    adjacent = set(_adjacent_pairs(tree, set(search.solids)))
    columns = {search.kinematics.joints.index(name) for name in joints}
    pairs = [
        pair
        for pair in combinations(search.solids, 2)
        if frozenset(pair) not in adjacent and columns.intersection(search.joints_between(*pair))
    ]
    best = len(pairs) + 1, 0
    for number in range(len(candidates)):
        best = min(best, (sum(search.touch(a, b, number) for a, b in pairs), number))
        if best[0] == 0:
            break
    return best[1], best[0]


def _adjacent_pairs(tree: RobotTree, with_bodies: set[str]) -> Iterator[frozenset[str]]:
    """Each link with the nearest one above it that has a body, if one joint at most moves them."""
    for link in with_bodies:
        above, moving = link, 0
        while above != tree.root:
            moving += tree.joint_to[above].moves
            above = tree.joint_to[above].parent
            if above in with_bodies:
                if moving <= 1:
                    yield frozenset((link, above))
                break


def _range(joint: Joint) -> tuple[float, float]:
    """Where a joint is sampled [rad or m]: its range, or a turn in the middle of it, because more shows nothing new."""
    lower, upper = joint.span()
    if joint.turns and upper - lower > 2.0 * math.pi:
        middle = 0.5 * (lower + upper)
        return middle - math.pi, middle + math.pi
    return lower, upper


@dataclass(frozen=True, eq=False)
class _Solid:
    """One body of a link as coal sees it; the origin is link -> solid."""

    geometry: Geometry
    origin: Matrix
    centre: npt.NDArray[np.float64]
    """Of a ball around all of it, in the link's frame [m]."""
    radius: float
    """[m]"""
    balls: Matrix
    """Small balls that cover it: centres in the link's frame and radii, (n, 4) [m]."""


class _Search:
    """Configurations of a robot, given ones first and then random ones, and the links' poses in them."""

    def __init__(
        self, tree: RobotTree, bodies: Sequence[Body], given: Sequence[Mapping[str, float]], seed: int, samples: int
    ) -> None:
        self.tree = tree
        self.kinematics = Tree(tree)
        self.index = {link: i for i, link in enumerate(self.kinematics.links)}
        self.solids = _solids(bodies)
        self.balls = {link: np.vstack([solid.balls for solid in solids]) for link, solids in self.solids.items()}
        ranges = [_range(tree.joint[name]) for name in self.kinematics.joints]
        self.low = np.array([low for low, _ in ranges])
        self.high = np.array([high for _, high in ranges])
        self.random = np.random.default_rng(seed)
        first = np.array([[position.get(name, 0.0) for name in self.kinematics.joints] for position in given])
        drawn = self.random.uniform(self.low, self.high, (samples, len(ranges)))
        self.q = np.vstack([first, drawn])
        self.poses = self.kinematics.link_poses(self.q)

    def judge(self, a: str, b: str) -> Pair:
        """What the samples say about two links that are not neighbours."""
        between = self.joints_between(a, b)
        if not between:
            return self._judge_rigid(a, b)
        at_home = self.touch(a, b, 0)
        count = SAMPLES_OF_FEW.get(len(between), len(self.q))
        gap = self._gaps(a, b, self.poses[:count], (self.index[a], self.index[b]))
        order = np.argsort(gap[1:], kind='stable') + 1  # the likeliest collisions first
        is_apart = gap[order[-1]] > 0.0
        collisions = looked = 0
        for n in order:
            if gap[n] > 0.0:
                break
            looked += 1
            if self.touch(a, b, n):
                collisions += 1
            else:
                is_apart = True
            if collisions and is_apart:
                return Pair(a, b, Reason.DEFAULT if at_home else None, looked, collisions)
        if collisions:
            return Pair(a, b, Reason.ALWAYS, looked, collisions)
        if at_home:
            return Pair(a, b, Reason.DEFAULT, len(gap), 1)
        clearance = self._approach(a, b, order, between)
        if clearance is not None and clearance < LEAST_CLEARANCE:
            return Pair(a, b, None, len(gap), int(clearance <= 0.0), clearance)
        return Pair(a, b, Reason.NEVER, len(gap), 0, clearance)

    def _judge_rigid(self, a: str, b: str) -> Pair:
        """Links that no joint moves against each other touch always or never: one look is enough."""
        touch = self.touch(a, b, 0)
        return Pair(a, b, Reason.ALWAYS if touch else Reason.NEVER, 1, int(touch))

    def joints_between(self, a: str, b: str) -> list[int]:
        """The columns of q that move one link against the other."""
        moving: set[str] = set()
        for link in (a, b):
            moving ^= {joint.name for joint in self.tree.chain(self.tree.root, link) if joint.moves}
        leaders = {mimic.joint if (mimic := self.tree.joint[name].mimic) else name for name in moving}
        return [column for column, name in enumerate(self.kinematics.joints) if name in leaders]

    def _gaps(self, a: str, b: str, poses: Matrix, places: tuple[int, int]) -> npt.NDArray[np.float64]:
        """A lower bound of the links' distance [m] in each configuration: the smallest gap between their balls."""
        gaps = np.empty(len(poses))
        _smallest_gaps(poses, places[0], places[1], self.balls[a], self.balls[b], gaps)
        return gaps

    def touch(self, a: str, b: str, sample: int) -> bool:
        """Whether two links collide in a configuration."""
        pose_a, pose_b = self.poses[sample, self.index[a]], self.poses[sample, self.index[b]]
        return any(
            gap <= 0.0 and _collide(one, pose_a, other, pose_b)
            for gap, one, other in self._solid_pairs(a, b, pose_a, pose_b)
        )

    def _distance(self, a: str, b: str, pose_a: Matrix, pose_b: Matrix) -> float:
        """The distance of two links [m]; zero or less when they touch."""
        smallest = math.inf
        for gap, one, other in self._solid_pairs(a, b, pose_a, pose_b):
            if gap < smallest:
                smallest = min(smallest, _distance(one, pose_a, other, pose_b))
        return smallest

    def _solid_pairs(self, a: str, b: str, pose_a: Matrix, pose_b: Matrix) -> Iterator[tuple[float, _Solid, _Solid]]:
        """All pairs of the links' solids, with the gap between the balls around them [m]."""
        for one in self.solids[a]:
            centre = pose_a[:3, :3] @ one.centre + pose_a[:3, 3]
            for other in self.solids[b]:
                gap = math.dist(centre, pose_b[:3, :3] @ other.centre + pose_b[:3, 3]) - one.radius - other.radius
                yield gap, one, other

    def _approach(self, a: str, b: str, order: npt.NDArray[np.int64], columns: list[int]) -> float | None:
        """The smallest distance [m] that is found by going on from the closest samples.

        The balls show the way at first, then the true distance; None when not even the balls came to touch.
        """
        kinematics = Tree(self.tree, (a, b))
        places = kinematics.links.index(a), kinematics.links.index(b)
        q, gap = self._sink(a, b, self.q[order[:PARENTS]], columns, kinematics, places)
        if gap[0] > 0.0:
            return None
        distances = [self._distance(a, b, *poses[places, :]) for poses in kinematics.link_poses(q)]
        best = int(np.argmin(distances))
        distance, step = distances[best], 0.02
        for _ in range(EXACT_ROUNDS):
            if distance <= 0.0:
                break
            tries = self._stray(q[best : best + 1], EXACT_TRIES, step, columns)
            found = [self._distance(a, b, *poses[places, :]) for poses in kinematics.link_poses(tries)]
            if min(found) < distance:
                distance = min(found)
                q[best] = tries[int(np.argmin(found))]
            else:
                step *= 0.7
        return round(distance, 4)

    def _sink(
        self, a: str, b: str, q: Matrix, columns: list[int], kinematics: Tree, places: tuple[int, int]
    ) -> tuple[Matrix, npt.NDArray[np.float64]]:
        """Configurations whose balls overlap as much as can be found, best first, and their gaps [m]."""
        gap = self._gaps(a, b, kinematics.link_poses(q), places)
        for step in np.geomspace(0.2, 0.01, SINK_ROUNDS):
            tries = self._stray(q, CHILDREN, step, columns)
            q = np.vstack([q, tries])
            gap = np.concatenate([gap, self._gaps(a, b, kinematics.link_poses(tries), places)])
            best = np.argsort(gap, kind='stable')[:PARENTS]
            q, gap = q[best], gap[best]
        return q, gap

    def _stray(self, q: Matrix, children: int, step: float, columns: list[int]) -> Matrix:
        """Random neighbours of configurations; the step is a share of the joints' ranges."""
        tries = np.repeat(q, children, axis=0)
        width = self.high[columns] - self.low[columns]
        tries[:, columns] += step * width * self.random.standard_normal((len(tries), len(columns)))
        return np.clip(tries, self.low, self.high)


def _solids(bodies: Sequence[Body]) -> dict[str, list[_Solid]]:
    solids: dict[str, list[_Solid]] = {}
    for body in bodies:
        geometry = collision_geometry(body.shape)
        geometry.exact.computeLocalAABB()
        box = np.array([geometry.exact.aabb_local.min_, geometry.exact.aabb_local.max_])
        balls = _cover(box)
        balls[:, :3] = balls[:, :3] @ body.origin[:3, :3].T + body.origin[:3, 3]
        centre = body.origin[:3, :3] @ box.mean(axis=0) + body.origin[:3, 3]
        radius = 0.5 * float(np.linalg.norm(box[1] - box[0]))
        solids.setdefault(body.link, []).append(_Solid(geometry, body.origin, centre, radius, balls))
    return solids


def _cover(box: Matrix) -> Matrix:
    """Balls, (n, 4), around the cells of a grid that fills a box given by two corners, (2, 3) [m]."""
    size = box[1] - box[0]
    cell = max(0.25 * float(size.max()), float(np.median(size)) / 2.0, 1e-4)
    counts = np.maximum(np.ceil(size / cell), 1).astype(int)
    step = size / counts
    grid = np.stack(np.meshgrid(*(np.arange(count) + 0.5 for count in counts), indexing='ij'), axis=-1).reshape(-1, 3)
    return np.column_stack([box[0] + grid * step, np.full(len(grid), 0.5 * np.linalg.norm(step))])


@compiled
def _smallest_gaps(
    poses: Matrix, a: int, b: int, balls_a: Matrix, balls_b: Matrix, gaps: npt.NDArray[np.float64]
) -> None:
    """The smallest gap between the balls of links a and b, (n, 4) each, in each row of link poses, (N, links, 4, 4)."""
    one, other = np.empty_like(balls_a), np.empty_like(balls_b)
    for n in range(poses.shape[0]):
        _place(poses[n, a], balls_a, one)
        _place(poses[n, b], balls_b, other)
        smallest = np.inf
        for i in range(one.shape[0]):
            for j in range(other.shape[0]):
                dx, dy, dz = one[i, 0] - other[j, 0], one[i, 1] - other[j, 1], one[i, 2] - other[j, 2]
                gap = np.sqrt(dx * dx + dy * dy + dz * dz) - one[i, 3] - other[j, 3]
                smallest = min(smallest, gap)
        gaps[n] = smallest


@compiled
def _place(pose: Matrix, balls: Matrix, moved: Matrix) -> None:
    """The balls with their centres moved by a pose."""
    for i in range(balls.shape[0]):
        for row in range(3):
            value = pose[row, 3]
            for column in range(3):
                value += pose[row, column] * balls[i, column]
            moved[i, row] = value
        moved[i, 3] = balls[i, 3]


def _collide(one: _Solid, place: Matrix, other: _Solid, other_place: Matrix) -> bool:
    request = coal.CollisionRequest()
    request.gjk_initial_guess = coal.GJKInitialGuess.DefaultGuess  # a cached guess can miss collisions
    here, there = _transform(place @ one.origin), _transform(other_place @ other.origin)
    first, second = one.geometry, other.geometry
    if (first.hull or second.hull) and not coal.collide(
        first.hull or first.exact, here, second.hull or second.exact, there, request, coal.CollisionResult()
    ):
        return False
    return bool(coal.collide(first.exact, here, second.exact, there, request, coal.CollisionResult()))


def _distance(one: _Solid, place: Matrix, other: _Solid, other_place: Matrix) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    here, there = _transform(place @ one.origin), _transform(other_place @ other.origin)
    return float(coal.distance(one.geometry.exact, here, other.geometry.exact, there, request, result))


def _transform(pose: Matrix) -> coal.Transform3s:
    return coal.Transform3s(pose[:3, :3], pose[:3, 3])
