import numpy as np
import pytest
from support.arms import EXAMPLES, example_arm, made_up_arm, shipped_arm

from lfd_description.kinematic_family import kinematic_family
from lfd_description.robots import robot_names
from lfd_description.urdf import Joint, Limits, Mimic, RobotTree, UrdfError

FAMILIES = {
    'gp8': 'spherical wrist',
    'irb1600': 'spherical wrist',
    'ur3': 'parallel axes',
    'ur3e': 'parallel axes',
    'ur5e': 'parallel axes',
    'ur10e': 'parallel axes',
}
EXAMPLE_FAMILIES = {
    'kinova': 'spherical wrist',
    'talos': 'spherical wrist',
    'ur5': 'parallel axes',
    'ur10': 'parallel axes',
    'z1': 'parallel axes',
}
SHAPES = {
    '2 and 3 parallel': ('spherical wrist', 'axes 4, 5 and 6 meet in a point and axes 2 and 3 are parallel'),
    '1 and 2 parallel': ('spherical wrist', 'axes 4, 5 and 6 meet in a point and axes 1 and 2 are parallel'),
    '1 and 2 meet': ('spherical wrist', 'axes 4, 5 and 6 meet in a point and axes 1 and 2 meet'),
    '2 and 3 meet': ('spherical wrist', 'axes 4, 5 and 6 meet in a point and axes 2 and 3 meet'),
    'parallel axes': ('parallel axes', 'axes 2, 3 and 4 are parallel and axes 5 and 6 meet'),
}


@pytest.mark.parametrize('name', robot_names())
@pytest.mark.parametrize('prefix', ['', 'left_'])
def test_every_robot_of_ours_has_a_closed_form(name: str, prefix: str) -> None:
    arm = shipped_arm(name, prefix)

    family = kinematic_family(arm.tree, arm.base, arm.tip)

    assert family.analytic, family.why
    assert family.name == FAMILIES.get(name, family.name)
    assert max(fact.value for fact in family.evidence) < 1e-9


@pytest.mark.parametrize('name', EXAMPLES)
def test_the_family_of_other_makers_arms(name: str) -> None:
    arm = example_arm(name)

    family = kinematic_family(arm.tree, arm.base, arm.tip)

    assert family.name == EXAMPLE_FAMILIES.get(name, 'numeric'), family.why


@pytest.mark.parametrize('shape', SHAPES)
@pytest.mark.parametrize('decimals', [None, 6])
@pytest.mark.parametrize('seed', range(5))
def test_only_the_lines_in_space_matter(shape: str, decimals: int | None, seed: int) -> None:
    arm = made_up_arm(shape, np.random.default_rng(seed), decimals)

    family = kinematic_family(arm.tree, arm.base, arm.tip)

    assert (family.name, family.why) == SHAPES[shape]
    assert (family.pair is None) == (shape == 'parallel axes')


@pytest.mark.parametrize('seed', range(5))
def test_an_arm_without_order_is_solved_by_iteration_and_says_by_how_much_it_misses(seed: int) -> None:
    arm = made_up_arm('general', np.random.default_rng(seed))

    family = kinematic_family(arm.tree, arm.base, arm.tip)

    assert not family.analytic
    assert 'no closed form' in family.why
    assert [fact.unit for fact in family.evidence] == ['m', 'rad', 'm']
    assert str(family.evidence[0]).startswith('axes 4, 5 and 6 to their common point: 0.')


def test_a_wrist_a_millimetre_off_is_no_spherical_wrist() -> None:
    arm = shipped_arm('gp8')
    joints = tuple(
        Joint(**{**vars(joint), 'xyz': (0.0, 0.001, 0.0)}) if joint.name == 'joint_6_t' else joint
        for joint in arm.tree.joints
    )

    family = kinematic_family(RobotTree('off', arm.tree.links, joints, arm.tree.root), arm.base, arm.tip)

    assert family.name == 'numeric'
    assert 'miss their common point' in family.why


def chain_of(*joints: Joint) -> RobotTree:
    return RobotTree('arm', ('l0', *(joint.child for joint in joints)), joints, 'l0')


def test_why_there_is_no_closed_form() -> None:
    limits = Limits(-1.0, 1.0, 1.0, 1.0)
    seven = chain_of(*(Joint(f'j{i}', 'continuous', f'l{i}', f'l{i + 1}') for i in range(7)))
    slides = chain_of(
        Joint('j0', 'continuous', 'l0', 'l1'),
        Joint('j1', 'prismatic', 'l1', 'l2', limits=limits),
    )
    mimics = chain_of(
        Joint('j0', 'continuous', 'l0', 'l1'),
        Joint('j1', 'continuous', 'l1', 'l2', mimic=Mimic('j0', 1.0, 0.0)),
    )

    assert kinematic_family(seven, 'l0', 'l7').why == 'seven joints: no closed form'
    assert kinematic_family(seven, 'l0', 'l1').why == 'one joint: no closed form'
    assert kinematic_family(slides, 'l0', 'l2').why == 'joint 2 slides: no closed form'
    assert kinematic_family(mimics, 'l0', 'l2').why == 'a joint of the arm mimics another: no closed form'


def test_six_joints_that_cannot_place_a_wrist_have_no_closed_form() -> None:
    same_axis = chain_of(*(Joint(f'j{i}', 'continuous', f'l{i}', f'l{i + 1}') for i in range(6)))

    assert kinematic_family(same_axis, 'l0', 'l6').name == 'numeric'


def test_a_chain_that_is_not_there_is_refused() -> None:
    with pytest.raises(UrdfError, match="no link 'tool'"):
        kinematic_family(shipped_arm('gp8').tree, 'base_link', 'tool')
