import itertools
import math
import re
import socket
import sys
import threading
import time
from dataclasses import replace
from importlib import resources

import pytest
from support.abb_arm import abb_driver, abb_hardware, connect, eventually
from support.abb_simulator import HOME, AbbSimulator
from support.process import Process, same_paths

from lfd_hardware.description import Interface, Part
from lfd_hardware.device import DeviceState
from lfd_hardware.drivers import DriverError
from lfd_hardware.drivers.abb import AbbDriver
from lfd_hardware.drivers.abb.egm import EgmRobot, Guidance, Motors, Rapid, encode_robot
from lfd_hardware.drivers.abb.link import WAKE, WIRE_FACTOR
from lfd_hardware.hardware import Hardware
from lfd_hardware.loop import ControlLoop

PERIOD = 0.004  # [s]
START = tuple(map(math.radians, HOME))


@pytest.fixture
def simulator():
    with AbbSimulator() as simulator:
        simulator.egm.answer_timeout = 5.0
        yield simulator


@pytest.fixture
def make(simulator):
    """Makes drivers for the simulator, connected if so wanted; they are closed with the test."""
    drivers = []

    def make(active=True, **parameters):
        driver = abb_driver(simulator, **parameters)
        drivers.append(driver)
        connect(driver, simulator)
        if active:
            driver.activate()
        return driver

    yield make
    for driver in drivers:
        driver.close()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith('abb_')]


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


def position_names(component):
    return [f'{joint.name}/position' for joint in component.joints]


def positions(driver):
    states = driver.read(PERIOD)
    return [states[name] for name in position_names(driver.component)]


def commands(driver, values):
    return dict(zip(position_names(driver.component), values, strict=True))


def limits(driver):
    return [joint.limit.velocity for joint in driver.component.joints]


def failure(driver, timeout=20.0):
    """Go on as a loop does until the driver raises; return what it said."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        try:
            driver.read(PERIOD)
            driver.write({})
        except DriverError as error:
            return str(error)
        time.sleep(PERIOD)
    raise AssertionError('the driver noticed nothing')


def largest_step(simulator, driver):
    """The largest step of the set-points that arrived, as a part of what each joint's limit allows in a cycle."""
    points = simulator.setpoints
    return max(
        (
            math.radians(abs(new - old)) / (velocity * PERIOD)
            for before, after in itertools.pairwise(points)
            if before.session == after.session
            for new, old, velocity in zip(after.joints, before.joints, limits(driver), strict=True)
        ),
        default=0.0,
    )


class Swing:
    """Moves all joints by ``reach`` [rad] and stops smoothly, in a loop as the controller manager has it."""

    def __init__(self, driver, reach=0.3, duration=1.0, rate=250.0):
        self.driver, self.reach, self.duration = driver, reach, duration
        self.failed, self.error = threading.Event(), None
        self.start = positions(driver)
        self.began = time.monotonic()
        self.loop = ControlLoop(1.0 / rate, self.cycle, self.stop)
        self.goal = [here + reach for here in self.start]

    def __enter__(self):
        self.loop.start()
        return self

    def __exit__(self, *_):
        self.loop.stop(20.0)

    def cycle(self):
        if not self.failed.is_set():
            self.driver.read(self.loop.period)
            part = min((time.monotonic() - self.began) / self.duration, 1.0)
            way = self.reach * part**3 * (10 - 15 * part + 6 * part**2)
            self.driver.write(commands(self.driver, [here + way for here in self.start]))

    def stop(self, error):
        self.error = error
        self.failed.set()

    def halfway(self):
        eventually(lambda: self.failed.is_set() or time.monotonic() > self.began + 0.4 * self.duration, 'half the way')
        assert self.error is None

    def arrive(self):
        eventually(
            lambda: (
                self.failed.is_set()
                or max(abs(a - b) for a, b in zip(positions(self.driver), self.goal, strict=True)) < 1e-4
            ),
            'the goal',
        )
        assert self.error is None


# The life cycle.


def test_connected_it_tells_where_the_arm_is_without_moving_anything(simulator, make):
    driver = make(active=False)
    assert positions(driver) == pytest.approx(START)
    simulator.controller.joints[0] = 12.0
    eventually(lambda: positions(driver)[0] == pytest.approx(math.radians(12.0)), 'the new position')
    assert not simulator.controller.log
    assert set(driver.read(PERIOD)) == set(driver.component.state_interfaces)


