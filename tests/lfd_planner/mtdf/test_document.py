import json
import random
import re
from collections.abc import Callable

import pytest

from lfd_planner.mtdf import Document, MtdfError, Place, Pose, Task, differences, dump_task

TEXT = """\
# The lid goes onto the pot.
object_descriptors:   # by name
  - pot   # the blue one
  - lid

keyframes:
  # first the pot
  - { type: pick, object_descriptor: pot }   # from the table
  - { type: place, object_descriptor: pot,
      place_pose:
      { position: [ 0.10, 0.2, 0.3 ],   # in the middle
        orientation: [ 0, 0, 0, 1 ] }
    }

  # then the lid
  - type: pick
    object_descriptor: lid   # the 'lid', not the - pot
  - type: place
    object_descriptor: "lid"
    place_pose:
      position: [0.1, 0.2, 0.4]
      orientation:
      - 0
      - 0
      - 0
      - 1
# the end
"""


def test_what_is_not_edited_keeps_every_character(random_task: Callable[[int], Task]):
    assert Document(TEXT).text == TEXT
    for seed in range(5):
        text = dump_task(random_task(seed), file_format='json')
        assert Document(text).text == text


def test_refuses_what_cannot_be_read():
    with pytest.raises(MtdfError):
        Document('keyframes: 5')


class TestRename:
    def test_changes_the_name_and_nothing_else(self):
        renamed = Document(TEXT).rename_object('lid', 'cover')
        assert renamed.text == TEXT.replace('- lid', '- cover').replace(': lid ', ': cover ').replace('"lid"', 'cover')
        assert [d.name for d in renamed.task.descriptors] == ['pot', 'cover']

    def test_names_that_need_quotes(self):
        renamed = Document(TEXT).rename_object('pot', 'pot: 2, blue')
        assert '- "pot: 2, blue"   # the blue one' in renamed.text
        assert renamed.task.descriptors[0].name == 'pot: 2, blue'
        assert renamed.rename_object('pot: 2, blue', 'pot').text == TEXT

    def test_rules_that_speak_of_it(self):
        text = (
            'version: 2\nobject_descriptors: [tray, {name: cup, rule: {color: red, nearest: tray}}]\n'
            'keyframes: [{type: pick, object_descriptor: cup}]\n'
        )
        assert Document(text).rename_object('tray', 'plate').text == text.replace('tray', 'plate')
        assert Document(text).rename_object('cup', 'mug').text == text.replace('cup', 'mug')

    def test_json(self):
        text = json.dumps({'object_descriptors': ['a'], 'keyframes': [{'type': 'pick', 'object_descriptor': 'a'}]})
        assert Document(text).rename_object('a', 'b').text == text.replace('"a"', '"b"')

    def test_refusals(self):
        with pytest.raises(MtdfError, match="there is no descriptor 'cup'; use pot, lid"):
            Document(TEXT).rename_object('cup', 'mug')
        with pytest.raises(MtdfError, match="there is a descriptor 'lid' already"):
            Document(TEXT).rename_object('pot', 'lid')
        with pytest.raises(MtdfError):
            Document(TEXT).rename_object('pot', '')

    def test_names_in_blocks_of_text(self):
        text = (
            'object_descriptors:\n- |-  # the lid\n  lid\n\n# what happens\nkeyframes:\n- type: pick\n'
            '  object_descriptor: >-\n    lid\n  # picked\n- type: place\n  object_descriptor: lid\n'
            '  place_pose: {position: [0, 0, 0], orientation: [0, 0, 0, 1]}\n'
        )
        assert Document(text).rename_object('lid', 'cover').text == (
            text.replace('|-  # the lid\n  lid', 'cover  # the lid')
            .replace('>-\n    lid', 'cover')
            .replace('lid\n', 'cover\n')
        ).replace('# the cover', '# the lid')


NEIGHBOURS = """\
version: 2
object_descriptors: []
keyframes:
# about the first
- type: wait
  duration: 1
  # ends the first
# about the second
- type: io   # - it is second
  output: |-   # a block
    lamp

  # ends the second
  value: true

# about nothing

# about the third
-   # a dash - alone
  type: wait
  duration: 3

  # ends the third
# about recorder
recorder: {name: me}
"""

