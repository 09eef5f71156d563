"""The demo's report says no more than is known."""

from __future__ import annotations

import json

from lfd_bringup.demo.job import bundled_job
from lfd_bringup.demo.play import Performance
from lfd_bringup.demo.report import NOTES, Result, report_data, table
from lfd_planner.solution_file import Request


def failed(robot: str) -> Result:
    return Result(robot, Performance(Request(), problem='the graph was not ready'))


def test_a_robot_of_which_nothing_is_known_has_a_row_and_a_reason():
    (robot,) = report_data(bundled_job(), ['gp8'], [failed('gp8')], None)['robots']
    assert robot['message'] == 'the graph was not ready'
    assert robot['planning'] is robot['motion'] is robot['validation'] is robot['tracking'] is None
    assert table([failed('gp8')]).splitlines()[1].split() == ['gp8', 'no', *'-----']


def test_an_interrupted_demo_is_not_ok():
    done = Result('gp8', Performance(Request()))
    assert report_data(bundled_job(), ['gp8'], [done], None)['ok'] is True
    assert report_data(bundled_job(), ['gp8', 'ur5e'], [done], None)['ok'] is False


def test_the_report_says_what_was_not_done():
    data = json.loads(json.dumps(report_data(bundled_job(), ['gp8'], [failed('gp8')], None)))
    assert data['notes'] == NOTES
    assert 'not moved' in NOTES['planned_final_poses']
    assert 'not simulated' in NOTES['planned_final_poses']
    assert 'simulated controllers' in NOTES['tracking']
