import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, SpeedScalingFactor
from control_msgs.srv import QueryTrajectoryState
from controller_manager_msgs.srv import SwitchController
from rclpy.duration import Duration as RosDuration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")

RATE = 125  # [Hz]
JOINTS = ['shoulder', 'elbow']
LIMIT = np.array([2.0, 1.5])  # [rad]
VELOCITY = np.array([2.0, 1.0])  # [rad/s]
Result = FollowJointTrajectory.Result


def duration(seconds):
    nanoseconds = round(seconds * 1e9)
    return Duration(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def trajectory(*points, names=JOINTS, stamp=None):
    """Points are (time [s], positions [rad]) or (time, positions, velocities [rad/s])."""
    message = JointTrajectory(joint_names=names)
    message.header.stamp = stamp or Time()
    for time, positions, *rest in points:
        velocities = rest[0] if rest else []
        message.points.append(
            JointTrajectoryPoint(positions=positions, velocities=velocities, time_from_start=duration(time))
        )
    return message


def goal(*points, **options):
    return FollowJointTrajectory.Goal(trajectory=trajectory(*points, **options))


REST = [0.0, 0.0]


@pytest.fixture
def home(arm):
    """The arm, at rest at zero."""
    time = 2.0 * float(np.max(np.abs(arm.position()) / VELOCITY))
    if time > 0.0:
        answer = arm.finish(arm.send(goal((max(time, 0.1), REST, REST))))
        assert answer.result.error_code == Result.SUCCESSFUL
        arm.comes_to(*REST)
    return arm


def test_goal_is_executed_with_feedback_and_the_end_is_met(home):
    feedback = []
    handle = home.send(goal((0.3, [0.2, 0.1], [0.1, 0.1]), (0.8, [0.5, 0.3], REST)), feedback.append)
    answer = home.finish(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert answer.result.error_code == Result.SUCCESSFUL
    home.comes_to(0.5, 0.3)
    last = feedback[-1].feedback
    assert len(feedback) > 5
    assert list(last.joint_names) == JOINTS
    assert list(last.desired.positions) == pytest.approx([0.5, 0.3], abs=1e-9)
    assert list(last.error.positions) == pytest.approx(
        np.subtract(last.desired.positions, last.actual.positions).tolist()
    )


def test_joints_may_come_in_another_order(home):
    home.finish(home.send(goal((0.5, [-0.2, 0.4], REST), names=['elbow', 'shoulder'])))
    home.comes_to(0.4, -0.2)


def test_controller_state_tells_reference_and_feedback(home):
    home.controller_states.clear()
    home.eventually(lambda: home.controller_states, 'a controller state')
    state = home.controller_states[-1]
    assert list(state.joint_names) == JOINTS
    assert list(state.reference.positions) == pytest.approx(REST, abs=1e-9)
    assert list(state.feedback.positions) == pytest.approx(REST, abs=1e-7)


@pytest.mark.parametrize('seed', [1, 2, 3])
def test_successive_states_never_exceed_the_limits(home, seed):
    """Random goals, most of them replaced in mid-motion; whether one is refused or not, the arm never jumps."""
    rng = np.random.default_rng(seed)
    home.states.clear()
    for _ in range(6):
        count = int(rng.integers(1, 4))
        times = np.cumsum(rng.uniform(0.2, 0.8, count))
        positions = rng.uniform(-LIMIT * 0.5, LIMIT * 0.5, (count, 2))
        velocities = rng.uniform(-0.5, 0.5, (count, 2))
        velocities[-1] = 0.0
        points = [
            (t, p.tolist(), v.tolist()) if rng.random() < 0.7 else (t, p.tolist())
            for t, p, v in zip(times, positions, velocities, strict=True)
        ]
        handle = home.send(goal(*points))
        if rng.random() < 0.3:
            home.finish(handle)
        else:
            seen = len(home.states)
            home.eventually(lambda seen=seen: len(home.states) > seen + 30, 'some motion')
    positions = np.array([state.position for state in home.states])
    assert np.abs(positions[:, 0]).max() > 0.05
    assert (np.abs(positions) <= LIMIT + 1e-5).all()
    # The mock's velocity is the step of one cycle, so that a state which got lost on the way looks like no step at all.
    velocities = np.array([state.velocity for state in home.states])
    assert (np.abs(velocities) <= VELOCITY * (1 + 1e-3)).all()


def test_cancel_comes_to_rest_smoothly_and_holds(home):
    handle = home.send(goal((3.0, [1.5, -0.75], REST)))
    home.eventually(lambda: home.position()[0] > 0.4, 'some motion')
    home.states.clear()
    home.result(handle.cancel_goal_async())
    answer = home.finish(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert 'came to rest on the path' in answer.result.error_string
    home.eventually(lambda: abs(home.states[-1].velocity[0]) < 1e-6, 'rest')
    held = home.position()
    assert 0.4 < held[0] < 1.3
    assert held[1] == pytest.approx(-held[0] / 2.0, abs=1e-6)
    speeds = np.array([state.velocity for state in home.states])
    changes = np.abs(np.diff(speeds, axis=0)) * RATE  # [rad/s2], of an arm that only smooths what it is told
    assert (changes <= VELOCITY / 0.4 * 1.1).all()
    home.states.clear()
    home.eventually(lambda: len(home.states) > 50, 'more states')
    assert all(list(state.position) == pytest.approx(held, abs=1e-6) for state in home.states)


def test_newer_goal_replaces_the_running_one(home):
    first = home.send(goal((5.0, [1.5, 0.0], REST)))
    home.eventually(lambda: home.position()[0] > 0.05, 'some motion')
    second = home.send(goal((1.0, [0.0, 0.5], REST)))
    answer = home.finish(first)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'newer' in answer.result.error_string
    assert home.finish(second).result.error_code == Result.SUCCESSFUL
    home.comes_to(0.0, 0.5)


def test_a_newer_goal_wins_over_an_older_one_that_takes_long_to_prepare(home):
    long = goal(*((0.01 * i, [1e-4 * i, 0.0], REST) for i in range(1, 4001)))
    home.eventually(home.arm.server_is_ready, 'the action')
    futures = [home.arm.send_goal_async(message) for message in (long, goal((0.5, [0.0, 0.2], REST)))]
    older, newer = [home.result(future) for future in futures]
    assert home.finish(newer).result.error_code == Result.SUCCESSFUL
    answer = home.finish(older)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'newer trajectory' in answer.result.error_string
    home.comes_to(0.0, 0.2)


def test_topic_moves_the_arm_and_replaces_a_goal(home):
    home.eventually(lambda: home.trajectories.get_subscription_count() == 1, 'the subscription')
    first = home.send(goal((5.0, [1.5, 0.0], REST)))
    home.trajectories.publish(trajectory((0.8, [-0.3, 0.2], REST)))
    assert home.finish(first).status == GoalStatus.STATUS_ABORTED
    home.eventually(lambda: np.allclose(home.position(), [-0.3, 0.2], atol=1e-9), 'the end of the trajectory')


def changed(change):
    message = goal((1.0, [0.1, 0.1], REST))
    change(message)
    return message


INVALID = {
    'too few joints': (goal((1.0, [0.1]), names=['elbow']), Result.INVALID_JOINTS, 'shoulder missing'),
    'unknown joint': (goal((1.0, REST), names=['shoulder', 'wrist']), Result.INVALID_JOINTS, 'wrist unknown'),
    'no points': (goal(), Result.INVALID_GOAL, 'no points'),
    'times': (goal((1.0, REST), (0.5, REST)), Result.INVALID_GOAL, 'times must increase'),
    'size': (goal((1.0, [0.1])), Result.INVALID_GOAL, '1 positions for 2 joints'),
    'nan': (goal((1.0, [0.1, math.nan])), Result.INVALID_GOAL, "'elbow' has the value nan"),
    'final velocity': (goal((1.0, REST, [0.0, 0.2])), Result.INVALID_GOAL, "'elbow' still has 0.2"),
    'over': (goal((1.0, REST), stamp=Time(sec=1)), Result.OLD_HEADER_TIMESTAMP, 'ended'),
    'position limit': (goal((4.0, [2.5, 0.0], REST)), Result.INVALID_GOAL, "'shoulder' would be at 2.5000"),
    'velocity limit': (goal((0.5, [0.0, 1.0])), Result.INVALID_GOAL, "'elbow' would move at 2.0000"),
    'jump': (goal((0.0, [1.0, 0.0]), (1.0, [1.0, 0.0])), Result.INVALID_GOAL, 'present state'),
    'tolerance': (
        changed(lambda g: g.path_tolerance.append(JointTolerance(name='wrist', position=0.1))),
        Result.INVALID_GOAL,
        "'wrist'",
    ),
}


@pytest.mark.parametrize('name', INVALID)
def test_invalid_goal_ends_with_its_code_and_a_sentence(home, name):
    message, code, words = INVALID[name]
    answer = home.finish(home.send(message))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == code
    assert words in answer.result.error_string
    home.comes_to(*REST)


def test_invalid_goal_does_not_disturb_the_running_one(home):
    running = home.send(goal((1.0, [0.4, 0.0], REST)))
    assert home.finish(home.send(goal())).result.error_code == Result.INVALID_GOAL
    assert home.finish(running).result.error_code == Result.SUCCESSFUL


def test_path_tolerance_of_a_goal(home):
    message = goal((1.0, [1.0, 0.0]))  # at 1 rad/s the state is 0.008 rad behind the command
    message.path_tolerance.append(JointTolerance(name='shoulder', position=0.001))
    answer = home.finish(home.send(message))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == Result.PATH_TOLERANCE_VIOLATED
    assert "joint 'shoulder'" in answer.result.error_string


def test_start_time_in_the_past_skips_what_is_over(home):
    stamp = home.node.get_clock().now().to_msg()
    stamp.sec -= 100
    message = goal((0.0, REST), (100.0, REST), (101.5, [0.5, 0.0], REST), stamp=stamp)
    assert home.finish(home.send(message)).result.error_code == Result.SUCCESSFUL
    home.comes_to(0.5, 0.0)


def test_deactivation_aborts_the_goal_and_inactive_controllers_reject(home):
    running = home.send(goal((5.0, [1.5, 0.0], REST)))
    home.eventually(lambda: home.position()[0] > 0.05, 'some motion')
    strict = SwitchController.Request.STRICT
    assert home.call(
        SwitchController, 'switch_controller', deactivate_controllers=['arm_controller'], strictness=strict
    ).ok
    try:
        answer = home.finish(running)
        assert answer.status == GoalStatus.STATUS_ABORTED
        assert 'deactivated' in answer.result.error_string
        assert not home.send(goal((1.0, REST))).accepted
        home.eventually(lambda: max(map(abs, home.states[-1].velocity)) == 0.0, 'rest')
        held = home.position()
        assert held[0] > 0.05
    finally:
        assert home.call(
            SwitchController, 'switch_controller', activate_controllers=['arm_controller'], strictness=strict
        ).ok
    home.comes_to(*held)


def test_goal_tolerance_is_violated_when_the_hardware_stays_off(graph, urdf):
    graph.describe(urdf(hardware_parameters='<param name="position_state_following_offset">0.2</param>'))
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    answer = graph.finish(graph.send(goal((1.0, REST, REST))))
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == Result.GOAL_TOLERANCE_VIOLATED
    assert "position error of joint 'shoulder' is -0.2" in answer.result.error_string


def test_speed_scaling_pauses_and_goes_on_along_the_path(home):
    scaling = home.node.create_publisher(SpeedScalingFactor, 'arm_controller/speed_scaling_input', 1)
    home.eventually(lambda: scaling.get_subscription_count() == 1, 'the subscription')
    try:
        running = home.send(goal((2.0, [1.0, 0.5], REST)))
        home.eventually(lambda: home.position()[0] > 0.2, 'some motion')
        for nonsense in (-0.1, 1.5, math.nan):
            scaling.publish(SpeedScalingFactor(factor=nonsense))
        scaling.publish(SpeedScalingFactor(factor=0.0))
        home.eventually(
            lambda: home.controller_states and home.controller_states[-1].speed_scaling_factor == 0.0, 'a pause'
        )
        home.eventually(lambda: max(map(abs, home.states[-1].velocity)) < 1e-6, 'rest')
        held = home.position()
        assert 0.2 < held[0] < 0.95
        assert held[1] == pytest.approx(held[0] / 2.0, abs=1e-6)
        home.states.clear()
        home.eventually(lambda: len(home.states) > 40, 'more states')
        assert home.position() == pytest.approx(held, abs=1e-6)
        scaling.publish(SpeedScalingFactor(factor=1.0))
        assert home.finish(running).result.error_code == Result.SUCCESSFUL
        home.comes_to(1.0, 0.5)
    finally:
        scaling.publish(SpeedScalingFactor(factor=1.0))
        home.eventually(
            lambda: home.controller_states[-1].speed_scaling_factor == 1.0,
            'the usual speed',
            doing=lambda: scaling.publish(SpeedScalingFactor(factor=1.0)),
        )
        home.node.destroy_publisher(scaling)


def test_query_state_tells_what_will_be_commanded(home):
    def query(seconds):
        time = home.node.get_clock().now() + RosDuration(seconds=seconds)
        return home.call(QueryTrajectoryState, '/arm_controller/query_state', time=time.to_msg())

    assert list(query(0.1).position) == pytest.approx(REST, abs=1e-9)
    running = home.send(goal((3.0, [1.0, 0.0], REST)))
    home.eventually(lambda: home.position()[0] > 0.01, 'some motion')
    later, over, before = query(1.0), query(60.0), query(-60.0)
    assert later.success
    assert list(later.name) == JOINTS
    assert 0.1 < later.position[0] < 1.0
    assert later.velocity[0] > 0.1
    assert list(over.position) == pytest.approx([1.0, 0.0])
    assert not before.success
    assert 'before the start' in before.message
    home.result(running.cancel_goal_async())
    home.finish(running)


def test_a_goal_may_leave_joints_out_where_that_is_allowed(graph, urdf):
    text = graph.parameters.read_text()
    graph.parameters.write_text(
        text.replace('joints: [shoulder, elbow]', 'joints: [shoulder, elbow]\n    allow_partial_joints_goal: true')
    )
    graph.describe(urdf())
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    answer = graph.finish(graph.send(goal((1.0, [0.4], [0.0]), names=['elbow'])))
    assert answer.result.error_code == Result.SUCCESSFUL
    graph.comes_to(0.1, 0.4)
