"""`./lfd demo` as a user meets it: real graphs plan, move and are judged, and the report says what really happened."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import pytest
from PIL import Image
from support.peer import eventually
from support.process import Process

from lfd_bringup.demo.job import Job, bundled_job
from lfd_bringup.demo.main import Demo
from lfd_planner.pose import Pose
from lfd_planner.solution_file import PlanningError, read_solution

BOXES = {'blue_box', 'yellow_box', 'red_box', 'green_box'}


def colours_of(picture: Path) -> int:
    with Image.open(picture) as image:
        return len(np.unique(np.asarray(image).reshape(-1, 3), axis=0))


def test_a_robot_plays_the_demonstration(lfd: Callable, tmp_path: Path):
    out = tmp_path / 'out'
    result = lfd('demo', '--robot', 'ur3e', '--out', out, '--headless')
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.splitlines()) < 30, 'the nodes keep their logs to themselves'
    assert re.findall(r'keyframe (\d) of 8', result.stdout) == list('12345678')
    report = json.loads((out / 'report.json').read_text())
    assert report['ok'] is True
    assert report['asked'] == ['ur3e']
    assert (report['task'], report['scene']) == ('stack_boxes', 'seed_cell')
    (robot,) = report['robots']
    assert robot['robot'] == 'ur3e'
    assert robot['page'] is None
    assert robot['planning']['time'] > 0.0
    assert {'approach', 'transfer', 'retreat'} <= set(robot['planning']['stages'])
    assert robot['motion']['segments'] >= 8 * 3
    assert robot['motion']['cycle_time'] > 1.0
    check_judged(robot)
    check_executed(robot)
    check_tracked(robot['tracking'])
    for picture in (robot['picture'], report['overview']):
        assert colours_of(out / picture) > 1000
    judged = lfd('validate', out / robot['solution'])
    assert judged.returncode == 0, judged.stdout + judged.stderr


def check_judged(robot: dict) -> None:
    assert robot['validation']['ok'] is True
    assert robot['validation']['checked']['places'] == len(BOXES)
    assert {pose['object'] for pose in robot['planned_final_poses']} == BOXES
    for pose in robot['planned_final_poses']:
        assert pose['distance'] < 1e-3
        assert pose['angle'] < 1e-2
        assert pose['planned']['position'] == pytest.approx(pose['wanted']['position'], abs=1e-3)


def check_executed(robot: dict) -> None:
    assert robot['execution']['ok'] is True
    assert robot['execution']['next_keyframe'] == 8
    assert robot['execution']['cycle_time'] > 0.8 * robot['motion']['cycle_time']
    assert {pose['object'] for pose in robot['final_poses']} == BOXES
    for pose in robot['final_poses']:
        assert pose['held_by'] is None
        assert pose['distance'] < 2e-3
        assert pose['angle'] < 2e-2
        assert pose['found']['position'] == pytest.approx(pose['wanted']['position'], abs=2e-3)


def check_tracked(tracking: dict) -> None:
    assert tracking['goal_error'] < 0.005
    assert tracking['path_error'] < 0.02
    assert len(tracking['joint_errors']) == 6
    assert tracking['tracking_error'] == max(tracking['joint_errors'].values()) > 0.0
    assert tracking['hand_travel'] > 2 * len(BOXES) * 0.01
    assert tracking['transform_count'] > 50
    assert tracking['transform_error'] < 1e-6


@pytest.fixture
def far_away() -> Job:
    return dataclasses.replace(bundled_job(), origin=Pose((3.0, 0.0, -0.15)))


def test_who_fails_is_explained_and_the_others_still_run(
    far_away: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv('LFD_OWN_DOMAIN', '1')
    assert Demo(far_away, tmp_path, ('ur6', 'gp8'), is_live=False).run() is False
    report = json.loads((tmp_path / 'report.json').read_text())
    unknown, far = report['robots']
    assert "'ur6'" in unknown['message']
    assert unknown['planning'] is None
    assert far['ok'] is False
    assert 'keyframes[1]' in far['message']
    assert far['planning']['error']['keyframe'] == 1
    assert far['planning']['error']['reasons']
    assert far['motion'] is far['execution'] is far['tracking'] is far['picture'] is report['overview'] is None
    file = read_solution(tmp_path / far['solution'])
    assert isinstance(file.outcome, PlanningError)
    assert far['message'] in capsys.readouterr().out


def test_people_can_watch_and_ctrl_c_ends_it_with_all_its_nodes(
    checkout: Path, tmp_path: Path, user_environment: dict[str, str]
):
    command = [str(checkout / 'lfd'), 'demo', '--robot', 'gp8', '--out', str(tmp_path)]
    running = Process(command, user_environment)
    try:
        eventually(lambda: 'keyframe 1' in running.output or not running.is_running, 'the arm moves', 120.0)
        found = re.search(r'watch it move: (http://127\.0\.0\.1:\d+/)#code=\d{6}', running.output)
        assert found is not None, running.output
        with urlopen(found[1], timeout=30.0) as page:
            assert b'<html' in page.read()
        assert running.end(signal.SIGINT) == 130, running.output
    finally:
        running.stop()
    assert 'Traceback' not in running.output
    assert json.loads((tmp_path / 'report.json').read_text()) == {}


def test_a_folder_that_cannot_be_written_is_refused(lfd: Callable, tmp_path: Path):
    (tmp_path / 'file').write_text('in the way')
    result = lfd('demo', '--robot', 'gp8', '--out', tmp_path / 'file' / 'out')
    assert result.returncode == 1
    assert 'the report cannot be written' in result.stderr
    assert 'Traceback' not in result.stderr


def test_a_robot_that_does_not_exist_is_wrong_usage(lfd: Callable, tmp_path: Path):
    result = lfd('demo', '--robot', 'ur6', '--out', tmp_path / 'out')
    assert result.returncode == 2
    assert "no robot 'ur6'" in result.stderr
    assert not (tmp_path / 'out').exists()
