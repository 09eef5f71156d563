"""The Motoman driver against a controller on the wire: motion, refusals, faults and recovery."""

from __future__ import annotations

import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from support.motoman_simulator import STEP, MotomanSimulator
from support.peer import eventually
from support.process import Process, same_paths

from lfd_hardware.description import parse_hardware
from lfd_hardware.drivers import DriverError, make_driver
from lfd_hardware.drivers.motoman import MotomanDriver
from lfd_hardware.drivers.motoman.simple_message import ByteOrder, Command, Result
from lfd_hardware.loop import ControlLoop

JOINTS = ['s', 'l', 'u']
FASTEST = 2.0  # [rad/s]
START = np.array([0.125, -0.25, 0.375])  # [rad] exact on the wire
WAY = np.array([0.8, 0.4, -0.6])  # [rad]
PERIOD = 0.004  # [s]
PATIENT = {'state_timeout': 1.0, 'reply_timeout': 3.0}  # a loaded machine must not fail a test


def urdf(states: str = '', **parameters: object) -> str:
    links = ''.join(f'<link name="l{i}"/>' for i in range(len(JOINTS) + 1))
    joints = ''.join(
        f'<joint name="{name}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<limit lower="-3" upper="3" velocity="{FASTEST}" effort="1"/></joint>'
        for i, name in enumerate(JOINTS)
    )
    parts = ''.join(
        f'<joint name="{name}"><command_interface name="position"/><state_interface name="position"/>'
        '<state_interface name="velocity"/></joint>'
        for name in JOINTS
    )
    given = ''.join(f'<param name="{name}">{value}</param>' for name, value in parameters.items())
    return (
        f'<robot name="arm">{links}{joints}<ros2_control name="gp8" type="system"><hardware>'
        f'<plugin>lfd_hardware/MotomanSystem</plugin>{given}</hardware>{parts}'
        f'<gpio name="controller"><state_interface name="delay"/><state_interface name="e_stopped"/>{states}</gpio>'
        '</ros2_control></robot>'
    )


def driver_for(motion_port: int, state_port: int, **parameters: object) -> MotomanDriver:
    settings = {'robot_ip': '127.0.0.1', 'motion_port': motion_port, 'state_port': state_port, **PATIENT, **parameters}
    driver = make_driver(parse_hardware(urdf(**settings)).components[0])
    assert isinstance(driver, MotomanDriver)
    return driver


class Cell:
    """A driver in an update loop, whose commands a test sets; what goes wrong in the loop is kept."""

    def __init__(self, driver: MotomanDriver) -> None:
        self.driver = driver
        self.target: Callable[[int], np.ndarray] = lambda _: START
        self.cycle = 0
        self.states: dict[str, float] = {}
        self.error: Exception | None = None
        self.failed_at = 0.0  # [s] monotonic
        self.tracking: list[float] = []  # [rad] largest distance of command and state per cycle
        self._loop = ControlLoop(PERIOD, self._cycle, self._on_error)

    def start(self) -> Cell:
        self.driver.configure()
        self.driver.activate()
        self._loop.start()
        return self

    def move(self, way: np.ndarray = WAY, duration: float = 1.2) -> None:
        """Command a smooth motion from where the last one ended."""
        first, begin = self.cycle, np.array(self.target(self.cycle))

        def smooth(cycle: int) -> np.ndarray:
            u = min(max(0.0, (cycle - first) * PERIOD / duration), 1.0)
            return begin + way * (10 * u**3 - 15 * u**4 + 6 * u**5)

        self.target = smooth

    def position(self) -> np.ndarray:
        return np.array([self.states[f'{name}/position'] for name in JOINTS])

    def fault(self) -> str:
        """Wait for the loop's end by a driver's error and return its sentence."""
        eventually(lambda: self.error, 'a fault of the driver')
        assert isinstance(self.error, DriverError), repr(self.error)
        return str(self.error)

    def stop(self) -> None:
        self._loop.stop()
        self.driver.close()

    def _cycle(self) -> None:
        self.states = dict(self.driver.read(PERIOD))
        target = self.target(self.cycle)
        self.tracking.append(float(np.abs(target - self.position()).max()))
        self.driver.write({f'{name}/position': float(x) for name, x in zip(JOINTS, target, strict=True)})
        self.cycle += 1

    def _on_error(self, error: Exception) -> None:
        self.error, self.failed_at = error, time.monotonic()
        self._loop.stop()


