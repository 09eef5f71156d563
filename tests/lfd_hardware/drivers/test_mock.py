import math

import numpy as np
import pytest

from lfd_hardware.description import parse_hardware
from lfd_hardware.drivers import DriverError, make_driver

PERIOD = 0.01  # [s]
START = {'shoulder/position': 0.1, 'shoulder/velocity': 0.0, 'elbow/position': -0.2, 'elbow/velocity': 0.0}


def mock(urdf, **parameters):
    tags = ''.join(f'<param name="{name}">{value}</param>' for name, value in parameters.items())
    driver = make_driver(parse_hardware(urdf(hardware_parameters=tags)).components[0])
    driver.configure()
    driver.activate()
    return driver


def test_starts_at_the_initial_values(urdf):
    assert mock(urdf).read(PERIOD) == START


def test_follows_as_a_first_order_lag(urdf):
    driver = mock(urdf, time_constant=0.05)
    driver.write({'shoulder/position': 0.11})
    for cycle in range(1, 11):
        states = driver.read(PERIOD)
        assert states['shoulder/position'] == pytest.approx(0.11 - 0.01 * math.exp(-cycle * PERIOD / 0.05))
    assert states['shoulder/velocity'] == pytest.approx(0.01 / 0.05 * math.exp(-cycle * PERIOD / 0.05), rel=0.2)
    assert states['elbow/position'] == -0.2
    for _ in range(200):
        states = driver.read(PERIOD)
    assert (states['shoulder/position'], states['shoulder/velocity']) == (0.11, 0.0)


def test_without_a_time_constant_the_command_is_the_next_state(urdf):
    driver = mock(urdf, time_constant=0)
    driver.write({'shoulder/position': 0.115})
    states = driver.read(PERIOD)
    assert states['shoulder/position'] == 0.115
    assert states['shoulder/velocity'] == pytest.approx(1.5)
    assert driver.read(PERIOD)['shoulder/velocity'] == 0.0


@pytest.mark.parametrize('time_constant', [0.0, 0.01, 0.2])
def test_is_never_faster_than_the_joint_s_limit(urdf, time_constant):
    driver = mock(urdf, time_constant=time_constant)
    driver.write({'shoulder/position': 1.9, 'elbow/position': 1.4})
    states = [dict(driver.read(PERIOD)) for _ in range(400)]
    for joint, limit in (('shoulder', 2.0), ('elbow', 1.0)):
        assert max(abs(state[f'{joint}/velocity']) for state in states) <= limit * (1 + 1e-9)
        assert max(abs(state[f'{joint}/velocity']) for state in states) > 0.9 * limit


def test_a_delay_holds_every_command_back(urdf):
    driver = mock(urdf, time_constant=0, delay=0.03)
    reported = []
    for cycle in range(8):
        driver.write({'shoulder/position': 0.1 + 0.01 * (cycle + 1)})
        reported.append(driver.read(PERIOD)['shoulder/position'])
    assert reported == pytest.approx([0.1, 0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16])


def test_noise_is_of_the_seed_and_only_in_what_is_reported(urdf):
    quiet, first, second, other = (
        mock(urdf, time_constant=0, noise=noise, noise_seed=seed)
        for noise, seed in ((0, 1), (1e-3, 1), (1e-3, 1), (1e-3, 2))
    )
    rows = np.array(
        [[each.read(PERIOD)['shoulder/position'] for each in (quiet, first, second, other)] for _ in range(500)]
    )
    assert (rows[:, 0] == 0.1).all()
    np.testing.assert_array_equal(rows[:, 1], rows[:, 2])
    assert (rows[:, 1] != rows[:, 3]).all()
    assert rows[:, 1].mean() == pytest.approx(0.1, abs=2e-4)
    assert rows[:, 1].std() == pytest.approx(1e-3, rel=0.15)
    assert first.read(PERIOD)['shoulder/velocity'] == 0.0


def test_reports_a_commanded_velocity_as_it_is(urdf):
    driver = mock(urdf)
    driver.write({'shoulder/position': 0.11, 'shoulder/velocity': 1.5})
    assert driver.read(PERIOD)['shoulder/velocity'] == 1.5


def test_can_be_off_by_an_offset_or_not_follow_at_all(urdf):
    off = mock(urdf, time_constant=0, position_state_following_offset=0.005)
    off.write({'shoulder/position': 0.11})
    assert off.read(PERIOD)['shoulder/position'] == pytest.approx(0.115)
    dead = mock(urdf, disable_commands='true')
    dead.write({'shoulder/position': 0.5})
    assert dead.read(PERIOD)['shoulder/position'] == 0.1


def test_after_a_new_activation_an_old_command_has_no_effect(urdf):
    driver = mock(urdf, delay=0.05)
    driver.write({'shoulder/position': 0.5})
    driver.deactivate()
    driver.activate()
    assert driver.read(1.0) == START


def test_mimic_joint_follows_the_other_one(urdf):
    text = urdf(hardware_parameters='<param name="time_constant">0</param>').replace(
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
    driver.write({'shoulder/position': 0.11})
    states = driver.read(PERIOD)
    assert states['finger/position'] == pytest.approx(0.045)
    assert states['finger/velocity'] == pytest.approx(-0.5)


def test_a_valve_follows_in_the_next_cycle(urdf):
    valve = (
        '<gpio name="vacuum"><command_interface name="active"/><state_interface name="active"/></gpio></ros2_control>'
    )
    driver = make_driver(parse_hardware(urdf().replace('</ros2_control>', valve)).components[0])
    assert driver.read(PERIOD)['vacuum/active'] == 0.0
    driver.write({'vacuum/active': 1.0})
    assert driver.read(PERIOD)['vacuum/active'] == 1.0


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_takes_finite_commands_only(urdf, value):
    with pytest.raises(DriverError, match='finite'):
        mock(urdf).write({'shoulder/position': value})


def test_starts_within_the_limits(urdf):
    text = urdf().replace('lower="-2.0"', 'lower="0.5"')
    with pytest.raises(DriverError, match=r"'shoulder' of mock hardware 'arm_hardware' starts at 0.1, .* 0.5 to 2"):
        make_driver(parse_hardware(text).components[0])


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('position_state_following_offset', 'far'),
        ('time_constant', '-0.1'),
        ('time_constant', 'nan'),
        ('delay', '-1'),
        ('noise', 'loud'),
        ('noise_seed', '0.5'),
        ('disable_commands', 'perhaps'),
    ],
)
def test_a_bad_parameter_is_named(urdf, name, value):
    with pytest.raises(DriverError, match=f"'{name}' of hardware 'arm_hardware' is '?{value}"):
        mock(urdf, **{name: value})
