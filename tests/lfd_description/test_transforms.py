import math

import numpy as np
import pytest

from lfd_description.transforms import LinkTransform, Quaternion, fixed_transforms, moving_transforms
from lfd_description.urdf import Joint, Mimic, RobotTree

QUARTER = math.pi / 2


def tree(*joints: Joint) -> RobotTree:
    links = ('base', *(joint.child for joint in joints))
    return RobotTree('robot', links, joints, 'base')


def rotation(quaternion: Quaternion) -> np.ndarray:
    x, y, z, w = quaternion
    assert x * x + y * y + z * z + w * w == pytest.approx(1.0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def only(transforms: tuple[LinkTransform, ...]) -> LinkTransform:
    (transform,) = transforms
    return transform


@pytest.mark.parametrize(
    'rpy', [(0, 0, 0), (QUARTER, 0, 0), (0.1, -0.2, 0.3), (QUARTER, math.pi, math.pi), (3, -1.5, 2)]
)
def test_a_fixed_joint_gives_its_origin(rpy: tuple[float, float, float]) -> None:
    joint = Joint('j', 'fixed', 'base', 'tip', xyz=(1, 2, 3), rpy=rpy)

    transform = only(fixed_transforms(tree(joint)))

    assert (transform.parent, transform.child) == ('base', 'tip')
    assert transform.translation == (1, 2, 3)
    np.testing.assert_allclose(rotation(transform.rotation), joint.origin[:3, :3], atol=1e-12)


def test_a_turning_joint_turns_about_its_axis_after_its_origin() -> None:
    joint = Joint('j', 'revolute', 'base', 'tip', xyz=(0, 0, 1), rpy=(QUARTER, 0, 0), axis=(0, 0, 1))

    transform = only(moving_transforms(tree(joint), {'j': QUARTER}))

    # Roll takes z to -y; a quarter turn about that takes x to z turned by roll: x -> y, and y is the parent's z.
    np.testing.assert_allclose(rotation(transform.rotation) @ [1, 0, 0], [0, 0, 1], atol=1e-12)
    assert transform.translation == (0, 0, 1)


def test_a_sliding_joint_slides_along_its_axis() -> None:
    joint = Joint('j', 'prismatic', 'base', 'tip', xyz=(0, 0, 1), rpy=(0, 0, QUARTER), axis=(1, 0, 0))

    transform = only(moving_transforms(tree(joint), {'j': 0.5}))

    np.testing.assert_allclose(transform.translation, [0, 0.5, 1], atol=1e-12)


def test_only_the_joints_with_a_position_are_given() -> None:
    robot = tree(
        Joint('a', 'continuous', 'base', 'x'), Joint('b', 'continuous', 'x', 'y'), Joint('c', 'fixed', 'y', 'z')
    )

    assert [t.child for t in moving_transforms(robot, {'b': 1.0, 'c': 1.0, 'stranger': 1.0})] == ['y']
    assert moving_transforms(robot, {}) == ()
    assert [t.child for t in fixed_transforms(robot)] == ['z']


def test_a_mimic_follows_unless_it_has_a_position_of_its_own() -> None:
    robot = tree(
        Joint('a', 'prismatic', 'base', 'x', axis=(0, 0, 1)),
        Joint('b', 'prismatic', 'base', 'y', axis=(0, 0, 1), mimic=Mimic('a', 2.0, 0.1)),
    )

    following = moving_transforms(robot, {'a': 1.0})
    independent = moving_transforms(robot, {'a': 1.0, 'b': 5.0})

    assert [t.translation[2] for t in following] == pytest.approx([1.0, 2.1])
    assert [t.translation[2] for t in independent] == pytest.approx([1.0, 5.0])


def test_planar_joints_rest_and_floating_ones_are_left_to_others() -> None:
    robot = tree(Joint('a', 'planar', 'base', 'x'), Joint('b', 'floating', 'x', 'y'))

    assert [t.child for t in fixed_transforms(robot)] == ['x']
    assert moving_transforms(robot, {'a': 1.0, 'b': 1.0}) == ()
