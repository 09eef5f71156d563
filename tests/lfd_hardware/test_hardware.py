import math

import pytest

from lfd_hardware.description import parse_hardware
from lfd_hardware.drivers import DriverError, make_driver
from lfd_hardware.hardware import ClaimRefused, Hardware

PERIOD = 0.01  # [s]


def mock(urdf, parameters=''):
    return make_driver(parse_hardware(urdf(hardware_parameters=parameters)).components[0])


def test_mock_starts_at_the_initial_values(urdf):
    states = mock(urdf).read(PERIOD)
    assert states == {'shoulder/position': 0.1, 'shoulder/velocity': 0.0, 'elbow/position': -0.2, 'elbow/velocity': 0.0}


def test_mock_follows_the_command_in_the_next_cycle(urdf):
    driver = mock(urdf)
    driver.write({'shoulder/position': 0.2})
    states = driver.read(PERIOD)
    assert states['shoulder/position'] == 0.2
    assert states['shoulder/velocity'] == pytest.approx(10.0)
    assert states['elbow/position'] == -0.2
    assert driver.read(PERIOD)['shoulder/velocity'] == 0.0


def test_mock_reports_a_commanded_velocity_as_it_is(urdf):
    driver = mock(urdf)
    driver.write({'shoulder/position': 0.2, 'shoulder/velocity': 1.5})
    assert driver.read(PERIOD)['shoulder/velocity'] == 1.5


def test_mock_can_be_off_by_an_offset_or_not_follow_at_all(urdf):
    off = mock(urdf, '<param name="position_state_following_offset">0.25</param>')
    off.write({'shoulder/position': 0.5})
    assert off.read(PERIOD)['shoulder/position'] == 0.75
    dead = mock(urdf, '<param name="disable_commands">true</param>')
    dead.write({'shoulder/position': 0.5})
    assert dead.read(PERIOD)['shoulder/position'] == 0.1


def test_mimic_joint_follows_the_other_one(urdf):
    text = urdf().replace(
        '</ros2_control>',
        '<joint name="finger"><state_interface name="position"/><state_interface name="velocity"/></joint>'
        '</ros2_control>',
    )
    finger = (
        '<link name="finger_link"/><joint name="finger" type="prismatic"><parent link="base"/>'
        '<child link="finger_link"/><limit lower="-1" upper="1" velocity="1" effort="1"/>'
        '<mimic joint="shoulder" multiplier="-0.5" offset="0.1"/></joint></robot>'
    )
    driver = make_driver(parse_hardware(text.replace('</robot>', finger)).components[0])
    driver.read(PERIOD)
    driver.write({'shoulder/position': 0.2})
    states = driver.read(PERIOD)
    assert states['finger/position'] == pytest.approx(0.0)
    assert states['finger/velocity'] == pytest.approx(-5.0)


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_nothing_but_finite_commands_reaches_a_driver(urdf, value):
    with pytest.raises(DriverError, match='finite'):
        mock(urdf).write({'shoulder/position': value})
    hardware = Hardware(parse_hardware(urdf()))
    hardware.claim('c', ['shoulder/position', 'elbow/position'])
    hardware.commands.update({'shoulder/position': value, 'elbow/position': 0.3})
    hardware.write()
    hardware.read(PERIOD)
    assert hardware.states['shoulder/position'] == 0.1
    assert hardware.states['elbow/position'] == 0.3
    assert hardware.refused_commands == 1


def test_unknown_plugin_says_what_to_do(urdf):
    with pytest.raises(
        DriverError, match=r'ur_robot_driver/URPositionHardwareInterface.*mock_components/GenericSystem'
    ):
        Hardware(parse_hardware(urdf(plugin='ur_robot_driver/URPositionHardwareInterface')))


def test_bad_mock_parameter_is_named(urdf):
    with pytest.raises(DriverError, match='position_state_following_offset'):
        mock(urdf, '<param name="position_state_following_offset">far</param>')


def test_a_command_interface_has_one_owner(urdf):
    hardware = Hardware(parse_hardware(urdf()))
    hardware.claim('first', ['shoulder/position'])
    with pytest.raises(ClaimRefused, match="'shoulder/position', which 'first' has claimed"):
        hardware.claim('second', ['elbow/position', 'shoulder/position'])
    assert hardware.claimed_by('second') == ()
    hardware.release('first')
    hardware.claim('second', ['shoulder/position'])
    assert hardware.claimed_by('second') == ('shoulder/position',)


def test_missing_interfaces_are_named(urdf):
    hardware = Hardware(parse_hardware(urdf()))
    with pytest.raises(ClaimRefused, match="'elbow/effort'"):
        hardware.claim('c', ['elbow/effort'])
    with pytest.raises(ClaimRefused, match="'elbow/effort'"):
        hardware.check_states('c', ['elbow/effort'])


def test_commands_that_nobody_owns_are_not_sent(urdf):
    hardware = Hardware(parse_hardware(urdf()))
    hardware.commands['shoulder/position'] = 1.0
    hardware.write()
    hardware.read(PERIOD)
    assert hardware.states['shoulder/position'] == 0.1


def test_mock_starts_within_the_limits(urdf):
    text = urdf().replace('lower="-2.0"', 'lower="0.5"')
    with pytest.raises(DriverError, match=r"'shoulder' of mock hardware 'arm_hardware' starts at 0.1, .* 0.5 to 2"):
        Hardware(parse_hardware(text))


@pytest.mark.parametrize('fault', [DriverError('The cable is cut.'), OSError('cable')], ids=['told', 'unforeseen'])
def test_a_device_that_fails_is_not_used_again_and_the_others_go_on(urdf, faulty, fault):
    hardware = Hardware(parse_hardware(urdf('test/Faulty', devices=('left', 'right'))))
    left, right = hardware.devices
    hardware.claim('c', ['shoulder/position', 'elbow/position'])
    hardware.commands.update({'shoulder/position': 0.3, 'elbow/position': 0.4})
    faulty['right'].fault = fault
    assert hardware.read(PERIOD) == [right]
    assert hardware.write() == []
    faulty['right'].fault = None
    assert hardware.read(PERIOD) == []
    assert 'cable' in right.failure
    assert left.active
    assert faulty['left'].told == [{'shoulder/position': 0.3}]
    assert faulty['right'].told == []
    assert hardware.states['shoulder/position'] == 0.3
    assert {name: hardware.is_available(name) for name in hardware.commands} == {
        'shoulder/position': True,
        'elbow/position': False,
    }
    with pytest.raises(ClaimRefused, match=r"hardware 'right' failed: .*cable"):
        hardware.claim('d', ['elbow/position'])
    with pytest.raises(ClaimRefused, match=r"hardware 'right' failed: .*cable"):
        hardware.check_states('d', ['elbow/velocity'])


def test_every_driver_is_closed_also_when_one_fails(urdf, faulty):
    hardware = Hardware(parse_hardware(urdf('test/Faulty', devices=('left', 'right'))))
    faulty['left'].fault = DriverError('No answer.')
    assert hardware.close() == [hardware.devices[0]]
    assert faulty['right'].closed


def test_a_state_without_a_value_is_refused_where_one_is_needed(urdf, faulty):
    hardware = Hardware(parse_hardware(urdf('test/Faulty')))
    faulty['arm_hardware'].reports['elbow/position'] = math.nan
    hardware.read(PERIOD)
    hardware.check_states('c', ['elbow/position'])
    with pytest.raises(ClaimRefused, match="'elbow/position', which is nan"):
        hardware.check_states('c', ['shoulder/position', 'elbow/position'], finite=True)
