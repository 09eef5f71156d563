"""What can go wrong between a goal and a real arm, with each vendor: real processes, DDS, and protocols on the wire.

In every case the arm gets no jump, the client gets an error that names the cause, and a user can go on from there.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from action_msgs.msg import GoalStatus
from support.real_arm import RealArm, real_arm
from support.rigs import AbbRig, MotomanRig, URRig


@pytest.fixture(scope='module', params=[URRig, AbbRig, MotomanRig], ids=lambda rig: rig.robot)
def cell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealArm]:
    """An arm that is up."""
    with real_arm(request.param(), tmp_path_factory.mktemp('cell')) as arm:
        yield arm


@pytest.fixture
def arm(cell: RealArm) -> RealArm:
    """The same at the begin of a test: active, with empty records."""
    if not cell.manager.is_running:
        cell.restart()
    assert cell.state == 'active'
    cell.rig.forget()
    return cell


def test_an_emergency_stop_ends_the_goal_and_nothing_moves_before_its_release(arm: RealArm):
    goal = arm.swing_half()
    arm.rig.emergency_stop()
    assert arm.rig.emergency in arm.fails(goal)
    assert arm.state == 'unconfigured'
    assert arm.rig.emergency in arm.set_state('active')
    arm.rig.release()
    arm.goes_on()


def test_a_controller_that_refuses_says_why_and_is_tried_again(arm: RealArm):
    assert arm.set_state('inactive') == ''
    arm.rig.forget()
    arm.rig.refuse()
    assert arm.rig.refusal in arm.set_state('active')
    assert arm.rig.worst_step() < 0.01  # the last answers to a program that ended stand
    arm.rig.accept()
    arm.goes_on()


def test_states_that_stop_make_the_arm_be_told_to_stop(arm: RealArm):
    goal = arm.swing_half()
    arm.rig.fall_silent()
    assert arm.rig.silence in arm.fails(goal)
    arm.eventually(lambda: arm.rig.is_told_to_stop, 'the order to stop on the wire')
    arm.rig.speak()
    arm.goes_on()


def test_a_controller_that_is_lost_and_comes_back_is_used_again(arm: RealArm):
    goal = arm.swing_half()
    arm.rig.lose_power()
    assert arm.rig.loss in arm.fails(goal)
    assert arm.set_state('active') != ''
    arm.rig.power_up()
    arm.goes_on()


def test_a_bad_network_does_not_make_the_arm_jump(arm: RealArm):
    arm.rig.storm()
    try:
        arm.arrives(arm.swing())
    finally:
        arm.rig.calm()


def test_a_second_client_does_not_share_the_arm(arm: RealArm):
    goal = arm.swing_half()
    arm.rig.intrude()
    if arm.rig.survives_intruders:
        arm.arrives(goal)
        return
    answer = arm.result(goal)
    assert arm.rig.intrusion in answer.result.error_string
    arm.rig.withdraw()
    arm.stands()
    arm.goes_on()


def test_a_trajectory_controller_that_is_restarted_in_motion_stops_the_arm_and_goes_on_from_there(arm: RealArm):
    goal = arm.swing_half()
    answer = arm.switch(deactivate_controllers=[arm.controller], activate_controllers=[arm.controller])
    assert answer.ok, answer.message
    assert 'a switch of controllers asked for it' in arm.result(goal).result.error_string
    assert arm.state == 'active'
    arm.arrives(arm.swing())


def test_a_second_client_replaces_the_goal_of_the_first_without_a_jump(arm: RealArm):
    first = arm.swing_half()
    second = arm.swing(by_another=True)
    replaced = arm.result(first)
    assert replaced.status == GoalStatus.STATUS_ABORTED
    assert replaced.result.error_string == 'Replaced by a newer trajectory.'
    arm.arrives(second)


def test_a_node_that_is_killed_leaves_an_arm_that_stops_and_the_next_one_takes_over(arm: RealArm):
    arm.swing_half()
    arm.manager.end(signal.SIGKILL)
    arm.stands()
    arm.rig.forget()
    arm.restart()
    arm.arrives(arm.swing())


def test_a_node_that_is_told_to_end_stops_the_arm_and_says_so(arm: RealArm):
    goal = arm.swing_half()
    arm.manager.send(signal.SIGINT)
    assert 'ros2_control_node is ending' in arm.fails(goal)
    assert arm.manager.wait() == 0, arm.manager.output