def test_activated_it_holds_the_arm_where_it_stands(simulator, make):
    driver = make()
    assert [event.what for event in simulator.controller.log] == ['motors on', 'program pointer to main', 'start']
    before = len(simulator.setpoints)
    eventually(lambda: len(simulator.setpoints) > before + 50, 'answers')
    assert positions(driver) == pytest.approx(START, abs=1e-6)
    for point in simulator.setpoints:
        assert point.joints == pytest.approx(HOME, abs=1e-6)
        assert point.speeds == pytest.approx((0.0,) * 6, abs=1e-3)


@pytest.mark.parametrize('rate', [125.0, 250.0, 500.0])
def test_a_smooth_trajectory_arrives_without_jumps(simulator, make, rate):
    driver = make()
    with Swing(driver, rate=rate) as swing:
        swing.arrive()
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)
    assert not simulator.egm.bad
    states = driver.read(PERIOD)
    assert [states[f'{joint.name}/velocity'] for joint in driver.component.joints] == pytest.approx([0.0] * 6, abs=0.05)


def test_the_table_of_hardware_drives_it(simulator):
    """As the controller manager does: the device's life cycle, a claim, and the loop's reads and writes."""
    port = free_udp_port()
    simulator.send_to(port)
    tag = abb_hardware(rws_port=simulator.rws.port, rws_version=1, egm_port=port, state_limit=1.0)
    hardware = Hardware(tag, PERIOD)
    (device,) = hardware.devices
    assert device.go(DeviceState.ACTIVE, lambda _: None)
    assert device.wait(20.0)
    assert device.failure is None
    troubles, names = hardware.read(PERIOD), position_names(device.component)
    hardware.claim('test', names)
    start = [hardware.states[name] for name in names]
    cycles = itertools.count()

    def cycle():
        troubles.extend(hardware.read(PERIOD))
        way = 0.1 * 0.5 * (1.0 - math.cos(math.pi * min(next(cycles) / 200.0, 1.0)))
        hardware.commands.update(zip(names, [here + way for here in start], strict=True))
        troubles.extend(hardware.write())

    loop = ControlLoop(PERIOD, cycle, troubles.append)
    loop.start()
    goal = pytest.approx([here + 0.1 for here in start], abs=1e-4)
    try:
        eventually(lambda: troubles or [hardware.states[name] for name in names] == goal, 'the goal')
    finally:
        loop.stop(20.0)
        assert not hardware.close(20.0)
    assert not troubles
    assert largest_step(simulator, device.driver) <= WIRE_FACTOR * (1 + 1e-6)
    assert not simulator.controller.running


def test_every_report_is_answered_once_at_most(simulator, make):
    driver = make()
    eventually(lambda: len(simulator.setpoints) > 100, 'answers')
    driver.deactivate()
    assert len(simulator.setpoints) <= len(simulator.egm.reported)


def test_deactivated_it_stands_and_can_be_activated_again(simulator, make):
    driver = make()
    with Swing(driver, duration=0.5) as swing:
        swing.arrive()
    driver.deactivate()
    assert not simulator.controller.running
    assert simulator.controller.ctrlstate == 'motoron'
    assert positions(driver) == pytest.approx(swing.goal, abs=1e-3)
    driver.activate()
    with Swing(driver, -0.2, duration=0.5) as swing:
        swing.arrive()
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)


def test_closed_it_stops_the_program_and_leaves_the_session(simulator, make):
    driver = make()
    driver.close()
    driver.close()
    assert not simulator.controller.running
    assert not simulator.rws.sessions
    with pytest.raises(DriverError, match='configure the hardware first'):
        driver.read(PERIOD)
    with pytest.raises(DriverError, match='configure the hardware first'):
        driver.write({})


def test_rws_2_serves_as_well():
    with AbbSimulator(rws_version=2) as simulator:
        simulator.egm.answer_timeout = 5.0
        driver = abb_driver(simulator)
        try:
            connect(driver, simulator)
            driver.activate()
            with Swing(driver, duration=0.5) as swing:
                swing.arrive()
        finally:
            driver.close()
        assert not simulator.controller.running


