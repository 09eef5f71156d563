"""Paths in joint space: found where there are some, free and within constraints all along, repeatable, stoppable."""

from __future__ import annotations

import math
import threading

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation
from support.arms import PinocchioArm, shipped_arm

from lfd_description.bodies import Body
from lfd_description.shapes import Box, Sphere
from lfd_description.urdf import Joint, Limits, RobotTree
from lfd_planner.robot.ik import make_solver
from lfd_planner.scene import Pose
from lfd_planner.search import (
    ConstraintChecker,
    Found,
    JointConstraint,
    NotFound,
    OrientationConstraint,
    PathConstraints,
    PositionConstraint,
    Region,
    path_length,
    plan_path,
)

from .conftest import Maze, between, gantry, world_of

Array = npt.NDArray[np.float64]

STEP = 0.01
LEFT, RIGHT = (-0.5, 0.0), (0.5, 0.0)
EMPTY = Maze({})
WALL = Maze({'wall': ((0.0, -0.2, 0.0), (0.1, 1.6, 0.2))})
CLOSED = Maze({'wall': ((0.0, 0.0, 0.0), (0.1, 2.4, 0.2))})
GAP = Maze({'left': ((0.0, -0.7, 0.0), (0.4, 1.29, 0.2)), 'right': ((0.0, 0.7, 0.0), (0.4, 1.29, 0.2))})
"""A passage 0.11 m wide for a ball of 0.1 m, both padded."""


def found(result: Found | NotFound) -> Found:
    assert isinstance(result, Found), result.message
    return result


def not_found(result: Found | NotFound) -> NotFound:
    assert isinstance(result, NotFound)
    return result


def plan(maze: Maze, starts: npt.ArrayLike = LEFT, goals: npt.ArrayLike = RIGHT, seed: int = 0) -> Found:
    return found(plan_path(maze.world, maze.limits, starts, goals, step=STEP, seed=seed, budget_s=20.0))


def test_a_free_straight_way_is_taken() -> None:
    result = plan(EMPTY)

    assert result.path.tolist() == [list(LEFT), list(RIGHT)]
    assert result.iterations == 0


@pytest.mark.parametrize('seed', range(10))
@pytest.mark.parametrize('maze', [WALL, GAP], ids=['wall', 'gap'])
def test_the_way_around_is_found_and_free(maze: Maze, seed: int) -> None:
    start, goal = (LEFT, RIGHT) if maze is WALL else ((-0.5, -0.5), (0.5, -0.5))
    path = plan(maze, start, goal, seed).path

    assert tuple(path[0]) == start
    assert tuple(path[-1]) == goal
    assert (maze.distances(between(path, STEP / 5)) > 0.0).all()
    assert path_length(path) < 2.6


def test_random_mazes_are_solved_wherever_a_grid_is() -> None:
    random = np.random.default_rng(21)
    solved = 0
    for seed in range(30):
        boxes = {
            f'box {i}': ((*random.uniform(-0.8, 0.8, 2).tolist(), 0.0), (*random.uniform(0.1, 0.6, 2).tolist(), 0.1))
            for i in range(8)
        }
        maze = Maze(boxes)
        start, goal = random.uniform(-1, 1, (2, 2))
        if (maze.distances(np.array([start, goal])) < 0.01).any() or not grid_connects(maze, start, goal):
            continue
        path = plan(maze, start, goal, seed).path
        assert (maze.distances(between(path, STEP / 5)) > 0.0).all()
        assert (np.abs(path) <= 1.0).all()
        solved += 1
    assert solved >= 10


