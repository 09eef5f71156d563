import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from lfd_description.scenes import yaml_nodes
from lfd_planner.mtdf import (
    AwaitInput,
    Descriptor,
    GraspHint,
    MtdfError,
    Origin,
    Pick,
    Place,
    Pose,
    Problem,
    Recorder,
    SetOutput,
    Task,
    Trajectory,
    Wait,
    commas,
    errors,
    load_task,
    parse_task,
    read_report,
)
from lfd_planner.mtdf.rules import AllOf, HasColour, HasShape

VERSION_1 = """\
object_descriptors:
  - lid
keyframes:
  - { type: pick, object_descriptor: lid }
  - { type: place, object_descriptor: lid,
      place_pose:
      { position: [ 0.1, 0.2, 0.3 ],
        orientation: [ 0.0, 0.0, 0.6, 0.8 ] }
    }
"""
VERSION_2 = """\
version: 2
axes: ros
recorder: {name: lfd_vr_bridge, version: "0.1"}
recorded_at: "2026-03-01T14:05:09Z"
task_origin: {frame: base_link, position: [0.4, 0, 0], orientation: [0, 0, 0, 1]}
object_descriptors:
- cup
- {name: lid, rule: {shape: cylinder, color: red}}
keyframes:
- {type: io, input: part_present, value: true, timeout: 5}
- {type: pick, object_descriptor: lid, time: 1.5, grasp: {position: [0, 0, 0.2], orientation: [0, 0, 0, 1], width: 0.4}}
- type: trajectory
  object_descriptor: lid
  poses:
  - {position: [0.1, 0, 0.2], orientation: [0, 0, 0, 1], time: 0.5}
  - {position: [0.2, 0, 0.2], orientation: [0, 0, 0, 1], time: 1.25}
- {type: trajectory, object_descriptor: lid, speed: 0.1, poses: [{position: [0, 0, 0.2], orientation: [0, 0, 0, 1]}]}
- {type: place, object_descriptor: lid, time: 4, place_pose: {position: [0, 0, 0.1], orientation: [0, 0, 0, 1]}}
- {type: wait, duration: 0.5}
- {type: io, output: glue, value: 0.75}
- {type: pick, object_descriptor: cup}
- {type: place, object_descriptor: cup, place_pose: {position: [0, 0, 0.1], orientation: [0, 0, 0, 1]}}
"""
POSE = '{position: [0, 0, 0], orientation: [0, 0, 0, 1]}'


def one_object(*keyframes: str, version: int = 2) -> str:
    return '\n'.join([f'version: {version}', 'object_descriptors: [a]', 'keyframes:', *(f'- {k}' for k in keyframes)])


def held(*keyframes: str) -> str:
    place = f'{{type: place, object_descriptor: a, place_pose: {POSE}}}'
    return one_object('{type: pick, object_descriptor: a}', *keyframes, place)


def problems(text: str) -> tuple[Problem, ...]:
    return errors(read_report(text).problems)


def problem(text: str) -> Problem:
    (found,) = problems(text)
    return found


class TestVersion1:
    def test_reads_what_the_first_recorder_wrote(self):
        pose = Pose((0.1, 0.2, 0.3), (0.0, 0.0, 0.6, 0.8))
        assert parse_task(VERSION_1) == Task((Descriptor('lid'),), (Pick('lid'), Place('lid', pose)))

    def test_may_say_its_version(self):
        assert parse_task(f'version: 1\n{VERSION_1}') == parse_task(VERSION_1)
        assert read_report(VERSION_1).version == 1

    @pytest.mark.parametrize(
        ('line', 'word'),
        [('axes: unity', 'axes'), (f'task_origin: {POSE}', 'task_origin'), ('recorder: {name: x}', 'recorder')],
    )
    def test_newer_keys_need_the_newer_version(self, line: str, word: str):
        found = problem(f'{VERSION_1}{line}\n')
        assert (found.line, found.column) == (10, 1)
        assert found.message == f"the key '{word}' belongs to version 2 of the format"
        assert found.fix == "begin the file with 'version: 2'"

    def test_newer_keyframes_and_rules_need_the_newer_version(self):
        text = one_object('{type: wait, duration: 1}', version=1).replace('[a]', '[{name: a, rule: {shape: box}}]')
        assert [found.message for found in problems(text)] == [
            'descriptors by rule belong to version 2 of the format',
            "keyframes of type 'wait' belong to version 2 of the format",
        ]

    def test_unknown_version(self):
        found = problem(VERSION_1.replace('object_d', 'version: 3\nobject_d', 1))
        assert str(found) == "line 1, column 10: '3' is no version of the format that is known; use 1 or 2."