@pytest.mark.parametrize('step', ['configure', 'activate'])
def test_closing_ends_a_step_that_hangs(simulator, step):
    driver, over, said = abb_driver(simulator), threading.Event(), []

    def go():
        try:
            driver.configure()
            simulator.rws.override = lambda handler: over.wait(30.0) and False
            driver.activate()
        except DriverError as error:
            said.append(str(error))

    if step == 'configure':
        simulator.rws.override = lambda handler: over.wait(30.0) and False
    thread = threading.Thread(target=go)
    thread.start()
    eventually(lambda: simulator.rws.override is not None and simulator.rws.asked, 'a step under way')
    asked = len(simulator.rws.asked)
    eventually(lambda: step == 'configure' or len(simulator.rws.asked) > asked, 'a question without an answer')
    driver.close()
    over.set()
    thread.join(20.0)
    assert not thread.is_alive()
    assert said
    assert not simulator.controller.running
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith('abb_')]


# Commands that must not reach the arm.


@pytest.mark.parametrize('joint', [0, 5])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_a_first_command_away_from_the_arm_is_refused_and_nothing_moves(simulator, make, joint, sign):
    driver = make()
    wanted = positions(driver)
    wanted[joint] += sign * 2.5 * limits(driver)[joint]
    with pytest.raises(DriverError, match=rf"joint 'joint_{joint + 1}' jumps .*told to stop"):
        driver.write(commands(driver, wanted))
    assert 'jumps' in failure(driver)
    eventually(lambda: simulator.controller.logged('stop'), 'the stop')
    assert largest_step(simulator, driver) < 0.01
    assert simulator.controller.joints == pytest.approx(HOME, abs=1e-4)


@pytest.mark.parametrize('value', [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(simulator, make, value):
    driver = make()
    with pytest.raises(DriverError, match='only finite positions'):
        driver.write({'joint_2/position': value})
    with pytest.raises(DriverError, match="'elbow/position'"):
        driver.write({'elbow/position': 0.0})
    assert largest_step(simulator, driver) < 0.01


def test_a_jump_in_the_middle_of_a_motion_is_refused(simulator, make):
    driver = make()
    with Swing(driver) as swing:
        swing.halfway()
        swing.start = [here + 1.0 for here in swing.start]
        assert swing.failed.wait(20.0)
    assert 'jumps' in str(swing.error)
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)


def test_a_loop_that_hangs_makes_the_arm_stand(simulator, make):
    driver = make()
    with Swing(driver) as swing:
        swing.halfway()
    before = len(simulator.setpoints)
    eventually(lambda: len(simulator.setpoints) > before + 60, 'answers without a loop')
    points = simulator.setpoints
    assert points[-1].joints == points[-20].joints
    assert points[-1].speeds == pytest.approx((0.0,) * 6, abs=1e-9)


# Faults of the controller.


@pytest.mark.parametrize('silent', [False, True], ids=['reporting', 'silent'])
@pytest.mark.parametrize(
    ('fall', 'sentence'),
    [
        ('emergency_stop', 'is in emergency stop: release'),
        ('open_guard', 'is in guard stop, its safety chain is open'),
        ('fail', 'is in system failure'),
        ('motors_off', 'switched its motors off'),
        ('end_program', 'ended its RAPID program'),
    ],
)
def test_a_stop_in_the_middle_of_a_motion_is_told_and_can_be_recovered_from(simulator, make, fall, sentence, silent):
    driver = make()
    simulator.egm.silent_stop = silent
    with Swing(driver) as swing:
        swing.halfway()
        getattr(simulator.controller, fall)()
        assert swing.failed.wait(20.0)
    assert sentence in str(swing.error)
    assert ('sent no EGM message' in str(swing.error)) == silent
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)
    driver.close()
    simulator.controller.recover()
    simulator.egm.silent_stop = False
    connect(driver, simulator)
    driver.activate()
    with Swing(driver, -0.1, duration=0.5) as swing:
        swing.arrive()
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)


def test_while_the_reason_is_asked_for_the_trajectory_is_held(simulator, make, monkeypatch):
    """A controller that is slow to tell must not make the arm leave a path that goes on without it."""
    monkeypatch.setattr('lfd_hardware.drivers.abb.driver.REASON', 10.0)
    driver = make()
    answer, held = threading.Event(), []
    simulator.rws.override = lambda _: not answer.wait(10.0)
    with Swing(driver) as swing:
        swing.halfway()
        assert not driver.is_holding
        simulator.controller.emergency_stop()
        eventually(lambda: driver.is_holding or swing.failed.is_set(), 'the fault')
        held.append(swing.error)
        answer.set()
        assert swing.failed.wait(20.0)
    assert held == [None]
    assert 'is in emergency stop: release' in str(swing.error)


