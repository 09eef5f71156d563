"""The demo's pictures show the motion as it was judged."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.pick_and_place import BOX, PLACE, Case, pick_and_place

from lfd_bringup.demo import album as album_module
from lfd_bringup.demo.album import Album
from lfd_bringup.demo.job import Job, bundled_job
from lfd_bringup.demo.judge import Judgement, judge
from lfd_bringup.demo.picture import LiveView, Photographer, moments
from lfd_description.meshes import MeshError
from lfd_description.pictures.scene_picture import PictureError


@pytest.fixture(scope='module')
def case() -> Case:
    return pick_and_place()


@pytest.fixture(scope='module')
def job(case: Case) -> Job:
    return dataclasses.replace(bundled_job(), task=case.task, origin=case.origin)


@pytest.fixture(scope='module')
def judged(case: Case, job: Job) -> Judgement:
    return judge(job, case.model, case.scene, case.solution)


def test_the_judge_says_where_objects_end(judged: Judgement):
    assert judged.report.ok, judged.report.text
    (pose,) = judged.final_poses
    assert pose.object == BOX
    assert pose.planned.position == pytest.approx(PLACE, abs=1e-6)
    assert pose.distance < 1e-6


def test_a_box_put_elsewhere_is_told(case: Case, job: Job):
    (x, y, z) = job.origin.position
    moved = dataclasses.replace(job, origin=dataclasses.replace(job.origin, position=(x + 0.02, y, z)))
    found = judge(moved, case.model, case.scene, case.solution)
    assert not found.report.ok
    assert found.final_poses[0].distance == pytest.approx(0.02, abs=1e-6)


def test_the_start_the_way_and_the_place_are_worth_a_picture(judged: Judgement):
    chosen = moments(judged.story)
    assert [moment.title for moment in chosen] == ['start', 'blue box on its way', 'blue box placed']
    assert BOX in chosen[1].stretch.held
    assert BOX in chosen[2].stretch.standing
    assert [moment.time for moment in chosen] == sorted(moment.time for moment in chosen)


def test_a_picture_shows_the_robot_and_the_box_where_it_is(case: Case, job: Job, judged: Judgement):
    camera = Photographer(job, case.model, judged.stage, judged.story)
    before, _, after = (camera.picture(moment).image.astype(int) for moment in camera.moments)
    assert len(np.unique(before.reshape(-1, 3), axis=0)) > 1000
    assert (np.abs(before - after).max(axis=2) > 60).mean() > 0.01


def test_an_album_that_is_closed_early_draws_no_more(case: Case, job: Job, judged: Judgement):
    with Album(job, case.model) as album:
        album.begin(judged)
    assert len(album.shots()) < 3


def test_a_robot_that_cannot_be_drawn_has_no_pictures(case, job, judged, monkeypatch):
    def refuse(*_: object) -> None:
        raise MeshError('there is no mesh')

    monkeypatch.setattr(album_module, 'Photographer', refuse)
    with Album(job, case.model) as album:
        album.begin(judged)
        with pytest.raises(PictureError, match='there is no mesh'):
            album.shots()


def test_joints_move_in_the_terminal_and_leave_nothing_behind(case: Case, capsys):
    view = LiveView(case.model)
    for share in (0.0, 1.0):
        view([share] * 6)
    view.clear()
    shown = capsys.readouterr().out
    assert shown.count('●') == 12
    assert shown.endswith('\x1b[6A\x1b[J')
