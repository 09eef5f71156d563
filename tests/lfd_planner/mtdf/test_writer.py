import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lfd_planner.mtdf import (
    Descriptor,
    MtdfError,
    Pick,
    Place,
    Pose,
    Task,
    Wait,
    differences,
    dump_task,
    load_task,
    parse_task,
    save_task,
)
from lfd_planner.mtdf.writer import task_data

LID = Task((Descriptor('lid'),), (Pick('lid'), Place('lid', Pose((0.1, -0.0, 1e-7), (0.0, 0.0, 0.6, 0.8)))))

SEEDS = range(150)


@pytest.mark.parametrize('seed', SEEDS)
@pytest.mark.parametrize('file_format', ['yaml', 'json'])
def test_what_is_written_is_read_as_it_was(seed: int, file_format: str, random_task: Callable[[int], Task]):
    task = random_task(seed)
    for axes in ('ros', 'unity'):
        text = dump_task(task, file_format=file_format, axes=axes)
        assert parse_task(text) == task
        assert dump_task(parse_task(text), file_format=file_format, axes=axes) == text


@pytest.mark.parametrize('seed', range(30))
def test_other_readers_see_the_same(seed: int, random_task: Callable[[int], Task]):
    task = random_task(seed)
    assert yaml.safe_load(dump_task(task)) == task_data(task)
    assert json.loads(dump_task(task, file_format='json')) == task_data(task)


def test_text():
    assert dump_task(LID) == (
        'version: 2\n'
        'axes: ros\n'
        'object_descriptors:\n'
        '- lid\n'
        'keyframes:\n'
        '- {type: pick, object_descriptor: lid}\n'
        '- {type: place, object_descriptor: lid, place_pose: {position: [0.1, 0.0, 1.0e-07], '
        'orientation: [0.0, 0.0, 0.6, 0.8]}}\n'
    )


def test_what_is_too_wide_is_broken():
    digits = replace(LID, keyframes=(Pick('lid'), Place('lid', Pose((1 / 3, -1 / 3, 1 / 7)))))
    assert dump_task(digits).endswith(
        '- type: place\n'
        '  object_descriptor: lid\n'
        '  place_pose:\n'
        '    position: [0.3333333333333333, -0.3333333333333333, 0.14285714285714285]\n'
        '    orientation: [0.0, 0.0, 0.0, 1.0]\n'
    )


@pytest.mark.parametrize('seed', range(20))
def test_no_line_is_too_wide_that_can_be_broken(seed: int, random_task: Callable[[int], Task]):
    wide = [line for line in dump_task(random_task(seed)).splitlines() if len(line) > 120]
    assert all(line.count(': ') == 1 or '- {' not in line for line in wide)


class TestVersion1:
    def test_is_written_without_new_keys(self):
        text = dump_task(LID, version=1)
        assert text.startswith('object_descriptors:\n- lid\nkeyframes:\n')
        assert parse_task(text) == LID

    def test_refuses_to_lose_anything(self, random_task: Callable[[int], Task]):
        with pytest.raises(MtdfError, match='version 1 of the format has no keyframes other than pick and place'):
            dump_task(replace(LID, keyframes=(*LID.keyframes, Wait(1.0))), version=1)
        with pytest.raises(MtdfError, match='has no times'):
            dump_task(replace(LID, keyframes=(replace(LID.keyframes[0], time=1.0), LID.keyframes[1])), version=1)
        with pytest.raises(MtdfError, match='has no axes other than those of ROS'):
            dump_task(LID, version=1, axes='unity')
        for seed in range(30):
            task = random_task(seed)
            try:
                text = dump_task(task, version=1)
            except MtdfError:
                continue
            assert parse_task(text) == task


@pytest.mark.parametrize(
    'pose',
    [
        Pose((float('nan'), 0.0, 0.0)),
        Pose((float('inf'), 0.0, 0.0)),
        Pose((101.0, 0.0, 0.0)),
        Pose(orientation=(1.0, 1.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize('file_format', ['yaml', 'json'])
def test_a_task_that_no_file_may_hold_is_not_written(pose: Pose, file_format: str, tmp_path: Path):
    task = replace(LID, keyframes=(Pick('lid'), Place('lid', pose)))
    with pytest.raises(MtdfError):
        dump_task(task, file_format=file_format)
    file = tmp_path / f'a.{file_format}'
    with pytest.raises(MtdfError):
        save_task(task, file)
    assert not file.exists()


def test_files_by_their_ending(tmp_path: Path):
    for name in ('a.mtdf.yaml', 'a.mtdf.json'):
        save_task(LID, tmp_path / name)
        assert load_task(tmp_path / name) == LID
    assert (tmp_path / 'a.mtdf.json').read_text().startswith('{\n')


class TestDifferences:
    def test_none(self, random_task: Callable[[int], Task]):
        task = random_task(4)
        assert differences(task, parse_task(dump_task(task, axes='unity'))) == ()

    def test_a_quaternion_and_its_negative_are_one_turn(self):
        x, y, z, w = (0.0, 0.0, 0.6, 0.8)
        other = replace(LID, keyframes=(Pick('lid'), Place('lid', Pose((0.1, 0.0, 1e-7), (-x, -y, -z, -w)))))
        assert differences(LID, other) == ()

    def test_poses(self):
        moved = replace(LID, keyframes=(Pick('lid'), Place('lid', Pose((0.1, 0.2, 1e-7)))))
        assert differences(LID, moved) == (
            '  keyframes[1], place lid: moved by 0.2 m to (0.1, 0.2, 0), turned by 73.7398 deg',
        )

    def test_keyframes_that_came_and_went(self):
        longer = replace(LID, keyframes=(Pick('lid'), Wait(2.0), LID.keyframes[1]))
        assert differences(LID, longer) == ('+ keyframes[1]: wait 2 s',)
        assert differences(longer, LID) == ('- keyframes[1]: wait 2 s',)

    def test_objects(self):
        other = Task((Descriptor('cup'),), (Pick('cup'), Place('cup', Pose())))
        assert {'- object lid', '+ object cup'} <= set(differences(LID, other))
