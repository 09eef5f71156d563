"""The program that the driver sends, run by the simulator; and the simulator's own rules for programs."""

import itertools
import random

import pytest
from support.ur_controller import HOME, PLAYING, PROTECTIVE, STOPPED, Controller
from support.ur_script import Script, ScriptError, is_complete
from support.ur_simulator import CB3, E_SERIES

from lfd_hardware.drivers.ur.script import FIRST_REGISTER, Phase, Servo, program, steps

SEED = 20260611
SESSION = 4711
VELOCITIES = (2.0, 2.0, 3.0, 3.0, 3.0, 3.0)  # [rad/s]


class Bench:
    """A controller without a network, whose registers the test sets by hand."""

    def __init__(self, version=E_SERIES, timeout=0.04, first=FIRST_REGISTER):
        self.controller = Controller(version)
        self.first, self.count = first, 0
        period = self.controller.period
        self.servo = Servo(period, 0.05, 400.0, timeout, 5.0, steps(VELOCITIES, period, 1.1), first)
        self.controller.start(program(self.servo, SESSION))

    def run(self, cycles=1, order=SESSION, goal=None, counting=True):
        for _ in range(cycles):
            self.count += counting
            self.controller.input_ints[self.first : self.first + 2] = [order, self.count]
            if goal is not None:
                self.controller.input_doubles[self.first : self.first + 6] = goal
            self.controller.cycle()
        assert self.controller.errors == []
        return self

    @property
    def told(self):
        """Session, count and phase, as the program says."""
        return self.controller.output_ints[self.first : self.first + 3]


@pytest.mark.parametrize(('version', 'first'), [(E_SERIES, 24), (CB3, 24), (E_SERIES, 0), (E_SERIES, 42)])
def test_it_follows_to_the_goal_and_ends_when_told(version, first):
    bench = Bench(version, first=first).run(3, order=0, goal=HOME)
    assert bench.told == [SESSION, 0, Phase.WAITING]
    assert bench.controller.set_points == []
    goal = [at + 0.1 for at in HOME]
    bench.run(500, goal=goal)
    assert bench.told == [SESSION, bench.count, Phase.FOLLOWING]
    assert bench.controller.arm.positions == pytest.approx(goal, abs=1e-4)
    point = bench.controller.set_points[-1]
    assert (point.lookahead, point.gain) == (0.05, 400)
    bench.run(200, order=-SESSION)
    assert bench.told[2] == Phase.ENDED
    assert bench.controller.runtime_state == STOPPED


def test_orders_that_were_left_in_the_registers_are_not_its_own():
    bench = Bench()
    for stale in (SESSION + 1, -SESSION - 1, 1, 2, -1):
        bench.run(3, order=stale, goal=HOME)
        assert bench.told[2] == Phase.WAITING
    bench.run(10, order=-SESSION)
    assert bench.told[2] == Phase.ENDED
    assert bench.controller.set_points == []


def test_it_stops_the_arm_when_the_count_stands_still():
    bench = Bench(timeout=0.04).run(50, goal=[at + 0.5 for at in HOME])
    cycles = 0
    while bench.told[2] == Phase.FOLLOWING:
        last = len(bench.controller.set_points)
        bench.run(counting=False)
        cycles += 1
        assert cycles < 1000
    assert len(bench.controller.set_points) == last
    assert bench.told[2] == Phase.STARVED
    bench.run(3, counting=False)
    assert bench.controller.runtime_state == STOPPED
    assert bench.controller.arm.stands


def test_the_watch_does_not_slow_down_with_the_slider():
    bench = Bench(timeout=0.04).run(50, goal=HOME)
    bench.controller.slider = 0.01
    bench.run(22, counting=False)
    assert bench.told[2] == Phase.STARVED


def test_it_waits_for_a_first_order_but_not_for_ever():
    bench = Bench().run(4000, order=0)
    assert bench.told[2] == Phase.WAITING
    bench.run(1100, order=0)
    assert bench.told[2] == Phase.STARVED
    assert bench.controller.runtime_state == STOPPED


def test_no_goal_makes_its_set_point_jump():
    source = random.Random(SEED)
    bench = Bench().run(5, goal=HOME)
    for _ in range(300):
        goal = [at + source.uniform(-3.0, 3.0) for at in HOME]
        bench.controller.slider = source.choice((1.0, 1.0, 0.5, 0.1))
        bench.run(source.randrange(1, 10), goal=goal)
    points = [point.positions for point in bench.controller.set_points]
    for here, there in itertools.pairwise(points):
        assert all(abs(a - b) <= limit + 1e-9 for a, b, limit in zip(here, there, bench.servo.steps, strict=True))


# The simulator's own rules


def test_a_program_whose_set_points_jump_ends_in_a_protective_stop():
    controller = Controller(E_SERIES)
    far = [at + 0.1 for at in HOME]
    controller.start(f'def jump():\n  servoj({far}, 0, 0, 0.002, 0.1, 300)\n  sync()\nend\n')
    controller.cycle()
    assert controller.safety_mode == PROTECTIVE
    assert controller.arm.positions == list(HOME)


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('x = 1\n', 'no def'),
        ('def a():\n  x = 1\n', 'no end'),
        ('def a():\n  x = = 1\nend\n', 'cannot be read'),
        ('def a():\n  x = ().__class__\nend\n', 'Attribute'),
        ('def a():\n  __import__("os")\nend\n', 'name'),
        ('def a():\n  x = [y for y in [1]]\nend\n', 'ListComp'),
        ('def a():\nend\nx = 1\n', 'left over'),
    ],
)
def test_what_is_no_program_is_not_run(text, words):
    with pytest.raises(ScriptError, match=words):
        Script(text, {}, set())


@pytest.mark.parametrize(
    ('body', 'words'),
    [
        ('while True:\nx = 1\nend', 'takes no time'),
        ('nonsense()', 'nonsense'),
        ('servoj([0, 0], 0, 0, 0.002, 0.1, 300)', 'zip'),
        ('servoj([0, 0, 0, 0, 0, 0], 0, 0, 0.002, 0.1, 5000)', 'out of range'),
        ('x = 1 / 0', 'division'),
    ],
)
def test_a_program_that_fails_ends(body, words):
    controller = Controller(E_SERIES)
    controller.start(f'def a():\n{body}\nend\n')
    assert controller.runtime_state == PLAYING
    controller.cycle()
    controller.cycle()
    assert controller.runtime_state == STOPPED
    assert words in controller.errors[0]


def test_threads_functions_and_loops_run_as_they_should():
    controller = Controller(E_SERIES)
    controller.start(
        'def main():  # a comment\n'
        '  global total = 0\n'
        '  def double(x, by=2):\n'
        '    return x * by\n'
        '  end\n'
        '  thread counter():\n'
        '    while total < 10:\n'
        '      total = total + double(1)\n'
        '      sync()\n'
        '    end\n'
        '  end\n'
        '  handle = run counter()\n'
        '  join handle\n'
        '  if total == 10 and not False:\n'
        '    write_output_integer_register(0, total)\n'
        '  elif total > 10:\n'
        '    write_output_integer_register(0, -1)\n'
        '  else:\n'
        '    write_output_integer_register(0, -2)\n'
        '  end\n'
        'end\n'
    )
    for _ in range(12):
        controller.cycle()
    assert controller.output_ints[0] == 10
    assert controller.runtime_state == STOPPED


def test_a_program_is_complete_with_its_last_end():
    whole = 'def a():\n  while True:\n    sync()\n  end\nend\n'
    assert is_complete(whole)
    assert not any(is_complete(whole[:cut]) for cut in range(len(whole)))
