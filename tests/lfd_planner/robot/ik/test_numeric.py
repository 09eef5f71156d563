"""Arms without a closed form: seven and more joints, sliding and mimicking ones, too few joints."""

import math

import numpy as np
import pytest
from support.arms import ANALYTIC_EXAMPLES, EXAMPLES, PinocchioArm, TestArm, example_arm, made_up_arm, pose_errors

from lfd_description.urdf import parse_urdf
from lfd_planner.robot.ik import IkSolver, NumericOptions, NumericSolver, make_solver

ARMS = [name for name in EXAMPLES if name not in ANALYTIC_EXAMPLES]
ONE = NumericOptions(solutions=1)


def solver_of(arm: TestArm, options: NumericOptions | None = None) -> IkSolver:
    solver = make_solver(arm.tree, arm.base, arm.tip, numeric=options)
    assert isinstance(solver, NumericSolver)
    return solver


def random_positions(solver: IkSolver, number: int, seed: int) -> np.ndarray:
    lower = np.where(np.isfinite(solver.lower), solver.lower, -math.pi)
    upper = np.where(np.isfinite(solver.upper), solver.upper, math.pi)
    return np.random.default_rng(seed).uniform(lower, upper, (number, len(solver.joints)))


def assert_reached(arm: TestArm, solver: IkSolver, q: np.ndarray, poses: np.ndarray) -> None:
    way, turn = pose_errors(PinocchioArm(arm, solver.joints).poses(q), poses)
    assert way.max(initial=0.0) < 1e-6
    assert turn.max(initial=0.0) < 1e-6
    assert (q >= solver.lower).all()
    assert (q <= solver.upper).all()


@pytest.mark.parametrize('name', ARMS)
def test_reachable_poses_are_reached(name: str) -> None:
    """At most one pose in a thousand may be missed."""
    arm = example_arm(name)
    solver = solver_of(arm, ONE)
    poses = PinocchioArm(arm, solver.joints).poses(random_positions(solver, 2000, seed=21))

    batch = solver.solve_batch(poses)

    assert len(poses) - len(set(batch.pose)) <= len(poses) // 1000
    assert_reached(arm, solver, batch.q, poses[batch.pose])


@pytest.mark.parametrize('seed', range(3))
def test_six_axes_without_order(seed: int) -> None:
    arm = made_up_arm('general', np.random.default_rng(seed))
    solver = solver_of(arm, ONE)
    poses = PinocchioArm(arm, solver.joints).poses(random_positions(solver, 500, seed))

    batch = solver.solve_batch(poses)

    assert len(set(batch.pose)) == len(poses)
    assert_reached(arm, solver, batch.q, poses[batch.pose])


def test_several_distinct_solutions_are_found_on_request() -> None:
    arm = example_arm('panda')
    solver = solver_of(arm, NumericOptions(solutions=5))
    pose = solver.chain.pose(random_positions(solver, 1, seed=22)[0])

    q = solver.solve(pose)

    assert q.shape == (5, 7)
    assert_reached(arm, solver, q, np.tile(pose, (5, 1, 1)))
    apart = np.abs(q[:, np.newaxis] - q[np.newaxis]).max(axis=2)
    assert apart[~np.eye(5, dtype=bool)].min() > 1e-3


def test_the_same_question_has_the_same_answer() -> None:
    arm = example_arm('panda')
    pose = solver_of(arm).chain.pose([0.3, 0.2, 0.1, -1.5, 0.2, 1.8, 0.7])
    first, second = solver_of(arm), solver_of(arm)

    np.testing.assert_array_equal(first.solve(pose), first.solve(pose))
    np.testing.assert_array_equal(first.solve(pose), second.solve(pose))
    other = solver_of(arm, NumericOptions(random_seed=1)).solve(pose)
    assert not np.array_equal(first.solve(pose), other)


def test_a_seed_close_by_is_followed() -> None:
    solver = solver_of(example_arm('panda'), ONE)
    for q in random_positions(solver, 50, seed=23):
        inside = np.clip(q, solver.lower + 0.05, solver.upper - 0.05)
        near = solver.solve(solver.chain.pose(inside), seed=inside + 0.01)[0]
        assert np.abs(near - inside).max() < 0.1


def test_poses_out_of_reach_have_no_solution() -> None:
    solver = solver_of(example_arm('panda'), NumericOptions(restarts=20))
    pose = np.eye(4)
    pose[0, 3] = 3.0

    assert solver.solve(pose).shape == (0, 7)


LIFT = """<robot name="lift">
  <link name="base"/><link name="carriage"/><link name="mast"/><link name="arm"/><link name="tip"/>
  <joint name="lift" type="prismatic"><parent link="base"/><child link="carriage"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.8" velocity="1" effort="1"/></joint>
  <joint name="second" type="prismatic"><parent link="carriage"/><child link="mast"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.8" velocity="1" effort="1"/><mimic joint="lift" multiplier="0.5" offset="0.1"/></joint>
  <joint name="turn" type="continuous"><parent link="mast"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  <joint name="bend" type="revolute"><parent link="arm"/><child link="tip"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/></joint>
</robot>"""


def test_joints_that_slide_and_mimic() -> None:
    solver = make_solver(parse_urdf(LIFT), 'base', 'tip')
    assert solver.joints == ('lift', 'turn', 'bend')
    q = random_positions(solver, 200, seed=24)

    for row in q:
        found = solver.solve(solver.chain.pose(row))
        assert np.abs(found - row).max(axis=1).min() < 1e-5


def test_an_arm_of_one_joint() -> None:
    solver = make_solver(parse_urdf(LIFT), 'arm', 'tip')

    np.testing.assert_allclose(solver.solve(solver.chain.pose([0.7])), [[0.7]], atol=1e-6)


@pytest.mark.parametrize('options', [{'solutions': 0}, {'restarts': 0}])
def test_options_that_ask_for_nothing_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match='at least one'):
        NumericOptions(**options)