def test_a_reason_that_does_not_come_is_not_waited_for(simulator, make):
    driver = make()
    simulator.rws.override = lambda _: not answer.wait(10.0)
    answer = threading.Event()
    with Swing(driver) as swing:
        swing.halfway()
        simulator.controller.emergency_stop()
        assert swing.failed.wait(5.0)
    assert 'switched its motors off' in str(swing.error)
    answer.set()


@pytest.mark.parametrize(
    ('fall', 'sentence'),
    [
        ('emergency_stop', 'is in emergency stop'),
        ('open_guard', 'is in guard stop'),
        ('fail', 'is in system failure'),
        (lambda controller: controller.turn_key('MANR'), r'is in manual mode \(MANR\)'),
        (lambda controller: setattr(controller, 'mastered', True), 'mastership is held by another client'),
        (lambda controller: setattr(controller, 'program', False), 'ended its RAPID program at once'),
        (lambda controller: setattr(controller, 'running', True), 'already runs a RAPID program'),
        (lambda controller: setattr(controller, 'stubborn', True), 'does not switch its motors on'),
    ],
    ids=['emergency', 'guard', 'failure', 'manual', 'mastership', 'no program', 'second client', 'motors stay off'],
)
def test_a_controller_that_refuses_says_why(simulator, make, fall, sentence):
    driver = make(active=False, connect_timeout=0.5)
    getattr(simulator.controller, fall)() if isinstance(fall, str) else fall(simulator.controller)
    with pytest.raises(DriverError, match=sentence):
        driver.activate()
    assert positions(driver) == pytest.approx(START)
    assert not simulator.setpoints or largest_step(simulator, driver) == 0.0


def test_a_second_driver_on_the_same_port_is_refused(simulator, make):
    driver = make()
    second = abb_driver(simulator, egm_port=driver.egm_port)
    with pytest.raises(DriverError, match=rf'UDP port {driver.egm_port} .*end the other program'):
        second.configure()
    positions(driver)


def test_a_second_driver_cannot_take_the_arm(simulator, make):
    driver = make()
    second = make(active=False, connect_timeout=0.3)
    simulator.send_to(driver.egm_port)
    with pytest.raises(DriverError, match='already runs a RAPID program'):
        second.activate()
    with Swing(driver, 0.1, duration=0.5) as swing:
        swing.arrive()


def test_a_set_point_that_the_controller_rejects_ends_the_motion(simulator, make):
    driver = make()
    simulator.egm.jump = 0.001
    with Swing(driver) as swing:
        assert swing.failed.wait(20.0)
    assert 'ended its RAPID program' in str(swing.error)
    assert simulator.controller.logged('set-point jumped')


def test_a_new_session_in_the_middle_of_a_motion_ends_it(simulator, make):
    driver = make()
    with Swing(driver) as swing:
        swing.halfway()
        simulator.egm.restart_session()
        assert swing.failed.wait(20.0)
    assert re.search('began a new EGM session|stopped EGM', str(swing.error))
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)


# Faults of the network.


def test_a_silent_controller_is_told_to_stop_on_the_wire(simulator, make):
    driver = make(state_limit=0.3)
    with Swing(driver, duration=3.0) as swing:
        eventually(lambda: len(simulator.setpoints) > 50, 'motion')
        simulator.egm.outward.weather.cut, cut_at = True, time.monotonic()
        assert swing.failed.wait(20.0)
    assert re.search(
        r"of 'irb1600' at 127.0.0.1 sent no EGM message for 0\.\d+ s \(limit 0.3 s\): check", str(swing.error)
    )
    eventually(lambda: simulator.controller.logged('stop') or simulator.controller.logged('no answer'), 'the stop')
    # On the wire, the last set-point stands still. It came when the age was seen, not when the program was stopped.
    last = simulator.setpoints[-1]
    assert last.speeds == (0.0,) * 6
    assert last.at > cut_at
    assert largest_step(simulator, driver) <= WIRE_FACTOR * (1 + 1e-6)


