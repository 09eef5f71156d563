"""The UR driver against a simulated controller, on the wire."""

import itertools
import math
import random
import re
import socket
import struct
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace

import pytest
from support.peer import eventually
from support.process import same_paths
from support.ur_arm import Drive, active_driver, ports, simulator_process, ur_component, ur_driver, ur_hardware
from support.ur_controller import HOME, PAUSED, PLAYING, STOPPED, Controller
from support.ur_simulator import CB3, E_SERIES, URSimulator

from lfd_hardware.description import Interface, JointLimit, Part
from lfd_hardware.device import DeviceState
from lfd_hardware.drivers import DriverError, make_driver
from lfd_hardware.drivers.ur import URDriver
from lfd_hardware.drivers.ur.rtde import Frame, Kind
from lfd_hardware.drivers.ur.script import FIRST_REGISTER, Phase
from lfd_hardware.drivers.ur.settings import settings_of
from lfd_hardware.hardware import Hardware
from lfd_hardware.loop import ControlLoop

SEED = 20260611
JOINTS = (
    'shoulder_pan_joint',
    'shoulder_lift_joint',
    'elbow_joint',
    'wrist_1_joint',
    'wrist_2_joint',
    'wrist_3_joint',
)
VELOCITY = math.pi  # [rad/s] of every joint
FIRST = f'{JOINTS[0]}/position'
ORDER = f'input_int_register_{FIRST_REGISTER}'


@pytest.fixture
def simulator():
    with URSimulator() as simulator:
        yield simulator


@pytest.fixture
def active(simulator):
    with active_driver(simulator) as driver:
        yield driver


def steps(simulator):
    """How far [rad] the set-point of the arm moved from cycle to cycle, the farthest joint of each."""
    points = [point.positions for point in simulator.set_points]
    return [max(abs(a - b) for a, b in zip(here, there, strict=True)) for here, there in itertools.pairwise(points)]


def phase(simulator):
    return simulator.controller.output_ints[FIRST_REGISTER + 2]


def ends_safely(simulator, as_phase=Phase.ENDED):
    """The program was told to end and has done so, and the arm stands."""
    eventually(lambda: phase(simulator) == as_phase, f'phase {as_phase}; it is {phase(simulator)}')
    eventually(lambda: simulator.stands, 'the arm to stand')
    assert max(steps(simulator), default=0.0) <= VELOCITY * simulator.controller.period * 1.1 + 1e-9


def test_the_plugin_of_the_tag_makes_this_driver():
    assert isinstance(make_driver(ur_component()), URDriver)


# Life


def test_state_is_read_while_the_motors_are_off():
    with URSimulator(motors_on=False) as simulator:
        driver = ur_driver(simulator)
        driver.configure()
        states = driver.read(0.002)
        driver.close()
    assert [states[f'{joint}/position'] for joint in JOINTS] == list(HOME)
    assert [states[f'{joint}/velocity'] for joint in JOINTS] == [0.0] * 6
    assert [states[f'{joint}/effort'] for joint in JOINTS] == simulator.controller.arm.currents  # [A]
    assert simulator.controller.programs == []


def test_it_switches_the_motors_on_and_starts_its_program():
    with URSimulator(motors_on=False) as simulator, active_driver(simulator):
        assert simulator.controller.robot_mode == 7
        assert simulator.controller.runtime_state == PLAYING
        (program,) = simulator.controller.programs
        assert program.startswith('def lfd_follow():')
        assert simulator.set_points == []  # nothing moves before the first command


