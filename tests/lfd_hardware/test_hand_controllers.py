"""The controllers of a hand: gripper_cmd for fingers, commands for a vacuum."""

import math

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import GripperCommand
from controller_manager_msgs.srv import SwitchController
from rclpy.action import ActionClient
from std_msgs.msg import Float64MultiArray
from tests.lfd_hardware.conftest import hand_urdf

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")


def goal(position, effort=0.0):
    message = GripperCommand.Goal()
    message.command.position, message.command.max_effort = position, effort
    return message


def action_of(graph):
    client = ActionClient(graph.node, GripperCommand, 'gripper_controller/gripper_cmd')
    graph.eventually(client.server_is_ready, 'the action')
    return client


@pytest.fixture
def gripper(hand):
    """The hand's action, with the fingers together."""
    client = action_of(hand)
    answer = hand.finish(hand.result(client.send_goal_async(goal(0.0))))
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    hand.eventually(lambda: finger(hand) == pytest.approx(0.0, abs=1e-6), 'the fingers together')
    yield client
    client.destroy()


def finger(hand):
    hand.position()
    return hand.states[-1].position[list(hand.states[-1].name).index('finger')]


def test_opens_smoothly_and_tells_where_it_is(hand, gripper):
    feedback = []
    hand.states.clear()
    handle = hand.result(gripper.send_goal_async(goal(0.04, 5.0), feedback_callback=feedback.append))
    answer = hand.finish(handle)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert (answer.result.reached_goal, answer.result.stalled, answer.result.effort) == (True, False, 5.0)
    assert answer.result.position == pytest.approx(0.04, abs=0.0101)
    hand.eventually(lambda: finger(hand) == pytest.approx(0.04, abs=1e-6), 'the end of the way')
    assert feedback
    index = list(hand.states[-1].name).index('finger')
    speeds = [state.velocity[index] for state in hand.states]
    assert 0.05 < max(speeds) <= 0.1 * (1 + 1e-6)
    assert hand.states[-1].position[list(hand.states[-1].name).index('other_finger')] == pytest.approx(0.04, abs=1e-6)


def test_cancel_stops_on_the_way(hand, gripper):
    handle = hand.result(gripper.send_goal_async(goal(0.05)))
    hand.eventually(lambda: finger(hand) > 0.005, 'some motion')
    hand.result(handle.cancel_goal_async())
    answer = hand.finish(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert not answer.result.reached_goal
    assert 0.005 < finger(hand) < 0.045


def test_a_newer_goal_replaces_the_running_one(hand, gripper):
    first = hand.result(gripper.send_goal_async(goal(0.05)))
    hand.eventually(lambda: finger(hand) > 0.005, 'some motion')
    second = hand.result(gripper.send_goal_async(goal(0.0)))
    answer = hand.finish(first)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert (answer.result.reached_goal, answer.result.stalled) == (False, False)
    assert hand.finish(second).result.reached_goal


@pytest.mark.parametrize(('position', 'effort'), [(0.06, 0.0), (-0.001, 0.0), (math.nan, 0.0), (0.01, math.inf)])
def test_what_it_cannot_do_is_rejected(hand, gripper, position, effort):
    assert not hand.result(gripper.send_goal_async(goal(position, effort))).accepted
    assert finger(hand) == pytest.approx(0.0, abs=1e-6)


def switch(graph, **lists):
    strict = SwitchController.Request.STRICT
    return graph.call(SwitchController, 'switch_controller', strictness=strict, **lists)


def test_a_deactivation_aborts_the_goal_and_an_inactive_one_rejects(hand, gripper):
    handle = hand.result(gripper.send_goal_async(goal(0.05)))
    hand.eventually(lambda: finger(hand) > 0.005, 'some motion')
    assert switch(hand, deactivate_controllers=['gripper_controller']).ok
    try:
        assert hand.finish(handle).status == GoalStatus.STATUS_ABORTED
        assert not hand.result(gripper.send_goal_async(goal(0.0))).accepted
        held = finger(hand)
        assert held < 0.045
    finally:
        assert switch(hand, activate_controllers=['gripper_controller']).ok
    assert finger(hand) == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize(
    ('allowed', 'status'), [(False, GoalStatus.STATUS_ABORTED), (True, GoalStatus.STATUS_SUCCEEDED)]
)
def test_fingers_that_do_not_move_have_stalled(graph, allowed, status):
    text = graph.parameters.read_text()
    graph.parameters.write_text(
        text.replace('joint: finger', f'joint: finger\n    allow_stalling: {str(allowed).lower()}')
    )
    graph.describe(hand_urdf('<param name="disable_commands">true</param>'))
    graph.manager()
    graph.spawn('gripper_controller')
    client = action_of(graph)
    answer = graph.finish(graph.result(client.send_goal_async(goal(0.04, 3.0))))
    client.destroy()
    assert answer.status == status
    assert (answer.result.stalled, answer.result.reached_goal, answer.result.position) == (True, False, 0.0)


def test_a_vacuum_is_switched_by_its_commands_and_tells_so(hand):
    publisher = hand.node.create_publisher(Float64MultiArray, 'vacuum_controller/commands', 10)
    hand.eventually(lambda: publisher.get_subscription_count() == 1, 'the subscription')

    def active():
        state = hand.dynamic_states[-1]
        return list(state.interface_values[list(state.joint_names).index('vacuum')].values)

    hand.eventually(lambda: hand.dynamic_states, 'states')
    for value in (1.0, 0.0, 1.0):
        publisher.publish(Float64MultiArray(data=[value]))
        hand.eventually(lambda value=value: active() == [value], f'a vacuum of {value}')
    for nonsense in ([], [0.0, 0.0], [math.nan]):
        publisher.publish(Float64MultiArray(data=nonsense))
    publisher.publish(Float64MultiArray(data=[0.5]))
    hand.eventually(lambda: active() == [0.5], 'the next value that makes sense')
    hand.node.destroy_publisher(publisher)
