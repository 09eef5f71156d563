import math
import re

import pytest

from lfd_description.urdf import Mimic
from lfd_hardware.description import DescriptionError, JointLimit, parse_hardware


def test_reads_component_joints_interfaces_and_limits(urdf):
    hardware = parse_hardware(urdf(hardware_parameters='<param name="port">502</param>'))
    assert hardware.robot == 'arm'
    (component,) = hardware.components
    assert (component.name, component.type, component.plugin) == (
        'arm_hardware',
        'system',
        'mock_components/GenericSystem',
    )
    assert dict(component.parameters) == {'port': '502'}
    shoulder, elbow = component.joints
    assert [i.name for i in shoulder.command_interfaces] == ['position']
    assert [(i.name, i.initial_value) for i in elbow.state_interfaces] == [('position', -0.2), ('velocity', None)]
    assert hardware.limits['elbow'] == JointLimit('elbow', -1.5, 1.5, 1.0)


def robot(control: str, joints: str = '') -> str:
    links = ''.join(f'<link name="{name}"/>' for name in ('base', *re.findall(r'<child link="(\w+)"', joints)))
    return f'<robot name="r">{links}{joints}{control}</robot>'


def joint(
    name: str = 'a', kind: str = 'revolute', inside: str = '<limit lower="-1" upper="1" velocity="2" effort="1"/>'
) -> str:
    ends = f'<parent link="base"/><child link="{name}_link"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def control(*parts: str, plugin: str = 'mock_components/GenericSystem') -> str:
    return (
        f'<ros2_control name="hw" type="system"><hardware><plugin>{plugin}</plugin></hardware>'
        f'{"".join(parts)}</ros2_control>'
    )


PART_A = '<joint name="a"><command_interface name="position"/><state_interface name="position"/></joint>'


def test_continuous_joint_has_no_position_limit():
    limit = parse_hardware(robot(control(PART_A), joint(kind='continuous', inside=''))).limits['a']
    assert limit == JointLimit('a', -math.inf, math.inf, math.inf, continuous=True)


def test_command_interface_can_narrow_but_not_widen_the_limit():
    part = (
        '<joint name="a"><command_interface name="position"><param name="min">-0.5</param><param name="max">9</param>'
        '</command_interface><state_interface name="position"/></joint>'
    )
    limit = parse_hardware(robot(control(part), joint())).limits['a']
    assert (limit.lower, limit.upper) == (-0.5, 1.0)
    narrowed = parse_hardware(robot(control(part), joint(kind='continuous', inside=''))).limits['a']
    assert (narrowed.lower, narrowed.upper, narrowed.continuous) == (-0.5, 9.0, False)


def test_where_a_device_starts_is_not_the_descriptions_business():
    away_from_zero = joint(inside='<limit lower="0.5" upper="1" velocity="2" effort="1"/>')
    part = robot(control(PART_A, plugin='vendor/Driver'), away_from_zero)
    assert parse_hardware(part).limits['a'].lower == 0.5


def test_mimic_joint_is_read_from_the_urdf():
    inside = '<limit lower="-1" upper="1" velocity="2" effort="1"/><mimic joint="a" multiplier="-1" offset="0.25"/>'
    part = '<joint name="b"><state_interface name="position"/></joint>'
    hardware = parse_hardware(robot(control(PART_A, part), joint() + joint('b', inside=inside)))
    assert hardware.components[0].joints[1].mimic == Mimic('a', -1.0, 0.25)


def test_sensors_and_gpios_are_parts_too():
    sensor = '<sensor name="ft"><state_interface name="force.x"/></sensor>'
    gpio = '<gpio name="io"><command_interface name="valve"/><state_interface name="valve"/></gpio>'
    (component,) = parse_hardware(robot(control(PART_A, sensor, gpio), joint())).components
    assert [(part.kind, part.name) for part in component.parts] == [('joint', 'a'), ('sensor', 'ft'), ('gpio', 'io')]


@pytest.mark.parametrize(
    ('urdf_text', 'words'),
    [
        ('<robot', 'not well-formed XML'),
        ('', 'empty'),
        ('<!DOCTYPE r [<!ENTITY x "y">]><robot name="r"/>', 'DOCTYPE'),
        ('<sdf/>', '<robot>'),
        (robot(''), 'no <ros2_control> tag'),
        (robot('<ros2_control type="system"/>'), "'name' attribute"),
        (robot('<ros2_control name="hw" type="arm"/>'), "type 'arm'"),
        (robot('<ros2_control name="hw" type="system"/>'), '<plugin>'),
        (robot(control(plugin=' ')), '<plugin>'),
        (robot(control()), 'no <joint>'),
        (robot(control(PART_A)), 'no joint of the URDF'),
        (robot(control(PART_A), joint(kind='fixed')), "'fixed'"),
        (robot(control(PART_A), joint(inside='')), '<limit'),
        (robot(control(PART_A), joint(inside='<limit lower="x" upper="1" velocity="2" effort="1"/>')), 'lower="x"'),
        (robot(control(PART_A), joint(inside='<limit lower="nan" upper="1" velocity="2" effort="1"/>')), 'lower="nan"'),
        (robot(control(PART_A), joint(inside='<limit lower="2" upper="1" velocity="2" effort="1"/>')), 'swap them'),
        (
            robot(control(PART_A), joint(inside='<limit lower="-1" upper="1" velocity="0" effort="1"/>')),
            'velocity of 0',
        ),
        (robot(control(PART_A, PART_A), joint()), "2 parts of the <ros2_control> tags are named 'a'"),
        (robot(control(PART_A) * 2, joint()), "named 'hw'"),
        (robot(control('<joint name="a"/>'), joint()), 'no <command_interface>'),
        (robot(control('<joint name="a"><state_interface/></joint>'), joint()), "'name' attribute"),
        (
            robot(
                control(
                    '<joint name="a"><state_interface name="position"><param name="initial_value">one</param>'
                    '</state_interface></joint>'
                ),
                joint(),
            ),
            "'one'",
        ),
        (
            robot(control(PART_A), joint(inside='<limit velocity="1" effort="1"/><mimic joint="b"/>') + joint('b')),
            '<mimic>',
        ),
        (
            robot(
                control('<joint name="a"><state_interface name="position"/></joint>'),
                joint(inside='<limit velocity="1" effort="1"/><mimic joint="b"/>') + joint('b'),
            ),
            "mimics 'b'",
        ),
    ],
)
def test_bad_description_is_one_sentence_naming_the_fault(urdf_text, words):
    with pytest.raises(DescriptionError, match=re.escape(words)) as refusal:
        parse_hardware(urdf_text)
    assert str(refusal.value).endswith('.')
    assert '\n' not in str(refusal.value)