@pytest.mark.parametrize('seed', [11, 12, 13])
def test_lost_late_twice_and_disordered_datagrams_move_the_arm_smoothly(seed):
    with AbbSimulator(seed=seed) as simulator:
        simulator.egm.answer_timeout = 5.0
        for direction in (simulator.egm.outward, simulator.egm.inward):
            direction.weather.lost, direction.weather.duplicated = 0.1, 0.1
            direction.weather.delayed, direction.weather.delay = 0.3, 0.02
        driver = abb_driver(simulator)
        try:
            connect(driver, simulator)
            driver.activate()
            states = []
            with Swing(driver) as swing:
                while time.monotonic() < swing.began + 0.9 * swing.duration and not swing.failed.is_set():
                    states.append(positions(driver)[0])
                    time.sleep(PERIOD)
                swing.arrive()
            assert max(abs(b - a) for a, b in itertools.pairwise(states)) < 0.1
            answered = [point.at for point in simulator.setpoints]
            assert len(answered) < len(simulator.egm.reported)
            assert not simulator.egm.bad
        finally:
            driver.close()


def robot(seqno, milliseconds, joints=HOME, guidance=Guidance.RUNNING):
    return encode_robot(EgmRobot(seqno, milliseconds, joints, joints, Motors.ON, guidance, Rapid.RUNNING))


def exchange(own, port, *datagrams):
    """Send datagrams to the driver in a row, from a controller of the test's own."""
    for datagram in datagrams:
        own.sendto(datagram, ('127.0.0.1', port))


@pytest.fixture
def by_hand(simulator, make):
    """A connected driver, and a socket that is the controller's EGM."""
    driver = make(active=False)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(('127.0.0.1', 0))
        own.settimeout(20.0)
        yield driver, own


def heard(driver, own, datagram):
    """Send a report that is certainly newer and wait until it was answered; return joint 1 [deg]."""
    own.sendto(datagram, ('127.0.0.1', driver.egm_port))
    own.recv(4096)
    return math.degrees(positions(driver)[0])


def test_old_and_repeated_reports_are_ignored(by_hand):
    driver, own = by_hand
    moved = (11.0, *HOME[1:])
    assert heard(driver, own, robot(100, 1000)) == pytest.approx(10.0)
    exchange(own, driver.egm_port, robot(99, 996, moved), robot(100, 1000, moved), robot(0, 500, moved))
    assert heard(driver, own, robot(101, 1004)) == pytest.approx(10.0)


def test_a_sequence_number_may_wrap_around(by_hand):
    driver, own = by_hand
    heard(driver, own, robot(2**32 - 1, 1000))
    assert heard(driver, own, robot(0, 1004, (11.0, *HOME[1:]))) == pytest.approx(11.0)


def test_a_new_session_is_taken_when_nobody_follows(by_hand):
    driver, own = by_hand
    heard(driver, own, robot(500, 9000))
    assert heard(driver, own, robot(0, 9004, (12.0, *HOME[1:]))) == pytest.approx(12.0)


def test_garbled_and_foreign_datagrams_change_nothing(by_hand):
    driver, own = by_hand
    heard(driver, own, robot(1, 1000))
    exchange(own, driver.egm_port, b'', b'\xff' * 50, robot(2, 1004)[:-3], robot(2, 1004, (1.0, 2.0)), b'x' * 9000)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind(('127.0.0.2', 0))
        stranger.sendto(robot(50, 5000, (90.0, *HOME[1:])), ('127.0.0.1', driver.egm_port))
    assert heard(driver, own, robot(3, 1008)) == pytest.approx(10.0)


def test_a_controller_whose_messages_do_not_arrive_is_told_apart(simulator, make):
    driver = make(active=False, connect_timeout=0.5)
    simulator.send_to(9)
    with pytest.raises(DriverError, match=rf'no EGM guidance arrives at UDP port {driver.egm_port}: set the remote'):
        driver.activate()


def test_a_controller_that_cannot_be_reached_is_told():
    with AbbSimulator() as simulator:
        driver = abb_driver(simulator)
    with pytest.raises(DriverError, match=r'127.0.0.1:\d+ does not answer'):
        driver.configure()
    wrong = AbbDriver(abb_hardware(rws_ip='no-such-controller.invalid').components[0])
    with pytest.raises(DriverError, match=r"address 'no-such-controller\.invalid'"):
        wrong.configure()


def test_a_wrong_password_is_told(simulator):
    driver = abb_driver(simulator, rws_password='wrong')
    with pytest.raises(DriverError, match='rws_user and rws_password'):
        driver.configure()


