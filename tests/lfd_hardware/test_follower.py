import numpy as np
import pytest

from lfd_hardware.description import JointLimit
from lfd_hardware.follower import TrajectoryFollower
from lfd_hardware.tolerances import JointTolerance, StateTolerance, Tolerances, adapt
from lfd_hardware.trajectory import ErrorCode, RawPoint, TrajectoryRefused, read_waypoints

PERIOD = 0.008  # [s]
LIMITS = (JointLimit('a', -2.0, 2.0, 2.0), JointLimit('b', -1.0, 1.0, 1.0))
NAMES = ['a', 'b']


def tolerances(path=0.0, goal=0.0, goal_time=0.0):
    return Tolerances(
        StateTolerance(np.full(2, path), np.zeros(2)), StateTolerance(np.full(2, goal), np.zeros(2)), goal_time
    )


def follower_at(*positions):
    follower = TrajectoryFollower(LIMITS, PERIOD)
    follower.hold(np.array(positions, dtype=float))
    return follower


def start(follower, *points, delay=0.0, using=None):
    waypoints = read_waypoints(NAMES, NAMES, points, allow_final_velocity=True)
    follower.start(follower.prepare(waypoints), delay, using or tolerances())


def run(follower, offset=0.0, cycles=2000):
    """Follow to the end on hardware that does what it is told one cycle later; return commands and outcome."""
    commands, actual = [follower.commanded.positions], follower.commanded.positions
    for _ in range(cycles):
        progress = follower.update(actual + offset, None)
        commands.append(progress.desired.positions)
        actual = progress.desired.positions
        if progress.outcome is not None:
            return np.array(commands), progress.outcome
    raise AssertionError('the motion did not end')


def come_to_rest(follower, *commands):
    """Follow until the command stands still; return these commands and the ones that followed [rad]."""
    commands = list(commands)
    for _ in range(2000):
        if follower.at_rest:
            return np.array(commands)
        commands.append(follower.update(commands[-1], None).desired.positions)
    raise AssertionError('no rest')


def test_starts_at_the_commanded_state_and_ends_at_the_last_point():
    follower = follower_at(0.5, -0.5)
    start(follower, RawPoint(1.0, [1.0, 0.0], [0.0, 0.0]))
    commands, outcome = run(follower)
    assert outcome.code is ErrorCode.SUCCESSFUL
    np.testing.assert_allclose(commands[-1], [1.0, 0.0], atol=1e-12)
    assert np.abs(commands[1] - commands[0]).max() < 1e-3
    assert not follower.moving


def test_holds_when_nothing_is_asked():
    follower = follower_at(0.3, 0.4)
    np.testing.assert_array_equal(follower.update(np.zeros(2), None).desired.positions, [0.3, 0.4])


@pytest.mark.parametrize('seed', range(12))
def test_no_cycle_moves_farther_than_the_velocity_limit_allows(seed):
    """Random goals, one after the other, each replacing the last one in mid-motion; a goal may also be refused."""
    rng = np.random.default_rng(seed)
    follower = follower_at(0.0, 0.0)
    commands = [follower.commanded.positions]
    accepted = 0
    for _ in range(40):
        count = int(rng.integers(1, 4))
        times = np.cumsum(rng.uniform(0.5, 2.5, count))
        with_velocity = rng.random() < 0.5
        points = [
            RawPoint(
                t,
                rng.uniform([-2.1, -1.05], [2.1, 1.05]).tolist(),
                (rng.normal(size=2) * 0.3).tolist() if with_velocity else (),
            )
            for t in times
        ]
        try:
            start(follower, *points, delay=float(rng.choice([0.0, 0.1, -0.05])))
            accepted += 1
        except TrajectoryRefused:
            pass
        for _ in range(int(rng.integers(1, 150))):
            commands.append(follower.update(commands[-1], None).desired.positions)
    steps = np.abs(np.diff(np.array(commands), axis=0))
    limit = np.array([joint.velocity for joint in LIMITS]) * PERIOD
    assert accepted > 5
    assert (steps <= limit * (1 + 1e-3)).all()
    assert (np.abs(commands) <= np.array([joint.upper for joint in LIMITS]) + 1e-5).all()


