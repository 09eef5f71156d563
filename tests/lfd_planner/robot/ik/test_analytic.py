"""All solutions, and only solutions: checked with kinematics that nobody here wrote."""

import math
import re

import numpy as np
import pytest
from support.arms import (
    ANALYTIC_EXAMPLES,
    EXAMPLES,
    SHAPES,
    PinocchioArm,
    TestArm,
    eaik_solver,
    example_arm,
    made_up_arm,
    pose_errors,
    shipped_arm,
    turned_apart,
)

from lfd_description.robots import robot_names
from lfd_planner.robot.ik import AnalyticSolver, IkSolver, make_solver

ANALYTIC_SHAPES = [shape for shape in SHAPES if shape != 'general']
POSES = 2000


def solver_of(arm: TestArm) -> IkSolver:
    return make_solver(arm.tree, arm.base, arm.tip)


def random_positions(solver: IkSolver, number: int, seed: int) -> np.ndarray:
    lower, upper = np.clip(solver.lower, -math.pi, None), np.clip(solver.upper, None, math.pi)
    lower = np.where(np.isfinite(solver.lower), solver.lower, lower)
    upper = np.where(np.isfinite(solver.upper), solver.upper, upper)
    return np.random.default_rng(seed).uniform(lower, upper, (number, len(solver.joints)))


def assert_reached(arm: TestArm, solver: IkSolver, q: np.ndarray, poses: np.ndarray) -> None:
    """Every row of q reaches its pose, by pinocchio's judgement, and keeps the limits."""
    way, turn = pose_errors(PinocchioArm(arm, solver.joints).poses(q), poses)
    assert way.max(initial=0.0) < 1e-6
    assert turn.max(initial=0.0) < 1e-6
    assert (q >= solver.lower).all()
    assert (q <= solver.upper).all()


def assert_round_trip(arm: TestArm, number: int, seed: int, singular: float = 0.0) -> None:
    """The generating positions are found again, and everything found is right.

    Positions whose Jacobian has a singular value below `singular` need not be found themselves, for others next to
    them reach the pose as well.
    """
    solver = solver_of(arm)
    assert isinstance(solver, AnalyticSolver)
    q = random_positions(solver, number, seed)
    poses = PinocchioArm(arm, solver.joints).poses(q)

    batch = solver.solve_batch(poses)

    assert_reached(arm, solver, batch.q, poses[batch.pose])
    nearest = np.full(number, np.inf)
    np.minimum.at(nearest, batch.pose, turned_apart(batch.q, q[batch.pose]))
    assert set(batch.pose) == set(range(number))
    assert nearest[smallest_singular_values(arm, solver, q) > singular].max() < 1e-4


def smallest_singular_values(arm: TestArm, solver: IkSolver, q: np.ndarray) -> np.ndarray:
    pinocchio = PinocchioArm(arm, solver.joints)
    return np.array([np.linalg.svd(pinocchio.jacobian(row), compute_uv=False)[-1] for row in q])


@pytest.mark.parametrize('name', robot_names())
def test_all_solutions_of_our_robots(name: str) -> None:
    assert_round_trip(shipped_arm(name), POSES, seed=11)


@pytest.mark.parametrize('name', ANALYTIC_EXAMPLES)
def test_all_solutions_of_other_makers_arms(name: str) -> None:
    assert_round_trip(example_arm(name), 500, seed=12)


@pytest.mark.parametrize('shape', ANALYTIC_SHAPES)
@pytest.mark.parametrize('seed', range(6))
def test_all_solutions_of_arms_that_nobody_built(shape: str, seed: int) -> None:
    assert_round_trip(made_up_arm(shape, np.random.default_rng(seed)), 200, seed)


@pytest.mark.parametrize('shape', ANALYTIC_SHAPES)
@pytest.mark.parametrize('seed', range(6))
def test_rounded_numbers_in_a_description_cost_no_accuracy(shape: str, seed: int) -> None:
    assert_round_trip(made_up_arm(shape, np.random.default_rng(seed), decimals=6), 200, seed, singular=1e-3)


@pytest.mark.parametrize('name', robot_names())
def test_right_angles_printed_with_four_decimals_cost_no_accuracy(name: str) -> None:
    arm = shipped_arm(name)

    def rounded(match: re.Match[str]) -> str:
        return 'rpy="{}"'.format(' '.join(f'{float(angle):.4f}' for angle in match[1].split()))

    assert_round_trip(TestArm(re.sub('rpy="([^"]*)"', rounded, arm.urdf), arm.base, arm.tip), 500, 19, singular=1e-3)


@pytest.mark.parametrize('name', [*robot_names(), *ANALYTIC_EXAMPLES])
def test_the_same_solutions_as_eaik(name: str) -> None:
    arm = example_arm(name) if name in EXAMPLES else shipped_arm(name)
    solver = solver_of(arm)
    theirs = eaik_solver(solver.chain.joint_axes())
    poses = solver.chain.poses(random_positions(solver, 300, seed=13))

    for pose in poses:
        candidates = theirs(pose)
        way, turn = pose_errors(solver.chain.poses(candidates), np.tile(pose, (len(candidates), 1, 1)))
        expected = candidates[(way < 1e-6) & (turn < 1e-6)]
        ours = solver.solve(pose)
        within = [row for row in expected if fits(row, solver)]
        for row in within:
            assert turned_apart(ours, row).min() < 1e-4
        for row in ours:
            assert turned_apart(expected, row).min() < 1e-4