@pytest.fixture
def controller() -> Iterator[MotomanSimulator]:
    with MotomanSimulator(START, fastest=1.5 * FASTEST) as simulator:
        yield simulator


@pytest.fixture
def driver(controller: MotomanSimulator) -> Iterator[MotomanDriver]:
    made = driver_for(controller.motion_port, controller.state_port)
    yield made
    made.close()


@pytest.fixture
def cell(driver: MotomanDriver) -> Iterator[Cell]:
    made = Cell(driver)
    yield made
    made.stop()


def moving(controller: MotomanSimulator) -> bool:
    return len(controller.points) > 8 and bool(np.any(controller.points[-1].velocities))


def arrives(controller: MotomanSimulator, cell: Cell, goal: np.ndarray) -> None:
    """Wait until the servo was told to be at the goal [rad]; a fault on the way fails the test."""
    eventually(lambda: cell.error or np.allclose(controller.commanded, goal, atol=1e-6), 'the arm arrives')
    assert cell.error is None


def largest_step(controller: MotomanSimulator) -> float:
    """The largest change of what the servo was told in one of the controller's periods [rad]."""
    positions = np.array([START, *(each for _, each in controller.played)])
    return float(np.abs(np.diff(positions, axis=0)).max()) if len(positions) > 1 else 0.0


# Motion ---------------------------------------------------------------------------------------------------------------


def test_the_arm_follows_a_smooth_motion_to_its_exact_end(controller, cell):
    cell.start()
    assert cell.driver.read(PERIOD)['s/position'] == pytest.approx(START[0], abs=1e-5)
    cell.move()
    eventually(lambda: np.allclose(cell.position() if cell.states else 0, START + WAY, atol=1e-3), 'the arm arrives')
    eventually(lambda: controller.queued == 0, 'all is played')
    assert cell.error is None
    assert np.allclose(controller.commanded, START + WAY, atol=1e-6)
    last = controller.points[-1]
    assert not any(last.velocities)
    assert [point.sequence for point in controller.points] == list(range(len(controller.points)))
    assert largest_step(controller) <= FASTEST * STEP
    assert controller.alarm == 0
    assert cell.states['controller/delay'] < 0.3
    assert controller.fullest * STEP < 0.3  # never more in the controller than what is needed


def test_motions_follow_one_another_with_and_without_a_rest(controller, cell):
    cell.start()
    for way in (WAY, -WAY, WAY / 2):
        cell.move(way, 1.0)
        arrives(controller, cell, cell.target(10**9))
    taken = len(controller.points)
    cell.move(-WAY / 2, 0.5)
    eventually(lambda: len(controller.points) > taken + 5, 'the arm moves')
    cell.move(WAY / 4, 0.5)  # another motion instead, from where the command is: its velocity changes at once
    arrives(controller, cell, cell.target(10**9))
    assert controller.alarm == 0
    assert largest_step(controller) <= FASTEST * STEP


def test_velocities_are_derived_or_those_of_the_controller(controller, cell):
    cell.start()
    cell.move(duration=3.0)
    eventually(lambda: cell.states.get('s/velocity', 0.0) > 0.2, 'a velocity')
    slow = {'tracking': 5.0, 'gives_velocities': True}
    with MotomanSimulator(START, order=ByteOrder.BIG, group=1, **slow) as other:
        driver = driver_for(other.motion_port, other.state_port, byte_order='big', group=1)
        try:
            driver.configure()
            other.commanded = START + np.array([1.0, 0.0, 0.0])  # [rad] it begins at 0.2 rad/s
            eventually(lambda: 0.1 < driver.read(PERIOD)['s/velocity'] < 0.25, 'the velocity of the controller')
            assert driver.read(PERIOD)['controller/e_stopped'] == 0.0
        finally:
            driver.close()


def test_busy_answers_are_met_by_sending_the_same_point_again(controller, cell):
    cell.start()
    controller.busy_answers = 5
    cell.move()
    arrives(controller, cell, START + WAY)
    assert [point.sequence for point in controller.points] == list(range(len(controller.points)))
    assert cell.error is None