def grid_connects(maze: Maze, start: Array, goal: Array) -> bool:
    """Whether a flood over a grid of 2 cm, a little away from the boxes, reaches the goal from the start."""
    axis = np.linspace(-1, 1, 101)
    places = np.stack(np.meshgrid(axis, axis, indexing='ij'), axis=-1)
    free = (maze.distances(places.reshape(-1, 2)) > 0.02).reshape(101, 101)
    first, last = (tuple(np.round((place + 1) * 50).astype(int)) for place in (start, goal))
    flood = np.zeros_like(free)
    flood[first] = free[first]
    for _ in range(101 * 101):
        grown = flood.copy()
        grown[1:] |= flood[:-1]
        grown[:-1] |= flood[1:]
        grown[:, 1:] |= flood[:, :-1]
        grown[:, :-1] |= flood[:, 1:]
        grown &= free
        if (grown == flood).all():
            break
        flood = grown
    return bool(flood[last])


def test_where_there_is_no_way_it_says_how_near_it_came() -> None:
    result = not_found(plan_path(CLOSED.world, CLOSED.limits, LEFT, RIGHT, step=STEP, budget_s=0.2))

    assert result.reason == 'timeout'
    assert result.closest is not None
    assert result.closest[0] == pytest.approx(-0.1, abs=0.05)
    assert result.distance == pytest.approx(0.6, abs=0.05)
    assert 'timeout after' in result.message
    assert 'from the nearest goal' in result.message


def test_it_gives_up_after_the_iterations_allowed() -> None:
    result = not_found(plan_path(CLOSED.world, CLOSED.limits, LEFT, RIGHT, iterations=50, budget_s=60.0))

    assert (result.reason, result.iterations) == ('exhausted iterations', 50)


@pytest.mark.parametrize(
    ('start', 'goal', 'reason'),
    [
        ((0.0, 0.0), RIGHT, 'start in collision'),
        (LEFT, (0.0, 0.0), 'goal in collision'),
        ((-1.5, 0.0), RIGHT, 'start outside limits'),
        (LEFT, (0.0, 1.01), 'goal outside limits'),
    ],
)
def test_states_that_cannot_be_are_named(start: Array, goal: Array, reason: str) -> None:
    result = not_found(plan_path(WALL.world, WALL.limits, start, goal))

    assert result.reason == reason
    assert result.message == f'There is no path: {reason}.'


def test_of_several_goals_one_that_can_be_reached_is_chosen() -> None:
    """The first is in the wall, the second behind it."""
    result = plan(CLOSED, [LEFT], [(0.0, 0.0), RIGHT, (-0.9, 0.9), (-0.9, -0.9)])

    assert result.goal in (2, 3)
    assert result.path[-1].tolist() == [-0.9, 0.9 if result.goal == 2 else -0.9]


def test_of_several_goals_the_nearest_comes_first() -> None:
    assert plan(EMPTY, [LEFT, (0.3, 0.3)], [RIGHT, (-0.9, 0.9), (0.35, 0.3)]).goal == 2
    assert plan(EMPTY, [LEFT, (0.3, 0.3)], [RIGHT, (-0.9, 0.9), (0.35, 0.3)]).start == 1


def test_a_start_at_the_goal_is_a_path() -> None:
    assert plan(EMPTY, LEFT, LEFT).path.tolist() == [list(LEFT), list(LEFT)]


def test_the_same_seed_gives_the_same_path_in_any_thread() -> None:
    paths: dict[int, list[Array]] = {0: [], 1: []}

    def run(seed: int) -> None:
        paths[seed].append(plan(GAP, (-0.5, -0.5), (0.5, -0.5), seed).path)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(*paths[0])
    assert np.array_equal(*paths[1])
    assert not np.array_equal(paths[0][0], paths[1][0])


def test_it_stops_when_told_to() -> None:
    looks = 0

    def after_five_looks() -> bool:
        nonlocal looks
        looks += 1
        return looks > 5

    result = not_found(plan_path(CLOSED.world, CLOSED.limits, LEFT, RIGHT, budget_s=60.0, should_stop=after_five_looks))

    assert result.reason == 'stopped'
    assert looks <= 8


