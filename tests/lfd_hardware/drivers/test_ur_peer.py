"""Proof that the simulator is a UR controller: a client that others wrote for the real one works with it unchanged."""

import json
import os
import sys

import pytest
from support.process import Process, same_paths
from support.ur_arm import Drive, simulator_process, ur_component
from support.ur_controller import HOME
from support.ur_simulator import REAL_PORTS

from lfd_hardware.drivers.ur import URDriver


@pytest.fixture
def controller():
    """A simulator on the real ports, at an address that no other test has."""
    number = os.getpid() % 2**16
    host = f'127.99.{number >> 8}.{number & 255 or 1}'
    process, _ = simulator_process('--host', host, '--port', str(REAL_PORTS[0]))
    yield host
    process.stop()


def peer(what, host):
    process = Process(
        [sys.executable, '-m', 'support.ur_rtde_peer', what, host],
        same_paths(),
    )
    code = process.wait(60.0)
    assert code == 0, process.output
    return json.loads(next(line for line in process.output.splitlines() if line.startswith('{')))


def test_its_receive_interface_sees_the_arm(controller):
    seen = peer('receive', controller)
    assert seen.pop('positions') == seen.pop('some') == list(HOME)
    assert seen == {
        'connected': True,
        'advances': True,
        'velocities': [0.0] * 6,
        'robot_mode': 7,
        'safety_mode': 1,
        'runtime_state': 1,
        'robot_status': 1,
        'safety_bits': 1,
        'slider': 1.0,
    }


def test_its_control_interface_moves_the_arm(controller):
    seen = peer('control', controller)
    assert (seen['runs'], seen['moved'], seen['stopped']) == (True, True, True)
    for goal, at in (seen['after_move'], seen['after_servo']):
        assert at == pytest.approx(goal, abs=1e-3)


def test_it_may_look_on_while_our_driver_moves_the_arm(controller):
    driver = URDriver(ur_component(robot_ip=controller, robot_receive_timeout=5.0, state_limit=5.0))
    driver.configure()
    driver.activate()
    with Drive(driver) as drive:
        drive.moves()
        seen = peer('receive', controller)
        assert drive.error is None
    driver.close()
    assert seen['connected']
    assert seen['runtime_state'] == 2
    assert seen['positions'][0] != HOME[0]