def test_states_in_pieces_twice_and_late_are_no_problem(controller, cell):
    controller.splits_states = controller.doubles_states = True
    controller.state_delay = 0.02
    cell.start()
    cell.move()
    arrives(controller, cell, START + WAY)


def test_deactivate_leaves_trajectory_mode_and_the_driver_can_be_activated_again(controller, driver):
    driver.configure()
    for _ in range(2):
        driver.activate()
        assert controller.is_ready
        driver.deactivate()
        assert not controller.job_ready
        assert driver.read(PERIOD)['s/position'] == pytest.approx(START[0], abs=1e-5)
    assert not controller.told(Command.STOP_SERVOS)


def test_deactivate_on_the_way_stops_the_arm(controller, cell):
    cell.start()
    cell.move(duration=3.0)
    eventually(lambda: moving(controller), 'the arm moves')
    cell._loop.stop()
    cell.driver.deactivate()
    assert controller.queued == 0
    assert not controller.job_ready


# No jump --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize('value', [float('nan'), float('inf'), START[0] + 0.2, START[0] - 3.0])
def test_a_first_command_that_is_not_where_the_arm_is_is_refused_and_stops(controller, driver, value):
    driver.configure()
    driver.activate()
    driver.read(PERIOD)
    with pytest.raises(DriverError, match=r"'s' of hardware 'gp8' jumps from 0.1250 .*from where it is"):
        driver.write({'s/position': value})
    eventually(lambda: controller.told(Command.STOP_MOTION), 'a stop on the wire')
    assert controller.points == []
    with pytest.raises(DriverError, match='jumps'):
        driver.read(PERIOD)


def test_a_command_within_a_cycle_of_the_velocity_limit_is_taken(controller, driver):
    driver.configure()
    driver.activate()
    driver.read(PERIOD)
    driver.write({'s/position': START[0] + FASTEST * PERIOD})
    eventually(lambda: controller.commanded[0] > START[0] + 0.9 * FASTEST * PERIOD, 'the small step')
    driver.write({})  # nobody commands: the arm holds


# Faults on the way ----------------------------------------------------------------------------------------------------


def hold(controller: MotomanSimulator) -> None:
    controller.held = True


def e_stop(controller: MotomanSimulator) -> None:
    controller.e_stopped = True


def servo_off(controller: MotomanSimulator) -> None:
    controller.safety_circuit_open = True


def teach(controller: MotomanSimulator) -> None:
    controller.play = False


def local(controller: MotomanSimulator) -> None:
    controller.remote = False


def alarm(controller: MotomanSimulator) -> None:
    controller.alarm = 4315


def job_ended(controller: MotomanSimulator) -> None:
    controller.job_ready = False


def lost_motion(controller: MotomanSimulator) -> None:
    controller.drop_motion_client()


def lost_all(controller: MotomanSimulator) -> None:
    controller.drop_clients()


def garbled_state(controller: MotomanSimulator) -> None:
    controller.garbage = b'\xff' * 64


def garbled_answer(controller: MotomanSimulator) -> None:
    controller.answer_garbage = b'\xff' * 64


def bad_speed(controller: MotomanSimulator) -> None:
    controller.refusal = Result.INVALID, 3013


def always_busy(controller: MotomanSimulator) -> None:
    controller.refusal = Result.BUSY, 0


FAULTS = [
    (hold, 'HOLD'),
    (e_stop, 'emergency stop'),
    (servo_off, 'servo power'),
    (teach, 'PLAY mode'),
    (local, 'REMOTE mode'),
    (alarm, 'alarm'),
    (job_ended, 'INIT_ROS is not running'),
    (lost_motion, 'motion server .* closed the connection'),
    (lost_all, '(motion|state) server .* closed the connection'),
    (garbled_state, 'state server .* was lost: .*byte_order'),
    (garbled_answer, 'motion server .* was lost: .*byte_order'),
    (bad_speed, 'velocity is above its limit'),
    (always_busy, 'stays busy'),
]


@pytest.mark.parametrize(('fault', 'sentence'), FAULTS, ids=lambda each: getattr(each, '__name__', ''))
def test_a_fault_on_the_way_stops_the_arm_without_a_jump_and_says_why(controller, cell, fault, sentence):
    cell.start()
    cell.move(duration=3.0)
    eventually(lambda: moving(controller), 'the arm moves')
    with controller.lock:
        fault(controller)
    message = cell.fault()
    assert re.search(sentence, message), message
    eventually(lambda: controller.queued == 0, 'the arm stops')
    stopped = controller.commanded.copy()
    assert largest_step(controller) <= FASTEST * STEP
    assert np.all(np.abs(stopped - START) <= np.abs(WAY))


