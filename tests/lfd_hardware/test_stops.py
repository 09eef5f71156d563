"""No command ever passes a limit or jumps, whatever the trajectory is and whatever happens to it; stops are smooth."""

import numpy as np
import pytest

from lfd_hardware.description import JointLimit
from lfd_hardware.follower import TrajectoryFollower
from lfd_hardware.limits import braking
from lfd_hardware.spline import Spline
from lfd_hardware.tolerances import StateTolerance, Tolerances
from lfd_hardware.trajectory import RawPoint, TrajectoryRefused, read_waypoints

PERIOD = 0.002  # [s]
LIMITS = (
    JointLimit('a', -2.0, 2.0, 2.0),
    JointLimit('b', -1.0, 1.0, 1.0, acceleration=3.0),
    JointLimit('c', velocity=1.5, continuous=True),
)
NAMES = [limit.joint for limit in LIMITS]
LOWER = np.array([limit.lower for limit in LIMITS])
UPPER = np.array([limit.upper for limit in LIMITS])
VELOCITY = np.array([limit.velocity for limit in LIMITS])
BRAKING = np.array([braking(limit) for limit in LIMITS])
NO_TOLERANCES = Tolerances(StateTolerance(np.zeros(3), np.zeros(3)), StateTolerance(np.zeros(3), np.zeros(3)))


class Arm:
    """A follower, and everything that it commanded."""

    def __init__(self, *positions):
        self.follower = TrajectoryFollower(LIMITS, PERIOD)
        self.follower.hold(np.array(positions, dtype=float))
        self.commands = [self.follower.commanded.positions] * 2

    def start(self, *points, delay=0.0, names=NAMES):
        waypoints = read_waypoints(NAMES, names, points, allow_final_velocity=True, allow_partial=True)
        self.follower.start(self.follower.prepare(waypoints), delay, NO_TOLERANCES)

    def cycle(self, count=1):
        for _ in range(count):
            self.commands.append(self.follower.update(self.commands[-1], None).desired.positions)

    def rest(self):
        for _ in range(5000):
            if self.follower.at_rest:
                self.cycle(2)
                return
            self.cycle()
        raise AssertionError('no rest')

    def stop(self):
        """Stop and come to rest; return the commands, from the two before the stop on."""
        first = len(self.commands) - 2
        self.follower.stop()
        self.rest()
        return np.array(self.commands[first:])


def accelerations(commands):
    return np.diff(commands, n=2, axis=0) / PERIOD**2


def smooth(*rows, first=0.5):
    """Points through which a cubic goes without steps of velocity; rows are (positions, velocities)."""
    return [RawPoint(first + 0.7 * i, *row) for i, row in enumerate(rows)]


CURVE = smooth(
    ([0.3, 0.1, -0.2], [0.8, 0.3, -0.5]),
    ([0.9, 0.3, -0.5], [0.6, 0.2, -0.3]),
    ([1.2, 0.2, -0.6], [0.0, 0.0, 0.0]),
)


@pytest.mark.parametrize('after', [1, 60, 240, 251, 400, 520, 700, 940])
def test_a_stop_is_on_the_path_and_within_the_accelerations(after):
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(*CURVE)
    arm.cycle(after)
    speed = np.abs(np.subtract(arm.commands[-1], arm.commands[-2])) / PERIOD
    commands = arm.stop()
    own = np.abs(accelerations(np.array(path_of(CURVE)))).max(axis=0)  # where it is steeper, it is by itself
    assert (np.abs(accelerations(commands)) <= np.maximum(BRAKING, own) * 1.03).all()
    fine = path_of(CURVE, fine=True)
    for command in commands:
        assert np.abs(fine - command).max(axis=1).min() < 1e-3
    assert (np.diff(commands[-3:], axis=0) == 0.0).all()
    assert len(commands) * PERIOD < 2.0 * (speed / BRAKING).max() + 0.05


