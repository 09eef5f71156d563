"""Simple messages on the wire: what is sent comes back, and what is garbled is refused in one sentence."""

from __future__ import annotations

import contextlib
import random
import struct

import pytest

from lfd_hardware.drivers.motoman.refusals import INVALID, NOT_READY, explain, hindrance
from lfd_hardware.drivers.motoman.simple_message import (
    ByteOrder,
    Command,
    Frame,
    FrameError,
    FrameReader,
    JointFeedback,
    MessageType,
    MotionControl,
    MotionReply,
    Result,
    RobotStatus,
    TrajectoryPoint,
    Valid,
    encode,
)

ORDERS = list(ByteOrder)
TEN = tuple(float(i) / 8 for i in range(10))  # exact in four bytes
MESSAGES = [
    RobotStatus(1, 0, 4414, 1, 0, 2, 0),
    JointFeedback(1, Valid.POSITION | Valid.VELOCITY, 2.5, TEN, tuple(-x for x in TEN)),
    TrajectoryPoint(0, 7, 1.25, TEN, TEN),
    MotionControl(2, 99, Command.START_TRAJECTORY_MODE),
    MotionReply(0, 7, MessageType.TRAJECTORY_POINT, Result.NOT_READY, 5003),
]


@pytest.mark.parametrize('order', ORDERS)
@pytest.mark.parametrize('message', MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_comes_back_as_it_was_sent(message, order):
    [frame] = FrameReader(order).feed(encode(message.frame(order), order))
    assert type(message).of(frame, order) == message


@pytest.mark.parametrize(
    ('message', 'size'), [*zip(MESSAGES, (28, 132, 136, 52, 60), strict=True)], ids=lambda each: type(each).__name__
)
def test_bodies_have_the_sizes_of_motoros(message, size):
    assert len(message.frame(ByteOrder.LITTLE).body) == size


def test_the_layout_of_a_point_is_that_of_motoros():
    data = encode(TrajectoryPoint(3, 5, 0.5, (1.0, 2.0), (3.0,)).frame(ByteOrder.LITTLE), ByteOrder.LITTLE)
    assert struct.unpack('<7if', data[:32]) == (148, 14, 2, 0, 3, 5, 7, 0.5)
    assert struct.unpack('<3f', data[32:44]) == (1.0, 2.0, 0.0)
    assert struct.unpack('<2f', data[72:80]) == (3.0, 0.0)
    assert encode(MotionControl(0, 1, 2).frame(ByteOrder.BIG), ByteOrder.BIG)[:8] == struct.pack('>2i', 64, 2001)


@pytest.mark.parametrize('seed', range(20))
def test_frames_may_come_in_pieces_of_any_size(seed):
    chance = random.Random(seed)
    sent = [chance.choice(MESSAGES) for _ in range(10)]
    data = b''.join(encode(message.frame(ByteOrder.LITTLE), ByteOrder.LITTLE) for message in sent)
    reader, received = FrameReader(ByteOrder.LITTLE), []
    while data:
        size = chance.randint(1, 200)
        received += reader.feed(data[:size])
        data = data[size:]
    assert [type(message).of(frame, ByteOrder.LITTLE) for message, frame in zip(sent, received, strict=True)] == sent


@pytest.mark.parametrize('seed', range(200))
def test_noise_is_refused_or_ignored_and_never_anything_else(seed):
    chance = random.Random(seed)
    data = bytearray(b''.join(encode(m.frame(ByteOrder.LITTLE), ByteOrder.LITTLE) for m in MESSAGES))
    for _ in range(chance.randint(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    frames: list[Frame] = []
    with contextlib.suppress(FrameError):
        frames = FrameReader(ByteOrder.LITTLE).feed(bytes(data))
    for frame in frames:
        for kind in (RobotStatus, JointFeedback, TrajectoryPoint, MotionControl, MotionReply):
            with contextlib.suppress(FrameError):
                assert kind.of(frame, ByteOrder.LITTLE).frame(ByteOrder.LITTLE).type == frame.type


@pytest.mark.parametrize('length', [-1, 0, 11, 1025, 2**31 - 1])
def test_a_frame_of_an_impossible_size_is_refused_at_once(length):
    with pytest.raises(FrameError, match=r'claims to have -?\d+ bytes.*byte_order'):
        FrameReader(ByteOrder.LITTLE).feed(struct.pack('<4i', length, 13, 1, 0))


def test_the_other_byte_order_is_refused_and_named():
    with pytest.raises(FrameError, match='FS100'):
        FrameReader(ByteOrder.BIG).feed(encode(MESSAGES[0].frame(ByteOrder.LITTLE), ByteOrder.LITTLE))


@pytest.mark.parametrize(
    ('frame', 'complaint'),
    [
        (Frame(MessageType.FEEDBACK, 1, 0, b'\0' * 131), '131 bytes instead of 132'),
        (Frame(MessageType.STATUS, 1, 0, b'\0' * 28), 'type 13 where 15'),
        (Frame(MessageType.FEEDBACK, 1, 0, struct.pack('<2i31f', 0, 2, 0.0, *[float('nan')] * 30)), 'not finite'),
        (Frame(MessageType.FEEDBACK, 1, 0, struct.pack('<2i31f', 0, 4, 0.0, *[0.0] * 30)), 'no positions'),
    ],
)
def test_a_wrong_feedback_is_refused(frame, complaint):
    with pytest.raises(FrameError, match=complaint):
        JointFeedback.of(frame, ByteOrder.LITTLE)


def test_every_refusal_has_a_sentence_of_its_own():
    sentences = [explain(Result.NOT_READY, code) for code in NOT_READY]
    sentences += [explain(Result.INVALID, code) for code in INVALID]
    sentences += [explain(result, 0) for result in (Result.BUSY, Result.FAILURE, Result.MP_FAILURE)]
    sentences += [explain(Result.NOT_READY, 5099), explain(77, 0)]
    # A wrong size and a wrong header have one cause; the rest differ.
    assert len(set(sentences)) == len(sentences)
    assert all(': ' in sentence for sentence in sentences)


@pytest.mark.parametrize(
    ('status', 'reason'),
    [
        (RobotStatus(1, 0, 0, 0, 0, 2, 1), ''),
        (RobotStatus(-1, -1, 0, -1, -1, -1, -1), ''),
        (RobotStatus(0, 1, 0, 1, 0, 1, 0), 'emergency stop'),
        (RobotStatus(0, 0, 4414, 1, 0, 2, 0), 'alarm 4414'),
        (RobotStatus(1, 0, 0, 0, 0, 1, 0), 'PLAY'),
        (RobotStatus(0, 0, 0, 0, 0, 2, 0), 'servo power'),
    ],
)
def test_a_status_says_why_the_arm_cannot_move(status, reason):
    assert reason in hindrance(status)
    assert bool(reason) == bool(hindrance(status))
