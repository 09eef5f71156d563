"""The task planner outlives those it works with, and says so while they are gone."""

from __future__ import annotations

import signal

import pytest
from moveit_msgs.msg import MoveItErrorCodes
from support.task_planner_client import TaskPlannerClient

from lfd_description.robots import find_robot

CODES = MoveItErrorCodes
HOME = find_robot('ur5e').poses['home']
WHILE_GONE = 60.0  # [s]: the planner itself waits for an answer for a while


def solved(client: TaskPlannerClient, text: str) -> bool:
    return client.peer.result(client.ask(text), WHILE_GONE).error_code.val == CODES.SUCCESS


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize('name', ['move_group', 'scene_sync'])
def test_a_node_that_died_and_came_back_is_worked_with_again(cell, client, text, name, number):
    assert solved(client, text)
    cell.processes[name].end(number)
    asked = client.ask(text)  # while it is gone
    cell.start(name)
    first = client.peer.result(asked, WHILE_GONE)
    assert first.message  # it was waited for, or is told to be missing
    if first.error_code.val == CODES.SUCCESS:  # a planning server that has just begun does not know where the arm is
        assert list(first.trajectory.points[0].positions) == pytest.approx(HOME, abs=1e-3)
    client.peer.eventually(lambda: solved(client, text), 'a plan', WHILE_GONE)
    assert cell.processes['task_planner'].is_running


@pytest.mark.parametrize(('name', 'words'), [('move_group', 'Planning server'), ('scene_sync', 'start scene_sync')])
def test_who_is_missing_is_named(cell, client, text, name, words):
    """Without scene sync, too, nothing is planned once it was there: the twin may have newer objects."""
    assert solved(client, text)
    cell.processes[name].end()
    try:
        answer = client.peer.result(client.ask(text), WHILE_GONE)
        assert answer.error_code.val == CODES.FAILURE
        assert words in answer.message
    finally:
        cell.start(name)
    client.peer.eventually(lambda: solved(client, text), 'a plan', WHILE_GONE)


def test_it_can_be_cancelled_while_it_waits_for_the_scene(cell, client, text):
    cell.processes['move_group'].end()
    try:
        sent = client.send(text)
        client.peer.result(sent.handle.cancel_goal_async())
        assert client.peer.result(sent.result).result.error_code.val == CODES.PREEMPTED
    finally:
        cell.start('move_group')
    client.peer.eventually(lambda: solved(client, text), 'a plan', WHILE_GONE)


def test_it_ends_cleanly_while_it_plans(cell, client, text):
    client.send(text, time_budget=300.0)
    process = cell.processes['task_planner']
    assert process.end() == 0
    assert 'Traceback' not in process.output
    cell.start('task_planner')