@pytest.mark.parametrize(('version', 'rtde'), [(E_SERIES, 2), (CB3, 2), (CB3, 1)])
def test_the_arm_follows_a_smooth_path_to_its_end(version, rtde):
    with URSimulator(version=version, rtde_version=rtde) as simulator, active_driver(simulator) as driver:
        rate = simulator.controller.rate
        cycles = rate  # one second
        reach = 1.2  # [rad], at 1.9 rad/s at most

        def path(cycle):
            return reach * (1.0 - math.cos(math.pi * min(cycle / cycles, 1.0))) / 2.0

        with Drive(driver, rate, path) as drive:
            eventually(lambda: abs(simulator.positions[0] - reach) < 1e-4 or drive.error, 'the arm to arrive')
            assert drive.error is None, drive.error
            eventually(lambda: abs(drive.states[FIRST] - reach) < 1e-4, 'the state of that')
        assert simulator.positions[1:] == pytest.approx(HOME[1:])
        assert max(steps(simulator)) <= VELOCITY / rate * 1.1 + 1e-9
        assert {(point.lookahead, point.gain) for point in simulator.set_points} == {(0.03, 2000)}
        driver.deactivate()
        assert simulator.controller.runtime_state == STOPPED
        ends_safely(simulator)


def test_it_can_be_activated_again_and_again(simulator):
    driver = ur_driver(simulator)
    driver.configure()
    for _ in range(3):
        driver.activate()
        with Drive(driver) as drive:
            drive.moves()
        driver.deactivate()
        ends_safely(simulator)
    driver.close()
    driver.close()
    assert len(simulator.controller.programs) == 3


def test_a_driver_that_was_closed_can_be_configured_again(simulator):
    driver = ur_driver(simulator)
    driver.close()
    for _ in range(2):
        driver.configure()
        driver.activate()
        with Drive(driver) as drive:
            drive.moves()
        driver.close()
        ends_safely(simulator)
    with pytest.raises(DriverError, match='not connected: configure'):
        driver.read(0.002)


def test_joints_that_nobody_commands_hold(simulator, active):
    for _ in range(3):
        active.read(0.002)
        active.write({})
    eventually(lambda: len(simulator.set_points) > 5, 'set-points')
    assert simulator.set_points[-1].positions == pytest.approx(HOME)
    for cycle in range(1, 50):
        active.read(0.002)
        active.write({FIRST: cycle * 0.001})
    eventually(lambda: simulator.positions[0] == pytest.approx(0.049, abs=1e-5), 'the first joint')
    assert simulator.positions[1:] == pytest.approx(HOME[1:])


def test_speed_scaling_can_be_read(simulator):
    driver = URDriver(ur_component(robot_ip='127.0.0.1', rtde_port=simulator.rtde_port))
    driver.configure()
    simulator.controller.slider = 0.6
    eventually(lambda: driver.read(0.002)['speed_scaling/speed_scaling_factor'] == 0.6, 'the slider at 60 %')
    driver.close()


# Commands that must not reach the arm


@pytest.mark.parametrize('value', [0.5, -0.01, math.nan, math.inf, 40.0])
def test_a_first_command_that_is_not_where_the_arm_stands_is_refused(simulator, active, value):
    active.read(0.002)
    with pytest.raises(DriverError, match=r'jumps from|only finite|outside of its limits'):
        active.write({FIRST: value})
    eventually(lambda: phase(simulator) == Phase.ENDED, 'the end of the program')
    assert simulator.positions == pytest.approx(HOME)
    assert simulator.controller.errors == []


def test_a_velocity_is_not_taken_for_a_position(simulator, active):
    active.read(0.002)
    with pytest.raises(DriverError, match=f"cannot follow '{JOINTS[0]}/velocity': claim {FIRST}"):
        active.write({f'{JOINTS[0]}/velocity': 0.0})
    assert simulator.positions == pytest.approx(HOME)


def test_a_jump_in_the_middle_of_a_motion_stops_the_arm(simulator, active):
    with Drive(active, path=lambda cycle: 0.002 * cycle if cycle < 100 else 0.7) as drive:
        assert f"'{JOINTS[0]}' jumps from" in drive.fails()
    ends_safely(simulator)
    assert simulator.positions[0] < 0.5


