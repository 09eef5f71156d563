"""The printed recording: refused for what is wrong with it, mended on request, to the poses worked out by hand."""

import pytest

from lfd_planner.mtdf import (
    MtdfError,
    Place,
    Pose,
    differences,
    dump_task,
    errors,
    parse_task,
    read_report,
    repair_text,
)
from lfd_planner.mtdf.quaternions import lost_exponents


def places(task) -> dict[str, Pose]:
    return {keyframe.object: keyframe.pose for keyframe in task.keyframes if isinstance(keyframe, Place)}


def with_commas(printed: str) -> str:
    return printed.replace(' ]\n        o', ' ],\n        o')


def test_as_printed_it_is_refused_with_the_exact_causes(printed: str):
    with pytest.raises(MtdfError) as error:
        parse_task(printed)
    missing = "a comma is missing before 'orientation'"
    assert [(p.line, p.column, p.keyframe, p.object, p.message) for p in error.value.problems] == [
        (10, 43, 1, 'blue_box', missing),
        (
            11,
            22,
            1,
            'blue_box',
            'the quaternion has the length 6.291 and not 1 (within 0.001): '
            'x (1.4756) and z (-6.0335) probably lost an exponent',
        ),
        (16, 44, 3, 'yellow_box', missing),
        (22, 45, 5, 'red_box', missing),
        (28, 45, 7, 'green_box', missing),
    ]
    assert all('./lfd mtdf repair' in problem.fix for problem in error.value.problems)


def test_that_the_axes_may_be_unitys_is_a_warning(printed: str):
    warnings = [p for p in read_report(printed).problems if not p.is_error]
    assert [(p.line, p.column) for p in warnings] == [(7, 3)]
    assert 'up in Unity' in warnings[0].message


def test_repaired_poses_are_those_worked_out_by_hand(printed: str, recorded: dict[str, Pose]):
    found = places(repair_text(printed, axes='unity').task)
    assert list(found) == ['blue_box', 'yellow_box', 'red_box', 'green_box']
    for name, pose in recorded.items():
        assert found[name].position == pose.position
        assert found[name].orientation == pytest.approx(pose.orientation, abs=1e-15)


def test_it_says_what_it_did(printed: str):
    assert [str(repair) for repair in repair_text(printed, axes='unity').repairs] == [
        "line 1, column 1: converted all poses from Unity's axes to those of ROS: position (z, -x, y), "
        'quaternion (z, -x, y, -w); the file says so by version and axes.',
        "line 10, column 43: added a comma before 'orientation'.",
        "line 11, column 24: keyframes[1], object 'blue_box': x of the orientation, 1.4756 became 1.4756e-05, "
        'with which the quaternion has the length 1.',
        "line 11, column 41: keyframes[1], object 'blue_box': z of the orientation, -6.0335 became -6.0335e-05, "
        'with which the quaternion has the length 1.',
        "line 16, column 44: added a comma before 'orientation'.",
        "line 22, column 45: added a comma before 'orientation'.",
        "line 28, column 45: added a comma before 'orientation'.",
    ]


def test_axes_are_left_alone_unless_somebody_says_so(printed: str):
    repaired = repair_text(printed)
    assert places(repaired.task)['green_box'].position == (0.5360, 0.1329, 0.3290)
    assert 'up in Unity' in repaired.warnings[0].message
    assert repair_text(printed, axes='unity').warnings == ()
    assert repair_text(printed, axes='ros').warnings == ()


def test_what_it_writes_needs_no_repair(printed: str):
    repaired = repair_text(printed, axes='unity')
    assert repaired.text.startswith('version: 2\naxes: ros\n')
    assert read_report(repaired.text).problems == ()
    again = repair_text(repaired.text)
    assert again.repairs == ()
    assert again.text == repaired.text
    assert again.task == repaired.task == parse_task(repaired.text)


