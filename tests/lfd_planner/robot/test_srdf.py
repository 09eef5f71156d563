from __future__ import annotations

import pytest
from support.scene_edits import TREE

from lfd_description.urdf import parse_urdf
from lfd_planner.robot.srdf import SrdfError, parse_srdf


def srdf(body: str) -> str:
    return f'<robot name="small">{body}</robot>'


ARM = '<group name="arm"><chain base_link="base_link" tip_link="hand"/></group>'


def test_a_chain_is_read_with_its_states():
    state = '<group_state name="up" group="arm"><joint name="joint_2" value="0.5"/></group_state>'
    group = parse_srdf(srdf(ARM + state), TREE).groups['arm']
    assert group.joints == ('joint_1', 'joint_2', 'joint_3')
    assert group.chain == ('base_link', 'hand')
    assert group.states == {'up': {'joint_2': 0.5}}


def test_groups_are_made_of_joints_links_and_groups():
    read = parse_srdf(
        srdf(
            '<group name="wrist"><joint name="joint_3"/></group>'
            '<group name="upper"><link name="upper_arm"/><link name="base_link"/></group>'
            '<group name="both"><group name="upper"/><group name="wrist"/></group>'
        ),
        TREE,
    )
    assert read.groups['both'].joints == ('joint_1', 'joint_3')
    assert read.groups['both'].chain is None


FLANGED = parse_urdf("""<robot name="flanged">
<link name="base_link"/><link name="upper_arm"/><link name="plate"/><link name="forearm"/><link name="flange"/>
<link name="left"/><link name="right"/>
<joint name="joint_1" type="continuous"><parent link="base_link"/><child link="upper_arm"/></joint>
<joint name="bolts" type="fixed"><parent link="upper_arm"/><child link="plate"/></joint>
<joint name="joint_2" type="continuous"><parent link="plate"/><child link="forearm"/></joint>
<joint name="weld" type="fixed"><parent link="forearm"/><child link="flange"/></joint>
<joint name="grip" type="continuous"><parent link="flange"/><child link="left"/></joint>
<joint name="follow" type="continuous"><parent link="flange"/><child link="right"/><mimic joint="grip"/></joint>
</robot>""")


@pytest.mark.parametrize(
    ('members', 'joints', 'chain'),
    [
        ('<joint name="joint_1"/><joint name="joint_2"/>', ('joint_1', 'joint_2'), ('base_link', 'forearm')),
        ('<joint name="joint_2"/><joint name="joint_1"/>', ('joint_1', 'joint_2'), ('base_link', 'forearm')),
        ('<joint name="joint_2"/>', ('joint_2',), ('plate', 'forearm')),
        (
            '<link name="flange"/><link name="upper_arm"/><link name="forearm"/>',
            ('joint_1', 'joint_2'),
            ('base_link', 'flange'),
        ),
        ('<joint name="bolts"/><joint name="joint_2"/><joint name="weld"/>', ('joint_2',), ('upper_arm', 'flange')),
        ('<group name="arm"/>', ('joint_1', 'joint_2'), ('base_link', 'flange')),
        ('<group name="arm"/><joint name="grip"/>', ('joint_1', 'joint_2', 'grip'), ('base_link', 'left')),
        ('<group name="arm"/><link name="left"/><link name="right"/>', ('joint_1', 'joint_2', 'grip'), None),
        ('<joint name="joint_1"/><joint name="grip"/>', ('joint_1', 'grip'), None),
        ('<joint name="grip"/><joint name="follow"/>', ('grip',), None),
        ('<joint name="follow"/>', (), None),
        ('<link name="plate"/><link name="flange"/>', (), None),
        ('', (), None),
    ],
)
def test_members_that_follow_one_another_are_a_chain(members, joints, chain):
    arm = '<group name="arm"><chain base_link="base_link" tip_link="flange"/></group>'
    group = parse_srdf(srdf(f'{arm}<group name="some">{members}</group>'), FLANGED).groups['some']
    assert group.joints == joints
    assert group.chain == chain


def test_collisions_and_end_effector():
    read = parse_srdf(
        srdf(
            ARM + '<group name="hand"><link name="hand"/></group>'
            '<end_effector name="gripper" group="hand" parent_link="forearm" parent_group="arm"/>'
            '<disable_collisions link1="base_link" link2="upper_arm" reason="Adjacent"/>'
            '<disable_default_collisions link="hand"/><enable_collisions link1="hand" link2="base_link"/>'
        ),
        TREE,
    )
    assert read.disabled == (('base_link', 'upper_arm'),)
    assert read.free_links == ('hand',)
    assert read.enabled == (('hand', 'base_link'),)
    assert [(effector.name, effector.parent_link) for effector in read.end_effectors] == [('gripper', 'forearm')]


def test_the_frame_of_a_fixed_virtual_joint_is_the_world():
    joint = '<virtual_joint name="v" type="fixed" parent_frame="world" child_link="base_link"/>'
    assert parse_srdf(srdf(joint), TREE).world_frame == 'world'
    with pytest.raises(SrdfError, match='stand still'):
        parse_srdf(srdf(joint.replace('fixed', 'planar')), TREE)


@pytest.mark.parametrize(
    ('body', 'words'),
    [
        ('<group/>', 'no name'),
        ('<group name="a"><chain base_link="base_link" tip_link="hnd"/></group>', "did you mean 'hand'"),
        ('<group name="a"><chain base_link="hand" tip_link="base_link"/></group>', 'cannot be followed'),
        ('<group name="a"><joint name="joint_9"/></group>', "'joint_9'"),
        ('<group name="a"><group name="a"/></group>', 'contains itself'),
        ('<group name="a"><group name="b"/></group>', "'b', which there is not"),
        (ARM + '<group_state name="s" group="arm"><joint name="joint_1" value="x"/></group_state>', 'no finite value'),
        ('<end_effector name="e" group="none" parent_link="hand"/>', "'none', which there is not"),
        ('<disable_collisions link1="hand" link2="foot"/>', 'names no link'),
    ],
)
def test_mistakes_are_told_in_one_sentence(body, words):
    with pytest.raises(SrdfError, match=words) as raised:
        parse_srdf(srdf(body), TREE)
    assert '\n' not in str(raised.value)


def test_a_file_that_is_no_srdf():
    with pytest.raises(SrdfError, match='SRDF is not well-formed'):
        parse_srdf('hello', TREE)