def test_whatever_is_commanded_the_arm_gets_no_jump(simulator):
    source = random.Random(SEED)
    refusals = 0
    for _ in range(12):
        with active_driver(simulator) as driver:
            values = dict(zip((f'{joint}/position' for joint in JOINTS), simulator.positions, strict=True))
            with suppress(DriverError):
                for _ in range(30):
                    driver.read(0.002)
                    size = 10.0 ** source.uniform(-5.0, -2.0)
                    values = {name: value + source.uniform(-size, size) for name, value in values.items()}
                    refusals += 1
                    driver.write(values)
                    refusals -= 1
        eventually(lambda: simulator.controller.runtime_state == STOPPED, 'the end of the program')
        eventually(lambda: simulator.stands, 'the arm to stand')
        assert simulator.controller.errors == []
    assert 0 < refusals < 12


def test_an_arm_outside_of_its_limits_may_come_back_but_go_no_further():
    component = ur_component()
    upper = component.joints[0].limit.upper
    with URSimulator(positions=(upper + 0.1, *HOME[1:])) as simulator, active_driver(simulator) as driver:
        driver.read(0.002)
        driver.write({FIRST: upper + 0.099})
        with pytest.raises(DriverError, match='outside of its limits'):
            driver.write({FIRST: upper + 0.101})


# Faults, each with its own sentence


@pytest.mark.parametrize(
    ('happens', 'sentence'),
    [
        (Controller.emergency_stop, 'is in an emergency stop: release the button'),
        (Controller.protective_stop, 'is in a protective stop'),
        (Controller.safeguard_stop, 'is in a safeguard stop'),
        (Controller.pause, 'has been paused on its pendant'),
        (Controller.stop, 'has ended our program'),
        (lambda controller: setattr(controller, 'slider', 0.0), 'has its speed slider at 0 %'),
        (lambda controller: setattr(controller, 'robot_mode', 5), 'has switched the motors off'),
        (lambda controller: controller.start('def other():\nwhile True:\nsync()\nend\nend\n'), 'runs another program'),
    ],
)
def test_whatever_stops_the_arm_is_said_in_one_sentence(simulator, happens, sentence):
    with active_driver(simulator, state_limit=1.0) as driver, Drive(driver) as drive:
        drive.moves()
        simulator.do(happens)
        said = drive.fails()
    assert sentence in said
    assert said.startswith("The UR controller of 'ur5e' at 127.0.0.1 ")
    assert said.count('\n') == 0
    eventually(lambda: simulator.inputs[-1].values[ORDER] < 0, 'the order to stop')
    eventually(lambda: simulator.stands, 'the arm to stand')


def test_after_a_pause_the_program_ends_rather_than_jump(simulator):
    with active_driver(simulator) as driver:
        with Drive(driver) as drive:
            drive.moves()
            simulator.do(Controller.pause)
            drive.fails()
        eventually(lambda: simulator.controller.runtime_state == PAUSED and simulator.stands, 'the pause')
        stands_at = simulator.positions
        simulator.do(Controller.play)
        ends_safely(simulator)
        assert simulator.positions == pytest.approx(stands_at, abs=0.02)


def test_after_an_emergency_stop_it_starts_anew(simulator):
    driver = ur_driver(simulator)
    driver.configure()
    driver.activate()
    with Drive(driver) as drive:
        drive.moves()
        simulator.do(Controller.emergency_stop)
        drive.fails()
    driver.close()
    driver.configure()
    with pytest.raises(DriverError, match='emergency stop'):
        driver.activate()
    driver.read(0.002)  # where the arm is can be seen all the same
    simulator.do(Controller.release)
    eventually(lambda: simulator.stands, 'the arm to stand')
    driver.close()
    driver.configure()
    driver.activate()
    with Drive(driver) as drive:
        drive.moves()
    driver.close()
    ends_safely(simulator)


def test_an_arm_that_the_slider_makes_slow_is_not_left_behind(simulator):
    simulator.controller.slider = 0.1
    with active_driver(simulator) as driver, Drive(driver, path=lambda cycle: 0.005 * cycle) as drive:
        said = drive.fails()
    assert "is too far behind the set-points of 'shoulder_pan_joint', with its speed slider at 10%" in said
    ends_safely(simulator)


def test_a_state_that_is_too_old_stops_the_arm(simulator):
    with active_driver(simulator, state_limit=0.4) as driver, Drive(driver) as drive:
        drive.moves()
        simulator.silent = True
        said = drive.fails()
    assert re.search(r'has sent no new state for 0\.\d+ s \(state_limit is 0.4 s\): check the network', said)
    ends_safely(simulator)  # by our order, not by the program's own watch


