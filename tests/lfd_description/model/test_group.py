import pytest
from support.urdfs import PUBLISHED, joint, link, robot, serial_arm

from lfd_description.model.findings import ModelError
from lfd_description.model.group import find_group
from lfd_description.urdf import parse_urdf

FLOATING = serial_arm(kind='floating', inside='')
PR2 = 'pr2_description/urdf/pr2.urdf'


def group_of(xml: str, **options: str):
    return find_group(parse_urdf(xml), **options)[0]


@pytest.mark.parametrize('tip', ['tool0', 'left_tool0', 'tcp', 'my_ee_link', 'link_eef', 'flange', 'robot-hand'])
def test_a_tool_frame_is_known_by_its_name(tip: str) -> None:
    group = group_of(serial_arm(tip=tip))

    assert (group.base, group.tip) == ('base_link', tip)
    assert group.joints == ('joint_1', 'joint_2', 'joint_3')


def test_tool0_is_preferred_to_the_flange_before_it() -> None:
    xml = serial_arm(tip='flange').replace(
        '</robot>', link('tool0') + joint('last', 'flange', 'tool0', kind='fixed') + '</robot>'
    )

    assert group_of(xml).tip == 'tool0'


def test_without_such_a_name_the_end_of_the_only_chain_is_the_tip() -> None:
    group, findings = find_group(parse_urdf(serial_arm(tip='pen')))

    assert group.tip == 'pen'
    assert findings[0].why == 'the end of the only chain of moving joints'


def test_fingers_end_the_chain_at_the_palm() -> None:
    fingers = ''.join(link(f'finger_{i}') + joint(f'grip_{i}', 'palm', f'finger_{i}', kind='prismatic') for i in (1, 2))

    assert group_of(serial_arm(tip='palm').replace('</robot>', fingers + '</robot>')).tip == 'palm'


def test_several_arms_are_asked_about() -> None:
    two = serial_arm(tip='left_tool0').replace(
        '</robot>',
        link('a')
        + link('right_tool0')
        + joint('j', 'base_link', 'a')
        + joint('f', 'a', 'right_tool0', kind='fixed')
        + '</robot>',
    )

    with pytest.raises(ModelError, match='choose one with --tip left_tool0 or right_tool0'):
        group_of(two)
    assert group_of(two, tip='right_tool0').joints == ('j',)


def test_the_base_is_asked_for_or_found() -> None:
    xml = serial_arm(base='pedestal')

    assert group_of(xml).base == 'pedestal'
    assert group_of(xml, base='link_1').joints == ('joint_2', 'joint_3')


def test_the_world_is_no_base() -> None:
    xml = serial_arm(base='foot').replace(
        '</robot>', link('world') + joint('fix', 'world', 'foot', kind='fixed') + '</robot>'
    )

    assert group_of(xml).base == 'foot'


@pytest.mark.parametrize(
    ('xml', 'options', 'message'),
    [
        (serial_arm(), {'tip': 'tool1'}, "no link 'tool1'; give --tip one of base_link, link_1"),
        (serial_arm(), {'base': 'tool0', 'tip': 'link_1'}, 'no chain from tool0 to link_1'),
        (serial_arm(), {'tip': 'base_link'}, "Nothing moves between 'base_link' and 'base_link'"),
        (serial_arm(kind='fixed'), {}, 'No joint of this robot moves'),
        (serial_arm(inside='<limit velocity="1" effort="1"/>'), {}, "Joint 'joint_1' cannot move"),
        (serial_arm(inside='<limit lower="-1" upper="1" velocity="0" effort="1"/>'), {}, 'the velocity limit 0'),
        (serial_arm(kind='continuous', inside=''), {}, "Joint 'joint_1' has no velocity limit"),
        (
            serial_arm(kind='floating', inside=''),
            {'base': 'base_link', 'tip': 'tool0'},
            "Joint 'joint_1' is floating; .*--base link_1",
        ),
    ],
)
def test_what_cannot_be_planned_for_is_refused(xml: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        group_of(xml, **options)


def test_an_arm_that_follows_a_joint_outside_it_is_refused() -> None:
    xml = robot(
        *map(link, ('base_link', 'a', 'tool0', 'lever')),
        joint('j', 'base_link', 'a'),
        joint('k', 'a', 'tool0', inside='<mimic joint="l"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'),
        joint('l', 'base_link', 'lever'),
    )

    with pytest.raises(ModelError, match="Joint 'k' of the arm mimics 'l', which is not part of it"):
        group_of(xml)


@pytest.mark.parametrize(
    ('file', 'options', 'base', 'tip', 'joints'),
    [
        ('ur_description/urdf/ur5_robot.urdf', {}, 'base_link', 'tool0', 6),
        ('panda_description/urdf/panda.urdf', {}, 'panda_link0', 'panda_hand_tcp', 7),
        ('tiago_description/robots/tiago.urdf', {}, 'torso_lift_link', 'arm_tool_link', 7),
        (
            'pr2_description/urdf/pr2.urdf',
            {'tip': 'r_gripper_tool_frame'},
            'torso_lift_link',
            'r_gripper_tool_frame',
            7,
        ),
        (PR2, {'tip': 'l_wrist_roll_link'}, 'torso_lift_link', 'l_wrist_roll_link', 7),
        ('xarm_description/urdf/xarm7.urdf', {}, 'link_base', 'link_eef', 7),
        ('kinova_description/robots/kinova.urdf', {}, 'base', 'j2s6s200_end_effector', 6),
        ('so_arm_description/urdf/so101.urdf', {}, 'base_link', 'gripper_frame_link', 5),
    ],
)
def test_published_robots(file: str, options: dict[str, str], base: str, tip: str, joints: int) -> None:
    group = group_of((PUBLISHED / file).read_text(), **options)

    assert (group.base, group.tip, len(group.joints)) == (base, tip, joints)
