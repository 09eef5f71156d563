"""The tasks that come with the suite."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfd_description.scenes import find_scene
from lfd_planner.mtdf import (
    Document,
    MtdfError,
    Place,
    Pose,
    differences,
    dump_task,
    library,
    load_report,
    repair_text,
    resolve_task,
)

TASKS = sorted(Path(__file__).resolve().parents[3].glob('lfd_planner/tasks/*.mtdf.yaml'))


@pytest.fixture
def tasks(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = checkout / 'lfd_planner' / 'tasks'
    monkeypatch.setattr(library, '_folder', lambda: folder)
    return folder


@pytest.mark.parametrize('file', TASKS, ids=lambda file: file.name)
def test_is_fine_and_in_canonical_form(file: Path):
    report = load_report(file)
    assert report.problems == ()
    assert report.version == 2
    assert report.task is not None
    text = file.read_text()
    body = re.sub(r'\A(#.*\n)*', '', text)
    assert dump_task(report.task) == body
    assert Document.load(file).text == text


def test_found_by_name(tasks: Path):
    assert 'stack_boxes' in library.task_names()
    assert library.find_task('stack_boxes') == load_report(tasks / 'stack_boxes.mtdf.yaml').task
    with pytest.raises(MtdfError, match="there is no task 'stack_box'; did you mean 'stack_boxes'"):
        library.find_task('stack_box')


class TestStackBoxes:
    def test_is_the_printed_recording(self, tasks: Path, printed: str, recorded: dict[str, Pose]):
        task = library.find_task('stack_boxes')
        mended = repair_text(printed, axes='unity').task
        assert differences(replace(task, origin=None), mended) == ()
        places = {keyframe.object: keyframe.pose for keyframe in task.keyframes if isinstance(keyframe, Place)}
        for name, pose in recorded.items():
            assert np.allclose(places[name].matrix, pose.matrix, atol=1e-12)

    def test_its_objects_are_in_the_cell(self, tasks: Path):
        resolved = resolve_task(library.find_task('stack_boxes'), find_scene('seed_cell'))
        assert resolved.problems == ()
        assert all(name == thing for name, thing in resolved.objects.items())
        assert len(resolved.objects) == 4

    def test_its_origin_is_the_one_that_the_cell_recommends(self, tasks: Path, checkout: Path):
        scene = (checkout / 'lfd_description' / 'scenes' / 'seed_cell.yaml').read_text()
        match = re.search(r'--origin ([-\d. ]+)\)', scene)
        assert match
        x, y, z, roll, pitch, yaw = map(float, match[1].split())
        origin = library.find_task('stack_boxes').origin
        assert origin is not None
        assert (roll, pitch, origin.frame) == (0, 0, 'base_link')
        assert origin.pose.position == (x, y, z)
        assert origin.pose.matrix[:2, 0] == pytest.approx([np.cos(yaw), np.sin(yaw)], abs=1e-12)

    def test_the_first_box_stands_on_the_template(self, tasks: Path):
        task, scene = library.find_task('stack_boxes'), find_scene('seed_cell')
        blue = task.keyframes[1]
        assert isinstance(blue, Place)
        assert task.origin is not None
        stands = (task.origin.pose @ blue.pose).position[2]
        assert stands - 0.0474 / 2 == pytest.approx(scene.object['template'].position[2] + 0.0001, abs=1e-9)
