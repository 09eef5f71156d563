"""Tasks in a folder, as people and other programs see them."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from support.task_cells import moving, seed_task

from lfd_planner.mtdf import MtdfError, Pick, Place, Task, parse_task
from lfd_planner.pose import Pose
from lfd_vr_bridge.studio import Refusal, TaskLibrary


def task(x: float = 0.0) -> Task:
    return moving(Pick('box'), Place('box', Pose((x, 0.0, 0.0))))


@pytest.fixture
def library(tmp_path: Path) -> TaskLibrary:
    return TaskLibrary(tmp_path / 'tasks')


def code_of(caught: pytest.ExceptionInfo[Refusal]) -> str:
    return caught.value.code


def test_every_version_stays(library: TaskLibrary) -> None:
    assert [library.save('put', task(number)) for number in range(3)] == [1, 2, 3]
    for number in range(3):
        assert library.open('put', number + 1) == (task(number), number + 1)
    assert library.open('put') == (task(2), 3)
    entry = library.entries()[0]
    assert (entry.name, entry.version, entry.versions) == ('put', 3, (1, 2, 3))
    assert (entry.keyframes, entry.objects, entry.problem, entry.bundled) == (2, ('box',), '', False)
    with pytest.raises(Refusal) as caught:
        library.open('put', 9)
    assert code_of(caught) == 'no_version'


def test_tasks_of_the_suite_are_there_and_stay(library: TaskLibrary) -> None:
    assert [(entry.name, entry.bundled) for entry in library.entries()] == [('stack_boxes', True)]
    assert library.open('stack_boxes') == (seed_task(), 0)
    for act in (lambda: library.delete('stack_boxes'), lambda: library.rename('stack_boxes', 'mine')):
        with pytest.raises(Refusal) as caught:
            act()
        assert code_of(caught) == 'read_only'
    assert library.save('stack_boxes', task()) == 1
    assert library.open('stack_boxes', 0)[0] == seed_task()
    assert library.open('stack_boxes')[0] == task()
    library.delete('stack_boxes')
    assert library.open('stack_boxes')[1] == 0


@pytest.mark.parametrize(
    'name',
    ['', ' a', 'a ', '.', '..', '../a', 'a/b', 'a\\b', '.trash', 'a\n', 'a\0', 'x' * 81, '\ud800', 'a:b', 'end.'],
)
def test_names_that_are_none_are_refused_everywhere(library: TaskLibrary, name: str, tmp_path: Path) -> None:
    library.save('put', task())
    for act in (
        lambda: library.save(name, task()),
        lambda: library.open(name),
        lambda: library.rename('put', name),
        lambda: library.delete(name),
        lambda: library.export(name),
        lambda: library.path(name, 1),
    ):
        with pytest.raises(Refusal) as caught:
            act()
        assert code_of(caught) == 'wrong_name'
    assert sorted(file.name for file in tmp_path.iterdir()) == ['tasks']


@pytest.mark.parametrize('name', ['Kisten stapeln', 'módulo', '箱を積む', '积木', 'a-b_c.d', '🙂', 'x' * 80, '積' * 80])
def test_names_of_all_languages_work(library: TaskLibrary, name: str) -> None:
    library.save(name, task())
    assert name in {entry.name for entry in library.entries()}
    library.rename(name, 'other')
    assert library.open('other')[0] == task()


def test_a_name_is_one_however_it_was_typed(library: TaskLibrary) -> None:
    library.save('mo\u0301dulo', task())
    assert library.save('m\u00f3dulo', task()) == 2


def test_what_was_deleted_can_be_brought_back(library: TaskLibrary) -> None:
    library.save('put', task(1.0))
    library.delete('put')
    with pytest.raises(Refusal) as caught:
        library.open('put')
    assert code_of(caught) == 'no_task'
    library.save('put', task(2.0))
    library.delete('put')
    library.restore('put')
    assert library.open('put')[0] == task(2.0)
    with pytest.raises(Refusal) as caught:
        library.restore('put')
    assert code_of(caught) == 'name_taken'
    library.rename('put', 'second')
    library.restore('put')
    assert library.open('put')[0] == task(1.0)


def test_a_name_that_is_taken_stays_with_its_task(library: TaskLibrary) -> None:
    library.save('a', task(1.0))
    library.save('b', task(2.0))
    with pytest.raises(Refusal) as caught:
        library.rename('a', 'b')
    assert code_of(caught) == 'name_taken'
    assert library.open('b')[0] == task(2.0)


def test_a_broken_file_is_listed_with_its_problem(library: TaskLibrary) -> None:
    library.save('good', task())
    for name, content in (('broken', b'keyframes: ['), ('binary', b'\xff\x00'), ('empty', b'')):
        library.save(name, task())
        library.path(name, 1).write_bytes(content)
    (library.folder / 'not a task').mkdir()
    (library.folder / 'a file').write_text('')
    problems = {entry.name: bool(entry.problem) for entry in library.entries() if not entry.bundled}
    assert problems == {'good': False, 'broken': True, 'binary': True, 'empty': True}
    with pytest.raises(Refusal) as caught:
        library.open('broken')
    assert code_of(caught) == 'wrong_task'
    assert 'broken, version 1' in str(caught.value)
    assert library.save('broken', task()) == 2
    assert library.open('broken')[0] == task()


def test_what_others_write_is_seen_and_not_overwritten(library: TaskLibrary) -> None:
    library.save('put', task(1.0))
    other = TaskLibrary(library.folder)
    assert other.save('put', task(2.0)) == 2
    assert library.save('put', task(3.0)) == 3
    assert library.open('put', 2)[0] == task(2.0)
    text = library.path('put', 3).read_text().replace('3.0', '4.0')
    library.path('put', 3).write_text(f'# mine\n{text}')
    assert library.open('put')[0] == task(4.0)
    assert '# mine' in library.export('put')
    library.path('put', 3).unlink()
    assert library.entries()[0].version == 2


def test_who_saves_at_the_same_time_gets_a_version_each(library: TaskLibrary) -> None:
    threads = [threading.Thread(target=library.save, args=('put', task(float(n)))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {library.open('put', version)[0].keyframes[1].pose.position[0] for version in range(1, 9)}
    assert found == set(map(float, range(8)))


def test_tasks_are_exported_in_both_formats(library: TaskLibrary) -> None:
    library.save('put', task())
    assert parse_task(library.export('put')) == task()
    assert json.loads(library.export('put', 1, 'json'))['object_descriptors'] == ['box']
    with pytest.raises(Refusal) as caught:
        library.export('put', 1, 'xml')
    assert code_of(caught) == 'wrong_format'


def test_a_task_that_no_file_may_hold_is_refused(library: TaskLibrary) -> None:
    wrong = moving(Place('box', Pose()))
    with pytest.raises(Refusal) as caught:
        library.save('wrong', wrong)
    assert code_of(caught) == 'wrong_task'
    assert not issubclass(MtdfError, Refusal)


def test_a_disk_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('')
    with pytest.raises(Refusal) as caught:
        TaskLibrary(tmp_path / 'file').save('put', task())
    assert code_of(caught) == 'disk'