def test_all_that_is_not_mended_keeps_every_character(printed: str):
    text = '# recorded on a Monday\n' + printed.replace('keyframes:', 'keyframes:  # bottom to top')
    mended = with_commas(text).replace('1.4756', '1.4756e-05').replace('-6.0335', '-6.0335e-05')
    assert repair_text(text).text == mended
    assert repair_text(f'\ufeff{mended}').text == mended
    assert repair_text(mended).text == mended


def test_converted_numbers_keep_their_digits_and_their_comments():
    text = (
        '# from the print\n'
        'object_descriptors: [a]\n'
        'keyframes:\n'
        '- {type: pick, object_descriptor: a}  # take it\n'
        '- type: place\n'
        '  object_descriptor: a\n'
        '  place_pose:\n'
        '    position:\n'
        '    - 0.10  # forward\n'
        '    - 0.0  # left\n'
        '    - +3e-1  # up\n'
        '    orientation: [0, 0.60, 0, -0.8]  # turned\n'
    )
    repaired = repair_text(text, 'unity')
    converted = (
        text.replace('0.10 ', '+3e-1 ', 1).replace('0.0  # left', '-0.10  # left').replace('+3e-1  # up', '0.0  # up')
    )
    assert repaired.text == 'version: 2\naxes: ros\n' + converted.replace('[0, 0.60, 0, -0.8]', '[0, 0, 0.60, 0.8]')


def test_regions_are_converted_too():
    text = (
        '{"object_descriptors": [{"name": "a", "rule": {"region": {"min": [-1, 0, 1], "max": [2, 3, 4]}, '
        '"nearest": [1, 2, 3]}}], "keyframes": []}'
    )
    text = text.replace('{"object', '{"version": 2, "object')
    repaired = repair_text(text, 'unity')
    assert '"min": [1, -2, 0], "max": [4, 1, 3]' in repaired.text
    assert '"nearest": [3, -1, 2]' in repaired.text
    assert '"version": 2, "object' in repaired.text
    assert '"axes": "ros"' in repaired.text


class TestPlaces:
    """Lines and columns are those of the text as it was, whatever was mended before them on the line."""

    POSE = '{position: [0, 0, 0] orientation: [0, 0, 0, 1]}'
    LINE = f'- {{type: place, object_descriptor: a, place_pose: {POSE}, nonsense: 1}}'
    TEXT = f'object_descriptors: [a]\nkeyframes:\n- {{type: pick, object_descriptor: a}}\n{LINE}\n'

    def test_after_a_missing_comma(self):
        comma, unknown = errors(read_report(self.TEXT).problems)
        assert (comma.line, comma.column) == (4, self.LINE.index(' orientation') + 1)
        assert (unknown.line, unknown.column) == (4, self.LINE.index('nonsense') + 1)

    def test_after_repairs(self):
        text = self.TEXT.replace('[0, 0, 0, 1]', '[1.4756, 2.3456, 0, 1]')
        with pytest.raises(MtdfError) as error:
            repair_text(text)
        (unknown,) = error.value.problems
        assert unknown.column == text.splitlines()[3].index('nonsense') + 1
        repairs = repair_text(text.replace(', nonsense: 1', '')).repairs
        columns = [text.splitlines()[3].index(word) + 1 for word in (' orientation', '1.4756', '2.3456')]
        assert [repair.column for repair in repairs] == columns

    def test_in_a_text_that_stays_unreadable(self):
        text = self.TEXT.replace('nonsense: 1}', '*alias}')
        assert {problem.column for problem in read_report(text).problems} == {
            self.LINE.index(' orientation') + 1,
            text.splitlines()[3].index('*alias') + 1,
        }

    def test_a_comma_that_is_missing_elsewhere_is_no_keyframes(self):
        text = (
            'version: 2\nobject_descriptors: [a]\nkeyframes:\n- {type: pick, object_descriptor: a}\n'
            'task_origin: {position: [0, 0, 0] orientation: [0, 0, 0, 1]}\n'
        )
        (comma,) = errors(read_report(text).problems)
        assert (comma.line, comma.keyframe, comma.object) == (5, None, None)


