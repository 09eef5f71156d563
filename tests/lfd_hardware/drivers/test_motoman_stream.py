"""The stream of points: a constant small delay, no jump, no overshoot, and the exact last command at rest."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from lfd_hardware.drivers.motoman.stream import CommandClock, PointStream, StreamPoint

POINT_PERIOD, LEAD = 0.04, 0.12  # [s]
FASTEST = np.array([3.0, 2.0])  # [rad/s]
START = np.array([0.3, -0.5])  # [rad]


@dataclass
class Played:
    """What a controller would play, on the test's own clock."""

    times: list[float] = field(default_factory=list)  # [s] when a point is reached
    points: list[StreamPoint] = field(default_factory=list)
    until: float = 0.0  # [s]

    def take(self, now: float, point: StreamPoint) -> None:
        self.until = max(self.until, now) + point.step / 1000.0
        self.times.append(self.until)
        self.points.append(point)

    def at(self, time: float) -> np.ndarray:
        """Where the arm is [rad]: cubics between points, standing still where there are none."""
        index = int(np.searchsorted(self.times, time))
        if index == 0:
            return self.points[0].positions
        if index == len(self.times):
            return self.points[-1].positions
        first, last = self.points[index - 1], self.points[index]
        span = last.step / 1000.0
        u = 1.0 if span == 0.0 else max(0.0, 1.0 - (self.times[index] - time) / span)
        h00, h10, h01, h11 = 2 * u**3 - 3 * u**2 + 1, u**3 - 2 * u**2 + u, 3 * u**2 - 2 * u**3, u**3 - u**2
        return (
            h00 * first.positions + h10 * span * first.velocities + h01 * last.positions + h11 * span * last.velocities
        )


def play(stream: PointStream, commands, period: float, jitter=lambda: 0.0, tail: float = 1.0) -> tuple[Played, list]:
    """Feed a command per period, with jitter [s], and look for points every 5 ms of simulated time."""
    played, given, now, next_look = Played(), [], 100.0, 100.0
    for number in range(len(commands) + int(tail / period)):
        index = min(number, len(commands) - 1)
        arrival = max(now, 100.0 + number * period + jitter())
        while next_look < arrival:
            now = next_look
            while (point := stream.due(now)) is not None:
                stream.sent(now)
                played.take(now, point)
            next_look += 0.005
        now = arrival
        stream.add(now, commands[index], period)
        given.append((now, commands[index]))
    return played, given


def smooth(way: np.ndarray, duration: float, period: float) -> list[np.ndarray]:
    """A rest-to-rest motion by ``way`` [rad] in ``duration`` [s], one position per period."""
    u = np.clip(np.arange(-0.2, duration + period, period) / duration, 0.0, 1.0)[:, None]
    return list(START + way * (10 * u**3 - 15 * u**4 + 6 * u**5))


def make(lead: float = LEAD) -> PointStream:
    return PointStream(START, FASTEST, POINT_PERIOD, lead)


@pytest.mark.parametrize('period', [0.002, 0.004, 0.008, 0.02])
def test_the_arm_does_what_was_commanded_later_by_the_lead(period):
    played, given = play(make(), smooth(np.array([1.5, -0.8]), 2.0, period), period)
    arrivals = np.array([when for when, _ in given])
    wanted = np.array([position for _, position in given])
    times = np.arange(arrivals[0] + LEAD, played.times[-1], 0.004)
    commanded = np.column_stack([np.interp(times - LEAD, arrivals, wanted[:, joint]) for joint in range(2)])
    actual = np.array([played.at(time) for time in times])
    assert np.abs(actual - commanded).max() < 0.012  # the clock of 5 ms at 1.4 rad/s, and cubics
    assert played.points[-1].positions.tolist() == wanted[-1].tolist()
    assert not played.points[-1].velocities.any()


def test_a_trajectory_begins_where_the_arm_is_and_counts_up():
    stream = make()
    played, _ = play(stream, smooth(np.array([1.0, 0.5]), 1.0, 0.002), 0.002)
    first = played.points[0]
    assert (first.sequence, first.time, first.positions.tolist()) == (0, 0, START.tolist())
    assert [point.sequence for point in played.points] == list(range(len(played.points)))
    assert all(b.time - a.time == b.step > 0 for a, b in zip(played.points, played.points[1:], strict=False))
    assert stream.at_rest
    assert stream.starved == 0


def test_nothing_is_sent_while_nothing_moves():
    stream = make()
    played, _ = play(stream, [START] * 500, 0.002)
    assert played.points == []
    assert stream.at_rest


def test_a_motion_after_a_rest_is_a_new_trajectory_and_one_soon_after_is_not():
    there = smooth(np.array([0.4, 0.2]), 0.6, 0.002)
    back = [2 * START + np.array([0.4, 0.2]) - p for p in there]
    soon, _ = play(make(), there + back, 0.002)
    late, _ = play(make(), there + [there[-1]] * 500 + back, 0.002)
    assert [point.sequence for point in soon.points].count(0) == 1
    assert [point.sequence for point in late.points].count(0) == 2
    for played in (soon, late):
        assert played.points[-1].positions == pytest.approx(START)