def test_the_arm_is_told_to_stop_within_a_tenth_of_a_second_unless_told_otherwise():
    assert settings_of(ur_component()).state_limit + 0.02 < 0.1  # [s] with two cycles of a slow loop


def test_states_that_come_again_or_late_are_no_new_states(simulator):
    with active_driver(simulator, state_limit=0.3) as driver, Drive(driver) as drive:
        drive.moves()
        last = []

        def again(frame):
            last[:] = last or [frame]
            return last

        simulator.tamper = again
        assert 'has sent no new state' in drive.fails()
    ends_safely(simulator)


def test_duplicated_and_reordered_states_never_go_back_in_time(simulator):
    source = random.Random(SEED)
    held = []

    def mix(frame):
        held.append(frame)
        if len(held) < 4:
            return []
        frames = [*held, source.choice(held)]
        source.shuffle(frames)
        held.clear()
        return frames

    driver = ur_driver(simulator)
    driver.configure()
    simulator.tamper = mix
    seen = []

    def look():
        driver.read(0.002)
        seen.append(driver._link.state.timestamp)
        return len(set(seen)) > 10

    eventually(look, 'new states')
    driver.close()
    assert seen == sorted(seen)


def test_states_that_come_late_and_all_at_once_do_no_harm(simulator, active):
    held = []

    def late(frame):
        held.append(frame)
        if len(held) < 25:
            return []
        frames = list(held)
        held.clear()
        return frames

    with Drive(active) as drive:
        drive.moves()
        simulator.tamper = late
        drive.moves(200)
    active.deactivate()
    ends_safely(simulator)


class Slowness:
    """A network on which every state is under way for a time [s]."""

    def __init__(self):
        self.delay = 0.0
        self._held = []

    def __call__(self, frame):
        now = time.monotonic()
        self._held.append((now, frame))
        due = [frame for sent, frame in self._held if now - sent >= self.delay]
        del self._held[: len(due)]
        return due


def test_a_link_that_becomes_late_is_noticed_although_states_keep_coming(simulator):
    simulator.tamper = slowness = Slowness()
    with active_driver(simulator, state_limit=0.4) as driver, Drive(driver) as drive:
        drive.moves()
        began = time.monotonic()

        def fills():  # a queue on the way; there is never a gap
            slowness.delay = 0.5 * (time.monotonic() - began)
            return drive.error

        eventually(fills, 'an error')
        said = drive.fails()
    assert re.search(r'sends its state too late: the newest is 0\.\d+ s old \(state_limit is 0.4 s\): check', said)
    simulator.tamper = None
    ends_safely(simulator)


def test_a_link_that_is_late_from_the_beginning_is_noticed_by_its_answers(simulator):
    """The quickest state is late here, so that only the way there and back tells."""
    simulator.tamper = slowness = Slowness()
    slowness.delay = 0.6
    with active_driver(simulator, state_limit=0.2) as driver, Drive(driver) as drive:
        said = drive.fails()
    assert 'repeats set-points later than 0.3 s after they were sent: the network delays them' in said
    simulator.tamper = None
    ends_safely(simulator)


def test_clocks_that_differ_in_speed_are_no_late_link(simulator, monkeypatch):
    """A controller's clock that loses 0.05 % would be a minute late after a day and a half."""
    driver = ur_driver(simulator, state_limit=0.3)
    driver.configure()
    link = driver._link
    now, stamp = time.monotonic(), link.state.timestamp
    monkeypatch.setattr('lfd_hardware.drivers.ur.link.time', type('Clock', (), {'monotonic': lambda: now}))
    frame = rtde_frame(link)
    for _ in range(5000):  # an hour and more, one state a second
        now, stamp = now + 1.0, stamp + 0.9995
        link._take(frame(stamp))
        assert link.lateness < 0.01
    monkeypatch.undo()
    driver.close()