def path_of(points, fine=False):
    """The commands of an undisturbed motion from zero, or the same path more finely."""
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(*points)
    if fine:
        return along(arm.follower._run.path, 3000)
    while not arm.follower.at_rest:
        arm.cycle()
    return arm.commands


def along(path, count):
    """Positions (count, joints) [rad] evenly spread over a path's time."""
    return np.array([path.at(time).positions for time in np.linspace(0.0, path.duration, count)])


def test_a_stop_at_full_speed_takes_the_time_that_the_accelerations_need():
    arm = Arm(-1.9, 0.0, 0.0)
    arm.start(RawPoint(1.9, [1.9, 0.0, 0.0]))
    arm.cycle(300)
    commands = arm.stop()
    assert len(commands) * PERIOD == pytest.approx(0.4, abs=0.03)
    assert commands[-1][0] - commands[1][0] == pytest.approx(2.0 * 0.4 / 2.0, rel=0.02)


def test_a_stop_after_the_end_or_without_a_motion_is_none():
    arm = Arm(0.1, 0.2, 0.3)
    assert (arm.stop() == [0.1, 0.2, 0.3]).all()


def test_a_new_motion_takes_over_from_a_stop():
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(*CURVE)
    arm.cycle(400)
    arm.follower.stop()
    arm.cycle(20)
    assert not arm.follower.at_rest
    assert not arm.follower.moving
    before = np.subtract(arm.commands[-1], arm.commands[-2])
    arm.start(RawPoint(1.5, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
    arm.cycle()
    assert np.abs(np.subtract(arm.commands[-1], arm.commands[-2]) - before).max() < 5.0 * PERIOD**2 * 4
    while arm.follower.moving:
        arm.cycle()
    np.testing.assert_allclose(arm.commands[-1], 0.0, atol=1e-9)


def test_half_the_speed_takes_twice_the_time_on_the_same_path():
    arm = Arm(0.0, 0.0, 0.0)
    arm.follower.scale(0.5)
    arm.start(*CURVE)
    arm.cycle(round(CURVE[-1].time / PERIOD))
    assert arm.follower.pace == pytest.approx(0.5)
    halfway = path_of(CURVE)[len(arm.commands) // 2]
    np.testing.assert_allclose(arm.commands[-1], halfway, atol=5e-3)
    while arm.follower.moving:
        arm.cycle()
    assert len(arm.commands) * PERIOD == pytest.approx(2.0 * CURVE[-1].time, rel=0.01)
    np.testing.assert_allclose(arm.commands[-1], CURVE[-1].positions, atol=1e-9)


def test_a_pause_comes_to_rest_on_the_path_and_goes_on_smoothly():
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(*CURVE)
    arm.cycle(300)
    arm.follower.scale(0.0)
    arm.cycle(600)
    assert arm.follower.moving
    np.testing.assert_array_equal(arm.commands[-1], arm.commands[-2])
    arm.follower.scale(1.0)
    while arm.follower.moving:
        arm.cycle()
    np.testing.assert_allclose(arm.commands[-1], CURVE[-1].positions, atol=1e-9)
    own = np.abs(accelerations(np.array(path_of(CURVE)))).max(axis=0)
    assert (np.abs(accelerations(np.array(arm.commands))) <= np.maximum(BRAKING, own) * 1.03).all()


def test_joints_that_a_trajectory_leaves_out_stay_put():
    arm = Arm(0.2, 0.5, 0.7)
    arm.start(RawPoint(1.0, [0.0], [0.0]), names=['b'])
    arm.rest()
    np.testing.assert_allclose(arm.commands[-1], [0.2, 0.0, 0.7], atol=1e-12)
    assert np.abs(np.array(arm.commands)[:, [0, 2]] - [0.2, 0.7]).max() < 1e-12


def test_joints_that_a_trajectory_leaves_out_come_to_rest_first():
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(RawPoint(2.0, [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]))
    arm.cycle(500)
    at = arm.commands[-1]
    arm.start(RawPoint(1.0, [0.0], [0.0]), names=['b'])
    arm.rest()
    assert at[0] < arm.commands[-1][0] < at[0] + 0.2
    assert arm.commands[-1][1] == pytest.approx(0.0)


def test_a_trajectory_that_ends_in_motion_is_braked_straight_on():
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(RawPoint(1.0, [0.4, 0.2, 0.0], [0.6, 0.3, 0.0]))
    while arm.follower.moving:
        arm.cycle()
    first = len(arm.commands) - 5
    arm.rest()
    commands = np.array(arm.commands[first:])
    assert (np.abs(accelerations(commands)) <= BRAKING * 1.03).all()
    assert commands[-1][0] > 0.42
    assert commands[-1][1] / commands[-1][0] == pytest.approx(0.5, abs=1e-3)


def test_braking_straight_on_stops_at_the_position_limit():
    arm = Arm(0.0, 0.0, 0.0)
    arm.start(RawPoint(1.5, [1.99, 0.0, 0.0], [1.9, 0.0, 0.0]))
    while not arm.follower.at_rest:
        arm.cycle()
    assert np.max(arm.commands, axis=0)[0] <= 2.0


def test_an_arm_outside_of_its_limits_can_come_back_but_not_go_on():
    arm = Arm(2.05, 0.0, 0.0)
    with pytest.raises(TrajectoryRefused, match=r"'a' would be at 2\.1"):
        arm.start(RawPoint(1.0, [2.1, 0.0, 0.0]))
    arm.start(RawPoint(1.0, [1.5, 0.0, 0.0], [0.0, 0.0, 0.0]))
    arm.rest()
    assert np.max(arm.commands, axis=0)[0] == 2.05
    assert arm.commands[-1][0] == pytest.approx(1.5)


def hostile_number(rng, scale):
    kind = rng.integers(12)
    if kind == 0:
        return float(rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 5e-324]))
    if kind == 1:
        return float(rng.normal() * 1e6)
    return float(rng.uniform(-scale, scale))


def hostile_points(rng, at):
    """Points that a client could mean, often at the limits; sometimes nonsense."""
    count = int(rng.integers(1, 6))
    likely = rng.random() < 0.6
    choices = [0.3, 0.6, 1.0, 2.0] if likely else [0.0, 1e-9, 1e-4, 0.002, 0.02, 0.3, 1.0, 3.0]
    gaps = rng.choice(choices, count)
    times = np.cumsum(gaps) if likely or rng.random() < 0.95 else gaps
    wild = not likely and rng.random() < 0.5
    kind = rng.integers(3)
    points = []
    for time, gap in zip(times, gaps, strict=True):
        reach = rng.uniform(-0.5, 0.5, 3) * VELOCITY * (gap if likely else rng.choice([0.1, 1.0, 3.0]))
        at = np.clip(at + reach, np.maximum(LOWER, -50.0), np.minimum(UPPER, 50.0)) if likely else at + reach
        positions, velocities = at.tolist(), (rng.uniform(-0.3, 0.3, 3) * rng.choice([0.0, 1.0])).tolist()
        if wild:
            positions[int(rng.integers(3))] = hostile_number(rng, 2.0)
            velocities[int(rng.integers(3))] = hostile_number(rng, 2.0)
        push = (rng.normal(size=3) * 0.5).tolist()
        points.append(RawPoint(float(time), positions, velocities if kind else (), push if kind == 2 else ()))
    return points


@pytest.mark.parametrize('seed', range(24))
def test_no_command_ever_passes_a_limit_or_jumps(seed):
    """Random trajectories and nonsense; each started, replaced, stopped, paused, scaled at any time."""
    rng = np.random.default_rng(seed)
    arm = Arm(0.0, 0.0, 0.0)
    accepted = 0
    for _ in range(40):
        event = rng.random()
        if event < 0.65:
            try:
                names = NAMES if rng.random() < 0.8 else list(rng.permutation(NAMES)[: int(rng.integers(1, 4))])
                points = [
                    RawPoint(p.time, *(values[: len(names)] for values in (p.positions, p.velocities, p.accelerations)))
                    for p in hostile_points(rng, arm.commands[-1])
                ]
                arm.start(*points, delay=float(rng.choice([0.0, 0.0, 0.3, -0.05, -0.5])), names=names)
                accepted += 1
            except TrajectoryRefused:
                pass
        elif event < 0.8:
            arm.follower.stop()
        else:
            arm.follower.scale(float(rng.choice([0.0, 0.1, 0.5, 1.0, 1.0])))
        arm.cycle(int(rng.integers(1, 200)))
    commands = np.array(arm.commands)
    assert accepted > 4
    assert np.isfinite(commands).all()
    assert (commands >= LOWER - 1e-5).all()
    assert (commands <= UPPER + 1e-5).all()
    assert (np.abs(np.diff(commands, axis=0)) <= VELOCITY * PERIOD * (1 + 2e-4) + 1e-9).all()


def gentle_points(rng, at):
    """A trajectory without steps of velocity whose accelerations are within the limits."""
    count = int(rng.integers(1, 5))
    span = float(rng.uniform(0.6, 1.5))
    positions, velocities = at.copy(), np.zeros(3)
    rows = []
    for i in range(count):
        last = i == count - 1
        change = rng.uniform(-1.0, 1.0, 3) * BRAKING * span**2 / 40.0
        positions = np.clip(positions + change, LOWER * 0.9, np.minimum(UPPER * 0.9, 50.0))
        velocities = np.zeros(3) if last else rng.uniform(-1.0, 1.0, 3) * BRAKING * span / 40.0
        rows.append(RawPoint(span * (i + 1), positions.tolist(), velocities.tolist()))
    return rows


@pytest.mark.parametrize('seed', range(12))
def test_every_stop_of_a_gentle_motion_is_within_the_accelerations_and_on_its_path(seed):
    rng = np.random.default_rng(1000 + seed)
    arm = Arm(*rng.uniform(-0.5, 0.5, 3))
    for _ in range(8):
        arm.start(*gentle_points(rng, arm.commands[-1]))
        path = arm.follower._run.path
        fine = along(path, 1000)
        peak = np.abs(np.diff(fine, n=2, axis=0)).max(axis=0) / (path.duration / 999) ** 2
        assert (peak <= BRAKING).all(), 'the test is to be about gentle motions'
        arm.cycle(int(rng.integers(1, int(path.duration / PERIOD))))
        if rng.random() < 0.3:
            arm.follower.scale(float(rng.uniform(0.1, 1.0)))
            arm.cycle(int(rng.integers(1, 100)))
        commands = arm.stop()
        arm.follower.scale(1.0)
        assert (np.abs(accelerations(commands)) <= BRAKING * 1.021).all()
        for command in commands[2::20]:
            assert np.abs(fine - command).max(axis=1).min() < 4e-3


def test_the_quick_sample_of_a_spline_is_the_slow_one():
    rng = np.random.default_rng(5)
    points = [RawPoint(float(t), *rng.normal(size=(3, 3)).tolist()) for t in (0.1, 0.5, 0.9, 2.0)]
    spline = Spline.through(read_waypoints(NAMES, NAMES, points, allow_final_velocity=True))
    for time in (-1.0, 0.1, 0.3, 0.5, 0.7, 1.999, 2.0, 2.1):
        slow, quick = spline.sample(time), spline.at(time)
        np.testing.assert_allclose(quick.positions, slow.positions, atol=1e-12)
        np.testing.assert_allclose(quick.velocities, slow.velocities, atol=1e-9)
        np.testing.assert_allclose(quick.accelerations, slow.accelerations, atol=1e-7)