def test_shortcuts_make_no_path_longer() -> None:
    lengths = []
    for seed in range(10):
        options = {'step': STEP, 'seed': seed, 'budget_s': 20.0}
        rough, fine = (
            found(plan_path(GAP.world, GAP.limits, (-0.5, -0.5), (0.5, -0.5), shortcuts=count, **options)).path
            for count in (0, 100)
        )
        assert path_length(fine) <= path_length(rough) + 1e-12
        assert (fine[[0, -1]] == rough[[0, -1]]).all()
        lengths.append((path_length(rough), path_length(fine)))
    rough_lengths, fine_lengths = np.array(lengths).T
    assert fine_lengths.mean() < 0.98 * rough_lengths.mean()


# Endless joints -------------------------------------------------------------------------------------------------------

TURRET = RobotTree(
    'turret',
    ('base', 'arm', 'ball'),
    (
        Joint('turn', 'continuous', 'base', 'arm', axis=(0.0, 0.0, 1.0)),
        Joint('reach', 'prismatic', 'arm', 'ball', axis=(1.0, 0.0, 0.0), limits=Limits(0.3, 1.0, 1.0, 1.0)),
    ),
    'base',
)
TURRET_LIMITS = [[-math.inf, 0.3], [math.inf, 1.0]]


def test_endless_joints_take_the_shorter_way_round() -> None:
    world = world_of(TURRET, [Body('ball', Sphere(0.05), np.eye(4))], ('turn', 'reach'), {})
    path = found(plan_path(world, TURRET_LIMITS, (3.0, 0.5), (-3.0 + 4 * math.pi, 0.5))).path

    assert path[-1] == pytest.approx([2 * math.pi - 3.0, 0.5])


@pytest.mark.parametrize('seed', range(5))
def test_endless_joints_go_the_other_way_round_if_one_is_blocked(seed: int) -> None:
    boxes = {'fence': ((-0.65, 0.0, 0.0), (1.1, 0.02, 0.1))}
    world = world_of(TURRET, [Body('ball', Sphere(0.05), np.eye(4))], ('turn', 'reach'), boxes)
    path = found(plan_path(world, TURRET_LIMITS, (3.0, 0.5), (-3.0, 0.5), step=STEP, seed=seed)).path

    assert path[0] == pytest.approx([3.0, 0.5])
    assert path[-1] == pytest.approx([-3.0, 0.5])
    assert np.abs(np.diff(between(path, STEP), axis=0)).max() <= STEP + 1e-12


# Path constraints -----------------------------------------------------------------------------------------------------

UR5E = shipped_arm('ur5e')
SOLVER = make_solver(UR5E.tree, 'base_link', 'tool0')
JUDGE = PinocchioArm(UR5E, SOLVER.joints)
DOWN = Rotation.from_quat([1.0, 0.0, 0.0, 0.0])
UPRIGHT = PathConstraints(orientations=(OrientationConstraint('tool0', (1.0, 0.0, 0.0, 0.0), (0.1, 0.1, 2 * math.pi)),))
POST = {'post': ((0.0, 0.45, 0.5), (0.1, 0.3, 1.0))}