def rtde_frame(link):
    """Data frames of the link's recipe with a time of their own."""
    layout = struct.Struct('>Bd6d6d6diiIddiii')

    def make(stamp):
        return Frame(Kind.DATA, layout.pack(link._outputs.number, stamp, *[0.0] * 18, 7, 1, 1, 1.0, 1.0, 0, 0, 0))

    return make


def test_set_points_that_get_lost_are_caught_up_with_and_not_jumped_to(simulator):
    with active_driver(simulator) as driver, Drive(driver, path=lambda cycle: 0.004 * cycle) as drive:
        for _ in range(8):
            drive.moves(8)
            simulator.deaf = True
            drive.moves(8)
            simulator.deaf = False
        drive.moves(20)
        drive.writes = False
        goal = drive.commands[FIRST]
        eventually(lambda: abs(simulator.positions[0] - goal) < 1e-3, 'the arm to catch up')
    assert max(steps(simulator)) <= VELOCITY * 0.002 * 1.1 + 1e-9
    assert simulator.controller.errors == []


def test_when_set_points_stop_the_program_stops_the_arm_by_itself(simulator):
    with active_driver(simulator, robot_receive_timeout=0.2) as driver, Drive(driver) as drive:
        drive.moves()
        drive.writes = False
        said = drive.fails()
    assert 'got no set-point for 0.2 s and stopped the arm' in said
    ends_safely(simulator, Phase.STARVED)


FOLLOWER = """
import sys
from support.ur_arm import Drive, ur_component
from lfd_hardware.drivers.ur import URDriver
from lfd_hardware.drivers.ur.rtde import Frame, Kind
where = {'rtde_port': sys.argv[1], 'script_port': sys.argv[2]}
driver = URDriver(ur_component(**where, robot_receive_timeout=0.3, state_limit=5))
driver.configure()
driver.activate()
with Drive(driver) as drive:
    drive.moves(100)
    print('moving', flush=True)
    drive.fails()
"""


def test_when_the_driver_is_killed_the_arm_stops(simulator):
    ports = [str(simulator.rtde_port), str(simulator.script_port)]
    command = [sys.executable, '-c', FOLLOWER, *ports]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=same_paths()) as process:
        assert process.stdout.readline() == 'moving\n'
        process.kill()
    ends_safely(simulator, Phase.STARVED)
    with active_driver(simulator) as driver, Drive(driver) as drive:  # and the next one takes over
        drive.moves()


def test_when_the_controller_is_gone_it_is_said_and_mended():
    with URSimulator() as simulator:
        driver = ur_driver(simulator, robot_receive_timeout=0.3)
        driver.configure()
        driver.activate()
        with Drive(driver) as drive:
            drive.moves()
            simulator.close_connections()
            assert 'has closed the RTDE connection' in drive.fails()
        driver.close()
        eventually(lambda: simulator.stands, 'the arm to stand')
        simulator.do(Controller.stop)
        driver.configure()
        driver.activate()
        driver.close()
    with pytest.raises(DriverError, match='does not answer on RTDE port'):
        driver.configure()


def garble(source):
    """Frames that are not what was agreed."""
    kinds = (
        lambda frame: frame[:-3],
        lambda frame: b'\x00\x01' + frame[2:],
        lambda frame: b'\xff\xff' + frame[2:] * 300,
        lambda frame: frame[:2] + b'Z' + frame[3:],
        lambda frame: frame[:4] + struct.pack('>d', math.nan) + frame[12:],
        lambda frame: frame[:12] + struct.pack('>6d', *[math.inf] * 6) + frame[60:],
        lambda frame: source.randbytes(len(frame)),
    )
    return source.choice(kinds)


@pytest.mark.parametrize('seed', range(SEED, SEED + 8))
def test_garbled_states_stop_the_arm_and_are_named(simulator, seed):
    spoil = garble(random.Random(seed))
    with active_driver(simulator, state_limit=1.0) as driver, Drive(driver) as drive:
        drive.moves()
        before = dict(drive.states)
        simulator.tamper = lambda frame: [spoil(frame)]
        said = drive.fails()
        assert all(map(math.isfinite, drive.states.values()))
        assert abs(drive.states[FIRST] - before[FIRST]) < 0.5
    assert 'is no RTDE' in said or 'no new state' in said
    ends_safely(simulator)


