import numpy as np
import pytest

from lfd_hardware.slide import Slide

PERIOD = 0.002  # [s]


def run(slide, cycles=100000):
    commands = [slide.position]
    while not slide.at_rest:
        commands.append(slide.advance())
        assert len(commands) < cycles, 'no rest'
    return np.array(commands)


def test_goes_there_smoothly_and_as_fast_as_it_may():
    slide = Slide(0.1, 0.25, PERIOD)
    slide.hold(0.01)
    slide.go(0.05)
    commands = run(slide)
    assert commands[-1] == 0.05
    assert len(commands) * PERIOD == pytest.approx(0.04 / 0.1 + 0.1 / 0.25, abs=0.02)
    assert np.abs(np.diff(commands)).max() <= 0.1 * PERIOD * (1 + 1e-9)
    assert np.abs(np.diff(commands, n=2)).max() <= 0.25 * PERIOD**2 * (1 + 1e-6)


def test_a_way_too_short_for_its_full_speed():
    slide = Slide(1.0, 0.5, PERIOD)
    slide.go(0.001)
    assert run(slide)[-1] == 0.001


@pytest.mark.parametrize('seed', range(10))
def test_never_faster_or_harder_than_its_limits_whatever_it_is_told(seed):
    rng = np.random.default_rng(seed)
    speed, push = float(rng.uniform(0.05, 2.0)), float(rng.uniform(0.1, 10.0))
    slide = Slide(speed, push, PERIOD)
    commands = [0.0]
    for _ in range(8):
        if rng.random() < 0.25:
            slide.stop()
        else:
            slide.go(float(rng.uniform(-0.5, 0.5)))
        commands += [slide.advance() for _ in range(int(rng.integers(1, 300)))]
    slide.go(0.3)
    commands += list(run(slide)[1:]) + [slide.advance() for _ in range(3)]
    assert commands[-1] == 0.3
    assert np.abs(np.diff(commands)).max() <= speed * PERIOD * (1 + 1e-9)
    assert np.abs(np.diff(commands, n=2)).max() <= push * PERIOD**2 * (1 + 1e-6)
    assert np.abs(commands).max() <= 0.5


def test_a_stop_is_the_shortest_one():
    slide = Slide(1.0, 2.0, PERIOD)
    slide.go(10.0)
    for _ in range(1000):
        slide.advance()
    assert slide.velocity == pytest.approx(1.0)
    begin = slide.position
    slide.stop()
    assert run(slide)[-1] - begin == pytest.approx(1.0 / (2 * 2.0), rel=0.01)
