import math

import numpy as np
import pytest

from lfd_description.urdf import MAX_CHARACTERS, Limits, Mimic, UrdfError, parse_urdf

ARM = """<?xml version="1.0"?>
<robot name="arm" xmlns:other="http://example.org">
  <!-- what the reader has no use for is passed over -->
  <material name="grey"/>
  <link name="tip"/>
  <link name="base"><visual/><inertial/></link>
  <link name="slide"/>
  <link name="wheel"/>
  <joint name="b" type="prismatic">
    <parent link="slide"/><child link="tip"/>
    <limit lower="-0.1" upper="0.2" velocity="0.3" effort="4"/>
  </joint>
  <joint name="a" type="revolute">
    <origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>
    <parent link="base"/><child link="slide"/>
    <axis xyz="0 0 -2"/>
    <limit lower="-1" upper="1" velocity="2" effort="0"/>
  </joint>
  <joint name="c" type="continuous">
    <parent link="base"/><child link="wheel"/>
    <limit velocity="5" effort="6"/>
    <mimic joint="a" multiplier="-2" offset="0.5"/>
  </joint>
  <ros2_control name="arm" type="system"><joint name="a"/></ros2_control>
  <transmission name="t"><joint name="a"/></transmission>
</robot>
"""


def robot(body: str) -> str:
    return f'<robot name="r"><link name="a"/><link name="b"/>{body}</robot>'


def joint(body: str = '', *, name: str = 'j', kind: str = 'fixed', parent: str = 'a', child: str = 'b') -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{body}</joint>'


def test_reads_links_joints_and_root() -> None:
    tree = parse_urdf(ARM)

    assert tree.name == 'arm'
    assert tree.root == 'base'
    assert tree.links == ('tip', 'base', 'slide', 'wheel')
    assert [joint.name for joint in tree.joints] == ['b', 'a', 'c']


def test_reads_a_joint_whole() -> None:
    joint = parse_urdf(ARM).joint['a']

    assert (joint.kind, joint.parent, joint.child) == ('revolute', 'base', 'slide')
    assert joint.xyz == (1.0, 2.0, 3.0)
    assert joint.axis == (0.0, 0.0, -1.0)
    assert joint.limits == Limits(lower=-1.0, upper=1.0, velocity=2.0, effort=0.0)
    np.testing.assert_allclose(joint.origin @ [1, 0, 0, 1], [1, 3, 3, 1], atol=1e-12)


def test_a_joint_without_origin_and_axis_has_urdf_s_defaults() -> None:
    joint = parse_urdf(ARM).joint['b']

    assert joint.xyz == joint.rpy == (0.0, 0.0, 0.0)
    assert joint.axis == (1.0, 0.0, 0.0)


def test_a_continuous_joint_has_no_end() -> None:
    joint = parse_urdf(ARM).joint['c']

    assert joint.limits == Limits(-math.inf, math.inf, 5.0, 6.0)
    assert joint.mimic == Mimic('a', multiplier=-2.0, offset=0.5)
    assert joint.mimic.position(1.0) == -1.5


def test_the_chain_runs_from_base_to_tip() -> None:
    tree = parse_urdf(ARM)

    assert [joint.name for joint in tree.chain('base', 'tip')] == ['a', 'b']
    assert [joint.name for joint in tree.chain('slide', 'tip')] == ['b']
    assert tree.chain('tip', 'tip') == ()


@pytest.mark.parametrize(
    ('base', 'tip', 'sentence'),
    [
        ('base', 'hand', "robot 'arm' has no link 'hand'; its links are tip, base, slide, wheel."),
        ('wheel', 'tip', "link 'tip' does not hang below 'wheel'; start the chain at 'base'."),
        ('tip', 'base', "link 'base' does not hang below 'tip'; start the chain at 'base'."),
    ],
)
def test_a_chain_that_is_not_there_is_refused(base: str, tip: str, sentence: str) -> None:
    with pytest.raises(UrdfError) as error:
        parse_urdf(ARM).chain(base, tip)
    assert str(error.value) == sentence


def test_a_single_link_is_a_robot() -> None:
    assert parse_urdf('<robot name="r"><link name="a"/></robot>').root == 'a'


LIMIT = '<limit lower="0" upper="1" velocity="1" effort="1"/>'