class TestVersion2:
    def test_reads_every_key(self):
        task = parse_task(VERSION_2)
        up = Pose((0.0, 0.0, 0.2))
        assert task == Task(
            descriptors=(Descriptor('cup'), Descriptor('lid', AllOf((HasShape('cylinder'), HasColour('red'))))),
            keyframes=(
                AwaitInput('part_present', True, 5.0),
                Pick('lid', GraspHint(Pose((0.0, 0.0, 0.2)), 0.4), 1.5),
                Trajectory('lid', (Pose((0.1, 0.0, 0.2)), Pose((0.2, 0.0, 0.2))), (0.5, 1.25)),
                Trajectory('lid', (up,), speed=0.1),
                Place('lid', Pose((0.0, 0.0, 0.1)), 4.0),
                Wait(0.5),
                SetOutput('glue', 0.75),
                Pick('cup'),
                Place('cup', Pose((0.0, 0.0, 0.1))),
            ),
            origin=Origin(Pose((0.4, 0.0, 0.0)), 'base_link'),
            recorder=Recorder('lfd_vr_bridge', '0.1'),
            recorded_at=datetime(2026, 3, 1, 14, 5, 9, tzinfo=UTC),
        )

    def test_axes_of_unity_become_those_of_ros(self):
        text = f'version: 2\naxes: unity\n{VERSION_1}'.replace('0.0, 0.0, 0.6, 0.8', '0.48, 0.6, 0.0, 0.64')
        _, place = parse_task(text).keyframes
        assert place == Place('lid', Pose((0.3, -0.1, 0.2), (0.0, -0.48, 0.6, -0.64)))

    def test_times_of_day_are_optional_but_not_their_zone(self):
        found = problem(VERSION_2.replace('14:05:09Z', '14:05:09'))
        assert (found.line, found.column) == (4, 14)
        assert 'has no time zone' in found.message


def test_json_is_read_the_same_way():
    data = {
        'object_descriptors': ['lid'],
        'keyframes': [
            {'type': 'pick', 'object_descriptor': 'lid'},
            {
                'type': 'place',
                'object_descriptor': 'lid',
                'place_pose': {'position': [0.1, 0.2, 3e-1], 'orientation': [0, 0, 0.6, 0.8]},
            },
        ],
    }
    for indent in (None, 2, '\t'):
        assert parse_task(json.dumps(data, indent=indent)) == parse_task(VERSION_1)


def test_quaternion_that_is_nearly_unit_is_made_unit():
    _, place = parse_task(VERSION_1.replace('0.6, 0.8', '0.6003, 0.8004')).keyframes
    assert isinstance(place, Place)
    assert sum(part * part for part in place.pose.orientation) == pytest.approx(1.0, abs=1e-15)


