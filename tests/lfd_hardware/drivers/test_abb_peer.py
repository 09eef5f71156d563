"""abb-robot-client, which people use with real controllers, meets our simulator and our messages unchanged."""

import random

import numpy as np
import pytest
from abb_robot_client._egm_protobuf import egm_pb2
from abb_robot_client.egm import EGM
from abb_robot_client.rws import RWS, ABBException
from google.protobuf.message import DecodeError
from support.abb_arm import eventually
from support.abb_simulator import HOME, AbbSimulator

from lfd_hardware.drivers.abb.egm import (
    EgmError,
    EgmRobot,
    EgmSensor,
    Guidance,
    Motors,
    Rapid,
    decode_robot,
    decode_sensor,
    encode_robot,
    encode_sensor,
)


@pytest.fixture
def simulator():
    with AbbSimulator() as simulator:
        simulator.egm.answer_timeout = 5.0
        yield simulator


@pytest.fixture
def rws(simulator):
    client = RWS(f'http://127.0.0.1:{simulator.rws.port}')
    yield client
    client.close()


@pytest.fixture
def egm(simulator):
    client = EGM(0)
    simulator.send_to(client.socket.getsockname()[1])
    yield client
    client.close()


def theirs(robot: EgmRobot) -> egm_pb2.EgmRobot:
    """Our value as their message."""
    message = egm_pb2.EgmRobot()
    message.header.seqno = robot.seqno
    if robot.time is not None:
        message.header.tm = robot.time
    message.header.mtype = egm_pb2.EgmHeader.MSGTYPE_DATA
    message.feedBack.joints.joints.extend(robot.joints)
    if robot.planned:
        message.planned.joints.joints.extend(robot.planned)
    message.motorState.state = int(robot.motors)
    message.mciState.state = int(robot.guidance)
    message.mciConvergenceMet = robot.converged
    message.rapidExecState.state = int(robot.rapid)
    return message


def ours(message: egm_pb2.EgmRobot) -> EgmRobot:
    """Their message as our value."""
    return EgmRobot(
        message.header.seqno,
        message.header.tm if message.header.HasField('tm') else None,
        tuple(message.feedBack.joints.joints),
        tuple(message.planned.joints.joints),
        Motors(message.motorState.state),
        Guidance(message.mciState.state),
        Rapid(message.rapidExecState.state),
        message.mciConvergenceMet,
    )


def any_robot(rng: random.Random) -> EgmRobot:
    joints = tuple(rng.uniform(-180, 180) for _ in range(6))
    return EgmRobot(
        rng.randrange(2**32),
        rng.choice([None, rng.randrange(2**32)]),
        joints,
        rng.choice([(), joints]),
        rng.choice(list(Motors)),
        rng.choice(list(Guidance)),
        rng.choice(list(Rapid)),
        rng.random() < 0.5,
    )


@pytest.mark.parametrize('seed', range(30))
def test_the_controllers_message_is_theirs_byte_by_byte(seed):
    robot = any_robot(random.Random(seed))
    message = theirs(robot)
    assert encode_robot(robot) == message.SerializeToString(deterministic=True)
    assert decode_robot(message.SerializeToString()) == robot
    assert ours(egm_pb2.EgmRobot.FromString(encode_robot(robot))) == robot


@pytest.mark.parametrize('seed', range(30))
def test_the_answer_is_theirs_byte_by_byte(seed):
    rng = random.Random(seed)
    sensor = EgmSensor(
        rng.randrange(2**32),
        rng.randrange(2**32),
        tuple(rng.uniform(-180, 180) for _ in range(6)),
        rng.choice([(), tuple(rng.uniform(-180, 180) for _ in range(6))]),
    )
    message = egm_pb2.EgmSensor()
    message.header.seqno, message.header.tm = sensor.seqno, sensor.time
    message.header.mtype = egm_pb2.EgmHeader.MSGTYPE_CORRECTION
    message.planned.joints.joints.extend(sensor.joints)
    if sensor.speeds:
        message.speedRef.joints.joints.extend(sensor.speeds)
    assert encode_sensor(sensor) == message.SerializeToString(deterministic=True)
    assert decode_sensor(message.SerializeToString()) == sensor


