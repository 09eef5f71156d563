"""Where objects ended is what the planning scene says, and not what was planned."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from lfd_bringup.demo.boxes import EndPose, end_poses
from lfd_bringup.demo.job import Job, bundled_job
from lfd_bringup.demo.report import boxes_text
from lfd_planner.pose import Pose
from lfd_planner.scene import AttachedObject, PlanningScene, from_scene

QUARTER = Pose(orientation=(0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))


@pytest.fixture
def job() -> Job:
    return bundled_job()


@pytest.fixture
def done(job: Job) -> PlanningScene:
    """The scene with every box in its place."""
    scene = from_scene(job.scene)
    moved = {name: replace(scene.objects[name], pose=pose) for name, pose in job.wanted.items()}
    return replace(scene, objects=scene.objects.edit(moved.items()))


def end_of(ends: tuple[EndPose, ...], name: str) -> EndPose:
    return next(end for end in ends if end.object == name)


def test_boxes_in_their_places(job: Job, done: PlanningScene):
    ends = end_poses(job, done)
    assert [end.problem for end in ends] == ['', '', '', '']
    assert boxes_text(ends) == '4 placed, 0.00 mm off at most'


def test_before_anything_was_moved_no_box_is_placed(job: Job):
    ends = end_poses(job, from_scene(job.scene))
    assert all('mm off' in end.problem for end in ends)
    assert boxes_text(ends).startswith('0 of 4 placed')


@pytest.mark.parametrize(
    ('shift', 'told'),
    [(Pose((0.0, 0.005, 0.0)), "'red_box' ended 5.0 mm off"), (QUARTER, "'red_box' ended turned by 90.0 deg")],
)
def test_a_box_beside_its_place(job: Job, done: PlanningScene, shift: Pose, told: str):
    box = done.objects['red_box']
    moved = replace(done, objects=done.objects.edit([('red_box', replace(box, pose=box.pose @ shift))]))
    ends = end_poses(job, moved)
    assert end_of(ends, 'red_box').problem.startswith(told)
    assert sum(bool(end.problem) for end in ends) == 1


def test_a_box_that_was_not_put_down(job: Job, done: PlanningScene):
    box = done.objects['red_box']
    held = done.attached.edit([('red_box', AttachedObject('red_box', box.body, 'tool0'))])
    objects = done.objects.remove('red_box')
    for attached, told in ((held, "still held by 'tool0'"), (done.attached, 'not in the planning scene')):
        ends = end_poses(job, replace(done, objects=objects, attached=attached))
        end = end_of(ends, 'red_box')
        assert told in end.problem
        data = json.loads(json.dumps(end.data(), allow_nan=False))
        assert data['found'] is data['distance'] is data['angle'] is None
        assert boxes_text(ends) == '3 of 4 placed, 0.00 mm off at most'
