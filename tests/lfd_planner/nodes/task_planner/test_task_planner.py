"""The task planner over ROS: a recorded task in, a motion or the reason why there is none out."""

from __future__ import annotations

import dataclasses
import itertools
import math
import os
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Point, Pose, Quaternion
from lfd_msgs.msg import TaskSolution
from moveit_msgs.msg import MoveItErrorCodes
from support.process import node_process
from support.task_cells import seed_cell, seed_origin, seed_task

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.model.model import RobotModel
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene, save_scene
from lfd_planner.messages.solutions import solution_from_message
from lfd_planner.solution import Solution
from lfd_planner.validate import validate

CODES = MoveItErrorCodes
JOINTS = find_robot('ur5e').joints


@pytest.fixture(scope='module')
def scene_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp('scene') / 'cell.yaml'
    save_scene(find_scene('seed_cell'), file)
    return file


@pytest.fixture(scope='module')
def scene(scene_file: Path) -> str:
    return str(scene_file)


@cache
def model() -> RobotModel:
    return build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))


def accepted(message: TaskSolution) -> Solution:
    """The solution of a message, which the independent validator accepts."""
    solution = solution_from_message(message, model().group.joints)
    report = validate(solution, model(), seed_cell(), seed_task(), seed_origin())
    assert report.ok, report.text
    return solution


def test_the_recorded_task_becomes_a_motion_from_where_the_arm_is(client, text):
    answer = client.plan(text)
    assert answer.error_code.val == CODES.SUCCESS, answer.message
    assert 'segments' in answer.message
    assert 'grasp: blue_box' in answer.message  # and why this one
    assert list(answer.trajectory.joint_names) == list(JOINTS)
    assert len(answer.trajectory.points) > 50


def test_the_action_tells_its_stages_and_its_segments(client, text):
    sent = client.send(text, seed=3)
    answer = client.peer.result(sent.result)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    (solution,) = answer.result.solutions
    client.peer.eventually(lambda: sent.feedback and sent.feedback[-1].solution_count == 1, 'the last feedback')
    assert {told.keyframe for told in sent.feedback} >= set(range(0, 8, 2))
    assert {told.keyframe_count for told in sent.feedback} == {8}
    assert sent.feedback[0].solution_count == 0
    assert solution.robot == 'ur5e'
    names = [segment.name for segment in solution.segments]
    assert names.count('close') == names.count('lift') == names.count('lower') == 4
    assert 'grasp: blue_box' in solution.explanation
    moves = accepted(solution).trajectory
    assert moves.duration > 1.0
    limits = np.array([model().limits[name].velocity for name in JOINTS])
    assert (np.abs(moves.v) <= limits + 1e-6).all()


def test_a_task_that_cannot_be_done_is_explained(client, text):
    far = Pose()
    far.position.x, far.orientation.w = 3.0, 1.0
    answer = client.plan(text, far)
    assert answer.error_code.val != CODES.SUCCESS
    assert 'keyframes[1]' in answer.message
    assert not answer.trajectory.points
    result = client.act(text, task_origin=far)
    assert result.status == GoalStatus.STATUS_ABORTED
    assert result.result.failure.keyframe == 1
    assert result.result.failure.rejections
    assert 'm away' in result.result.failure.rejections[0].detail


def test_a_goal_may_ask_for_a_slow_motion_that_ends_at_a_pose(client, text):
    (fast,) = client.act(text).result.solutions
    (slow,) = client.act(text, speed=0.25, end_pose='home').result.solutions
    moves = accepted(slow).trajectory
    assert moves.duration > 2.0 * accepted(fast).trajectory.duration
    limits = np.array([model().limits[name].velocity for name in JOINTS])
    assert (np.abs(moves.v) <= 0.25 * limits + 1e-6).all()
    assert moves.q[-1] == pytest.approx(find_robot('ur5e').poses['home'])


def test_the_usual_speed_and_end_are_parameters(client, text):
    before = client.plan(text).trajectory.points[-1]
    try:
        assert client.set_parameters(speed=0.25, end_pose='home') == ''
        end = client.plan(text).trajectory.points[-1]
        assert end.time_from_start.sec > 2 * before.time_from_start.sec
        assert list(end.positions) == pytest.approx(find_robot('ur5e').poses['home'])
        (own,) = client.act(text, speed=1.0, end_pose='up').result.solutions
        assert list(own.trajectory.points[-1].positions) == pytest.approx(find_robot('ur5e').poses['up'])
        assert 'home' in client.set_parameters(end_pose='hme')
        assert client.set_parameters(speed=2.0)
    finally:
        assert client.set_parameters(speed=1.0, end_pose='') == ''


def numbers(trajectory) -> list[tuple[float, ...]]:
    """A trajectory as numbers that can be compared."""
    return [tuple(point.positions) for point in trajectory.points]


@pytest.mark.parametrize(
    ('wrong', 'words'),
    [
        ('', 'object_descriptors'),
        ('hello', 'task'),
        ('keyframes: [', 'line'),
        ('\x00\x07', 'task'),
        ('keyframes: [{type: pick, object_descriptor: moon}]', 'moon'),
    ],
)
def test_a_text_that_is_no_task_is_refused(client, wrong, words):
    answer = client.plan(wrong)
    assert answer.error_code.val == CODES.FAILURE
    assert words in answer.message


