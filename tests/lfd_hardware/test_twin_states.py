from __future__ import annotations

import math
import random

import pytest
from sensor_msgs.msg import JointState

from lfd_hardware.nodes.twin_states import LONGEST_STEP, MOST_NAMES, Silence, StateMirror, StatesRefused

SEED = 6


def state(stamp: float = 1.0, **positions: float) -> JointState:
    message = JointState(name=list(positions), position=list(positions.values()))
    message.header.stamp.sec, message.header.stamp.nanosec = int(stamp), int(stamp % 1 * 1e9)
    return message


def test_the_robots_joints_come_in_the_models_order():
    mirror = StateMirror(('shoulder', 'elbow', 'finger'), 'left_')
    real = state(1.5, right_elbow=9.0, left_elbow=2.0, elbow=9.0, left_shoulder=1.0)
    real.velocity, real.effort = [9.0, 0.2, 9.0, 0.1], [math.inf, math.nan, math.inf, 5.0]
    real.header.frame_id = 'base'
    twin = mirror.mirrored(real)
    assert twin.header == real.header
    assert list(twin.name) == ['shoulder', 'elbow']
    assert list(twin.position) == [1.0, 2.0]
    assert list(twin.velocity) == [0.1, 0.2]
    assert twin.effort[0] == 5.0
    assert math.isnan(twin.effort[1])  # as ros2_control publishes what a joint does not measure


def test_a_message_about_others_is_none():
    assert StateMirror(('elbow',)).mirrored(state(wrist=1.0, wheel=math.nan)) is None
    assert StateMirror(('elbow',)).mirrored(JointState()) is None


@pytest.mark.parametrize(
    ('change', 'sentence'),
    [
        ({'name': ['elbow', 'elbow']}, "'elbow' twice"),
        ({'name': ['elbow']}, '1 names and 2 positions'),
        ({'position': []}, '2 names and 0 positions'),
        ({'velocity': [1.0]}, '2 names and 1 values of velocity'),
        ({'effort': [1.0] * 3}, '2 names and 3 values of effort'),
        ({'position': [math.nan, 0.0]}, "position of 'shoulder' is nan"),
        ({'position': [0.0, -math.inf]}, "position of 'elbow' is -inf"),
        ({'velocity': [0.0, math.inf]}, "velocity of 'elbow' is inf"),
        ({'name': ['x'] * (MOST_NAMES + 1)}, f'more than {MOST_NAMES}'),
    ],
)
def test_what_is_refused(change: dict[str, list[object]], sentence: str):
    mirror = StateMirror(('shoulder', 'elbow'))
    message = state(shoulder=0.0, elbow=0.0)
    for field, value in change.items():
        setattr(message, field, value)
    with pytest.raises(StatesRefused, match=sentence):
        mirror.mirrored(message)
    assert mirror.mirrored(state(0.5, shoulder=1.0)) is not None  # and it left nothing behind


def test_older_stamps_are_ignored_joint_by_joint():
    mirror = StateMirror(('elbow', 'finger'))
    assert mirror.mirrored(state(2.0, elbow=1.0)) is not None
    assert mirror.mirrored(state(1.9, finger=1.0)) is not None
    with pytest.raises(StatesRefused, match="older than the one before for 'elbow'"):
        mirror.mirrored(state(1.95, finger=1.0, elbow=1.0))
    assert mirror.mirrored(state(2.0, finger=1.0, elbow=1.0)) is not None
    mirror.forget()
    assert mirror.mirrored(state(0.0, finger=1.0, elbow=1.0)) is not None


def test_no_message_does_more_than_be_refused():
    """Whatever comes, what goes out is whole and finite."""
    chance = random.Random(SEED)
    names = ['shoulder', 'elbow', 'wrist', '', 'elbow\n', 'x' * 1000]
    numbers = [0.0, -1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324]
    mirror = StateMirror(('shoulder', 'elbow'))
    outcomes = {'mirrored': 0, 'none': 0}
    sentences: list[str] = []
    for _ in range(5000):
        message = JointState(name=chance.choices(names, k=chance.randrange(5)))
        for field in ('position', 'velocity', 'effort'):
            length = chance.choice([len(message.name)] * 4 + [0, 1, 7])
            setattr(message, field, chance.choices(numbers, [8, 8, 1, 1, 1, 1, 1], k=length))
        message.header.stamp.sec = chance.choice([0, 1, -(2**31), 2**31 - 1])
        message.header.stamp.nanosec = chance.choice([0, 2**32 - 1])
        if chance.random() < 0.5:
            mirror.forget()
        try:
            twin = mirror.mirrored(message)
        except StatesRefused as refusal:
            sentences.append(str(refusal))
            continue
        outcomes['none' if twin is None else 'mirrored'] += 1
        if twin is not None:
            assert list(twin.name) in (['shoulder'], ['elbow'], ['shoulder', 'elbow'])
            assert len(twin.position) == len(twin.name)
            assert all(map(math.isfinite, twin.position))
            assert len(twin.velocity) in (0, len(twin.name))
    assert min(*outcomes.values(), len(sentences)) > 100, outcomes
    assert all('\n' not in sentence and len(sentence) < 200 for sentence in sentences)


def test_a_silence_is_that_of_the_quietest_joint():
    silence = Silence(('shoulder', 'elbow'))
    assert silence.seconds == math.inf
    silence.look(100.0)
    silence.hear(('shoulder', 'elbow', 'finger'))
    assert silence.seconds == 0.0
    silence.look(100.01)
    silence.hear(('shoulder',))
    silence.look(100.02)
    assert silence.seconds == pytest.approx(0.02)
    assert silence.quietest == 'elbow'


def test_time_in_which_this_process_does_not_run_is_no_silence():
    silence = Silence(('elbow',))
    silence.look(0.0)
    silence.hear(('elbow',))
    silence.look(30.0)
    assert silence.seconds == LONGEST_STEP
    silence.look(29.0)  # a clock that goes back
    assert silence.seconds == LONGEST_STEP