IN_BRACKETS = """\
version: 2
object_descriptors: []
keyframes: [   # the list
  # about the first
  {type: wait, duration: 1},   # first
  # about the second
  {type: wait, duration: 2}   # second
  ,   # of the second
  # about the third
  {type: wait, duration: 3}, {type: wait, duration: 4},   # fourth
  {type: wait, duration: 5}   # fifth
  # the end
]   # after
"""


def lines_without(text: str, *numbers: int) -> str:
    """The text without lines, which count from 0."""
    return ''.join(line for n, line in enumerate(text.splitlines(keepends=True)) if n not in numbers)


class TestCommentsOfNeighbours:
    """A removed keyframe takes the comments that are about it, and no other."""

    @pytest.mark.parametrize('ends', ['\n', '\r\n', '\r'])
    @pytest.mark.parametrize(
        ('keyframe', 'lines'),
        [(0, range(3, 7)), (1, range(7, 14)), (2, range(17, 23))],
    )
    def test_below_each_other(self, keyframe: int, lines: range, ends: str):
        text = NEIGHBOURS.replace('\n', ends)
        trimmed = Document(text).remove_keyframes(keyframe)
        assert trimmed.text == lines_without(text, *lines)
        assert len(trimmed.task.keyframes) == 2

    def test_all_below_each_other(self):
        trimmed = Document(NEIGHBOURS).remove_keyframes(0, 2)
        assert trimmed.text == lines_without(NEIGHBOURS, *range(3, 23)).replace('keyframes:', 'keyframes: []')

    @pytest.mark.parametrize('ends', ['\n', '\r\n', '\r'])
    @pytest.mark.parametrize(
        ('keyframe', 'lines', 'old', 'new'),
        [
            (0, (3, 4), '', ''),
            (1, (5, 6, 7), '', ''),
            (2, (), '{type: wait, duration: 3}, ', ''),
            (3, (), '{type: wait, duration: 4},   # fourth', ''),
            (4, (10,), 'duration: 4},', 'duration: 4}'),
        ],
    )
    def test_in_brackets(self, keyframe: int, lines: tuple[int, ...], old: str, new: str, ends: str):
        text = IN_BRACKETS.replace('\n', ends)
        trimmed = Document(text).remove_keyframes(keyframe)
        assert trimmed.text == lines_without(text, *lines).replace(old, new)
        assert len(trimmed.task.keyframes) == 4

    def test_on_one_line(self):
        waits = '{type: wait, duration: 1}, {type: wait, duration: 2}'
        text = f'version: 2\nobject_descriptors: []\nkeyframes: [{waits}] # c\n'
        assert Document(text).remove_keyframes(0).text == text.replace('{type: wait, duration: 1}, ', '')
        assert Document(text).remove_keyframes(1).text == text.replace(', {type: wait, duration: 2}', '')


def some_keyframes(rng: random.Random, count: int) -> str:
    """A task of waits, one after the other; every comment names the keyframe that it is about."""
    indent = rng.choice(['', '  '])
    lines = ['version: 2', 'object_descriptors: []', 'keyframes:']
    for n in range(count):
        lines += [''] * rng.randint(0, 1) + [f'{indent}# about {n} - above'] * rng.randint(0, 2)
        lines += rng.choice(
            [
                [f'{indent}- {{type: wait, duration: {n + 1}}}  # about {n}'],
                [f'{indent}- type: wait  # about {n} - here', f'{indent}  duration: {n + 1}'],
                [f'{indent}-  # about {n} - alone', f'{indent}  type: wait', f'{indent}  duration: {n + 1}'],
                [
                    f'{indent}- type: io',
                    f'{indent}  value: 1',
                    f'{indent}  output: >- # about {n}',
                    f'{indent}    lamp',
                ],
            ]
        )
        if ' {type' not in lines[-1] and rng.random() < 0.5:
            lines.append(f'{indent}  # about {n}, its end')
    return '\n'.join([*lines, '# about nothing', 'recorder: {name: me}', ''])