def test_messages_of_the_controller_do_no_harm(simulator, active):
    simulator.tamper = lambda frame: [b'\x00\x0fM\x05hello\x04RTDE\x01', frame]
    with Drive(active) as drive:
        drive.moves()


def test_a_clock_of_the_controller_that_jumps_ahead_does_no_harm_and_one_that_jumps_back_stops_the_arm(simulator):
    with active_driver(simulator, state_limit=0.5) as driver, Drive(driver) as drive:
        drive.moves()
        simulator.do(lambda controller: setattr(controller, 'clock', controller.clock + 1000.0))
        drive.moves(100)
        simulator.do(lambda controller: setattr(controller, 'clock', controller.clock - 2000.0))
        assert 'has sent no new state' in drive.fails()
    ends_safely(simulator)


# Starts that are refused


def test_a_second_client_is_told_that_the_registers_are_taken(simulator, active):
    second = ur_driver(simulator)
    with pytest.raises(DriverError, match='lets another client set input_int_register_24: end that client'):
        second.configure()
    with Drive(active) as drive:
        drive.moves()
    elsewhere = ur_driver(simulator, first_register=32)
    elsewhere.configure()
    elsewhere.close()


def test_the_program_of_somebody_else_is_not_ended(simulator, monkeypatch):
    monkeypatch.setattr('lfd_hardware.drivers.ur.driver.STOP_TIME', 0.1)
    simulator.do(lambda controller: controller.start('def other():\nwhile True:\nsync()\nend\nend\n'))
    driver = ur_driver(simulator)
    driver.configure()
    with pytest.raises(DriverError, match='runs a program already: stop it on the pendant'):
        driver.activate()
    driver.close()
    assert simulator.controller.runtime_state == PLAYING


@pytest.mark.parametrize('address', ['127.0.0.1.invalid', 'a' * 80, '..'])
def test_an_address_that_is_none_is_named(address):
    with pytest.raises(DriverError, match='does not answer on RTDE port 30004'):
        URDriver(ur_component(robot_ip=address)).configure()


def test_local_mode_is_named(simulator):
    simulator.local_mode = True
    driver = ur_driver(simulator)
    driver.configure()
    with pytest.raises(DriverError, match=r'refuses programs on port .* switch it to Remote Control'):
        driver.activate()
    driver.close()


def test_a_dashboard_that_refuses_is_quoted():
    with URSimulator(motors_on=False) as simulator:
        simulator.local_mode = True
        driver = ur_driver(simulator)
        driver.configure()
        with pytest.raises(DriverError, match=r"has its motors off .* refused 'power on': it says 'Command is not"):
            driver.activate()
        driver.close()


def test_without_a_dashboard_the_pendant_is_named():
    with URSimulator(motors_on=False) as simulator, socket.create_server(('127.0.0.1', 0)) as closed:
        port = closed.getsockname()[1]
        closed.close()
        driver = ur_driver(simulator, dashboard_port=port)
        driver.configure()
        with pytest.raises(DriverError, match=r'has its motors off .* start the arm on the pendant'):
            driver.activate()
        driver.close()


def test_a_program_that_does_not_start_is_named(simulator, monkeypatch):
    monkeypatch.setattr('lfd_hardware.drivers.ur.driver.START_TIME', 0.1)
    simulator.controller.start = lambda text: None
    driver = ur_driver(simulator)
    driver.configure()
    with pytest.raises(DriverError, match='did not start our program within'):
        driver.activate()
    driver.close()


