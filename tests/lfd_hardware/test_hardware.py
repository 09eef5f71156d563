import math
import re
import threading

import pytest
from support.peer import eventually

from lfd_hardware.description import parse_hardware
from lfd_hardware.device import Device, DeviceState
from lfd_hardware.drivers import DriverError, make_driver
from lfd_hardware.hardware import ClaimRefused, Hardware

PERIOD = 0.01  # [s]
AT_ONCE = '<param name="time_constant">0</param>'


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_nothing_but_finite_commands_reaches_a_driver(urdf, up, value):
    hardware = up(urdf(hardware_parameters=AT_ONCE), PERIOD)
    hardware.read(PERIOD)
    hardware.claim('c', ['shoulder/position', 'elbow/position'])
    hardware.commands.update({'shoulder/position': value, 'elbow/position': -0.195})
    assert hardware.write() == []
    hardware.read(PERIOD)
    assert hardware.states['shoulder/position'] == 0.1
    assert hardware.states['elbow/position'] == -0.195
    assert hardware.refused_commands == 1


def test_unknown_plugin_says_what_to_do(urdf):
    with pytest.raises(DriverError, match=r'vendor/Unknown.*mock_components/GenericSystem'):
        Hardware(parse_hardware(urdf(plugin='vendor/Unknown')), PERIOD)


def test_a_command_interface_has_one_owner(urdf, up):
    hardware = up(urdf())
    hardware.claim('first', ['shoulder/position'])
    with pytest.raises(ClaimRefused, match="'shoulder/position', which 'first' has claimed"):
        hardware.claim('second', ['elbow/position', 'shoulder/position'])
    assert hardware.claimed_by('second') == ()
    hardware.release('first')
    hardware.claim('second', ['shoulder/position'])
    assert hardware.claimed_by('second') == ('shoulder/position',)


def test_missing_interfaces_are_named(urdf, up):
    hardware = up(urdf())
    with pytest.raises(ClaimRefused, match="'elbow/effort'"):
        hardware.claim('c', ['elbow/effort'])
    with pytest.raises(ClaimRefused, match="'elbow/effort'"):
        hardware.check_states('c', ['elbow/effort'])


def test_commands_that_nobody_owns_are_not_sent(urdf, up):
    hardware = up(urdf())
    hardware.commands['shoulder/position'] = 1.0
    hardware.write()
    hardware.read(PERIOD)
    assert hardware.states['shoulder/position'] == 0.1


@pytest.mark.parametrize('fault', [DriverError('The cable is cut.'), OSError('cable')], ids=['told', 'unforeseen'])
def test_a_device_that_fails_is_closed_and_the_others_go_on(urdf, up, faulty, fault):
    hardware = up(urdf('test/Faulty', devices=('left', 'right')), PERIOD)
    left, right = hardware.devices
    hardware.read(PERIOD)
    hardware.claim('c', ['shoulder/position', 'elbow/position'])
    hardware.commands.update({'shoulder/position': 0.11, 'elbow/position': -0.21})
    faulty['right'].fault = fault
    assert [(each.device, each.refused) for each in hardware.read(PERIOD)] == [(right, False)]
    assert hardware.write() == []
    assert right.wait(30.0)
    faulty['right'].fault = None
    assert hardware.read(PERIOD) == []
    assert 'cable' in right.failure
    assert right.state is DeviceState.UNCONFIGURED
    assert faulty['right'].steps == ['configure', 'activate', 'close']
    assert left.active
    assert faulty['left'].told == [{'shoulder/position': 0.11}]
    assert faulty['right'].told == []
    assert math.isnan(hardware.states['elbow/position'])
    assert {name: hardware.is_commandable(name) for name in hardware.commands} == {
        'shoulder/position': True,
        'elbow/position': False,
    }
    with pytest.raises(ClaimRefused, match=r"hardware 'right' failed: .*cable.*set_hardware_component_state"):
        hardware.claim('d', ['elbow/position'])
    with pytest.raises(ClaimRefused, match=r"hardware 'right' failed: .*cable"):
        hardware.check_states('d', ['elbow/velocity'])


