"""The demo's report says no more than is known."""

from __future__ import annotations

import json

import pytest

from lfd_bringup.demo.execution import Execution, Progress, spoken
from lfd_bringup.demo.job import bundled_job
from lfd_bringup.demo.play import Performance
from lfd_bringup.demo.report import NOTES, Result, progress_line, report_data, table
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import AwaitInput, Keyframe, Place, SetOutput, Trajectory, Wait
from lfd_planner.pose import Pose
from lfd_planner.solution_file import Request


def failed(robot: str) -> Result:
    return Result(robot, Performance(Request(), problem='the graph was not ready'))


def test_a_robot_of_which_nothing_is_known_has_a_row_and_a_reason():
    (robot,) = report_data(bundled_job(), ['gp8'], [failed('gp8')], None)['robots']
    assert robot['message'] == 'the graph was not ready'
    assert (
        robot['planning'] is robot['motion'] is robot['validation'] is robot['tracking'] is robot['execution'] is None
    )
    assert table([failed('gp8')]).splitlines()[1].split() == ['gp8', 'no', *'------']


def test_an_interrupted_demo_is_not_ok():
    done = Result('gp8', Performance(Request()))
    assert report_data(bundled_job(), ['gp8'], [done], None)['ok'] is True
    assert report_data(bundled_job(), ['gp8', 'ur5e'], [done], None)['ok'] is False


def test_the_report_says_what_was_not_done():
    data = json.loads(json.dumps(report_data(bundled_job(), ['gp8'], [failed('gp8')], None)))
    assert data['notes'] == NOTES
    assert 'replay' in NOTES['planned_final_poses']
    assert 'not simulated' in NOTES['final_poses']
    assert 'simulated controllers' in NOTES['tracking']


def test_why_an_execution_ended_is_told_with_its_code():
    ended = Execution(int(Code.CONTROL_FAILED), 'The hand stalled.', 3, 4.5, {})
    show = Performance(Request(), execution=ended, problem=ended.problem)
    (robot,) = report_data(bundled_job(), ['gp8'], [Result('gp8', show)], None)['robots']
    assert robot['message'] == 'CONTROL_FAILED (-4): The hand stalled.'
    assert robot['execution']['ok'] is False
    assert (robot['execution']['code'], robot['execution']['next_keyframe']) == (-4, 3)
    assert Execution(-12345, '', 0, 0.0, {}).name == 'unknown code'
    assert Execution(int(Code.SUCCESS), 'All is done.', 8, 14.0, {}).problem == ''


def test_progress_is_told_by_keyframe():
    line = progress_line(bundled_job(), Progress(1, 'transfer', 0.25, 'moving'))
    assert line == ' 25 %  keyframe 2 of 8: place blue_box'
    assert progress_line(bundled_job(), Progress(8, 'retreat', 1.0, 'moving')).endswith('retreat')


@pytest.mark.parametrize(
    ('keyframe', 'words'),
    [
        (Place('cup', Pose()), 'place cup'),
        (Trajectory('cup', (Pose(),)), 'lead cup'),
        (Wait(1.5), 'wait 1.5 s'),
        (SetOutput('light', True), 'set light to True'),
        (AwaitInput('door', False), 'wait until door is False'),
    ],
)
def test_a_keyframe_in_words(keyframe: Keyframe, words: str):
    assert spoken(keyframe) == words