def test_what_speaks_no_rtde_is_named():
    with socket.create_server(('127.0.0.1', 0)) as server:
        driver = URDriver(ur_component(rtde_port=server.getsockname()[1], connect_timeout=0.2))
        with pytest.raises(DriverError, match="did not answer RTDE's 'V' in time"):
            driver.configure()
        server.accept()[0].close()
    with URSimulator() as simulator:
        wrong = URDriver(ur_component(rtde_port=simulator.dashboard_port))
        with pytest.raises(DriverError, match='sent what is no RTDE'):
            wrong.configure()


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ({'robot_ip': None}, 'has no robot_ip'),
        ({'robot_ip': ''}, 'has no robot_ip'),
        ({'headless_mode': 'false'}, 'headless_mode false'),
        ({'servoj_gain': 5000}, "'servoj_gain' of hardware 'ur5e' is '5000': write a number from 100 to 2000"),
        ({'servoj_lookahead_time': 'much'}, "'servoj_lookahead_time'"),
        ({'rtde_port': 30004.5}, 'whole number'),
        ({'state_limit': 'nan'}, "'state_limit'"),
        ({'first_register': 45}, "'first_register'"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters, words):
    with pytest.raises(DriverError, match=words):
        URDriver(ur_component(**parameters))


def joint(name, states=('position',), commands=('position',), velocity=1.0):
    interfaces = [tuple(Interface(each) for each in names) for names in (commands, states)]
    return Part('joint', name, *interfaces, limit=JointLimit(name, -1.0, 1.0, velocity))


@pytest.mark.parametrize(
    ('parts', 'words'),
    [
        ([joint(name) for name in JOINTS[:5]], 'has 5 joints where a UR arm has 6'),
        ([joint(name, states=('torque',)) for name in JOINTS], "does not know the state interface '.*/torque'"),
        ([joint(name, commands=('velocity',)) for name in JOINTS], 'must have the command interface position'),
        ([joint(name, commands=('position', 'effort')) for name in JOINTS], 'velocity beside it at most'),
        ([joint(name, velocity=math.inf) for name in JOINTS], 'has no limit of velocity'),
        (
            [*(joint(name) for name in JOINTS), Part('gpio', 'io', (Interface('digital_output_0'),), ())],
            "cannot command 'io'",
        ),
    ],
)
def test_joints_and_interfaces_that_it_does_not_have_are_refused(parts, words):
    with pytest.raises(DriverError, match=words):
        URDriver(replace(ur_component(), parts=tuple(parts)))


def test_a_timeout_shorter_than_the_controllers_cycles_is_refused():
    with URSimulator(version=CB3) as simulator:
        driver = ur_driver(simulator, robot_receive_timeout=0.02)
        with pytest.raises(DriverError, match='at least three cycles'):
            driver.configure()


# The whole


def test_the_hardware_of_the_description_runs_with_it(simulator):
    period = 0.002
    hardware = Hardware(ur_hardware(**ports(simulator)), period)
    (device,) = hardware.devices
    assert device.go(DeviceState.ACTIVE, lambda _: None)
    eventually(lambda: device.active or device.failure, 'the hardware to be active')
    assert device.failure is None
    troubles = hardware.read(period)
    hardware.claim('test', [FIRST])

    def cycle():
        troubles.extend(hardware.read(period))
        hardware.commands[FIRST] = min(0.001 * loop.cycles, 0.3)
        troubles.extend(hardware.write())

    loop = ControlLoop(period, cycle, troubles.append)
    loop.start()
    eventually(lambda: abs(simulator.positions[0] - 0.3) < 1e-4 or troubles, 'the arm to arrive')
    assert loop.stop(30.0)
    assert troubles == []
    assert hardware.close(30.0) == []
    ends_safely(simulator)


def test_a_controller_that_is_killed_and_comes_back_can_be_used_again():
    process, where = simulator_process()
    driver = URDriver(ur_component(**where, state_limit=1.0, robot_receive_timeout=5.0))
    driver.configure()
    driver.activate()
    with Drive(driver) as drive:
        drive.moves()
        process.stop()
        assert 'has closed the RTDE connection' in drive.fails()
    driver.close()
    with pytest.raises(DriverError, match='does not answer on RTDE port'):
        driver.configure()
    again, _ = simulator_process('--ports', *map(str, where.values()))
    driver.configure()
    driver.activate()
    with Drive(driver) as drive:
        drive.moves()
    driver.close()
    again.stop()