class TestWhatIsWrong:
    def test_place_of_the_mistake(self):
        found = problem(VERSION_1.replace('0.6, 0.8', '0.6, 0.9'))
        assert found == Problem(
            line=8,
            column=22,
            keyframe=1,
            object='lid',
            message='the quaternion has the length 1.082 and not 1 (within 0.001)',
            fix='write a unit quaternion [x, y, z, w], [0, 0, 0, 1] for no turn',
        )
        assert str(found).startswith("line 8, column 22, keyframes[1], object 'lid': the quaternion has the length")

    def test_all_at_once_in_the_order_of_the_text(self):
        text = """\
version: 2
axes: up
object_descriptors: [a, a, 7]
keyframes:
- {type: pick, object_descriptor: b}
- {type: plaice, object_descriptor: a}
- {type: place, object_descriptor: a, place_pose: {position: [0, 1e3, .nan], orientation: [0, 0, 1]}}
- {type: wait}
"""
        lines = text.splitlines()
        expected = [
            (2, 'up', None),
            (3, 'a, 7', None),
            (3, '7', None),
            (5, 'b}', 0),
            (6, 'plaice', 1),
            (7, 'a, place_pose', 2),
            (7, '1e3', 2),
            (7, '.nan', 2),
            (7, '[0, 0, 1]', 2),
            (8, '{', 3),
        ]
        assert [(found.line, found.column, found.keyframe) for found in problems(text)] == [
            (line, lines[line - 1].index(word) + 1, keyframe) for line, word, keyframe in expected
        ]

    @pytest.mark.parametrize('number', ['.nan', 'NaN', '.inf', '-.inf', 'Infinity', '1e999', '-1e400'])
    def test_numbers_that_are_not_finite(self, number: str):
        found = problem(VERSION_1.replace('0.2,', f'{number},'))
        assert (found.line, found.column, found.keyframe, found.object) == (7, 26, 1, 'lid')
        assert 'finite' in found.message or 'too big' in found.message

    @pytest.mark.parametrize('number', ["'0.2'", 'true', '~', '0x10', '1_000', '1:30', '[0.2]', '9' * 10_000])
    def test_what_is_no_number(self, number: str):
        assert problem(VERSION_1.replace('0.2,', f'{number},')).keyframe == 1

    @pytest.mark.parametrize(('number', 'fine'), [('100', True), ('-100.0', True), ('100.1', False), ('-321', False)])
    def test_absurd_distances(self, number: str, fine: bool):
        found = problems(VERSION_1.replace('0.2,', f'{number},'))
        assert [p.message for p in found] == ([] if fine else [f'{float(number):g} is more than 100 m away'])

    @pytest.mark.parametrize(
        ('old', 'new', 'message'),
        [
            ('position:', 'positon:', "the key 'positon' is not known here; did you mean 'position'?"),
            ('{ type: pick, ', '{ ', "the key 'type' is missing; add it: pick, place"),
            ('type: pick', 'type: trajectory', "keyframes of type 'trajectory' belong to version 2"),
            ('type: pick', 'type: pick, type: pick', "the key 'type' is there twice; remove one"),
            ('place_pose:\n      {', 'place_pose: 5\n      #', None),
            ('[ 0.1, 0.2, 0.3 ]', '[ 0.1, 0.2 ]', 'a list of 2 is not 3 numbers; write [x, y, z] in metres'),
            ('- lid', '- {a: b}', 'descriptors by rule belong to version 2'),
            ('keyframes:', 'keyframes: 5 #', None),
        ],
    )
    def test_messages_say_what_to_do(self, old: str, new: str, message: str | None):
        found = [str(p) for p in problems(VERSION_1.replace(old, new, 1))]
        assert found
        assert message is None or any(message in line for line in found)

    @pytest.mark.parametrize('text', ['', '# nothing', '5', '[]', 'a', '---\n', 'null'])
    def test_what_is_no_task(self, text: str):
        assert 'a task holds the keys object_descriptors and keyframes' in problem(text).message

    def test_missing_keys(self):
        assert {p.message for p in problems('{}')} == {
            "the key 'object_descriptors' is missing",
            "the key 'keyframes' is missing",
        }

    @pytest.mark.parametrize(
        ('keyframe', 'message'),
        [
            ('{type: trajectory, object_descriptor: a, poses: []}', 'the list holds 0 poses'),
            (f'{{type: trajectory, object_descriptor: a, speed: 0, poses: [{POSE}]}}', '0 m/s is out of range'),
            (
                f'{{type: trajectory, object_descriptor: a, poses: [{{time: 1, {POSE[1:]}, {{time: 1, {POSE[1:]}]}}',
                'the times of the poses do not grow',
            ),
            (
                f'{{type: trajectory, object_descriptor: a, poses: [{{time: 1, {POSE[1:]}, {POSE}]}}',
                '1 of 2 poses have a time',
            ),
            (
                f'{{type: trajectory, object_descriptor: a, speed: 1, poses: [{{time: 1, {POSE[1:]}]}}',
                'the poses have times and the trajectory a speed',
            ),
            ('{type: wait, duration: -1}', '-1 s is out of range'),
            ('{type: wait, duration: 1e9}', '1e+09 s is out of range'),
            ('{type: io, value: true}', 'an io keyframe has either an output or an input'),
            ('{type: io, output: a, input: b, value: 1}', 'an io keyframe has either an output or an input'),
            ('{type: io, output: a, value: 1, timeout: 2}', 'setting an output takes no time'),
            ('{type: io, output: a, value: up}', "'up' is no value of a signal"),
        ],
    )
    def test_newer_keyframes(self, keyframe: str, message: str):
        found = problem(held(keyframe))
        assert found.message == message
        assert found.keyframe == 1

    @pytest.mark.parametrize(
        ('rule', 'message'),
        [
            ('{}', 'a rule must say something'),
            ('{size: {}}', 'a range of sizes must say something'),
            ('red', "'red' is not a rule"),
            ('{shape: plane}', "'plane' is no shape that can be moved"),
            ('{color: reed}', "'reed' is no colour with a name"),
            ('{color: [0, 0, 2]}', '2 is no part of a colour'),
            ('{size: {longest: [2, 1]}}', '2 to 1 is no range of lengths'),
            ('{region: {min: [0, 0, 0]}}', 'a region needs two keys'),
            ('{region: {min: [0, 0, 0], radius: 1}}', 'a region needs two keys'),
            ('{region: {min: [0, 0, 1], max: [1, 1, 0]}}', 'a part of min is above max'),
            ('{nearest: {}}', 'a mapping is no text'),
            ('{all: []}', 'the list holds 0 rules'),
            ('{any: [{shape: box}, {shap: box}]}', "the key 'shap' is not known here"),
            ('{not: [{shape: box}]}', 'a list of 1 is not a rule'),
        ],
    )
    def test_rules(self, rule: str, message: str):
        assert problem(held().replace('[a]', f'[{{name: a, rule: {rule}}}]')).message == message

    def test_text_that_is_no_yaml(self):
        found = problem('object_descriptors: [a]\nkeyframes: "\n')
        assert found.line >= 2
        assert found.message.startswith('this is no YAML or JSON')

    def test_tab(self):
        found = problem('object_descriptors:\n\t- a\nkeyframes: []\n')
        assert str(found) == 'line 2, column 1: a tab stands where YAML asks for spaces; indent with spaces.'

    def test_control_character(self):
        found = problem('object_descriptors: [a]\nkeyframes: [\x00]\n')
        assert str(found) == 'line 2, column 13: the character U+0000 is not allowed; remove it.'

    def test_only_the_first_fifty_are_told(self):
        text = one_object(*['{type: pick, object_descriptor: b}'] * 400)
        with pytest.raises(MtdfError) as error:
            parse_task(text)
        lines = str(error.value).splitlines()
        assert len(lines) == 51
        assert lines[-1] == f'and there are {len(error.value.problems) - 50} other problems; mend these first.'