def test_all_that_a_controller_may_add_is_skipped():
    robot = any_robot(random.Random(5))
    message = theirs(robot)
    for pose in (message.feedBack.cartesian, message.planned.cartesian):
        pose.pos.x, pose.pos.y, pose.pos.z = 1.0, 2.0, 3.0
        pose.orient.u0, pose.orient.u1, pose.orient.u2, pose.orient.u3 = 1.0, 0.0, 0.0, 0.0
        pose.euler.x, pose.euler.y, pose.euler.z = 0.0, 0.0, 0.0
    for group in (message.feedBack, message.planned):
        group.externalJoints.joints.extend([1.0] * 6)
        group.time.sec, group.time.usec = 1_700_000_000, 999_999
    message.testSignals.signals.extend([1.0, 2.0])
    message.measuredForce.fcActive = True
    message.measuredForce.force.extend([0.0] * 6)
    message.utilizationRate = 34.5
    message.moveIndex = 7
    message.CollisionInfo.collDetQuota.extend([0.1] * 6)
    message.RAPIDfromRobot.dnum.extend([1.0] * 40)
    assert decode_robot(message.SerializeToString()) == robot


@pytest.mark.parametrize('seed', range(10))
def test_a_damaged_message_is_read_as_they_read_it_or_refused(seed):
    rng, agreed = random.Random(seed), 0
    for _ in range(300):
        frame = bytearray(theirs(any_robot(rng)).SerializeToString())
        for _ in range(rng.randrange(1, 3)):
            frame[rng.randrange(len(frame))] = rng.randrange(256)
        try:
            mine = decode_robot(bytes(frame))
        except EgmError:
            continue
        try:
            message = egm_pb2.EgmRobot.FromString(bytes(frame))
        except DecodeError:
            continue  # they know more fields that can be wrong
        assert mine == ours(message)
        agreed += 1
    assert agreed > 50


def test_their_rws_runs_our_controller(simulator, rws):
    assert rws.get_operation_mode() == 'AUTO'
    assert rws.get_controller_state() == 'motoroff'
    assert rws.get_jointtarget().robax == pytest.approx(HOME)
    rws.set_controller_state('motoron')
    rws.resetpp()
    rws.start(cycle='once')
    assert rws.get_execution_state().ctrlexecstate == 'running'
    assert rws.get_tasks()['T_ROB1'].excstate == 'started'
    rws.stop()
    assert rws.get_execution_state().ctrlexecstate == 'stopped'
    assert len(simulator.rws.sessions) == 1
    rws.logout()
    assert not simulator.rws.sessions


def test_their_rws_reads_our_refusals(simulator, rws):
    simulator.controller.mastered = True
    with pytest.raises(ABBException, match='held by someone else') as refused:
        rws.resetpp()
    assert refused.value.code == -1073445862
    simulator.controller.emergency_stop()
    assert rws.get_controller_state() == 'emergencystop'
    with pytest.raises(ABBException):
        rws.set_controller_state('motoron')


def test_their_egm_moves_our_arm(simulator, rws, egm):
    assert not egm.send_to_robot(np.array(HOME))
    rws.set_controller_state('motoron')
    rws.resetpp()
    rws.start(cycle='once')
    wanted, goal = np.array(HOME), np.array(HOME) + 3.0
    first = egm.receive_from_robot(20.0)[1]
    assert first.joint_angles == pytest.approx(HOME)
    assert (first.motors_on, first.rapid_running) == (True, True)
    assert first.robot_message.header.seqno == 0

    def arrived():
        nonlocal wanted
        heard, state = egm.receive_from_robot(20.0)
        assert heard
        wanted = np.minimum(wanted + 0.05, goal)
        assert egm.send_to_robot(wanted)
        return np.abs(state.joint_angles - goal).max() < 0.01

    eventually(arrived, 'the goal')
    assert not simulator.egm.bad
    assert egm.receive_from_robot(20.0)[1].joint_angles_planned == pytest.approx(goal, abs=0.1)
    rws.stop()
    eventually(lambda: not egm.receive_from_robot(20.0)[1].rapid_running, 'the end of the program')


def test_their_egm_sees_our_emergency_stop(simulator, rws, egm):
    rws.set_controller_state('motoron')
    rws.resetpp()
    rws.start(cycle='once')
    assert egm.receive_from_robot(20.0)[1].motors_on
    simulator.controller.emergency_stop()
    eventually(lambda: not egm.receive_from_robot(20.0)[1].motors_on, 'motors off')
