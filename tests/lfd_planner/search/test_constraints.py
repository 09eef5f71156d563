"""Path constraints: MoveIt's meaning, judged against scipy and pinocchio, and the way back to keeping them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation
from support.arms import PinocchioArm, shipped_arm
from support.urdfs import LIMIT, joint, link, robot

from lfd_description.kinematics import Chain, Tree
from lfd_description.shapes import Box, Cylinder, Sphere, Vector
from lfd_description.urdf import parse_urdf
from lfd_planner.scene import Pose
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import (
    JointConstraint,
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
    WrongConstraint,
)
from lfd_planner.search.projection import _fill_slopes, euler_angles, make_projection_room, missing, rotation_vector

Array = npt.NDArray[np.float64]

UR5E = shipped_arm('ur5e')
CHAIN = Chain(UR5E.tree, 'base_link', 'tool0')
JUDGE = PinocchioArm(UR5E, CHAIN.joints)
LIMITS = np.array([[-2 * math.pi] * 6, [2 * math.pi] * 6])
EULER, VECTOR = Parameterization.XYZ_EULER_ANGLES, Parameterization.ROTATION_VECTOR
ANY = (math.pi, math.pi, math.pi)

BRANCHES = robot(
    *(link(name) for name in ('world', 'column', 'left', 'right', 'hand', 'finger')),
    joint('lift', 'world', 'column', kind='prismatic', axis='0 0 1'),
    joint('left_arm', 'column', 'left', axis='1 0 0', xyz='0 0.3 0'),
    joint('right_arm', 'column', 'right', axis='0 1 0', xyz='0 -0.3 0.1'),
    joint('right_wrist', 'right', 'hand', kind='continuous', axis='0.6 0 0.8', inside=''),
    joint('finger', 'hand', 'finger', inside=f'{LIMIT}<mimic joint="right_arm" multiplier="-0.5" offset="0.2"/>'),
)


def on_ur5e(constraints: PathConstraints) -> ConstraintChecker:
    return ConstraintChecker(UR5E.tree, 'base_link', CHAIN.joints, constraints)


def keep_orientation(turn: Rotation, tolerance: Vector, kind: Parameterization = EULER) -> PathConstraints:
    x, y, z, w = turn.as_quat().tolist()
    return PathConstraints(orientations=(OrientationConstraint('tool0', (x, y, z, w), tolerance, kind),))


def orientation_error(q: Array, target: Rotation, kind: Parameterization) -> Array:
    """As scipy tells it, of the rotation from the target to the tool, where pinocchio sees that."""
    turn = target.inv() * Rotation.from_matrix(JUDGE.pose(q)[:3, :3])
    return np.abs(turn.as_euler('XYZ') if kind == EULER else turn.as_rotvec())


@pytest.mark.parametrize('kind', [EULER, VECTOR])
def test_orientation_errors_are_those_of_scipy(kind: Parameterization) -> None:
    random = np.random.default_rng(11)
    both = set()
    for _ in range(300):
        q, target = random.uniform(-3, 3, 6), Rotation.random(rng=random)
        tolerance = random.uniform(0.5, 3.2, 3)
        error = orientation_error(q, target, kind)
        if np.abs(error - tolerance).min() < 1e-6:
            continue
        x, y, z = tolerance.tolist()
        kept = on_ur5e(keep_orientation(target, (x, y, z), kind)).satisfied(q)
        assert kept == (error < tolerance).all()
        both.add(kept)
    assert both == {True, False}


@pytest.mark.parametrize('sign', [1, -1])
def test_at_a_quarter_turn_about_y_the_turn_is_given_to_x_unless_z_would_forbid_it(sign: int) -> None:
    turn = np.array([[0.0, 0.0, sign], [0.0, 1.0, 0.0], [-sign, 0.0, 0.0]])
    turn = np.round(turn) @ Rotation.from_rotvec([0, 0, 0.3]).as_matrix()
    error = np.empty(3)

    euler_angles(turn, 0.5, error)
    assert np.allclose(error, [sign * 0.3, sign * math.pi / 2, 0.0])
    euler_angles(turn, 0.1, error)
    assert np.allclose(error, [0.0, sign * math.pi / 2, sign * 0.3])


def test_rotation_vectors_are_exact_up_to_half_a_turn() -> None:
    random = np.random.default_rng(12)
    for angle in (0.0, 1e-9, 1e-5, 1.0, 2.7, 3.1, math.pi - 1e-5, math.pi - 1e-9, math.pi):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        vector = np.empty(3)
        rotation_vector(np.ascontiguousarray(Rotation.from_rotvec(angle * axis).as_matrix()), vector)
        apart = min(np.abs(vector - angle * axis).max(), np.abs(vector + angle * axis).max() + (angle < 3.14))
        assert apart < 1e-7


def test_a_point_is_in_any_of_the_regions() -> None:
    random = np.random.default_rng(13)
    both = set()
    for _ in range(300):
        q, offset = random.uniform(-3, 3, 6), random.uniform(-0.2, 0.2, 3)
        near = CHAIN.pose(q)[:3, 3]
        turn = Rotation.random(rng=random)
        poses = [Pose(tuple(near + random.uniform(-0.3, 0.3, 3)), tuple(turn.as_quat().tolist())) for _ in range(3)]
        regions = (
            Region(Box((0.3, 0.4, 0.5)), poses[0]),
            Region(Sphere(0.2), poses[1]),
            Region(Cylinder(0.15, 0.5), poses[2]),
        )
        point = JUDGE.pose(q) @ [*offset, 1.0]
        x, y, z = (turn.inv().apply(point[:3] - pose.position) for pose in poses)
        inside = (
            (np.abs(x) < [0.15, 0.2, 0.25]).all()
            or np.linalg.norm(y) < 0.2
            or (np.hypot(z[0], z[1]) < 0.15 and abs(z[2]) < 0.25)
        )
        constraint = PositionConstraint('tool0', regions, tuple(offset.tolist()))
        kept = on_ur5e(PathConstraints(positions=(constraint,))).satisfied(q)
        assert kept == inside
        both.add(kept)
    assert both == {True, False}


def test_joints_stay_between_their_tolerances_and_endless_ones_also_after_a_turn() -> None:
    tree = parse_urdf(BRANCHES)
    constraints = PathConstraints(
        joints=(JointConstraint('right_arm', 0.5, 0.2, 0.1), JointConstraint('right_wrist', 3.0, 0.5, 0.5))
    )
    checker = ConstraintChecker(tree, 'world', ('right_arm', 'right_wrist'), constraints)

    assert checker.satisfied([0.69, 3.4])
    assert checker.satisfied([0.41, 3.4 - 2 * math.pi])
    assert checker.satisfied([0.41, 3.4 + 4 * math.pi])
    assert not checker.satisfied([0.39, 3.4])
    assert not checker.satisfied([0.5, 3.6])
    assert checker.violations([0.8, 2.0]) == (
        "Joint 'right_arm' is 0.1 above 0.7, where its constraint ends [rad or m].",
        "Joint 'right_wrist' is 0.5 below 2.5, where its constraint ends [rad or m].",
    )


def test_joints_that_mimic_or_stand_still_are_judged_where_they_are() -> None:
    tree = parse_urdf(BRANCHES)
    finger = PathConstraints(joints=(JointConstraint('finger', 0.0, 0.01, 0.01),))
    lift = PathConstraints(joints=(JointConstraint('lift', 0.3, 0.01, 0.01),))

    assert ConstraintChecker(tree, 'world', ('right_arm',), finger).satisfied([0.4])
    assert not ConstraintChecker(tree, 'world', ('right_arm',), finger).satisfied([0.0])
    assert ConstraintChecker(tree, 'world', ('right_arm',), lift, {'lift': 0.3}).satisfied([0.0])
    assert not ConstraintChecker(tree, 'world', ('right_arm',), lift).satisfied([0.0])


@pytest.mark.parametrize('frame', ['world', 'map', 'left', 'hand'])
def test_links_of_all_branches_are_seen_from_the_scene_frame(frame: str) -> None:
    """The scene's frame may be a link, even one that the joints of the group move."""
    tree = parse_urdf(BRANCHES)
    random = np.random.default_rng(14)
    joints = ('lift', 'left_arm', 'right_arm')
    for _ in range(20):
        q = random.uniform(-1, 1, 3)
        still = {'right_wrist': float(random.uniform(-1, 1))}
        poses = Tree(tree).poses_at({**still, **dict(zip(joints, q.tolist(), strict=True))})
        seen = np.linalg.inv(poses.get(frame, poses['world'])) @ poses['finger']
        here = Pose.of(seen)
        constraints = PathConstraints(
            positions=(PositionConstraint('finger', (Region(Sphere(1e-7), Pose(here.position)),)),),
            orientations=(OrientationConstraint('finger', here.orientation, (1e-6, 1e-6, 1e-6)),),
        )
        checker = ConstraintChecker(tree, frame, joints, constraints, still)
        assert checker.violations(q) == ()
        assert len(checker.violations(q + np.array([0.0, 0.0, 0.3]))) > 0