def some_keyframes_in_brackets(rng: random.Random, count: int) -> str:
    """The same as a list in brackets."""
    lines = ['version: 2', 'object_descriptors: []', 'keyframes: [']
    for n in range(count):
        comma = '' if n == count - 1 and rng.random() < 0.7 else ','
        lines += [f'  # about {n}, above'] * rng.randint(0, 2)
        lines += rng.choice(
            [
                [f'  {{type: wait, duration: {n + 1}}}{comma}  # about {n},'],
                [f'  {{type: wait,  # about {n},', f'   duration: {n + 1}}}{comma}'],
                [f'  {{type: wait, duration: {n + 1}}}  # about {n} ,', f'  {comma}'],
            ]
        )
    return '\n'.join([*lines, '  # about nothing', ']  # about nothing', ''])


@pytest.mark.parametrize('seed', range(100))
@pytest.mark.parametrize('make', [some_keyframes, some_keyframes_in_brackets])
def test_comments_go_with_their_keyframes(make: Callable[[random.Random, int], str], seed: int):
    rng = random.Random(seed)
    count = rng.randint(2, 6)
    text = make(rng, count).replace('\n', rng.choice(['\n', '\r\n', '\r']))
    first = rng.randrange(count)
    last = rng.randrange(first, count if first else count - 1)
    gone = {str(n) for n in range(first, last + 1)}
    trimmed = Document(text).remove_keyframes(first, last).text
    assert re.findall(r'about (\w+)', trimmed) == [n for n in re.findall(r'about (\w+)', text) if n not in gone]


class TestConverted:
    def test_to_unity_and_back_keeps_every_comment(self):
        unity = Document(TEXT).converted(axes='unity')
        assert unity.text.startswith('version: 2\naxes: unity\n# The lid goes onto the pot.\n')
        assert '{ position: [ -0.2, 0.3, 0.10 ],   # in the middle' in unity.text
        assert unity.task == Document(TEXT).task
        assert unity.converted(axes='ros').text == f'version: 2\naxes: ros\n{TEXT}'
        assert unity.converted(version=1).text == f'version: 1\n{TEXT}'
        assert unity.converted(axes='unity') is unity

    def test_what_is_said_already_is_said_once(self):
        text = f'# one\n\n# two\nversion: 1   # as recorded\n{TEXT}'
        assert Document(text).converted().text == text.replace('# two\nversion: 1', '# two\nversion: 2').replace(
            '# two\n', 'axes: ros\n# two\n'
        )
        assert Document(text).converted(version=1).text == text

    def test_json(self):
        text = dump_task(Document(TEXT).task, file_format='json', version=1)
        assert json.loads(Document(text).converted(axes='unity').text)['axes'] == 'unity'
        assert Document(text).converted(axes='unity').converted(axes='ros').text == dump_task(
            Document(TEXT).task, file_format='json'
        )
        unity = dump_task(Document(TEXT).task, file_format='json', axes='unity')
        assert json.loads(Document(unity).converted(version=1).text).keys() == {
            'version',
            'object_descriptors',
            'keyframes',
        }

    def test_refuses_what_version_1_cannot_say(self):
        with pytest.raises(MtdfError, match='version 1 of the format has no keyframes other than pick and place'):
            Document(NEIGHBOURS.replace('recorder: {name: me}', '')).converted(version=1)

    @pytest.mark.parametrize('seed', range(20))
    @pytest.mark.parametrize('file_format', ['yaml', 'json'])
    def test_any_task(self, seed: int, file_format: str, random_task: Callable[[int], Task]):
        document = Document(dump_task(random_task(seed), file_format=file_format))
        unity = document.converted(axes='unity')
        assert differences(unity.task, document.task) == ()
        assert differences(unity.converted().task, document.task) == ()

    def test_formats_and_comments(self):
        assert (Document(TEXT).file_format, Document(TEXT).has_comments) == ('yaml', True)
        plain = dump_task(Document(TEXT).task)
        assert (Document(plain).file_format, Document(plain).has_comments) == ('yaml', False)
        quoted = Document(plain).rename_object('pot', 'pot #1')
        assert not quoted.has_comments
        assert Document(quoted.text.rstrip() + ' # end').has_comments
        assert Document(dump_task(Document(TEXT).task, file_format='json')).file_format == 'json'