class TestFiles:
    def test_messages_name_the_file(self, tmp_path: Path):
        file = tmp_path / 'lid.mtdf.yaml'
        file.write_text(VERSION_1.replace('0.6, 0.8', '0.6, 0.9'))
        with pytest.raises(MtdfError, match=r'lid\.mtdf\.yaml, line 8, column 22, keyframes\[1\]'):
            load_task(file)
        file.write_text(VERSION_1)
        assert load_task(file) == parse_task(VERSION_1)

    def test_missing_and_folder(self, tmp_path: Path):
        with pytest.raises(MtdfError, match='No such file'):
            load_task(tmp_path / 'none.yaml')
        with pytest.raises(MtdfError, match='it is no file'):
            load_task(tmp_path)

    def test_other_encodings(self, tmp_path: Path):
        file = tmp_path / 'a.yaml'
        file.write_bytes(b'object_descriptors:\n- K\xe4se\n')
        with pytest.raises(MtdfError, match='line 2, column 4: it is no UTF-8 text; save it as such'):
            load_task(file)
        file.write_text(VERSION_1, encoding='utf-16')
        with pytest.raises(MtdfError, match='no UTF-8 text'):
            load_task(file)
        file.write_text(VERSION_1, encoding='utf-8-sig')
        with pytest.raises(MtdfError, match='byte order mark'):
            load_task(file)

    def test_lines_may_end_as_on_windows(self, tmp_path: Path):
        file = tmp_path / 'a.yaml'
        file.write_bytes(VERSION_1.replace('\n', '\r\n').encode())
        assert load_task(file) == parse_task(VERSION_1)


def test_without_libyaml_the_report_is_the_same(printed: str, monkeypatch: pytest.MonkeyPatch):
    expected = [read_report(text).problems for text in (printed, VERSION_2, VERSION_1.replace('0.8', '0.9'))]
    monkeypatch.setattr(yaml_nodes, 'LOADER', yaml.SafeLoader)
    monkeypatch.setattr(commas, 'LOADER', yaml.SafeLoader)
    found = [read_report(text).problems for text in (printed, VERSION_2, VERSION_1.replace('0.8', '0.9'))]
    assert found == expected
    assert parse_task(VERSION_2).keyframes