@pytest.mark.parametrize(
    ('points', 'words'),
    [
        ([RawPoint(2.0, [2.5, 0.0])], "'a' would be at 2.5000 .* -2.0000 to 2.0000"),
        ([RawPoint(2.0, [0.0, 0.0]), RawPoint(3.0, [0.0, 1.5])], "'b' would be at 1.5000"),
        ([RawPoint(0.5, [1.5, 0.0])], "'a' would move at 3.0000 .* limit of 2.0000"),
        ([RawPoint(1.0, [0.0, 0.0]), RawPoint(1.5, [0.0, -0.9])], "'b' would move at -1.8000"),
        # Both ends are within the limits, but the cubic between them swings out.
        ([RawPoint(1.0, [1.9, 0.0], [1.5, 0.0]), RawPoint(2.0, [1.9, 0.0], [-1.5, 0.0])], "'a' would be at 2.27"),
        # The usual first point at time zero, but somewhere else.
        ([RawPoint(0.0, [1.0, 0.0]), RawPoint(2.0, [1.5, 0.0])], "begins with joint 'a' at 1.0000"),
        ([RawPoint(0.0, [1.0, 0.0])], "'a' would move at 125"),
    ],
)
def test_leaving_the_limits_is_refused_and_the_motion_goes_on(points, words):
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(4.0, [1.9, 0.0]))
    with pytest.raises(TrajectoryRefused, match=words) as refusal:
        start(follower, *points)
    assert refusal.value.code is ErrorCode.INVALID_GOAL
    assert run(follower)[0][-1][0] == pytest.approx(1.9)


def test_a_first_point_at_time_zero_that_is_the_present_state_is_followed_as_planned():
    follower = follower_at(0.5, 0.0)
    acceleration = [[1.0, 0.0], [-1.0, 0.0]]
    start(
        follower,
        RawPoint(0.0, [0.5, 0.0], [0.0, 0.0], acceleration[0]),
        RawPoint(1.0, [0.75, 0.0], [0.0, 0.0], acceleration[1]),
    )
    follower.update(np.zeros(2), None)
    assert follower.commanded.accelerations[0] == pytest.approx(1.0, abs=0.1)


def test_a_start_in_the_future_waits_for_it():
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(0.0, [0.0, 0.0]), RawPoint(1.0, [1.0, 0.0]), delay=0.5)
    commands, _ = run(follower)
    moved = int(np.argmax(commands[:, 0] > 1e-9))
    assert moved == pytest.approx(0.5 / PERIOD, abs=1.5)


def test_a_start_in_the_past_leaves_out_what_is_over():
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(0.0, [0.0, 0.0]), RawPoint(1.0, [0.1, 0.0]), RawPoint(2.0, [1.0, 0.0]), delay=-0.5)
    commands, outcome = run(follower)
    assert outcome.code is ErrorCode.SUCCESSFUL
    assert len(commands) == pytest.approx(1.5 / PERIOD, abs=3)


def test_path_tolerance():
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(1.0, [1.0, 0.0]), using=tolerances(path=0.05))
    commands, outcome = run(follower, offset=0.1)
    assert outcome.code is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "position error of joint 'a'" in outcome.message
    braking = come_to_rest(follower, commands[-1])
    assert 0.0 < braking[-1][0] < 0.2


def test_goal_tolerance_and_its_time():
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(1.0, [1.0, 0.0]), using=tolerances(goal=0.05, goal_time=0.5))
    commands, outcome = run(follower, offset=0.1)
    assert outcome.code is ErrorCode.GOAL_TOLERANCE_VIOLATED
    assert len(commands) == pytest.approx(1.5 / PERIOD, abs=3)