class TestRemoveKeyframes:
    def test_in_the_middle(self):
        trimmed = Document(TEXT).remove_keyframes(0, 1)
        start, end = TEXT.index('  # first the pot'), TEXT.index('\n  # then the lid')
        assert trimmed.text == TEXT[:start] + TEXT[end:]
        assert len(trimmed.task.keyframes) == 2

    def test_at_the_end(self):
        trimmed = Document(TEXT).remove_keyframes(2, 3)
        assert trimmed.text == TEXT[: TEXT.index('  # then the lid')] + '# the end\n'

    def test_all(self):
        emptied = Document(TEXT).remove_keyframes(0, 3)
        assert emptied.task.keyframes == ()
        assert emptied.text.startswith(TEXT[: TEXT.index('keyframes:')])
        assert emptied.text.endswith('# the end\n')

    @pytest.mark.parametrize(('first', 'last'), [(0, 1), (2, 3), (0, 3)])
    @pytest.mark.parametrize('file_format', ['yaml', 'json'])
    def test_any_format(self, first: int, last: int, file_format: str):
        text = dump_task(Document(TEXT).task, file_format=file_format)
        trimmed = Document(text).remove_keyframes(first, last)
        kept = Document(TEXT).task.keyframes
        assert trimmed.task.keyframes == kept[:first] + kept[last + 1 :]

    def test_refuses_what_makes_no_sense_then(self):
        with pytest.raises(MtdfError, match="'pot' is placed and nothing is held"):
            Document(TEXT).remove_keyframes(0)
        with pytest.raises(MtdfError, match='the task has 4, counted from 0'):
            Document(TEXT).remove_keyframes(3, 4)


class TestMovePlace:
    def test_keeps_the_comments(self):
        moved = Document(TEXT).move_place(1, Pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8)))
        assert '{ position: [ 1.0, 2.0, 3.0 ],   # in the middle' in moved.text
        assert moved.text == TEXT.replace('0.10, 0.2, 0.3', '1.0, 2.0, 3.0').replace('0, 0, 0, 1', '0.0, 0.0, 0.6, 0.8')

    def test_keeps_the_comments_between_numbers(self):
        text = TEXT.replace('      - 0\n      - 0\n', '      - 0   # x\n      # then y\n      - 0\n')
        moved = Document(text).move_place(3, Pose((0.1, 0.2, 0.4), (0.6, 0.0, 0.0, 0.8)))
        assert '      - 0.6   # x\n      # then y\n      - 0.0\n      - 0.0\n      - 0.8\n# the end\n' in moved.text

    def test_lists_below_each_other(self):
        pose = Pose((1e-7, 0.2, 0.4), (0.6, 0.0, 0.0, 0.8))
        moved = Document(TEXT).move_place(3, pose)
        last = moved.task.keyframes[3]
        assert isinstance(last, Place)
        assert last.pose == pose
        assert moved.text.endswith('\n# the end\n')

    def test_in_the_axes_of_the_file(self):
        text = f'version: 2\naxes: unity\n{TEXT}'
        pose = Pose((1.0, 2.0, 3.0))
        moved = Document(text).move_place(1, pose)
        assert '[ -2.0, 3.0, 1.0 ]' in moved.text
        assert moved.task.keyframes[1] == Place('pot', pose)

    def test_refusals(self):
        with pytest.raises(MtdfError, match=r'keyframes\[0\] is no place'):
            Document(TEXT).move_place(0, Pose())
        with pytest.raises(MtdfError, match=r'keyframes\[9\] is no place'):
            Document(TEXT).move_place(9, Pose())
        with pytest.raises(MtdfError, match='more than 100 m away'):
            Document(TEXT).move_place(1, Pose((500.0, 0.0, 0.0)))


@pytest.mark.parametrize('seed', range(30))
@pytest.mark.parametrize('file_format', ['yaml', 'json'])
def test_edits_of_any_task_do_what_they_say_or_are_refused(
    seed: int, file_format: str, random_task: Callable[[int], Task]
):
    document = Document(dump_task(random_task(seed), file_format=file_format))
    name = document.task.descriptors[0].name
    renamed = document.rename_object(name, 'another one')
    assert renamed.rename_object('another one', name).task == document.task
    places = [n for n, keyframe in enumerate(document.task.keyframes) if isinstance(keyframe, Place)]
    trimmed = document.remove_keyframes(0, places[0])
    assert trimmed.task.keyframes == document.task.keyframes[places[0] + 1 :]
    moved = document.move_place(places[-1], Pose((0.5, 0.25, 0.125)))
    assert moved.task.keyframes[:-1] == document.task.keyframes[:-1]
