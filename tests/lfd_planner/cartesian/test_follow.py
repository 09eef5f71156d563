"""Links follow straight lines continuously, or are told why they cannot."""

import math

import numpy as np
import pytest
from support.arms import PinocchioArm, example_arm, pose_errors, shipped_arm

from lfd_description.robots import find_robot, robot_names
from lfd_planner.cartesian import FollowResult, JumpGuard, Precision, Reason, follow, interpolate
from lfd_planner.robot.ik import IkSolver, make_solver

STEP, TURN = 0.005, 0.05
GUARD = JumpGuard()


def solver_of(name: str) -> IkSolver:
    arm = shipped_arm(name)
    return make_solver(arm.tree, arm.base, arm.tip)


def home_of(name: str) -> np.ndarray:
    return np.array(find_robot(name).poses['home'])


def moved(pose: np.ndarray, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """The pose shifted along the axes of the base [m]."""
    target = pose.copy()
    target[:3, 3] += (x, y, z)
    return target


def assert_continuous(result: FollowResult, guard: JumpGuard = GUARD) -> None:
    assert np.abs(np.diff(result.q, axis=0)).max(initial=0.0) <= guard.revolute + 1e-12


def assert_on_line(name: str, solver: IkSolver, result: FollowResult, poses: np.ndarray) -> None:
    """The whole poses are reached exactly, by pinocchio's judgement, and the motion in between stays at the line."""
    arm = PinocchioArm(shipped_arm(name), solver.joints)
    whole = result.pose == np.floor(result.pose)
    way, turn = pose_errors(arm.poses(result.q[whole]), poses[: whole.sum()])
    assert way.max() < 1e-6
    assert turn.max() < 1e-6
    halfway = arm.poses(0.5 * (result.q[:-1] + result.q[1:]))[:, :3, 3]
    spots = np.stack([np.interp(result.pose, np.arange(len(poses)), poses[:, k, 3]) for k in range(3)], axis=1)
    middle = 0.5 * (spots[:-1] + spots[1:])
    assert np.linalg.norm(halfway - middle, axis=1).max(initial=0.0) < 1.1e-3


@pytest.mark.parametrize('name', robot_names())
@pytest.mark.parametrize(
    'way', [(0.0, 0.0, -0.1), (0.0, 0.2, 0.0), (0.0, -0.3, 0.0), (-0.1, 0.1, 0.0), (0.0, 0.4, -0.1)]
)
def test_our_robots_follow_lines_from_home(name: str, way: tuple[float, float, float]) -> None:
    solver, q0 = solver_of(name), home_of(name)
    share = min(1.0, find_robot(name).reach / 0.7)  # the small arm gets shorter lines
    start = solver.chain.pose(q0)
    poses = interpolate(start, [moved(start, *(share * part for part in way))], STEP, TURN)

    result = follow(solver, poses, q0)

    assert result.complete, (name, way, result.reason, result.fraction)
    assert result.fraction == 1.0
    assert result.at_pose == len(poses)
    np.testing.assert_array_equal(result.q[0], q0)
    assert_continuous(result)
    assert_on_line(name, solver, result, poses)


def test_the_moved_link_need_not_be_the_tip() -> None:
    solver, q0 = solver_of('gp8'), home_of('gp8')
    tip_to_link = np.eye(4)
    tip_to_link[:3, 3] = (0.02, 0.0, 0.15)
    start = solver.chain.pose(q0) @ tip_to_link
    turned = start.copy()
    turned[:3, :3] = start[:3, :3] @ [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

    result = follow(solver, interpolate(start, [turned], STEP, TURN), q0, tip_to_link=tip_to_link)

    assert result.complete
    links = solver.chain.poses(result.q) @ tip_to_link
    np.testing.assert_allclose(links[:, :3, 3], np.tile(start[:3, 3], (len(links), 1)), atol=1e-3)
    np.testing.assert_allclose(links[-1], turned, atol=1e-6)


@pytest.mark.parametrize('name', ['gp8', 'ur5e'])
def test_what_is_out_of_reach_gives_the_share_that_is_not(name: str) -> None:
    solver, q0 = solver_of(name), home_of(name)
    start = solver.chain.pose(q0)
    poses = interpolate(start, [moved(start, x=2.0)], STEP, TURN)
    reachable = np.array([len(solver.solve(pose)) > 0 for pose in poses])
    ends = int(np.flatnonzero(~reachable)[0])

    result = follow(solver, poses, q0)

    assert result.reason in (Reason.UNREACHABLE, Reason.JOINT_LIMIT)
    assert result.at_pose == ends
    assert result.fraction == pytest.approx((ends - 1) / (len(poses) - 1))
    assert result.pose[-1] == ends - 1
    assert_continuous(result)


def test_a_line_out_of_the_workspace_is_unreachable() -> None:
    solver, q0 = solver_of('ur5e'), home_of('ur5e')
    start = solver.chain.pose(q0)
    away = start[:3, 3] * [1.0, 1.0, 0.0]
    target = moved(start, *(2.0 * away / np.linalg.norm(away)))

    assert follow(solver, interpolate(start, [target], STEP, TURN), q0).reason == Reason.UNREACHABLE


def test_a_joint_at_its_limit_is_the_reason() -> None:
    """Turning the tool about its own axis by more than the last joint allows."""
    solver, q0 = solver_of('gp8'), home_of('gp8')
    q0[5] = solver.upper[5] - 0.5
    start = solver.chain.pose(q0)
    ways = [solver.chain.pose([*q0[:5], q0[5] + turn]) for turn in (0.4, 0.8)]

    result = follow(solver, interpolate(start, ways, STEP, TURN), q0)

    assert result.reason == Reason.JOINT_LIMIT
    assert solver.upper[5] - TURN - 1e-6 <= result.q[-1, 5] <= solver.upper[5]


def test_joints_turn_on_beyond_half_a_turn() -> None:
    """Every single pose of a full turn has a solution near the start; the motion must not go back to it."""
    solver, q0 = solver_of('gp8'), home_of('gp8')
    start = solver.chain.pose(q0)
    turns = [solver.chain.pose([*q0[:5], turn]) for turn in (2.0, 4.0, 6.0)]

    result = follow(solver, interpolate(start, turns, STEP, TURN), q0)

    assert result.complete
    assert result.q[-1, 5] == pytest.approx(6.0, abs=1e-6)
    assert_continuous(result)


@pytest.mark.parametrize('name', ['gp8', 'irb1600'])
@pytest.mark.parametrize('miss', [0.0, 1e-4, 2e-3, 2e-2])
def test_near_a_wrist_singularity_nothing_jumps(name: str, miss: float) -> None:
    """A line that passes the place where the axes of joints 4 and 6 align, at some distance or exactly."""
    solver, q0 = solver_of(name), home_of(name)
    singular = q0.copy()
    singular[4] = 0.0
    middle = solver.chain.pose(singular)
    side = moved(middle, y=miss, z=0.1)
    starts = solver.solve(side, seed=singular)
    assert len(starts)
    for start in starts:
        poses = interpolate(side, [moved(middle, y=miss, z=-0.1)], STEP, TURN)
        result = follow(solver, poses, start)

        assert_continuous(result)
        assert_on_line(name, solver, result, poses)
        assert result.complete or result.reason in (Reason.JUMP, Reason.JOINT_LIMIT)


def test_lines_through_random_places_are_continuous_or_refused() -> None:
    solver = solver_of('gp8')
    rng = np.random.default_rng(41)
    done = 0
    for q0 in rng.uniform(0.8 * solver.lower, 0.8 * solver.upper, (150, 6)):
        start = solver.chain.pose(q0)
        poses = interpolate(start, [moved(start, *rng.uniform(-0.3, 0.3, 3))], STEP, TURN)
        result = follow(solver, poses, q0)
        assert_continuous(result)
        assert_on_line('gp8', solver, result, poses)
        assert result.complete == (result.fraction == 1.0)
        done += result.complete
    assert done > 30


def test_closed_loops_return_to_the_start() -> None:
    for name in robot_names():
        solver, q0 = solver_of(name), home_of(name)
        start = solver.chain.pose(q0)
        corners = [moved(start, y=0.08), moved(start, y=0.08, z=-0.08), moved(start, z=-0.08), start]
        result = follow(solver, interpolate(start, corners, STEP, TURN), q0)

        assert result.complete
        np.testing.assert_allclose(result.q[-1], q0, atol=1e-5)


def test_a_redundant_arm_follows_too() -> None:
    arm = example_arm('panda')
    solver = make_solver(arm.tree, arm.base, arm.tip)
    q0 = np.array([0.0, -0.4, 0.0, -2.2, 0.0, 1.9, 0.7])
    start = solver.chain.pose(q0)
    poses = interpolate(start, [moved(start, z=-0.15), moved(start, y=0.15, z=-0.15)], STEP, TURN)

    result = follow(solver, poses, q0)

    assert result.complete
    assert_continuous(result)


def test_the_motion_ends_before_the_first_collision() -> None:
    solver, q0 = solver_of('ur5e'), home_of('ur5e')
    start = solver.chain.pose(q0)
    poses = interpolate(start, [moved(start, z=-0.2)], STEP, TURN)
    floor = start[2, 3] - 0.1

    def is_free(q: np.ndarray) -> np.ndarray:
        return solver.chain.poses(q)[:, 2, 3] > floor - 1e-9

    result = follow(solver, poses, q0, is_free=is_free)

    assert result.reason == Reason.COLLISION
    assert result.fraction == pytest.approx(0.5)
    assert is_free(result.q).all()
    assert follow(solver, poses, q0, is_free=lambda q: np.ones(len(q), dtype=bool)).complete
    assert follow(solver, poses, q0, is_free=lambda q: np.zeros(len(q), dtype=bool)).fraction == 0.0


def test_steps_much_larger_than_average_are_jumps_if_asked() -> None:
    """MoveIt's relative threshold: the line slows down near the end, so its first steps are the largest."""
    solver, q0 = solver_of('ur5e'), home_of('ur5e')
    start = solver.chain.pose(q0)
    ways = [moved(start, y=0.002 * n) for n in range(1, 20)] + [moved(start, y=0.002 * 19 + 0.02)]
    poses = interpolate(start, ways, 1.0, TURN)

    assert follow(solver, poses, q0).complete
    result = follow(solver, poses, q0, jump=JumpGuard(relative=3.0))
    assert result.reason == Reason.JUMP
    assert result.at_pose == 20
    assert result.fraction == pytest.approx(19 / 20)
    assert follow(solver, poses, q0, jump=JumpGuard(relative=100.0)).complete


def test_large_steps_are_refined_until_they_are_small() -> None:
    solver, q0 = solver_of('ur5e'), home_of('ur5e')
    start = solver.chain.pose(q0)
    poses = np.stack([start, moved(start, y=0.2)])

    fine = follow(solver, poses, q0, jump=JumpGuard(revolute=0.02))
    precise = follow(solver, poses, q0, precision=Precision(translation=1e-5))

    for result, guard in ((fine, JumpGuard(revolute=0.02)), (precise, GUARD)):
        assert result.complete
        assert_continuous(result, guard)
        assert len(result.q) > 8
    assert_on_line('ur5e', solver, fine, poses)


def test_the_same_line_gives_the_same_motion() -> None:
    solver, q0 = solver_of('irb1600'), home_of('irb1600')
    start = solver.chain.pose(q0)
    poses = interpolate(start, [moved(start, y=0.2, z=-0.1)], STEP, TURN)
    one, other = (follow(solver, poses, q0) for _ in range(2))

    np.testing.assert_array_equal(one.q, other.q)


def test_one_pose_is_followed_by_standing_there() -> None:
    solver, q0 = solver_of('gp8'), home_of('gp8')
    result = follow(solver, solver.chain.pose(q0)[np.newaxis], q0)

    assert result.complete
    assert result.fraction == 1.0
    np.testing.assert_array_equal(result.q, q0[np.newaxis])


def test_wrong_arguments_are_named() -> None:
    solver, q0 = solver_of('gp8'), home_of('gp8')
    start = solver.chain.pose(q0)
    with pytest.raises(ValueError, match='away from where the link is'):
        follow(solver, moved(start, z=0.01)[np.newaxis], q0)
    with pytest.raises(ValueError, match='one finite number for each'):
        follow(solver, start[np.newaxis], q0[:5])
    with pytest.raises(ValueError, match='shape'):
        follow(solver, start, q0)
    with pytest.raises(ValueError, match='Jump thresholds'):
        JumpGuard(revolute=0.0)
    with pytest.raises(ValueError, match='Precisions'):
        Precision(rotation=math.nan)
