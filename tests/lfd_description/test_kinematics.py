import math

import numpy as np
import pytest

from lfd_description.kinematics import Chain
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.urdf import Joint, Mimic, RobotTree, UrdfError, parse_urdf

QUARTER = math.pi / 2

# Denavit-Hartenberg parameters [m]: d1, a2, a3, d4, d5, d6. UR3e, UR5e and the UR10e's first five were read
# on Universal Robots' page; the UR3's and the UR10e's d6 are those of its published description.
UR = {
    'ur3': (0.1519, -0.24365, -0.21325, 0.11235, 0.08535, 0.0819),
    'ur3e': (0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
    'ur5e': (0.1625, -0.425, -0.3922, 0.1333, 0.0997, 0.0996),
    'ur10e': (0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
}
# Where the published offsets put tool0 when one joint is turned: joint, angle [rad], x, y, z [m] and tool0's z axis.
GP8 = [
    (0, 0, (0.04 + 0.34 + 0.08, 0, 0.33 + 0.345 + 0.04), (1, 0, 0)),
    (0, QUARTER, (0, 0.46, 0.715), (0, 1, 0)),
    (1, QUARTER, (0.04 + 0.345 + 0.04, 0, 0.33 - 0.42), (0, 0, -1)),
    (2, QUARTER, (0.04 - 0.04, 0, 0.33 + 0.345 + 0.42), (0, 0, 1)),
    (4, -QUARTER, (0.04 + 0.34, 0, 0.715 - 0.08), (0, 0, -1)),
    (5, 1.0, (0.46, 0, 0.715), (1, 0, 0)),
]
IRB1600 = [
    (0, 0, (0.15 + 0.3 + 0.3 + 0.065, 0, 0.4865 + 0.475), (1, 0, 0)),
    (0, QUARTER, (0, 0.815, 0.9615), (0, 1, 0)),
    (1, QUARTER, (0.15 + 0.475, 0, 0.4865 - 0.665), (0, 0, -1)),
    (2, QUARTER, (0.15, 0, 0.9615 - 0.665), (0, 0, -1)),
    (4, QUARTER, (0.15 + 0.6, 0, 0.9615 - 0.065), (0, 0, -1)),
    (5, 1.0, (0.815, 0, 0.9615), (1, 0, 0)),
]


def chain_of(name: str, base: str = 'base_link', tip: str = 'tool0') -> Chain:
    return Chain(parse_urdf(robot_description(find_robot(name))), base, tip)


def denavit_hartenberg(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    (ct, st), (ca, sa) = (math.cos(theta), math.sin(theta)), (math.cos(alpha), math.sin(alpha))
    return np.array(
        [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]],
    )


def ur_pose(name: str, q: np.ndarray) -> np.ndarray:
    """The pose base -> tool0 of a UR, straight from its Denavit-Hartenberg parameters."""
    d1, a2, a3, d4, d5, d6 = UR[name]
    rows = [(d1, 0, QUARTER), (0, a2, 0), (0, a3, 0), (d4, 0, QUARTER), (d5, 0, -QUARTER), (d6, 0, 0)]
    pose = np.eye(4)
    for theta, (d, a, alpha) in zip(q, rows, strict=True):
        pose = pose @ denavit_hartenberg(theta, d, a, alpha)
    return pose


@pytest.mark.parametrize('name', UR)
def test_a_ur_stands_where_its_published_parameters_put_it(name: str) -> None:
    random = np.random.default_rng(1)
    q = np.vstack([np.zeros(6), random.uniform(-math.pi, math.pi, (50, 6))])
    to_base = chain_of(name, tip='base').poses(np.zeros((1, 0)))[0]

    poses = np.linalg.inv(to_base) @ chain_of(name).poses(q)

    np.testing.assert_allclose(poses, [ur_pose(name, row) for row in q], atol=1e-12)


@pytest.mark.parametrize(('name', 'expected'), [('gp8', GP8), ('irb1600', IRB1600)])
def test_an_arm_stands_where_its_published_offsets_put_it(name: str, expected: list) -> None:
    chain = chain_of(name)
    for joint, angle, position, tool_axis in expected:
        q = np.zeros(6)
        q[joint] = angle
        pose = chain.pose(q)
        np.testing.assert_allclose(pose[:3, 3], position, atol=1e-12)
        np.testing.assert_allclose(pose[:3, 2], tool_axis, atol=1e-12)


def test_the_gp8_s_base_is_at_its_shoulder() -> None:
    base = chain_of('gp8', tip='base').poses(np.zeros((1, 0)))[0]

    np.testing.assert_allclose(base[:3, 3], [0, 0, 0.33])


@pytest.mark.parametrize('name', robot_names())
def test_many_poses_at_once_are_the_same_as_one_by_one(name: str) -> None:
    chain = chain_of(name)
    q = np.random.default_rng(2).uniform(-1, 1, (20, 6))

    poses = chain.poses(q)

    assert poses.shape == (20, 4, 4)
    np.testing.assert_array_equal(poses, [chain.pose(row) for row in q])
    np.testing.assert_allclose(
        poses[:, :3, :3] @ poses[:, :3, :3].transpose(0, 2, 1), np.tile(np.eye(3), (20, 1, 1)), atol=1e-12
    )
    np.testing.assert_array_equal(poses[:, 3], np.tile([0, 0, 0, 1], (20, 1)))


@pytest.mark.parametrize('name', robot_names())
def test_link_poses_are_those_of_chains_to_each_link(name: str) -> None:
    tree = parse_urdf(robot_description(find_robot(name)))
    chain = Chain(tree, 'base_link', 'tool0')
    q = np.random.default_rng(3).uniform(-1, 1, (5, 6))

    poses = chain.link_poses(q)

    assert poses.shape == (5, len(chain.links), 4, 4)
    assert chain.links[-1] == 'tool0'
    for i, link in enumerate(chain.links):
        part = Chain(tree, 'base_link', link)
        np.testing.assert_allclose(poses[:, i], part.poses(q[:, : part.dof]), atol=1e-12)


def test_joints_slide_and_mimics_follow() -> None:
    tree = RobotTree(
        'lift',
        ('base', 'a', 'b', 'c', 'tip'),
        (
            Joint('lift', 'prismatic', 'base', 'a', axis=(0.0, 0.0, 1.0)),
            Joint('turn', 'continuous', 'a', 'b', axis=(0.0, 0.0, 1.0)),
            Joint('second', 'prismatic', 'b', 'c', axis=(1.0, 0.0, 0.0), mimic=Mimic('lift', 2.0, 0.5)),
            Joint('end', 'fixed', 'c', 'tip', xyz=(0.0, 0.0, 1.0)),
        ),
        'base',
    )
    chain = Chain(tree, 'base', 'tip')

    assert chain.joints == ('lift', 'turn')
    assert chain.links == ('a', 'b', 'c', 'tip')
    np.testing.assert_allclose(chain.pose([0.1, QUARTER])[:3, 3], [0, 0.7, 1.1], atol=1e-12)
    np.testing.assert_allclose(
        chain.link_poses([[0.1, 0.0]])[0, :, :3, 3], [[0, 0, 0.1], [0, 0, 0.1], [0.7, 0, 0.1], [0.7, 0, 1.1]]
    )


def test_a_mimic_whose_leader_is_not_on_the_chain_is_refused() -> None:
    tree = RobotTree(
        'gripper',
        ('palm', 'left', 'right'),
        (
            Joint('left_joint', 'prismatic', 'palm', 'left'),
            Joint('right_joint', 'prismatic', 'palm', 'right', mimic=Mimic('left_joint', -1.0, 0.0)),
        ),
        'palm',
    )
    with pytest.raises(UrdfError, match="'right_joint' mimics 'left_joint', which is not on its chain"):
        Chain(tree, 'palm', 'right')


@pytest.mark.parametrize('kind', ['planar', 'floating'])
def test_a_joint_that_one_number_does_not_set_is_refused(kind: str) -> None:
    tree = RobotTree('cart', ('world', 'cart'), (Joint('drive', kind, 'world', 'cart'),), 'world')

    with pytest.raises(UrdfError, match=f"'drive' between 'world' and 'cart' is {kind}"):
        Chain(tree, 'world', 'cart')


@pytest.mark.parametrize('shape', [(6,), (3, 5), (2, 3, 6)])
def test_positions_of_the_wrong_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r'must have the shape \(N, 6\)'):
        chain_of('gp8').poses(np.zeros(shape))


def test_no_positions_give_no_poses() -> None:
    assert chain_of('gp8').poses(np.empty((0, 6))).shape == (0, 4, 4)


def test_any_layout_of_positions_will_do_and_is_left_alone() -> None:
    chain = chain_of('gp8')
    q = np.random.default_rng(4).uniform(-1, 1, (4, 6))
    fortran, readonly = np.asfortranarray(q), q.copy()
    readonly.setflags(write=False)

    for other in (fortran, readonly, q.tolist(), np.repeat(q, 2, axis=0)[::2]):
        np.testing.assert_array_equal(chain.poses(other), chain.poses(q))