BAD = {
    'empty': (' \n', 'The URDF is empty; pass the text of a robot description.'),
    'not XML': (
        '/tmp/arm.urdf',
        'The URDF is not well-formed XML (not well-formed (invalid token): line 1, col',
    ),
    'cut off': ('<robot><link', 'The URDF is not well-formed XML (unclosed token: line 1, column 7); '),
    'no Unicode': ('<robot name="\ud800"/>', 'The URDF is not well-formed XML ('),
    'not a robot': ('<sdf/>', 'The URDF starts with <sdf>; its outermost element must be <robot>.'),
    'entity bomb': (
        '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"><link name="a"/></robot>',
        'The URDF has a DOCTYPE or ENTITY declaration, which is refused; remove it.',
    ),
    'outside entity': (
        '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>',
        'The URDF has a DOCTYPE or ENTITY declaration, which is refused; remove it.',
    ),
    'no links': ('<robot name="r"/>', 'The robot has no links; add at least one <link name="base_link"/>.'),
    'nameless link': ('<robot><link/></robot>', 'A <link> has no name; give it name="...".'),
    'nameless joint': (robot('<joint type="fixed"/>'), 'A <joint> has no name; give it name="...".'),
    'two links of a name': (robot('<link name="a"/>'), "There are 2 links called 'a'; rename all but one."),
    'two joints of a name': (
        robot(joint() + joint()),
        "There are 2 joints called 'j'; rename all but one.",
    ),
    'no parent': (
        robot('<joint name="j" type="fixed"><child link="b"/></joint>'),
        'Joint \'j\' has no parent link; add <parent link="..."/>.',
    ),
    'no child': (
        robot('<joint name="j" type="fixed"><parent link="a"/></joint>'),
        'Joint \'j\' has no child link; add <child link="..."/>.',
    ),
    'unknown link': (
        robot(joint(child='c')),
        "Joint 'j' has the child link 'c', which is not declared; add <link name=\"c\"/> or correct the name.",
    ),
    'two parents': (
        robot('<link name="c"/>' + joint() + joint(name='k', parent='c')),
        "Link 'b' is the child of both 'j' and 'k'; remove one of the two.",
    ),
    'cycle': (
        robot(joint() + joint(name='k', parent='b', child='a')),
        'The links a -> b -> a form a cycle; remove one of the joints between them.',
    ),
    'cycle beside a tree': (
        robot('<link name="c"/>' + joint(parent='b', child='c') + joint(name='k', parent='c', child='b')),
        'The links b -> c -> b form a cycle; remove one of the joints between them.',
    ),
    'its own parent': (
        robot(joint(parent='b')),
        'The links b -> b form a cycle; remove one of the joints between them.',
    ),
    'two roots': (robot(''), 'The links a, b all have no parent; join them so that one root remains.'),
    'unknown type': (
        robot(joint(kind='ball')),
        "Joint 'j' has the unknown type 'ball'; use one of revolute, continuous, prismatic, fixed, planar, floating.",
    ),
    'zero axis': (
        robot(joint('<axis xyz="0 0 0"/>' + LIMIT, kind='revolute')),
        "Joint 'j' has the axis 0 0 0, which has no direction; use 0 0 1, for instance.",
    ),
    'NaN axis': (
        robot(joint('<axis xyz="0 nan 0"/>' + LIMIT, kind='revolute')),
        'Joint \'j\' has xyz="0 nan 0"; its three numbers must be finite.',
    ),
    'short vector': (
        robot(joint('<origin xyz="1 2"/>')),
        'Joint \'j\' has xyz="1 2"; write three numbers.',
    ),
    'words for numbers': (
        robot(joint('<origin rpy="0 0 pi/2"/>')),
        'Joint \'j\' has rpy="0 0 pi/2"; write three numbers.',
    ),
    'revolute without limits': (
        robot(joint(kind='revolute')),
        "Joint 'j' is revolute but has no limits; add <limit lower upper velocity effort> or make it continuous.",
    ),
    'prismatic without limits': (
        robot(joint(kind='prismatic')),
        "Joint 'j' is prismatic but has no limits; add <limit lower upper velocity effort>.",
    ),
    'limits without velocity': (
        robot(joint('<limit lower="0" upper="1" effort="1"/>', kind='revolute')),
        'Joint \'j\' has a <limit> without velocity; add velocity="...".',
    ),
    'limits the wrong way round': (
        robot(joint('<limit lower="1" upper="-1" velocity="1" effort="1"/>', kind='revolute')),
        "Joint 'j' has lower=1.0 above upper=-1.0; swap them.",
    ),
    'NaN limit': (
        robot(joint('<limit lower="nan" upper="1" velocity="1" effort="1"/>', kind='revolute')),
        'Joint \'j\' has lower="nan" in its <limit>; write a finite number.',
    ),
    'negative velocity': (
        robot(joint('<limit lower="0" upper="1" velocity="-1" effort="1"/>', kind='revolute')),
        "Joint 'j' has the negative velocity limit -1.0; write its magnitude.",
    ),
    'nameless mimic': (
        robot(joint(LIMIT + '<mimic/>', kind='revolute')),
        'Joint \'j\' mimics no joint by name; add joint="..." to its <mimic>.',
    ),
    'mimic of a stranger': (
        robot(joint(LIMIT + '<mimic joint="k"/>', kind='revolute')),
        "Joint 'j' mimics 'k', which is no movable joint; correct the name.",
    ),
    'mimic of itself': (
        robot(joint(LIMIT + '<mimic joint="j"/>', kind='revolute')),
        "Joint 'j' mimics 'j', which itself mimics 'j'; let both mimic a joint that leads.",
    ),
    'mimic of a mimic': (
        robot(
            '<link name="c"/><link name="d"/>'
            + joint(LIMIT, kind='revolute')
            + joint(LIMIT + '<mimic joint="j"/>', name='k', kind='revolute', child='c')
            + joint(LIMIT + '<mimic joint="k"/>', name='l', kind='revolute', child='d')
        ),
        "Joint 'l' mimics 'k', which itself mimics 'j'; let both mimic a joint that leads.",
    ),
}


@pytest.mark.parametrize(('xml', 'sentence'), BAD.values(), ids=BAD.keys())
def test_a_bad_description_is_refused_with_one_sentence(xml: str, sentence: str) -> None:
    with pytest.raises(UrdfError) as error:
        parse_urdf(xml)
    assert str(error.value).startswith(sentence)
    assert str(error.value).endswith(('.', '?'))
    assert '\n' not in str(error.value)


def test_a_huge_description_is_refused_unread() -> None:
    with pytest.raises(UrdfError, match='keep it below'):
        parse_urdf('<' * (MAX_CHARACTERS + 1))


def test_a_long_chain_is_read() -> None:
    count = 5000
    links = ''.join(f'<link name="l{n}"/>' for n in range(count + 1))
    joints = ''.join(joint(name=f'j{n}', parent=f'l{n}', child=f'l{n + 1}') for n in reversed(range(count)))

    tree = parse_urdf(f'<robot name="r">{links}{joints}</robot>')

    assert len(tree.chain('l0', f'l{count}')) == count