@pytest.mark.parametrize('seed', range(25))
def test_whatever_is_commanded_within_the_limits_no_point_jumps_and_the_end_is_exact(seed):
    chance = np.random.default_rng(seed)
    period = float(chance.choice([0.002, 0.004, 0.008]))
    position, speed, commands = START.copy(), np.zeros(2), []
    for _ in range(int(2.0 / period)):
        if chance.random() < 0.01:  # a controller's stop is at once
            speed = np.zeros(2)
        speed = np.clip(speed + chance.normal(0.0, 20.0, 2) * period, -FASTEST, FASTEST)
        position = position + speed * period
        commands.append(position)
    jitter = random.Random(seed)
    played, _ = play(make(), commands, period, lambda: jitter.expovariate(2000.0))
    positions = np.array([point.positions for point in played.points])
    steps = np.array([point.step / 1000.0 for point in played.points])
    speeds = np.abs(np.diff(positions, axis=0)) / np.maximum(steps[1:, None], 1e-9)
    assert np.all(speeds <= FASTEST * 1.12)  # the commands' clock may run five percent off
    assert all(np.all(np.abs(point.velocities) <= FASTEST) for point in played.points)
    assert played.points[-1].positions.tolist() == commands[-1].tolist()
    assert not played.points[-1].velocities.any()
    low, high = np.min(commands, axis=0), np.max(commands, axis=0)
    arm = np.array([played.at(time) for time in np.arange(100.0, played.times[-1] + 0.1, 0.004)])
    assert np.all(arm >= np.minimum(low, START) - 0.012)
    assert np.all(arm <= np.maximum(high, START) + 0.012)


@pytest.mark.parametrize('seed', range(10))
def test_the_buffer_neither_runs_dry_nor_grows_with_ordinary_jitter(seed):
    chance = random.Random(seed)
    stream = make()
    period = 0.002
    fullest = 0.0
    commands = smooth(np.array([2.0, 1.0]), 3.0, period)
    played = Played()
    now, next_look = 100.0, 100.0
    for number, command in enumerate(commands):
        now = max(now, 100.0 + number * period + (0.03 if chance.random() < 0.002 else chance.expovariate(3000.0)))
        while next_look < now:
            while (point := stream.due(next_look)) is not None:
                stream.sent(next_look)
                played.take(next_look, point)
                fullest = max(fullest, played.until - next_look)
            next_look += 0.005
        stream.add(now, command, period)
    assert stream.starved == 0
    assert fullest <= LEAD + POINT_PERIOD
    assert abs(stream.delay - LEAD) < 0.05


@pytest.mark.parametrize('speed', [0.1, 1.0, 3.0])
def test_when_commands_cease_on_the_way_the_arm_comes_to_rest_at_the_last_one_and_not_beyond(speed):
    stream = make()
    commands = [START + np.array([speed, -speed / 2]) * 0.002 * n for n in range(300)]
    played, now = Played(), 100.0
    for number, command in enumerate(commands):
        now = 100.0 + number * 0.002
        stream.add(now, command, 0.002)
        while number % 3 == 0 and (point := stream.due(now)) is not None:
            stream.sent(now)
            played.take(now, point)
    for _ in range(100):
        now += 0.005
        while (point := stream.due(now)) is not None:
            stream.sent(now)
            played.take(now, point)
    assert stream.starved == 0
    assert played.points[-1].positions.tolist() == commands[-1].tolist()
    assert not played.points[-1].velocities.any()
    arm = np.array([played.at(time) for time in np.arange(100.0, now, 0.002)])
    assert arm[:, 0].max() <= commands[-1][0] + 1e-9
    assert arm[:, 1].min() >= commands[-1][1] - 1e-9


def test_commands_that_come_again_after_a_pause_are_followed_from_where_the_arm_rests():
    stream = make()
    way = [START + np.array([1.0, 0.5]) * 0.002 * n for n in range(600)]
    played, now = Played(), 100.0
    for number, command in enumerate(way):
        now += 0.25 if number == 300 else 0.002
        for look in np.arange(now - (0.25 if number == 300 else 0.002), now, 0.005):
            while (point := stream.due(float(look))) is not None:
                stream.sent(float(look))
                played.take(float(look), point)
        stream.add(now, command, 0.002)
    for look in np.arange(now, now + 1.0, 0.005):
        while (point := stream.due(float(look))) is not None:
            stream.sent(float(look))
            played.take(float(look), point)
    assert played.points[-1].positions.tolist() == way[-1].tolist()
    arm = np.array([played.at(time) for time in np.arange(100.0, now + 1.0, 0.002)])
    assert np.abs(np.diff(arm, axis=0)).max() <= 0.002 * 3.0


def test_the_clock_of_commands_swallows_late_cycles_and_starts_anew_after_a_pause():
    clock = CommandClock(0.02)
    chance = random.Random(6)
    stamps = [clock.stamp(10.0 + n * 0.002 + chance.uniform(0.0, 0.004), 0.002) for n in range(1000)]
    steps = np.diff(stamps)
    assert steps.min() >= 0.0019 - 1e-9
    assert steps.max() <= 0.0021 + 1e-9
    assert clock.stamp(20.0, 0.002) == 20.0
