import math
import random
import struct

import pytest

from lfd_hardware.drivers.abb.egm import (
    MAX_DATAGRAM,
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

JOINTS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
ROBOT = EgmRobot(42, 1000, JOINTS, (1.1, 2.1, 3.1, 4.1, 5.1, 6.1), Motors.ON, Guidance.RUNNING, Rapid.RUNNING, True)


def field(number, content):
    return bytes((number << 3 | 2, len(content))) + content


def angles(rng, count=6):
    return tuple(rng.choice([rng.uniform(-360, 360), 0.0, -0.0, 1e-12, 36000.0]) for _ in range(count))


def number(rng):
    return rng.choice([0, 1, 127, 128, 2**31, 2**32 - 1, rng.randrange(2**32)])


@pytest.mark.parametrize('seed', range(50))
def test_messages_come_back_as_they_were(seed):
    rng = random.Random(seed)
    robot = EgmRobot(
        number(rng),
        rng.choice([None, number(rng)]),
        angles(rng, rng.choice([6, 7])),
        rng.choice([(), angles(rng)]),
        rng.choice(list(Motors)),
        rng.choice(list(Guidance)),
        rng.choice(list(Rapid)),
        rng.random() < 0.5,
    )
    assert decode_robot(encode_robot(robot)) == robot
    sensor = EgmSensor(number(rng), rng.choice([None, number(rng)]), angles(rng), rng.choice([(), angles(rng)]))
    assert decode_sensor(encode_sensor(sensor)) == sensor


def test_unknown_fields_of_newer_controllers_are_skipped():
    newer = (
        encode_robot(ROBOT)
        + field(12, b'\x08\x01')  # CollisionInfo
        + field(9, b'\x09' + struct.pack('<d', 1.0))  # measuredForce
        + b'\x51'
        + struct.pack('<d', 12.5)  # utilizationRate
        + b'\x58\x03'  # moveIndex
        + b'\xfd\x7f'
        + b'\x00' * 4  # a fixed32 that nobody knows
    )
    assert decode_robot(newer) == ROBOT


def test_packed_joints_are_understood():
    packed = field(1, struct.pack('<6d', *JOINTS))
    assert decode_robot(field(1, b'\x08\x07') + field(2, field(1, packed))).joints == JOINTS


def test_a_state_that_is_not_known_is_undefined():
    frame = field(1, b'\x08\x07') + encode_robot(ROBOT)[9:].replace(field(4, b'\x08\x01'), field(4, b'\x08\x09'))
    assert decode_robot(frame).motors is Motors.UNDEFINED


@pytest.mark.parametrize(
    ('frame', 'reason'),
    [
        (b'', 'no header'),
        (b'\x0a', 'ends within a number'),
        (b'\x0a\x05\x08', 'cut off'),
        (field(1, b''), 'no seqno'),
        (field(1, b'\x08\x01'), 'no joints in feedBack'),
        (field(1, b'\x08\x01') + field(2, b''), 'no joints in feedBack'),
        (field(1, b'\x08\x01') + field(2, field(1, b'\x0a\x03abc')), 'cut off'),
        (field(1, b'\x08' + b'\xff' * 10 + b'\x01'), 'no end'),
        (b'\x0b', 'wire type 3'),
        (b'\x02\x00', 'field number 0'),
        (field(1, b'\x08\x01') + field(2, field(1, b'\x09' + b'\0' * 8)) + field(4, b''), 'motorState has no state'),
        (field(1, b'\x08\x01') + field(2, field(1, b'\x09' + struct.pack('<d', math.nan))), 'nan deg'),
        (field(1, b'\x08\x01') + field(2, field(1, b'\x09' + struct.pack('<d', math.inf))), 'inf deg'),
        (field(1, b'\x08\x01') + field(2, field(1, b'\x09' + struct.pack('<d', 1e9))), 'deg'),
        (b'\x00' * (MAX_DATAGRAM + 1), 'more than'),
    ],
)
def test_bad_datagrams_are_refused_with_a_reason(frame, reason):
    with pytest.raises(EgmError, match=reason):
        decode_robot(frame)


@pytest.mark.parametrize('seed', range(20))
def test_no_datagram_does_more_than_be_refused(seed):
    rng = random.Random(seed)
    good = encode_robot(ROBOT), encode_sensor(EgmSensor(1, 2, JOINTS, JOINTS))
    for _ in range(300):
        frame = bytearray(rng.choice([*good, rng.randbytes(rng.randrange(200))]))
        for _ in range(rng.randrange(4)):
            if frame:
                frame[rng.randrange(len(frame))] = rng.randrange(256)
        del frame[rng.randrange(len(frame) + 1) if rng.random() < 0.3 else len(frame) :]
        for decode in (decode_robot, decode_sensor):
            try:
                message = decode(bytes(frame))
            except EgmError:
                continue
            assert all(abs(angle) <= 36000.0 for angle in message.joints)


@pytest.mark.parametrize('value', [math.nan, math.inf])
def test_nothing_but_finite_angles_is_sent(value):
    with pytest.raises(EgmError, match='finite'):
        encode_sensor(EgmSensor(1, 2, (0.0, value), ()))