@pytest.mark.parametrize('is_emergency', [False, True], ids=['alarm', 'emergency stop'])
def test_after_a_fault_the_driver_recovers_by_closing_and_starting_again(controller, cell, is_emergency):
    cell.start()
    cell.move(duration=3.0)
    eventually(lambda: moving(controller), 'the arm moves')
    if is_emergency:
        controller.e_stopped = True
    else:
        controller.alarm = 4315
    cell.fault()
    again = Cell(cell.driver)
    cell.driver.close()
    try:
        eventually(lambda: np.allclose(controller.actual, controller.commanded, atol=1e-5), 'the arm stands')
        here = controller.commanded.copy()
        again.target = lambda _: here
        if is_emergency:
            cell.driver.configure()
            with pytest.raises(DriverError, match='emergency stop'):
                cell.driver.activate()
            assert np.array_equal(controller.commanded, here)
            controller.e_stopped = False
        again.start()
        assert is_emergency or controller.told(Command.RESET_ALARM)
        again.move()
        eventually(lambda: np.allclose(controller.commanded, here + WAY, atol=1e-4), 'the arm arrives')
        assert again.error is None
    finally:
        again.stop()
    assert largest_step(controller) <= FASTEST * STEP


def test_when_states_cease_the_stop_is_on_the_wire_before_the_error(controller):
    cell = Cell(driver_for(controller.motion_port, controller.state_port, state_timeout=0.06))
    try:
        cell.start()
        cell.move(duration=3.0)
        eventually(lambda: moving(controller) or cell.error, 'the arm moves')
        with controller.lock:
            controller.sends_states = False
        message = cell.fault()
        assert 'sent no state for 0.' in message
        assert "'gp8' at 127.0.0.1" in message
        eventually(lambda: len(controller.told(Command.STOP_MOTION)) > 0, 'the stop')
        assert controller.queued == 0
    finally:
        cell.stop()


def test_a_controller_that_does_not_answer_points_is_given_up(controller):
    cell = Cell(driver_for(controller.motion_port, controller.state_port, reply_timeout=0.2))
    try:
        cell.start()
        cell.move(duration=3.0)
        eventually(lambda: moving(controller), 'the arm moves')
        controller.answers = False
        assert 'did not answer within 0.2 s' in cell.fault()
        eventually(lambda: controller.told(Command.STOP_MOTION), 'a stop on the wire')
    finally:
        cell.stop()


# Refusals at the start ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('fault', 'sentence'),
    [
        (e_stop, 'emergency stop'),
        (local, 'REMOTE mode'),
        (teach, 'PLAY mode'),
        (hold, 'HOLD'),
        (servo_off, 'servo power'),
    ],
    ids=lambda each: getattr(each, '__name__', ''),
)
def test_activate_says_why_it_cannot(controller, driver, fault, sentence):
    driver.configure()
    fault(controller)
    with pytest.raises(DriverError, match=sentence):
        driver.activate()
    assert controller.points == []
    assert driver.read(PERIOD)['s/position'] == pytest.approx(START[0], abs=1e-5)


def test_an_alarm_is_reset_by_activate_unless_it_cannot_be(controller, driver):
    driver.configure()
    controller.alarm = 4315
    driver.activate()
    assert controller.told(Command.RESET_ALARM)
    driver.deactivate()
    controller.alarm, controller.alarm_is_permanent = 4315, True
    with pytest.raises(DriverError, match='does not reset its alarm'):
        driver.activate()