def test_very_many_missing_commas_are_not_all_told():
    poses = '{position: [0, 0, 0] orientation: [0, 0, 0, 1]},' * 20_000
    text = f'version: 2\nobject_descriptors: [a]\nkeyframes: [{{type: trajectory, poses: [{poses}]}}]\n'
    assert len(read_report(text).problems) == 1000


def test_each_mistake_alone(printed: str):
    commas = with_commas(printed)
    assert [p.line for p in errors(read_report(commas).problems)] == [11]
    exponents = printed.replace('1.4756', '1.4756e-05').replace('6.0335', '6.0335e-05')
    assert len(errors(read_report(exponents).problems)) == 4
    assert repair_text(commas, 'unity').task == repair_text(exponents, 'unity').task
    assert len(repair_text(commas).repairs) == 2
    assert len(repair_text(exponents).repairs) == 4


def test_byte_order_mark():
    text = '\ufeffobject_descriptors: []\nkeyframes: []\n'
    repaired = repair_text(text)
    assert [str(repair) for repair in repaired.repairs] == ['line 1, column 1: removed the byte order mark.']


def test_lines_that_end_as_on_windows(printed: str):
    windows, unix = repair_text(printed.replace('\n', '\r\n'), 'unity'), repair_text(printed, 'unity')
    assert windows.text == unix.text.replace('\n', '\r\n')
    assert (windows.task, windows.repairs) == (unix.task, unix.repairs)


def test_a_file_that_names_its_axes_is_believed(printed: str):
    unity = repair_text(f'version: 2\naxes: unity\n{printed}', 'unity')
    assert unity.task == repair_text(printed, 'unity').task
    with pytest.raises(MtdfError, match='the file says that its axes are those of ROS'):
        repair_text(f'version: 2\naxes: ros\n{printed}', 'unity')


@pytest.mark.parametrize(
    ('quaternion', 'lost'),
    [
        ('1.4756 -0.2618 -6.0335 0.9651', (0, 2)),
        ('9.900 0 0 1', (0,)),
        ('1.234 +2.345 -4.567 1.0', (0, 1, 2)),
        ('0 0 0 1', ()),  # fine
        ('0.0 0.0 0.6 0.9', ()),  # no mantissa
        ('0.0 0.0 1.000 1.000', ()),  # either of them
        ('0 0 0 0', ()),
        ('14.756 -0.2618 0.0 0.9651', ()),  # no mantissa has two digits before the point
        ('1.4756 0.5 0.0 0.5', ()),  # the others are no turn
        ('0 0 1 2', ()),  # whole numbers are not printed with an exponent
        ('1.5e0 0 0 1', ()),  # has its exponent
        ('1.5 0 0 1', ()),  # a slip of the finger
    ],
)
def test_lost_exponents_are_found_only_if_there_is_one_way(quaternion: str, lost: tuple[int, ...]):
    assert lost_exponents(quaternion.split()) == lost


@pytest.mark.parametrize('quaternion', ['[0, 0, 1, 2]', '[1.5e0, 0, 0, 1]', '[01.4756, 0, 0, 1]'])
def test_numbers_that_were_never_printed_stay_refused(quaternion: str, printed: str):
    with pytest.raises(MtdfError):
        repair_text(printed.replace('[ -0.651, -0.275, -0.2767, 0.6511 ]', quaternion))


def test_what_cannot_be_mended_is_refused_with_what_is_left(printed: str):
    with pytest.raises(MtdfError) as error:
        repair_text(printed.replace('0.9934', '0.5'), 'unity')
    (problem,) = error.value.problems
    assert (problem.line, problem.keyframe, problem.object) == (23, 5, 'red_box')


def test_a_bracket_that_never_ends_is_no_missing_comma(printed: str):
    with pytest.raises(MtdfError):
        repair_text(printed.replace('0.321 ]', '0.321'))


def test_nothing_is_lost_on_the_way_to_unity_and_back(printed: str):
    task = repair_text(printed, 'unity').task
    assert parse_task(dump_task(task, axes='unity')) == task
    assert differences(task, parse_task(dump_task(task, file_format='json', axes='unity'))) == ()