CUBE = Region(Box((0.5, 0.5, 0.5)), Pose((0.4, 0.2, 0.4)))
MANY = PathConstraints(
    joints=(JointConstraint('elbow_joint', 1.0, 0.3, 0.3),),
    positions=(
        PositionConstraint('wrist_3_link', (Region(Box((0.5, 0.5, 0.5)), Pose((0.4, 0.2, 0.4))),), (0, 0, 0.1)),
    ),
    orientations=(OrientationConstraint('tool0', (1.0, 0.0, 0.0, 0.0), (0.2, 0.2, 4.0), VECTOR),),
)
CASES = {
    'upright': keep_orientation(Rotation.from_quat([1, 0, 0, 0]), (0.1, 0.1, math.pi)),
    'as a vector': keep_orientation(Rotation.from_quat([1, 0, 0, 0]), (0.1, 0.1, 0.3), VECTOR),
    'in a plane': PathConstraints(
        positions=(PositionConstraint('tool0', (Region(Box((4.0, 4.0, 0.0)), Pose((0.0, 0.0, 0.3))),)),)
    ),
    'on a rail': PathConstraints(
        positions=(PositionConstraint('tool0', (Region(Cylinder(0.01, 1.0), Pose((0.4, 0.0, 0.5))),)),)
    ),
    'many': MANY,
}