def test_every_device_is_brought_to_rest_and_closed_at_the_end_also_when_one_fails(urdf, up, faulty):
    hardware = up(urdf('test/Faulty', devices=('left', 'right')))
    faulty['left'].fault = DriverError('No answer.')
    assert hardware.close(30.0) == []
    for driver in faulty.values():
        assert driver.steps[-2:] == ['deactivate', 'close']


def test_a_device_that_hangs_keeps_no_other_from_closing(urdf, faulty):
    hardware = Hardware(parse_hardware(urdf('test/Faulty', devices=('left', 'right'))), PERIOD)
    left, right = hardware.devices
    hangs = faulty['left'].hang('configure')
    for device in (left, right):
        assert device.go(DeviceState.ACTIVE, lambda _: None)
    assert right.wait(30.0)
    assert hangs.begun.wait(30.0)
    assert not left.go(DeviceState.INACTIVE, lambda _: None)
    with pytest.raises(ClaimRefused, match="hardware 'left' is busy with 'configure'"):
        hardware.claim('c', ['shoulder/position'])
    assert hardware.close(0.2) == [left]
    assert faulty['right'].steps == ['configure', 'activate', 'deactivate', 'close']
    eventually(lambda: 'close' in faulty['left'].steps, 'the attempt to end what hangs')
    hangs.release.set()
    assert left.wait(30.0)
    assert 'activate' not in faulty['left'].steps
    assert faulty['left'].steps[-1] == 'close'


def test_a_driver_is_read_while_connected_and_told_only_while_it_follows(urdf, faulty):
    hardware = Hardware(parse_hardware(urdf('test/Faulty')), PERIOD)
    (device,) = hardware.devices
    driver = faulty['arm_hardware']

    def cycle():
        assert hardware.read(PERIOD) == []
        assert hardware.write() == []

    cycle()
    assert (driver.reads, driver.writes) == (0, 0)
    device.go(DeviceState.INACTIVE, lambda _: None)
    assert device.wait(30.0)
    cycle()
    assert (driver.reads, driver.writes) == (1, 0)
    assert hardware.is_readable('shoulder/position')
    with pytest.raises(ClaimRefused, match=r"'arm_hardware' is inactive: call set_hardware_component_state"):
        hardware.claim('c', ['shoulder/position'])
    device.go(DeviceState.ACTIVE, lambda _: None)
    assert device.wait(30.0)
    cycle()
    assert (driver.reads, driver.writes) == (2, 1)
    device.go(DeviceState.UNCONFIGURED, lambda _: None)
    assert device.wait(30.0)
    cycle()
    assert (driver.reads, driver.writes) == (2, 1)
    assert driver.steps == ['configure', 'activate', 'deactivate', 'close']


@pytest.mark.parametrize('step', ['configure', 'activate', 'deactivate'])
def test_a_step_that_fails_leaves_the_device_closed_and_it_can_be_configured_again(urdf, faulty, step):
    hardware = Hardware(parse_hardware(urdf('test/Faulty')), PERIOD)
    (device,) = hardware.devices
    driver, told = faulty['arm_hardware'], []
    if step == 'deactivate':
        device.go(DeviceState.ACTIVE, lambda _: None)
        assert device.wait(30.0)
    driver.broken_steps.add(step)
    target = DeviceState.INACTIVE if step == 'deactivate' else DeviceState.ACTIVE
    device.go(target, lambda each: told.append(each.failure))
    assert device.wait(30.0)
    assert (device.state, told) == (DeviceState.UNCONFIGURED, [f'No {step}.'])
    assert driver.steps[-2:] == [step, 'close']
    driver.broken_steps.clear()
    device.go(DeviceState.ACTIVE, lambda _: None)
    assert device.wait(30.0)
    assert (device.active, device.failure) == (True, None)


