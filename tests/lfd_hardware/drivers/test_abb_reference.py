import math
import random

import pytest

from lfd_hardware.drivers.abb.reference import Reference

PERIOD = 0.004  # [s]
STEPS = (0.012, 0.02)  # [rad] per answer


def test_it_stands_where_it_was_told_until_a_command_comes():
    reference = Reference(STEPS, PERIOD)
    reference.hold((0.3, -0.1), 10.0)
    for cycle in range(5):
        assert reference.next(10.0 + cycle * PERIOD) == ((0.3, -0.1), (0.0, 0.0))


@pytest.mark.parametrize('rate', [100.0, 125.0, 250.0, 333.0, 500.0])
def test_a_steady_motion_leaves_steadily_whatever_the_rate_of_the_loop(rate):
    """Loop and controller run unsynchronised; still every set-point makes the same step, at the same speed."""
    reference, velocity = Reference(STEPS, PERIOD), 1.0
    reference.hold((0.0, 0.0), 0.0)
    written, last, steps, speeds = 0, None, [], []
    for answer in range(1, 500):
        now = answer * PERIOD + 0.0013
        while (written + 1) / rate <= now:
            written += 1
            reference.aim((velocity * written / rate, 0.0), written / rate)
        (position, _), (speed, _) = reference.next(now)
        if last is not None and answer > 20:
            steps.append(position - last)
            speeds.append(speed)
        last = position
    assert steps == pytest.approx([velocity * PERIOD] * len(steps), rel=1e-6)
    assert speeds == pytest.approx([velocity] * len(speeds), rel=1e-6)
    assert velocity * now - last <= 2.0 * velocity / rate


def test_without_commands_it_stops_at_the_last_one_with_no_speed():
    reference = Reference(STEPS, PERIOD)
    reference.hold((0.0, 0.0), 0.0)
    for cycle in range(1, 10):
        reference.aim((0.004 * cycle, 0.0), cycle * PERIOD)
        reference.next(cycle * PERIOD + 0.001)
    for cycle in range(10, 20):
        positions, speeds = reference.next(cycle * PERIOD + 0.001)
    assert positions == pytest.approx((0.036, 0.0))
    assert speeds == (0.0, 0.0)


@pytest.mark.parametrize('seed', range(30))
def test_no_step_and_no_speed_above_the_limit_whatever_comes(seed):
    rng = random.Random(seed)
    reference, now = Reference(STEPS, PERIOD), 0.0
    reference.hold((0.0, 0.0), now)
    last = reference.sent
    for _ in range(500):
        now += rng.choice([0.0, 1e-5, 0.001, 0.004, 0.05, 1.0]) * rng.random()
        if rng.random() < 0.5:
            reference.aim((rng.uniform(-3, 3), rng.uniform(-3, 3)), now)
        positions, speeds = reference.next(now)
        for new, old, step, speed in zip(positions, last, STEPS, speeds, strict=True):
            assert abs(new - old) <= step * (1 + 1e-9)
            assert abs(speed) <= step / PERIOD * (1 + 1e-9)
            assert math.isfinite(speed)
        last = positions


def test_a_late_cycle_is_caught_up_without_a_jump():
    reference = Reference(STEPS, PERIOD)
    reference.hold((0.0, 0.0), 0.0)
    reference.aim((0.03, 0.0), 0.05)
    places = [reference.next(0.05 + cycle * PERIOD)[0][0] for cycle in range(1, 12)]
    steps = [b - a for a, b in zip([0.0, *places], places, strict=False)]
    assert max(steps) <= STEPS[0] * (1 + 1e-9)
    assert min(steps) >= 0.0
    assert places[-1] == pytest.approx(0.03)