def test_an_address_that_nobody_serves_is_named():
    with socket.create_server(('127.0.0.1', 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(DriverError, match=f'state server .*127.0.0.1:{port} refuses connections: start MotoROS'):
        driver_for(port, port).configure()


def test_a_server_that_says_nothing_is_given_up():
    with socket.create_server(('127.0.0.1', 0)) as silent:
        port = silent.getsockname()[1]
        driver = driver_for(port, port, connect_timeout=0.2)
        with pytest.raises(DriverError, match=r'sent no state of group 0 for 0.2 s'):
            driver.configure()
        driver.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith('motoman_')]


def test_a_second_client_is_told_that_another_one_moves_the_arm(controller, cell):
    cell.start()
    cell.move(duration=3.0)
    eventually(lambda: moving(controller), 'the arm moves')
    second = driver_for(controller.motion_port, controller.state_port)
    with pytest.raises(DriverError, match='another client'):
        second.configure()
    assert cell.error is None


def test_a_client_that_is_thrown_out_by_another_says_so(controller, cell):
    cell.start()
    second = driver_for(controller.motion_port, controller.state_port)
    second.configure()
    try:
        cell.move(duration=3.0)
        assert 'another client' in cell.fault()
    finally:
        second.close()


def test_a_fifth_reader_of_states_is_told_so(controller):
    readers = [socket.create_connection(('127.0.0.1', controller.state_port)) for _ in range(4)]
    driver = driver_for(controller.motion_port, controller.state_port)
    try:
        for reader in readers:
            reader.settimeout(10.0)
            assert reader.recv(1)
        with pytest.raises(DriverError, match=r'closed the connection: .*it takes four'):
            driver.configure()
    finally:
        driver.close()
        for reader in readers:
            reader.close()


def test_a_driver_that_is_not_connected_says_so_and_close_is_always_safe(controller, driver):
    for step in (driver.activate, driver.deactivate, lambda: driver.read(PERIOD)):
        with pytest.raises(DriverError, match='configure it first'):
            step()
    driver.close()
    driver.close()
    driver.configure()
    driver.configure()
    with pytest.raises(DriverError, match='activate it first'):
        driver.write({})
    driver.close()


# The tag --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('parameters', 'complaint'),
    [
        ({}, "no parameter 'robot_ip'"),
        ({'robot_ip': 'x', 'byte_order': 'middle'}, "'byte_order' of hardware 'gp8' is 'middle'"),
        ({'robot_ip': 'x', 'motion_port': 'http'}, "'motion_port' of hardware 'gp8' is 'http': write a whole number"),
        ({'robot_ip': 'x', 'state_port': '70000'}, "'state_port'.*1 to 65535"),
        ({'robot_ip': 'x', 'group': '-1'}, "'group'.*0 to 3"),
        ({'robot_ip': 'x', 'state_timeout': '2'}, "'state_timeout'.*0.03 to 1"),
        ({'robot_ip': 'x', 'point_period': 'nan'}, "'point_period'"),
        ({'robot_ip': 'x', 'lead': '0.05'}, "'lead'.*at least 0.02 s longer than 'point_period'"),
    ],
)
def test_wrong_parameters_are_named(parameters, complaint):
    with pytest.raises(DriverError, match=complaint):
        make_driver(parse_hardware(urdf(**parameters)).components[0])


def test_unknown_interfaces_are_named():
    with pytest.raises(DriverError, match="no state interface 'torque' of 'controller': use delay"):
        make_driver(parse_hardware(urdf('<state_interface name="torque"/>', robot_ip='x')).components[0])
    text = urdf(robot_ip='x').replace('<command_interface name="position"/>', '<command_interface name="effort"/>')
    with pytest.raises(DriverError, match="no command interface 'effort' of 's'"):
        make_driver(parse_hardware(text).components[0])


def test_a_name_that_cannot_be_resolved_is_named():
    driver = driver_for(1, 1, robot_ip='no.such.host.invalid', connect_timeout=2.0)
    with pytest.raises(DriverError, match=r'no.such.host.invalid:1 cannot be (found|reached)|did not answer'):
        driver.configure()


# A controller in a process of its own ---------------------------------------------------------------------------------


def test_a_controller_that_dies_on_the_way_is_a_clear_error():
    command = [sys.executable, '-m', 'support.motoman_simulator', '--positions', *map(str, START)]
    process = Process(command, same_paths())
    try:
        line = eventually(lambda: process.output.partition('\n')[0], 'the ports').split()
        cell = Cell(driver_for(int(line[1]), int(line[3])))
        try:
            cell.start()
            cell.move(duration=3.0)
            eventually(lambda: cell.states and cell.position()[0] > START[0] + 0.05, 'the arm moves')
            process.end(signal.SIGKILL)
            assert 'server' in cell.fault()
        finally:
            cell.stop()
    finally:
        process.stop()
