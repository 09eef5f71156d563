"""The task executor over ROS: solutions are performed, paused, resumed and stopped on controllers of a real cell."""

from __future__ import annotations

import math

import pytest
from action_msgs.msg import GoalStatus
from moveit_msgs.msg import MoveItErrorCodes
from std_msgs.msg import String
from support.task_cells import planner, seed_origin, seed_task

from lfd_planner.mtdf import Place, parse_task
from lfd_planner.mtdf.library import task_file
from lfd_planner.pose import Pose

CODES = MoveItErrorCodes
NEAR = 0.003  # [m]: what the arm is off while it lets go


def is_placed(client, text: str) -> bool:
    task = parse_task(text)
    scene = client.scene()
    places = [keyframe for keyframe in task.keyframes if isinstance(keyframe, Place)]
    origin = task.origin.pose if task.origin else Pose()
    return not scene.attached and all(
        math.dist(scene.objects[place.object].pose.position, (origin @ place.pose).position) < NEAR for place in places
    )


def test_it_pauses_resumes_and_comes_to_its_end(client, text):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transfer')
    assert client.trigger('pause_execution').success
    client.reach(running, state='paused')
    before = dict(client.joints)
    heard = len(running.feedback)
    client.peer.eventually(lambda: len(running.feedback) > heard + 5, 'some time')
    assert client.joints == pytest.approx(before, abs=1e-4)
    assert client.trigger('resume_execution').success
    result = client.result(running).result
    assert result.error_code.val == CODES.SUCCESS, result.message
    assert is_placed(client, text)


def test_a_cancelled_goal_stops_smoothly_and_the_rest_is_done_later_with_the_box_in_the_hand(client, text):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transfer')
    client.peer.result(running.handle.cancel_goal_async())
    answer = client.result(running)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code.val == CODES.PREEMPTED
    assert answer.result.next_keyframe == 1
    assert 'blue_box' in client.scene().attached
    result = client.run(text, first_keyframe=1)
    assert result.error_code.val == CODES.SUCCESS, result.message
    assert result.next_keyframe == 2
    assert is_placed(client, text)


@pytest.mark.parametrize('how', ['service', 'event'])
def test_it_can_be_aborted_and_a_second_goal_is_refused_meanwhile(client, text, how):
    running = client.send(text, speed=0.3)
    client.reach(running, 'transit', 'approach')
    second = client.result(client.send(text))
    assert second.status == GoalStatus.STATUS_ABORTED
    assert second.result.error_code.val == CODES.CONTROL_FAILED
    assert 'Another solution is being executed' in second.result.message
    if how == 'service':
        assert client.trigger('abort_execution').success
    else:
        client.events.publish(String(data='stop'))
    answer = client.result(running)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code.val == CODES.PREEMPTED
    assert answer.result.next_keyframe == 0
    assert not client.trigger('pause_execution').success


def test_a_dry_run_checks_all_and_moves_nothing(client, text):
    before = dict(client.joints)
    result = client.run(text, dry_run=True)
    assert result.error_code.val == CODES.SUCCESS, result.message
    assert 'Nothing was moved.' in result.message
    assert 'would take' in result.message
    assert client.joints == pytest.approx(before, abs=1e-4)
    assert result.duration == 0.0


def test_an_old_solution_is_refused_because_the_arm_is_elsewhere(client, text):
    solution = client.plan(text)
    assert client.run(text).error_code.val == CODES.SUCCESS
    result = client.run(text, solution=solution)
    assert result.error_code.val != CODES.SUCCESS
    assert 'Nothing was moved.' in result.message
    assert result.next_keyframe == 0


@pytest.mark.parametrize(
    ('wishes', 'words'),
    [
        ({}, 'neither a solution nor a task'),
        ({'text': 'hello'}, 'cannot be used'),
        ({'speed': 2.0}, 'speed is 2'),
        ({'speed': math.nan}, 'speed is nan'),
        ({'first_keyframe': -1}, 'first_keyframe is -1'),
        ({'first_keyframe': 7}, 'keyframes 0 to 1'),
    ],
)
def test_a_goal_that_cannot_be_meant_is_refused_with_a_sentence(client, text, wishes, words):
    asked = {'text': text, **wishes} if wishes else {}
    result = client.run(**asked)
    assert result.error_code.val == CODES.FAILURE
    assert words in result.message


def test_the_recorded_task_is_performed_and_every_box_ends_at_its_place(client):
    text = task_file('stack_boxes').read_text()
    solution = client.plan(text)
    running = client.send(text, solution=solution)
    answer = client.result(running)
    result = answer.result
    assert result.error_code.val == CODES.SUCCESS, result.message
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert result.next_keyframe == 8
    planned = solution.trajectory.points[-1].time_from_start
    print(f'planned {planned.sec + 1e-9 * planned.nanosec:.2f} s, took {result.duration:.2f} s')
    print('tracking errors', dict(zip(result.joint_names, result.tracking_errors, strict=True)))
    assert is_placed(client, text)
    assert list(result.joint_names) == list(planner().model.group.joints)
    assert max(result.tracking_errors) < 0.2
    assert {told.keyframe for told in running.feedback} == set(range(8))
    progress = [told.progress for told in running.feedback]
    assert progress == sorted(progress)
    moving = sum(told.state == 'moving' for told in running.feedback)
    assert moving > 10.0 * 0.5 * result.duration
    scene = client.scene()
    for keyframe in seed_task().keyframes:
        if isinstance(keyframe, Place):
            wanted = (seed_origin() @ keyframe.pose).position
            assert scene.objects[keyframe.object].pose.position == pytest.approx(wanted, abs=NEAR)
