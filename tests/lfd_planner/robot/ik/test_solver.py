"""What every solver promises, whichever it is."""

import math

import numpy as np
import pytest
from support.arms import TestArm, example_arm, shipped_arm

from lfd_description.urdf import UrdfError, parse_urdf
from lfd_planner.robot.ik import IkSolver, make_solver

ARMS = ['gp8', 'ur5e', 'panda']


@pytest.fixture(params=ARMS)
def solver(request: pytest.FixtureRequest) -> IkSolver:
    arm = arm_of(request.param)
    return make_solver(arm.tree, arm.base, arm.tip)


def arm_of(name: str) -> TestArm:
    return example_arm(name) if name == 'panda' else shipped_arm(name)


def positions(solver: IkSolver, number: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(solver.lower, solver.upper, (number, len(solver.joints)))


def test_a_batch_is_the_same_as_one_by_one(solver: IkSolver) -> None:
    poses = solver.chain.poses(positions(solver, 60, seed=31))

    batch = solver.solve_batch(poses)

    assert (np.diff(batch.pose) >= 0).all()
    for number, pose in enumerate(poses):
        np.testing.assert_array_equal(batch.q[batch.pose == number], solver.solve(pose))


def test_a_large_batch_is_not_cut_anywhere() -> None:
    arm = shipped_arm('gp8')
    solver = make_solver(arm.tree, arm.base, arm.tip)
    poses = solver.chain.poses(positions(solver, 9000, seed=32))

    batch = solver.solve_batch(poses)

    assert set(batch.pose) == set(range(9000))
    np.testing.assert_allclose(solver.chain.poses(batch.q), poses[batch.pose], atol=1e-6)


def test_no_poses_have_no_solutions(solver: IkSolver) -> None:
    batch = solver.solve_batch(np.empty((0, 4, 4)))

    assert batch.q.shape == (0, len(solver.joints))
    assert batch.pose.shape == (0,)


def test_the_nearest_to_the_seed_comes_first(solver: IkSolver) -> None:
    for q in positions(solver, 20, seed=33):
        seed = np.clip(q + 0.05, solver.lower, solver.upper)
        found = solver.solve(solver.chain.pose(q), seed=seed)
        distance = np.linalg.norm(found - seed, axis=1)
        assert (np.diff(distance) >= 0.0).all()
        assert distance[0] <= np.linalg.norm(q - seed) + 1e-2


def test_joints_are_turned_to_the_seed() -> None:
    """A UR's joints turn twice around: the solution on the seed's side is the one to give."""
    arm = shipped_arm('ur5e')
    solver = make_solver(arm.tree, arm.base, arm.tip)
    q = np.array([4.0, -1.0, 1.2, -5.0, 1.0, 6.0])
    pose = solver.chain.pose(q)

    np.testing.assert_allclose(solver.solve(pose, seed=q)[0], q, atol=1e-9)
    assert (np.abs(solver.solve(pose)) <= math.pi).all()


def test_a_seed_beyond_the_limits_gives_solutions_within(solver: IkSolver) -> None:
    pose = solver.chain.pose(positions(solver, 1, seed=34)[0])

    q = solver.solve(pose, seed=np.full(len(solver.joints), 1e6))

    assert len(q)
    assert (q >= solver.lower).all()
    assert (q <= solver.upper).all()


ENDLESS = """<robot name="endless"><link name="a"/><link name="b"/>
  <joint name="turn" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.mark.parametrize(('angle', 'expected'), [(0.5, 0.5), (3.5, 3.5 - 2 * math.pi), (-9.0, 2 * math.pi - 9.0)])
def test_a_joint_without_limits_stays_within_half_a_turn(angle: float, expected: float) -> None:
    solver = make_solver(parse_urdf(ENDLESS), 'a', 'b')

    np.testing.assert_allclose(solver.solve(solver.chain.pose([angle])), [[expected]], atol=1e-6)
    np.testing.assert_allclose(solver.solve(solver.chain.pose([angle]), seed=[angle]), [[angle]], atol=1e-6)


def test_single_precision_poses_are_good_enough(solver: IkSolver) -> None:
    q = positions(solver, 1, seed=35)[0]

    assert len(solver.solve(solver.chain.pose(q).astype(np.float32)))


def wrong_poses() -> dict[str, tuple[np.ndarray, str]]:
    scaled, flipped, transposed, sheared = np.eye(4), np.eye(4), np.eye(4), np.eye(4)
    scaled[:3, :3] *= 1.01
    flipped[0, 0] = -1.0
    transposed[3, 0] = 0.5
    sheared[0, 1] = 0.1
    return {
        'nan': (np.full((4, 4), math.nan), 'not finite'),
        'infinite': (np.diag([1.0, 1.0, 1.0, math.inf]), 'not finite'),
        'scaled': (scaled, 'normalise the rotation'),
        'zero': (np.diag([0.0, 0.0, 0.0, 1.0]), 'normalise the rotation'),
        'sheared': (sheared, 'normalise the rotation'),
        'left-handed': (flipped, 'left-handed'),
        'transposed': (transposed, 'last row'),
    }


@pytest.mark.parametrize('case', wrong_poses())
def test_what_is_no_rigid_transform_is_refused(solver: IkSolver, case: str) -> None:
    pose, message = wrong_poses()[case]
    poses = np.tile(np.eye(4), (3, 1, 1))
    poses[1] = pose

    with pytest.raises(ValueError, match=f'The pose is no rigid transform: .*{message}'):
        solver.solve(pose)
    with pytest.raises(ValueError, match=f'Pose 1 is no rigid transform: .*{message}'):
        solver.solve_batch(poses)


def test_a_translation_that_is_not_finite_is_refused(solver: IkSolver) -> None:
    pose = np.eye(4)
    pose[1, 3] = math.nan

    with pytest.raises(ValueError, match='not finite'):
        solver.solve(pose)


@pytest.mark.parametrize('shape', [(3, 4), (16,), (1, 4, 4)])
def test_a_pose_of_the_wrong_shape_is_refused(solver: IkSolver, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match='must be a 4x4 transform'):
        solver.solve(np.zeros(shape))


def test_poses_of_the_wrong_shape_are_refused(solver: IkSolver) -> None:
    with pytest.raises(ValueError, match=r'must have the shape \(N, 4, 4\)'):
        solver.solve_batch(np.eye(4))


@pytest.mark.parametrize('seed', [[0.0], [math.nan] * 6, [math.inf] * 7, [0.0] * 8, [1e9] * 6, [1e9] * 7])
def test_a_wrong_seed_is_refused(solver: IkSolver, seed: list[float]) -> None:
    with pytest.raises(ValueError, match=r'A seed must be [67] finite numbers'):
        solver.solve(np.eye(4), seed=seed)


def test_a_chain_that_does_not_move_is_refused() -> None:
    with pytest.raises(UrdfError, match='No joint moves'):
        make_solver(shipped_arm('gp8').tree, 'base_link', 'base')