def turner_at(position):
    follower = TrajectoryFollower([JointLimit('a', velocity=2.0, continuous=True)], PERIOD)
    follower.hold(np.array([position]))
    return follower


def test_continuous_joints_are_compared_around_the_circle():
    error = turner_at(3.1).update(np.array([3.1 - 2 * np.pi]), None).position_error
    np.testing.assert_allclose(error, 0.0, atol=1e-12)


@pytest.mark.parametrize('turns', [-3, -1, 0, 1, 2])
@pytest.mark.parametrize('first', [[], [RawPoint(0.0, [3.1])]], ids=['goal only', 'from the present state'])
def test_continuous_joints_follow_a_plan_in_the_turn_in_which_they_are(turns, first):
    follower = turner_at(3.1 + turns * 2 * np.pi)
    none = StateTolerance(np.zeros(1), np.zeros(1))
    waypoints = read_waypoints(['a'], ['a'], [*first, RawPoint(0.5, [3.4]), RawPoint(1.0, [3.7])])
    follower.start(follower.prepare(waypoints), 0.0, Tolerances(none, none))
    commands, outcome = run(follower)
    assert outcome.code is ErrorCode.SUCCESSFUL
    np.testing.assert_allclose(commands[-1], 3.7 + turns * 2 * np.pi, atol=1e-9)
    assert np.abs(np.diff(commands, axis=0)).max() <= 2.0 * PERIOD


def test_a_continuous_joint_takes_the_short_way_to_a_first_point():
    follower = turner_at(3.1)
    none = StateTolerance(np.zeros(1), np.zeros(1))
    waypoints = read_waypoints(['a'], ['a'], [RawPoint(0.5, [-3.1])])
    follower.start(follower.prepare(waypoints), 0.0, Tolerances(none, none))
    np.testing.assert_allclose(run(follower)[0][-1], 2 * np.pi - 3.1, atol=1e-9)


def test_a_state_that_is_not_a_number_violates_every_tolerance():
    unknown = np.full(2, np.nan)
    follower = follower_at(0.0, 0.0)
    start(follower, RawPoint(1.0, [1.0, 0.0]), using=tolerances(path=0.05))
    assert follower.update(unknown, unknown).outcome.code is ErrorCode.PATH_TOLERANCE_VIOLATED
    start(follower, RawPoint(1.0, [1.0, 0.0]), using=tolerances(goal=0.05, goal_time=0.5))
    assert run(follower, offset=np.nan)[1].code is ErrorCode.GOAL_TOLERANCE_VIOLATED


@pytest.mark.parametrize(
    ('first', 'words'),
    [([], "'b' would be at nan"), ([RawPoint(0.0, [0.0, 0.0])], "begins with joint 'b' at 0.0000, .* is at nan")],
    ids=['goal only', 'from the present state'],
)
def test_nothing_starts_from_a_state_that_is_not_a_number(first, words):
    follower = follower_at(0.0, np.nan)
    with pytest.raises(TrajectoryRefused, match=words):
        start(follower, *first, RawPoint(1.0, [0.1, 0.1]))


def test_a_goal_can_change_keep_and_erase_tolerances():
    default = tolerances(path=0.1, goal=0.2, goal_time=0.5)
    changed = adapt(default, NAMES, [JointTolerance('b', 0.3, 0.0)], [JointTolerance('a', -1.0, 0.0)], -1.0)
    assert changed.path.positions.tolist() == [0.1, 0.3]
    assert changed.goal.positions.tolist() == [0.0, 0.2]
    assert changed.goal_time == 0.0
    assert default.path.positions.tolist() == [0.1, 0.1]


@pytest.mark.parametrize(('joint', 'position'), [('x', 0.1), ('a', -0.5), ('a', float('nan'))])
def test_nonsense_tolerances_are_refused(joint, position):
    with pytest.raises(TrajectoryRefused) as refusal:
        adapt(tolerances(), NAMES, [JointTolerance(joint, position, 0.0)], [], 0.0)
    assert refusal.value.code is ErrorCode.INVALID_GOAL