@pytest.mark.parametrize(
    ('wishes', 'words'),
    [
        ({'task_origin': Pose(position=Point(x=math.nan))}, ('Task origin', 'finite')),
        ({'task_origin': Pose(position=Point(x=1e6))}, ('Task origin', 'metres')),
        ({'task_origin': Pose(orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=3.0))}, ('Task origin', 'quaternion')),
        ({'time_budget': math.nan}, ('time_budget', 'nan', '600')),
        ({'time_budget': -1.0}, ('time_budget', '-1', '600')),
        ({'time_budget': 1e12}, ('time_budget', '1e+12', '600')),
        ({'max_solutions': 4_000_000_000}, ('max_solutions', '4000000000', '100')),
        ({'speed': math.nan}, ('speed', 'nan', '0.01 to 1')),
        ({'speed': -1.0}, ('speed', '-1', '0.01 to 1')),
        ({'speed': 1.5}, ('speed', '1.5', '0.01 to 1')),
        ({'end_pose': 'hme'}, ('end_pose', "'hme'", 'home, left, right, up')),
    ],
)
def test_a_wish_that_cannot_be_meant_is_refused_with_a_sentence(client, text, wishes, words):
    answer = client.act(text, **wishes)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code.val == CODES.FAILURE
    for word in words:
        assert word in answer.result.message


def test_several_solutions_are_different_and_the_best_comes_first(client, text):
    sent = client.send(text, max_solutions=4)
    answer = client.peer.result(sent.result)
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    costs = [solution.cost for solution in answer.result.solutions]
    assert len(costs) == 4
    assert costs == sorted(costs)
    for solution in answer.result.solutions:
        accepted(solution)
    for one, other in itertools.combinations(answer.result.solutions, 2):
        assert numbers(one.trajectory) != numbers(other.trajectory)
    client.peer.eventually(lambda: sent.feedback[-1].solution_count >= 4, 'the last feedback')


def test_a_budget_of_time_is_used_to_do_better_and_is_kept(client, text):
    """No clock: how long it took is what the planner says, and a budget much shorter than its patience ends it."""
    first = client.act(text).result
    better = client.act(text, time_budget=2.0).result
    assert better.error_code.val == CODES.SUCCESS
    (solution,) = better.solutions
    assert solution.cost <= first.solutions[0].cost
    accepted(solution)


def test_a_goal_can_be_cancelled_while_it_is_improved(client, text):
    sent = client.send(text, time_budget=300.0)
    client.peer.eventually(lambda: sent.feedback and sent.feedback[-1].solution_count, 'a solution')
    begin = time.monotonic()
    client.peer.result(sent.handle.cancel_goal_async())
    answer = client.peer.result(sent.result)
    print(f'cancelled {1000.0 * (time.monotonic() - begin):.0f} ms after the request')
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code.val == CODES.PREEMPTED
    assert 'stopped' in answer.result.message
    (best,) = answer.result.solutions  # so far
    accepted(best)


def test_a_goal_can_be_cancelled_before_anything_is_found(client, text):
    sent = client.send(text, time_budget=300.0)
    client.peer.eventually(lambda: sent.feedback, 'a stage')
    begin = time.monotonic()
    client.peer.result(sent.handle.cancel_goal_async())
    answer = client.peer.result(sent.result)
    print(f'cancelled {1000.0 * (time.monotonic() - begin):.0f} ms after the request')
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code.val == CODES.PREEMPTED
    assert answer.result.message


def test_requests_at_once_have_the_answers_that_they_have_alone(client, text):
    far = Pose()
    far.position.x, far.orientation.w = 3.0, 1.0
    alone = client.plan(text)
    seeded = {seed: client.act(text, seed=seed).result.solutions[0] for seed in (1, 2)}
    refused = client.plan(text, far)
    sent = {seed: client.send(text, seed=seed) for seed in (1, 2)}
    asked = [client.ask(text), client.ask(text, far), client.ask('hello'), client.ask(text)]
    one, two, three, four = [client.peer.result(future) for future in asked]
    for answer in (one, four):
        assert numbers(answer.trajectory) == numbers(alone.trajectory)
    assert two.message == refused.message
    assert three.error_code.val == CODES.FAILURE
    for seed, goal in sent.items():
        (solution,) = client.peer.result(goal.result).result.solutions
        assert numbers(solution.trajectory) == numbers(seeded[seed].trajectory)


def test_the_twins_newest_objects_are_planned_with(client, text, scene_file):
    """The scene file changes, and nobody says so: planning brings it into the planning scene first."""
    scene = find_scene('seed_cell')
    moved = [
        dataclasses.replace(thing, position=(3.0, 0.0, 0.0)) if thing.name == 'red_box' else thing
        for thing in scene.objects
    ]
    try:
        save_scene(dataclasses.replace(scene, objects=tuple(moved)), scene_file)
        os.utime(scene_file)
        answer = client.plan(text)
        assert answer.error_code.val != CODES.SUCCESS
        assert 'red_box' in answer.message
    finally:
        save_scene(scene, scene_file)
    assert client.plan(text).error_code.val == CODES.SUCCESS


@pytest.mark.parametrize(
    ('parameters', 'words'),
    [
        ((), 'robot is empty'),
        (('robot:=ur6', 'gripper:=two_finger'), "'ur6'"),
        (('robot:=ur5e', 'gripper:=three_finger'), "'three_finger'"),
        (('robot:=ur5e', 'backend:=ompl'), 'embedded or moveit'),
        (('robot:=ur5e', 'speed:=2.0'), 'speed'),
        (('robot:=ur5e', 'end_pose:=hme'), "'hme'"),
        (('robot:=ur5e', 'joint_state_max_age:=0.0'), 'joint_state_max_age'),
        (('robot:=ur5e', 'backend:=moveit'), 'moveit_py is not installed'),
    ],
)
def test_wrong_parameters_end_it_at_once_with_a_sentence(ros_domain, parameters, words):
    arguments = [word for parameter in parameters for word in ('-p', parameter)]
    process = node_process(ros_domain, 'lfd_planner', 'task_planner', '--ros-args', *arguments)
    assert process.wait() == 2
    assert words in process.output
    assert len(process.output.splitlines()) == 1