@pytest.mark.parametrize(
    ('commands', 'words'),
    [
        (
            {'shoulder/position': 0.1 + 2.0 * PERIOD * 1.2},
            r"'shoulder/position' jumps from 0.1 to 0.124, more than 0.022",
        ),
        ({'elbow/position': -1.6}, r"'elbow/position' is -1.6, outside of its limits -1.5 to 1.5"),
        ({'elbow/velocity': 1.2}, r"'elbow/velocity' is 1.2, outside of its limits -1.1 to 1.1"),
    ],
)
def test_what_passes_a_limit_or_jumps_never_reaches_a_driver(urdf, up, faulty, commands, words):
    hardware = up(urdf('test/Faulty', commands=('position', 'velocity')), PERIOD)
    hardware.read(PERIOD)
    hardware.claim('c', hardware.commands)
    good = {'shoulder/position': 0.11, 'shoulder/velocity': 0.0, 'elbow/position': -0.2, 'elbow/velocity': 0.0}
    hardware.commands.update(good | commands)
    (trouble,) = hardware.write()
    assert trouble.refused
    assert re.search(words, trouble.message)
    assert faulty['arm_hardware'].told == []
    assert hardware.devices[0].active
    hardware.commands.update(good)
    assert hardware.write() == []
    assert faulty['arm_hardware'].told == [good]


def test_a_joint_outside_of_its_limits_may_stay_or_come_back_but_not_go_on(urdf, up, faulty):
    hardware = up(urdf('test/Faulty'), PERIOD)
    faulty['arm_hardware'].reports['elbow/position'] = 1.52
    hardware.read(PERIOD)
    hardware.claim('c', ['elbow/position'])
    for position, sent in ((1.52, True), (1.515, True), (1.525, False), (1.51, True)):
        hardware.commands['elbow/position'] = position
        assert (hardware.write() == []) is sent


def test_a_state_without_a_value_is_refused_where_one_is_needed(urdf, up, faulty):
    hardware = up(urdf('test/Faulty'))
    with pytest.raises(ClaimRefused, match="'shoulder/position', which is nan"):
        hardware.check_states('c', ['shoulder/position'], finite=True)
    faulty['arm_hardware'].reports['elbow/position'] = math.nan
    hardware.read(PERIOD)
    hardware.check_states('c', ['elbow/position'])
    with pytest.raises(ClaimRefused, match="'elbow/position', which is nan"):
        hardware.check_states('c', ['shoulder/position', 'elbow/position'], finite=True)


def test_an_arm_that_is_late_is_held_at_its_last_command(urdf, up):
    """Whoever takes it over where it is measured would make the command jump back."""
    hardware = up(urdf(hardware_parameters='<param name="delay">0.05</param>'), PERIOD)
    hardware.read(PERIOD)
    assert hardware.standing('shoulder/position') == 0.1
    hardware.claim('first', ['shoulder/position'])
    for cycle in range(1, 11):
        hardware.commands['shoulder/position'] = 0.1 + 0.02 * cycle
        assert hardware.write() == []
        hardware.read(PERIOD)
    hardware.release('first')
    assert hardware.states['shoulder/position'] < 0.25
    assert hardware.standing('shoulder/position') == pytest.approx(0.3)
    hardware.claim('second', ['shoulder/position'])
    hardware.commands['shoulder/position'] = 0.3
    assert hardware.write() == []
    (device,) = hardware.devices
    for state in (DeviceState.INACTIVE, DeviceState.ACTIVE):  # which begins where it stands
        assert device.go(state, lambda _: None)
        assert device.wait(30.0)
    hardware.read(PERIOD)
    assert hardware.standing('shoulder/position') == hardware.states['shoulder/position']


def test_a_failure_right_after_a_step_is_waited_for(urdf, faulty):
    """The thread of the step may tell its end only when the loop has already found that the device failed."""
    (component,) = parse_hardware(urdf('test/Faulty')).components
    lock = threading.Lock()
    device = Device(component, make_driver(component), lock)
    driver = faulty['arm_hardware']
    told, close = threading.Event(), driver.hang('close')
    idle = device._idle
    device._begin('configure', lambda: None)
    assert device.wait(30.0)
    ended, late = device._idle, threading.Thread(target=lambda: (told.wait(30.0), ended.set()))
    late.start()
    with lock:
        device.fail(DriverError('The cable is cut.'))
    told.set()
    late.join()
    assert close.begun.wait(30.0)
    assert idle is not device._idle
    assert not device.wait(0.0)
    close.release.set()
    assert device.wait(30.0)
