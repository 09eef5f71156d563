"""RRT-Connect: a tree of motions from the starts and one from the goals grow at random and towards each other.

Straight ways are tried first, the shortest first. With path constraints the trees grow along them, every hop projected
(CBiRRT). The trees are flat arrays, and compiled code grows them in slices, so that a search can be stopped at any
moment; the answer depends on the seed and not on the slices.
"""

import math
from typing import NamedTuple

import numpy as np

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix
from lfd_planner.robot.ik.solutions import LOWER, UPPER, Numbers

from .motion import MOST_HOPS, MotionRoom, Problem, go, make_motion_room, squared_distance, walk
from .patience import Patience
from .projection import Integers, is_constrained, project
from .random_numbers import RandomState, random_state, uniform
from .results import Found, NotFound, Reason

_START, _GOAL = 0, 1
_ROOT = -1
_MOST_STRAIGHT = 256
"""So many straight ways are tried, the shortest ones."""
_NEARBY = 0.5
"""The share of samples that is taken around the starts and goals, and how far around them [rad or m]."""
_AROUND = 1.0
_CAPACITY = 1024


class Trees(NamedTuple):
    """Both trees: nodes (2, capacity, dof), their parents (2, capacity), and how many there are (2,)."""

    nodes: Matrix
    parents: Integers
    counts: Integers
    roots: Integers
    """How many of the nodes are starts, and goals, (2,)."""
    meeting: Integers
    """The nodes at which the trees met, in each tree, (2,); -1 before they do."""


def rrt_connect(
    problem: Problem, starts: Matrix, goals: Matrix, *, hop: float, seed: int, iterations: int, patience: Patience
) -> Found | NotFound:
    """Search a path from any start to any goal.

    Args:
        problem: what the path has to respect.
        starts: joint positions that respect it, (N, dof) [rad or m].
        goals: the same.
        hop: the longest straight piece that the trees grow by, weighted [rad or m].
        seed: another number gives other random places.
        iterations: how many of them to try.
        patience: ends the search early.
    """
    trees, pairs = _planted(starts, goals), _pairs(problem, starts, goals)
    boxes, random = _boxes(problem, starts, goals), random_state(seed)
    done = 0
    for amount in patience.slices():
        if _met(trees) or done >= len(pairs) + iterations:
            break
        trees, straight = _with_room(trees), pairs[done : done + amount]
        rounds = min(amount - len(straight), iterations + len(pairs) - done - len(straight))
        done += _grow(problem, trees, straight, hop, boxes, random, rounds)
    count = max(done - len(pairs), 0)
    if _met(trees):
        return _found(trees, count)
    reason: Reason = 'exhausted iterations' if count >= iterations else patience.interruption() or 'timeout'
    return _not_found(problem, trees, goals, reason, count)


def _met(trees: Trees) -> bool:
    return bool(trees.meeting[_START] >= 0)


def _planted(starts: Matrix, goals: Matrix) -> Trees:
    capacity = max(len(starts), len(goals)) + _CAPACITY + 2 * MOST_HOPS
    nodes = np.empty((2, capacity, starts.shape[1]))
    nodes[_START, : len(starts)], nodes[_GOAL, : len(goals)] = starts, goals
    counts = np.array([len(starts), len(goals)], dtype=np.int64)
    parents = np.full((2, capacity), _ROOT, dtype=np.int64)
    return Trees(nodes, parents, counts, counts.copy(), np.full(2, -1, dtype=np.int64))


def _with_room(trees: Trees) -> Trees:
    """The trees with room for at least one more iteration."""
    capacity = trees.nodes.shape[1]
    if capacity - int(trees.counts.max()) >= 2 * MOST_HOPS:
        return trees
    nodes = np.empty((2, 2 * capacity, trees.nodes.shape[2]))
    parents = np.full((2, 2 * capacity), _ROOT, dtype=np.int64)
    nodes[:, :capacity], parents[:, :capacity] = trees.nodes, trees.parents
    return trees._replace(nodes=nodes, parents=parents)


def _pairs(problem: Problem, starts: Matrix, goals: Matrix) -> Integers:
    """The pairs of a start and a goal whose straight way is to be tried, the shortest first, as `_grow` takes them."""
    distances = np.empty((len(starts), len(goals)))
    _fill_distances(problem, starts, goals, distances)
    return np.argsort(distances, axis=None, kind='stable')[:_MOST_STRAIGHT].astype(np.int64)


def _boxes(problem: Problem, starts: Matrix, goals: Matrix) -> Matrix:
    """Where samples come from: around the starts and goals, and anywhere, (2, 2, dof)."""
    lower = np.where(problem.endless, -math.pi, problem.limits[LOWER])
    upper = np.where(problem.endless, math.pi, problem.limits[UPPER])
    both = np.concatenate([starts, goals])
    around = _AROUND / problem.weights
    near = np.array([both.min(axis=0) - around, both.max(axis=0) + around])
    near = np.where(problem.endless, near, np.clip(near, lower, upper))
    return np.ascontiguousarray(np.array([near, [lower, upper]]))


def _found(trees: Trees, iterations: int) -> Found:
    first, second = int(trees.meeting[_START]), int(trees.meeting[_GOAL])
    there, back = _branch(trees, _START, first)[::-1], _branch(trees, _GOAL, second)
    ahead = trees.nodes[_GOAL, back]
    # The trees met at one place, but perhaps full turns apart.
    turns = np.round((trees.nodes[_START, first] - ahead[0]) / (2.0 * math.pi)) * 2.0 * math.pi
    path = np.concatenate([trees.nodes[_START, there], (ahead + turns)[1:]])
    if len(path) == 1:
        path = np.repeat(path, 2, axis=0)
    sizes = (int(trees.counts[_START]), int(trees.counts[_GOAL]))
    return Found(np.ascontiguousarray(path), there[0], back[-1], iterations, sizes)


