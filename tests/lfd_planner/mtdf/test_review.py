"""Traps that a reader, a writer and a comparison of tasks once fell into."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from lfd_planner.mtdf import (
    AwaitInput,
    Document,
    MtdfError,
    Pose,
    SetOutput,
    Task,
    Wait,
    differences,
    dump_task,
    errors,
    parse_task,
    read_report,
    repair_text,
)
from lfd_planner.mtdf.describe import pose_in_words
from lfd_planner.scene.persistent_map import PersistentMap


def test_a_name_of_very_many_digits_is_refused_at_once() -> None:
    """Quadratic time would take hours for this one."""
    with pytest.raises(MtdfError, match='is no name'):
        parse_task(f'object_descriptors: [{"1" * 5_000_000}x]\nkeyframes: []\n')


def test_differences_that_words_do_not_show() -> None:
    for a, b in ((1000001, 1000002), (10000.01, 10000.04)):
        old, new = (Task((), (SetOutput('gate', float(value)),)) for value in (a, b))
        assert differences(old, new)


def test_no_escape_reaches_the_terminal() -> None:
    with pytest.raises(MtdfError) as error:
        parse_task('object_descriptors: [a]\nkeyframes:\n- {type: pick, object_descriptor: "\\e[31mEVIL"}\n')
    assert '\x1b' not in str(error.value)


@pytest.mark.parametrize('number', [np.float64(1.5), np.float32(1.5)])
def test_numbers_of_numpy_are_written(number: float) -> None:
    task = Task((), (Wait(number), SetOutput('gate', np.bool_(True))))

    assert parse_task(dump_task(task)).keyframes == (Wait(1.5), SetOutput('gate', True))


@pytest.mark.parametrize('yaw', [-2.0, 0.3, 1.2])
@pytest.mark.parametrize('pitch', [-math.pi / 2, math.pi / 2])
def test_the_yaw_of_a_tipped_object_is_told(pitch: float, yaw: float) -> None:
    s, c, sy, cy = math.sin(pitch / 2), math.cos(pitch / 2), math.sin(yaw / 2), math.cos(yaw / 2)

    words = pose_in_words(Pose(orientation=(-sy * s, cy * s, sy * c, cy * c)))
    assert words == f'(0, 0, 0) turned 0.0, {math.degrees(pitch):.1f}, {math.degrees(yaw):.1f} deg'


@pytest.mark.parametrize('kind', [SetOutput, AwaitInput])
def test_a_switch_is_no_number(kind: type[SetOutput] | type[AwaitInput]) -> None:
    on, one = kind('lamp', True), kind('lamp', 1.0)
    assert on != one
    assert kind('lamp', False) != kind('lamp', 0.0)
    assert (on, one) == (kind('lamp', np.bool_(True)), kind('lamp', 1))
    assert hash(on) == hash(kind('lamp', True))
    assert differences(Task((), (on,)), Task((), (one,)))
    for keyframe in (on, one):
        assert parse_task(dump_task(Task((), (keyframe,)))).keyframes == (keyframe,)
        assert parse_task(dump_task(Task((), (keyframe,)), file_format='json')).keyframes == (keyframe,)
    assert SetOutput('lamp', True) != AwaitInput('lamp', True)


class TestEscapedPairs:
    """JSON writes a character beyond U+FFFF as two escapes."""

    NAME = r'\ud83d\ude00'

    def text(self, name: str) -> str:
        return (
            f'{{"object_descriptors": ["x {name} y"], "keyframes": [{{"type": "pick", '
            f'"object_descriptor": "x {name} y"}}, {{"type": "nonsense"}}]}}'
        )

    def test_are_one_character(self) -> None:
        text = self.text(self.NAME).replace(', {"type": "nonsense"}', '')
        assert parse_task(text).descriptors[0].name == 'x \U0001f600 y'
        assert Document(text).rename_object('x \U0001f600 y', 'z').text == text.replace(f'x {self.NAME} y', 'z')

    def test_columns_after_them_are_right(self) -> None:
        text = self.text(self.NAME)
        (problem,) = errors(read_report(text).problems)
        assert (problem.line, problem.column) == (1, text.index('"nonsense"') + 1)
        broken = text.replace('"nonsense"', '*alias')
        assert read_report(broken).problems[0].column == broken.index('*alias') + 1

    def test_a_backslash_before_is_no_escape(self) -> None:
        text = self.text(r'\\ud83d').replace(', {"type": "nonsense"}', '')
        assert parse_task(text).descriptors[0].name == r'x \ud83d y'

    @pytest.mark.parametrize('half', [r'\ud83d', r'\ude00', r'\ude00\ud83d'])
    def test_halves_are_refused(self, half: str) -> None:
        text = self.text(half)
        (problem,) = read_report(text).problems
        assert problem.message == f"'{half[:6]}' is half of a character"
        assert problem.column == text.index(half) + 1

    def test_outside_of_double_quotes_they_are_refused(self) -> None:
        with pytest.raises(MtdfError, match='stands outside of double quotes'):
            parse_task(f"object_descriptors: ['{self.NAME}']\nkeyframes: []\n")

    def test_beside_missing_commas(self) -> None:
        text = (
            f'object_descriptors: ["{self.NAME}"]\nkeyframes:\n- {{type: pick, object_descriptor: "{self.NAME}"}}\n'
            f'- {{type: place, object_descriptor: "{self.NAME}", '
            'place_pose: {position: [0, 0, 0] orientation: [0, 0, 0, 1]}}\n'
        )
        (problem,) = errors(read_report(text).problems)
        assert problem.column == text.splitlines()[3].index(' orientation') + 1
        assert repair_text(text).text == text.replace('0] o', '0], o')


@pytest.mark.parametrize(
    'text', ['{}: 1', '"{}": 1', '{{"{}": 1}}', '{{a: 1, {}: 1}}', "- '{}': 1", 'version: 2\n"{}": 1\nkeyframes: []']
)
def test_a_key_that_is_too_long_is_called_so(text: str) -> None:
    (problem,) = read_report(text.format('k' * 5000)).problems
    assert problem.message == 'a key has more than 1024 characters'
    line = text.format('k').splitlines()[problem.line - 1]
    assert line[problem.column - 1 :].lstrip('"\'').startswith('k')


@pytest.mark.parametrize('number', ['010', '-010', '00', '01.5', '+007e1'])
def test_numbers_that_begin_with_a_zero_are_refused(number: str) -> None:
    text = f'version: 2\nobject_descriptors: []\nkeyframes: [{{type: io, output: a, value: {number}}}]\n'
    (problem,) = read_report(text).problems
    assert problem.message == f"'{number}' begins with a zero, which some readers take for octal"
    assert parse_task(text.replace(number, '0.10'))
    assert parse_task(text.replace(number, '0'))


@pytest.mark.parametrize('fraction', ['123456789', '0000001', '123456700'])
def test_moments_finer_than_a_microsecond_are_refused(fraction: str) -> None:
    text = f'version: 2\nrecorded_at: "2026-03-01T14:05:09.{fraction}Z"\nobject_descriptors: []\nkeyframes: []\n'
    with pytest.raises(MtdfError, match='more finely than by the microsecond; keep six digits'):
        parse_task(text)
    moment = parse_task(text.replace(fraction, '123456000')).recorded_at
    assert moment is not None
    assert moment.microsecond == 123456


def test_a_map_finds_its_keys_in_another_process() -> None:
    data = pickle.dumps(PersistentMap({f'object_{i}': i for i in range(200)}))
    script = (
        'import pickle, sys; found = pickle.loads(sys.stdin.buffer.read()); '
        'print(sum(found[f"object_{i}"] == i for i in range(200)))'
    )

    result = subprocess.run([sys.executable, '-c', script], input=data, capture_output=True, check=True)
    assert result.stdout.strip() == b'200'
