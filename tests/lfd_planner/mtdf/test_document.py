import json
from collections.abc import Callable

import pytest

from lfd_planner.mtdf import Document, MtdfError, Place, Pose, Task, dump_task

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
        assert '{ position: [1.0, 2.0, 3.0],   # in the middle' in moved.text
        assert moved.text == TEXT.replace('[ 0.10, 0.2, 0.3 ]', '[1.0, 2.0, 3.0]').replace(
            '[ 0, 0, 0, 1 ]', '[0.0, 0.0, 0.6, 0.8]'
        )

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
        assert '[-2.0, 3.0, 1.0]' in moved.text
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