def tool_at(x: float, y: float, z: float) -> Array:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = DOWN.as_matrix(), (x, y, z)
    solutions = SOLVER.solve(pose, seed=[0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
    assert len(solutions) > 0
    return np.asarray(solutions)


def tilt(q: Array) -> tuple[float, float]:
    """About x and y, as pinocchio and scipy see it [rad]."""
    error = (DOWN.inv() * Rotation.from_matrix(JUDGE.pose(q)[:3, :3])).as_euler('XYZ')
    return abs(error[0]), abs(error[1])


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize('obstacles', [{}, POST], ids=['free', 'post'])
def test_a_tool_stays_upright_through_half_a_turn_of_the_arm(obstacles: dict[str, object], seed: int) -> None:
    boxes = POST if obstacles else {}
    ball = [Body('tool0', Sphere(0.05), np.eye(4)), Body('forearm_link', Sphere(0.05), np.eye(4))]
    world = world_of(UR5E.tree, ball, SOLVER.joints, boxes)
    checker = ConstraintChecker(UR5E.tree, 'base_link', SOLVER.joints, UPRIGHT)
    start, goals = tool_at(0.5, 0.1, 0.3)[0], tool_at(-0.5, 0.1, 0.3)
    result = found(
        plan_path(world, SOLVER.limits[:2], start, goals, constraints=checker, step=0.02, seed=seed, budget_s=60.0)
    )

    dense = between(result.path, 0.02 / 5)
    assert np.array([tilt(q) for q in dense[::3]]).max() <= 0.1 + 1e-6
    assert all(checker.satisfied(q) for q in dense)
    assert path_length(result.path) > 2.0


def test_a_point_stays_on_a_plane() -> None:
    plane = PathConstraints(
        positions=(PositionConstraint('tool0', (Region(Box((4.0, 4.0, 0.004)), Pose((0.0, 0.0, 0.3))),)),)
    )
    world = world_of(UR5E.tree, [Body('tool0', Sphere(0.05), np.eye(4))], SOLVER.joints, POST)
    checker = ConstraintChecker(UR5E.tree, 'base_link', SOLVER.joints, plane)
    start, goals = tool_at(0.4, 0.4, 0.3)[0], tool_at(-0.4, 0.4, 0.3)
    path = found(plan_path(world, SOLVER.limits[:2], start, goals, constraints=checker, step=0.02, budget_s=60.0)).path

    heights = JUDGE.poses(between(path, 0.004))[:, 2, 3]
    assert np.abs(heights - 0.3).max() <= 0.002 + 1e-5


def test_a_joint_that_is_held_stays_where_it_is() -> None:
    held = PathConstraints(joints=(JointConstraint('y', 0.0, 0.0, 0.0),))
    checker = ConstraintChecker(*gantry_parts(), held)
    result = plan_path(WALL.world, WALL.limits, LEFT, RIGHT, constraints=checker, budget_s=0.1)

    assert not_found(result).reason == 'timeout'
    path = found(plan_path(EMPTY.world, EMPTY.limits, LEFT, RIGHT, constraints=checker)).path
    assert path[:, 1].tolist() == [0.0] * len(path)


def gantry_parts() -> tuple[RobotTree, str, tuple[str, str]]:
    return gantry(), 'base', ('x', 'y')


@pytest.mark.parametrize(
    ('start', 'goal', 'reason'),
    [((-0.5, 0.3), RIGHT, 'start breaks constraints'), (LEFT, (0.5, 0.3), 'goal breaks constraints')],
)
def test_ends_must_keep_the_constraints(start: Array, goal: Array, reason: str) -> None:
    low = PathConstraints(joints=(JointConstraint('y', 0.0, 0.2, 0.2),))
    checker = ConstraintChecker(*gantry_parts(), low)

    assert not_found(plan_path(EMPTY.world, EMPTY.limits, start, goal, constraints=checker)).reason == reason


# Wrong use ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'limits': [[0.0, 0.0]]}, 'two rows'),
        ({'limits': [[1.0, 0.0], [0.0, 1.0]]}, 'two rows'),
        ({'starts': [0.0]}, 'starts must be rows of 2'),
        ({'goals': np.empty((0, 2))}, 'at least one row'),
        ({'goals': [0.0, math.nan]}, 'finite'),
        ({'step': 0.0}, 'step'),
        ({'step': math.nan}, 'step'),
        ({'weights': [1.0]}, '2 numbers above zero'),
        ({'weights': [1.0, 0.0]}, '2 numbers above zero'),
    ],
)
def test_wrong_use_is_refused(change: dict[str, npt.ArrayLike], words: str) -> None:
    arguments = {'limits': EMPTY.limits, 'starts': LEFT, 'goals': RIGHT, **change}
    with pytest.raises(ValueError, match=words):
        plan_path(EMPTY.world, **arguments)