@pytest.mark.parametrize('name', CASES)
def test_projection_finds_places_that_keep_the_constraints(name: str) -> None:
    checker = on_ur5e(CASES[name])
    random = np.random.default_rng(15)
    starts = random.uniform(-3, 3, (100, 6))
    found = [q for q in (checker.project(start, LIMITS) for start in starts) if q is not None]

    assert len(found) >= 80
    assert all(checker.satisfied(q) for q in found)
    assert (np.abs(found) <= 2 * math.pi).all()


@pytest.mark.parametrize('name', CASES)
def test_slopes_are_those_of_the_residual(name: str) -> None:
    checker = on_ur5e(CASES[name])
    room = make_projection_room(checker.data, 6)
    random = np.random.default_rng(16)
    for _ in range(20):
        q = random.uniform(-3, 3, 6)
        missing(q, checker.data, 0.0, room)
        if np.abs(room.told[:, 1]).max() > 1.4:  # near the quarter turn slopes are cut on purpose
            continue
        outside = room.residual != 0.0
        _fill_slopes(q, checker.data, room)
        for k in range(6):
            ends = []
            for step in (1e-6, -1e-6):
                missing(q + step * np.eye(6)[k], checker.data, 0.0, room)
                ends.append(room.residual.copy())
            slope = -(ends[0] - ends[1]) / 2e-6
            positions = slice(len(checker.constraints.joints), len(checker.constraints.joints) + 3)
            if checker.constraints.positions:
                # Along a region's surface the nearest point moves along; only the way out of it counts.
                outside[positions] = False
            assert np.allclose(slope[outside], room.jacobian[outside, k], atol=1e-4)


def test_a_projection_that_cannot_be_is_none() -> None:
    far = PositionConstraint('tool0', (Region(Sphere(0.1), Pose((5.0, 0.0, 0.0))),))

    assert on_ur5e(PathConstraints(positions=(far,))).project(np.zeros(6), LIMITS) is None


def test_violations_say_what_is_wrong_in_numbers() -> None:
    constraints = PathConstraints(
        positions=(PositionConstraint('tool0', (Region(Sphere(0.1), Pose((0.0, 0.0, 3.0))),)),),
        orientations=(OrientationConstraint('tool0', (0.0, 0.0, 0.0, 1.0), (0.1, 4.0, 4.0)),),
    )

    where, turn = on_ur5e(constraints).violations([0.0, -1.5, 1.5, 0.0, 0.0, 0.0])
    assert where.startswith("Link 'tool0' has its point at (")
    assert where.endswith('m outside the region of its constraint.')
    assert turn.startswith("Link 'tool0' is turned away from its orientation constraint: ")
    assert 'rad about x where 0.1 is allowed.' in turn


@pytest.mark.parametrize(
    ('make', 'words'),
    [
        (lambda: JointConstraint('a', math.nan, 0.0, 0.0), "Joint 'a'.*not finite"),
        (lambda: JointConstraint('a', 0.0, -0.1, 0.0), "Joint 'a'.*from 0 up"),
        (lambda: PositionConstraint('a', ()), "'a' has no region"),
        (lambda: Region(Sphere(-1.0)), 'no length'),
        (lambda: Region(Box((1.0, math.inf, 1.0))), 'no length'),
        (lambda: Region(Sphere(1.0), Pose((math.nan, 0.0, 0.0))), 'not finite'),
        (lambda: OrientationConstraint('a', (0.0, 0.0, 0.0, 0.0), ANY), "Link 'a'.*length 0; normalise"),
        (lambda: OrientationConstraint('a', (0.0, 0.0, 0.0, 1.0), (0.1, math.nan, 0.1)), "Link 'a'.*from 0 up"),
        (lambda: on_ur5e(PathConstraints(joints=(JointConstraint('elbow', 0, 1, 1),))), "did you mean 'elbow_joint'"),
        (lambda: on_ur5e(PathConstraints(positions=(PositionConstraint('x', (Region(Sphere(1)),)),))), "no link 'x'"),
    ],
)
def test_constraints_that_make_no_sense_are_refused(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(WrongConstraint, match=words):
        make()