def fits(row: np.ndarray, solver: IkSolver) -> bool:
    """Whether some full turns bring every joint within its limits, with a margin."""
    turns = 2 * math.pi * np.arange(-2, 3)[:, np.newaxis]
    choices = row + turns
    return bool(((choices > solver.lower + 1e-6) & (choices < solver.upper - 1e-6)).any(axis=0).all())


SINGULAR = {
    'straight arm': {2: 0.0},
    'straight wrist': {4: 0.0},
    'straight arm and wrist': {2: 0.0, 4: 0.0},
    'all at zero': {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0},
}


@pytest.mark.parametrize('name', robot_names())
@pytest.mark.parametrize('case', SINGULAR)
def test_singular_poses_are_reached(name: str, case: str) -> None:
    arm = shipped_arm(name)
    solver = solver_of(arm)
    q = random_positions(solver, 200, seed=14)
    for joint, value in SINGULAR[case].items():
        q[:, joint] = value
    assert_all_reached(arm, solver, q)


@pytest.mark.parametrize('name', ['gp8', 'irb1600'])
def test_an_outstretched_elbow_is_reached(name: str) -> None:
    """The wrist as far from the second axis as it gets: axes 2 and 3 and the wrist in a line."""
    arm = shipped_arm(name)
    solver = solver_of(arm)
    axes = solver.chain.joint_axes()
    upper_arm, forearm = axes.point[2] - axes.point[1], axes.point[4] - axes.point[2]
    along = axes.direction[2]
    bend = math.atan2(along @ np.cross(forearm, upper_arm), forearm @ upper_arm)
    q = random_positions(solver, 200, seed=15)
    q[:, 2] = bend
    assert_all_reached(arm, solver, q)


@pytest.mark.parametrize('name', robot_names())
def test_the_wrist_over_the_shoulder_is_reached(name: str) -> None:
    """The point where the last axes meet on the first axis, or as near to it as the arm's offset lets it."""
    arm = shipped_arm(name)
    solver = solver_of(arm)
    q = np.array([over_the_shoulder(solver, row) for row in random_positions(solver, 400, seed=16)])
    q = q[(q >= solver.lower).all(axis=1) & (q <= solver.upper).all(axis=1)]
    assert len(q) > 20
    assert_all_reached(arm, solver, q)


def over_the_shoulder(solver: IkSolver, q: np.ndarray) -> np.ndarray:
    """The positions with axis 2 turned so that the wrist's offset from axis 1 is least."""
    links = solver.chain.link_poses(q[np.newaxis])[0]
    axes = solver.chain.joint_axes()
    first, second = axes.direction[0], links[1, :3, :3] @ links_axis(solver, 1)
    wrist, shoulder = links[4, :3, 3], links[1, :3, 3]
    arm = wrist - shoulder
    arm -= (arm @ second) * second
    horizontal = np.cross(second, first)
    offset = (axes.point[0] - shoulder) @ horizontal
    turn_now = math.atan2(arm @ first, arm @ horizontal)
    reach = float(np.linalg.norm(arm))
    wanted = math.acos(np.clip(offset / reach, -1.0, 1.0))
    turned = q.copy()
    sign = 1.0 if np.cross(second, horizontal) @ first > 0 else -1.0
    turned[1] += sign * (wanted - turn_now)
    return turned


def links_axis(solver: IkSolver, joint: int) -> np.ndarray:
    """A joint's axis in the frame of the link it carries."""
    zero = solver.chain.link_poses(np.zeros((1, 6)))[0, joint, :3, :3]
    return np.asarray(zero.T @ solver.chain.joint_axes().direction[joint])


def assert_all_reached(arm: TestArm, solver: IkSolver, q: np.ndarray) -> None:
    poses = PinocchioArm(arm, solver.joints).poses(q)
    batch = solver.solve_batch(poses)
    assert set(batch.pose) == set(range(len(q)))
    assert_reached(arm, solver, batch.q, poses[batch.pose])


@pytest.mark.parametrize('name', robot_names())
def test_at_a_singularity_the_seed_is_kept(name: str) -> None:
    arm = shipped_arm(name)
    solver = solver_of(arm)
    for q in random_positions(solver, 50, seed=17):
        q[4] = 0.0
        pose = solver.chain.pose(q)
        assert turned_apart(solver.solve(pose, seed=q), q).min() < 1e-5


@pytest.mark.parametrize('name', robot_names())
def test_poses_out_of_reach_have_no_solution(name: str) -> None:
    solver = solver_of(shipped_arm(name))
    poses = solver.chain.poses(random_positions(solver, 100, seed=18))
    poses[:, :3, 3] += [3.0, 0.0, 0.0]

    assert len(solver.solve_batch(poses).q) == 0
    assert solver.solve(poses[0]).shape == (0, 6)


@pytest.mark.parametrize('name', robot_names())
def test_a_prefix_changes_nothing(name: str) -> None:
    plain, prefixed = solver_of(shipped_arm(name)), solver_of(shipped_arm(name, 'left_'))
    pose = plain.chain.pose(np.full(6, 0.4))

    assert prefixed.joints == tuple(f'left_{joint}' for joint in plain.joints)
    np.testing.assert_array_equal(plain.solve(pose), prefixed.solve(pose))