def _branch(trees: Trees, side: int, node: int) -> list[int]:
    """The nodes from one to its root."""
    nodes = [node]
    while (parent := int(trees.parents[side, nodes[-1]])) != _ROOT:
        nodes.append(parent)
    return nodes


def _not_found(problem: Problem, trees: Trees, goals: Matrix, reason: Reason, iterations: int) -> NotFound:
    reached = trees.nodes[_START, : trees.counts[_START]]
    node, squared = _closest(problem, reached, goals)
    return NotFound(reason, iterations, reached[node].copy(), math.sqrt(squared))


# Compiled ------------------------------------------------------------------------------------------------------------


@compiled
def _fill_distances(problem: Problem, starts: Matrix, goals: Matrix, out: Matrix) -> None:
    for i in range(starts.shape[0]):
        for j in range(goals.shape[0]):
            out[i, j] = squared_distance(problem, starts[i], goals[j])


@compiled
def _closest(problem: Problem, reached: Matrix, goals: Matrix) -> tuple[int, float]:
    """The row of `reached` that is nearest to a goal, and its squared distance."""
    best, nearest = 0, math.inf
    for i in range(reached.shape[0]):
        for j in range(goals.shape[0]):
            squared = squared_distance(problem, reached[i], goals[j])
            if squared < nearest:
                best, nearest = i, squared
    return best, nearest


@compiled
def _add(trees: Trees, side: int, parent: int, hops: int, room: MotionRoom) -> int:
    """Add the places of a walk below a node; gives the last node."""
    for n in range(hops):
        new = int(trees.counts[side])
        for k in range(trees.nodes.shape[2]):
            trees.nodes[side, new, k] = room.way[n, k]
        trees.parents[side, new] = parent
        trees.counts[side] = new + 1
        parent = new
    return parent


@compiled
def _nearest(problem: Problem, trees: Trees, side: int, place: Numbers) -> int:
    """The node of a tree that is nearest to a place."""
    best, nearest = 0, math.inf
    dof = place.shape[0]
    for n in range(trees.counts[side]):
        total = 0.0
        for k in range(dof):
            way = place[k] - trees.nodes[side, n, k]
            if problem.endless[k] and abs(way) > math.pi:
                way -= 2.0 * math.pi * math.floor(way / (2.0 * math.pi) + 0.5)
            way *= problem.weights[k]
            total += way * way
            if total >= nearest:
                break
        if total < nearest:
            best, nearest = n, total
    return best


@compiled
def _sample(boxes: Matrix, random: RandomState, out: Numbers) -> None:
    box = boxes[0] if uniform(random) < _NEARBY else boxes[1]
    for k in range(out.shape[0]):
        out[k] = box[0, k] + uniform(random) * (box[1, k] - box[0, k])


@compiled
def _aim(
    problem: Problem, trees: Trees, side: int, hop: float, boxes: Matrix, random: RandomState, room: MotionRoom
) -> int:
    """Choose a random place for a tree to grow to, into `room.sample`, and give the nearest node."""
    _sample(boxes, random, room.sample)
    if is_constrained(problem.constraints):
        project(room.sample, problem.constraints, problem.limits, room.projection)
        return _nearest(problem, trees, side, room.sample)
    # Without constraints a tree grows by one hop.
    near = _nearest(problem, trees, side, room.sample)
    far = math.sqrt(squared_distance(problem, trees.nodes[side, near], room.sample))
    go(problem, trees.nodes[side, near], room.sample, hop / max(far, hop), room.sample)
    return near


@compiled
def _grow(
    problem: Problem, trees: Trees, pairs: Integers, hop: float, boxes: Matrix, random: RandomState, rounds: int
) -> int:
    """Try the straight ways between pairs of roots, then random rounds, until the trees meet or have no room left.

    A pair is start * goals + goal. In a round the smaller tree grows at random, and the larger one towards it. Gives
    the number of pairs and rounds that were done.
    """
    room = make_motion_room(problem)
    straight = hop if is_constrained(problem.constraints) else math.inf
    for n in range(pairs.shape[0] + rounds):
        if trees.nodes.shape[1] - max(trees.counts[_START], trees.counts[_GOAL]) < 2 * MOST_HOPS:
            return n
        if n < pairs.shape[0]:
            side, reach = _GOAL, straight
            near, node = pairs[n] // trees.roots[_GOAL], pairs[n] % trees.roots[_GOAL]
        else:
            side, reach = _START if trees.counts[_START] <= trees.counts[_GOAL] else _GOAL, hop
            near = _aim(problem, trees, side, hop, boxes, random, room)
            hops, _ = walk(problem, trees.nodes[side, near], room.sample, hop, room)
            if hops == 0:
                continue
            node = _add(trees, side, near, hops, room)
            near = _nearest(problem, trees, 1 - side, trees.nodes[side, node])
        hops, arrived = walk(problem, trees.nodes[1 - side, near], trees.nodes[side, node], reach, room)
        last = _add(trees, 1 - side, near, hops, room)
        if arrived:
            trees.meeting[side], trees.meeting[1 - side] = node, last
            return n + 1
    return int(pairs.shape[0] + rounds)