def test_connected_it_notices_that_the_controller_is_gone(simulator, make):
    driver = make(active=False)
    simulator.close()
    assert 'does not answer' in failure(driver)


def test_a_controller_that_is_killed_in_the_middle_of_a_motion():
    port = free_udp_port()
    command = [sys.executable, '-m', 'support.abb_simulator', '--egm-port', str(port), '--answer-timeout', '5']
    process = Process(command, same_paths())
    try:
        eventually(lambda: 'rws_port' in process.output or not process.is_running, 'the simulator')
        rws_port = re.search(r'"rws_port": (\d+)', process.output).group(1)
        driver = AbbDriver(
            abb_hardware(rws_port=rws_port, rws_version=1, egm_port=port, state_limit=0.08).components[0]
        )
        driver.configure()
        try:
            driver.activate()
            with Swing(driver, duration=3.0) as swing:
                eventually(lambda: time.monotonic() > swing.began + 0.3 or swing.failed.is_set(), 'motion')
                process.stop()
                assert swing.failed.wait(20.0)
            assert 'sent no EGM message' in str(swing.error)
        finally:
            driver.close()
        with pytest.raises(DriverError, match='does not answer'):
            driver.configure()
    finally:
        process.stop()


# The tag.


def test_the_tag_of_the_description_suffices():
    driver = AbbDriver(abb_hardware().components[0])
    own = driver.parameters
    assert (own.rws_ip, own.rws_port, own.rws_version, own.egm_port) == ('127.0.0.1', 80, 1, 6511)
    assert (own.account.user, own.account.password, own.state_limit) == ('Default User', 'robotics', 0.06)
    assert own.state_limit + WAKE < 0.1  # the arm is told to stop within a tenth of a second of its last state
    assert AbbDriver(abb_hardware(rws_port=443).components[0]).parameters.rws_version == 2


@pytest.mark.parametrize(
    ('parameters', 'name'),
    [
        ({'rws_ip': None}, 'rws_ip'),
        ({'rws_ip': ''}, 'rws_ip'),
        ({'rws_port': 'eighty'}, 'rws_port'),
        ({'rws_port': 0}, 'rws_port'),
        ({'rws_port': 80.5}, 'rws_port'),
        ({'egm_port': 70000}, 'egm_port'),
        ({'rws_version': 3}, 'rws_version'),
        ({'state_limit': 'nan'}, 'state_limit'),
        ({'state_limit': -1}, 'state_limit'),
        ({'connect_timeout': 0}, 'connect_timeout'),
        ({'mechanical_unit': '../x'}, 'mechanical_unit'),
    ],
)
def test_a_bad_parameter_is_named(parameters, name):
    with pytest.raises(DriverError, match=name):
        AbbDriver(abb_hardware(**parameters).components[0])


def test_what_an_abb_arm_does_not_have_is_refused():
    component = abb_hardware().components[0]
    first, *others = component.joints

    def refuse(parts, sentence):
        with pytest.raises(DriverError, match=sentence):
            AbbDriver(replace(component, parts=tuple(parts)))

    refuse(others, 'has 5 joints')
    refuse([replace(first, state_interfaces=(Interface('effort'),)), *others], "'joint_1' with effort")
    refuse([replace(first, command_interfaces=(Interface('velocity'),)), *others], "'joint_1' with velocity")
    refuse([*component.parts, Part('gpio', 'lamp', (), (Interface('on'),))], "gpio 'lamp'")
    refuse([replace(first, limit=replace(first.limit, velocity=math.inf)), *others], 'needs a velocity limit')


def test_the_program_for_the_controller_is_shipped_and_whole():
    text = resources.files('lfd_hardware.drivers.abb').joinpath('lfd_egm.mod').read_text('ascii')
    code = [line.split('!')[0].strip() for line in text.splitlines()]
    words = re.findall(r'[A-Za-z_]\w*', ' '.join(code))
    for begin, end in [('MODULE', 'ENDMODULE'), ('PROC', 'ENDPROC'), ('WHILE', 'ENDWHILE'), ('IF', 'ENDIF')]:
        assert words.count(begin) == words.count(end) == 1
    steps = [word for word in words if word.startswith('EGM') and not word.startswith('EGM_')]
    assert steps == ['EGMReset', 'EGMGetId', 'EGMSetupUC', 'EGMActJoint', 'EGMRunJoint', 'EGMReset']
    assert all(len(line) <= 120 for line in text.splitlines())
