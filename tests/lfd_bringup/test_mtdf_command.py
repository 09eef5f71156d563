"""`./lfd mtdf`: what a person sees, and which code a script gets."""

import argparse
import json
from pathlib import Path

import pytest

from lfd_bringup import mtdf
from lfd_bringup.home.faults import Fault
from lfd_planner.mtdf import load_task, parse_task

RECORDING = Path(__file__).resolve().parents[1] / 'lfd_planner' / 'mtdf' / 'printed_recording.txt'


@pytest.fixture
def task(checkout: Path) -> Path:
    return checkout / 'lfd_planner' / 'tasks' / 'stack_boxes.mtdf.yaml'


def given(**arguments: object) -> argparse.Namespace:
    return argparse.Namespace(**arguments)


class TestCheck:
    def test_fine(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.check(given(files=[task], scene='seed_cell', json=False)) == 0
        assert capsys.readouterr().out == f'{task} is fine: version 2, ros axes, 4 objects, 8 keyframes.\n'

    def test_refused(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.check(given(files=[task, RECORDING], scene=None, json=False)) == 1
        out, err = capsys.readouterr()
        assert out.startswith(f'{task} is fine')
        assert f"{RECORDING}, line 10, column 43, keyframes[1], object 'blue_box': a comma is missing" in err
        assert f'{RECORDING} is refused: 5 problems.' in err

    def test_scene_without_its_objects(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.check(given(files=[task], scene='shelf', json=False)) == 1
        assert "the scene has no object 'red_box'" in capsys.readouterr().err

    def test_for_programs(self, capsys: pytest.CaptureFixture[str]):
        assert mtdf.check(given(files=[RECORDING], scene=None, json=True)) == 1
        (problems,) = json.loads(capsys.readouterr().out).values()
        assert [(p['line'], p['column'], p['severity']) for p in problems][:2] == [(7, 3, 'warning'), (10, 43, 'error')]

    def test_missing_file_and_scene(self, tmp_path: Path, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.check(given(files=[tmp_path / 'none'], scene=None, json=False)) == 1
        assert 'No such file' in capsys.readouterr().err
        with pytest.raises(Fault, match="There is no scene 'seed_cel'"):
            mtdf.check(given(files=[task], scene='seed_cel', json=False))
        with pytest.raises(Fault, match=r'none\.yaml cannot be read'):
            mtdf.check(given(files=[task], scene=str(tmp_path / 'none.yaml'), json=False))


class TestRepair:
    def test_prints_the_task_and_says_what_it_did(self, capsys: pytest.CaptureFixture[str]):
        assert mtdf.repair(given(file=RECORDING, axes='unity', out=None, in_place=False)) == 0
        out, err = capsys.readouterr()
        assert len(parse_task(out).keyframes) == 8
        assert f"{RECORDING}, line 10, column 43: added a comma before 'orientation'." in err
        assert '7 repairs; all else is as it was.' in err

    def test_keeps_comments_and_says_when_it_cannot(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        file = tmp_path / 'a.yaml'
        file.write_text(f'# on a Monday\r\n{RECORDING.read_text()}', newline='')
        assert mtdf.repair(given(file=file, axes=None, out=tmp_path / 'b.yaml', in_place=False)) == 0
        assert (tmp_path / 'b.yaml').read_bytes().startswith(b'# on a Monday\r\n')
        assert 'comments are dropped' not in capsys.readouterr().err
        assert mtdf.repair(given(file=file, axes=None, out=tmp_path / 'b.json', in_place=False)) == 0
        assert 'comments are dropped' in capsys.readouterr().err

    def test_to_a_file_or_in_place(self, tmp_path: Path):
        file, out = tmp_path / 'a.yaml', tmp_path / 'b.json'
        file.write_text(RECORDING.read_text())
        assert mtdf.repair(given(file=file, axes='unity', out=out, in_place=False)) == 0
        assert file.read_text() == RECORDING.read_text()
        assert out.read_text().startswith('{')
        assert mtdf.repair(given(file=file, axes='unity', out=None, in_place=True)) == 0
        assert load_task(file) == load_task(out)
        with pytest.raises(Fault):
            mtdf.repair(given(file=file, axes=None, out=out, in_place=True))

    def test_beyond_repair(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        file = tmp_path / 'a.yaml'
        file.write_text('keyframes: 5')
        assert mtdf.repair(given(file=file, axes=None, out=tmp_path / 'b.yaml', in_place=False)) == 1
        assert 'is no list of keyframes' in capsys.readouterr().err
        assert not (tmp_path / 'b.yaml').exists()


class TestConvert:
    def test_to_json_in_unity_and_back(self, task: Path, tmp_path: Path):
        out = tmp_path / 'a.mtdf.json'
        assert mtdf.convert(given(file=task, out=out, format=None, version=2, axes='unity')) == 0
        assert json.loads(out.read_text())['axes'] == 'unity'
        assert load_task(out) == load_task(task)

    def test_version_1_loses_nothing_silently(self, task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.convert(given(file=task, out=tmp_path / 'a.yaml', format=None, version=1, axes='ros')) == 1
        assert 'version 1 of the format has no task origin' in capsys.readouterr().err
        assert not (tmp_path / 'a.yaml').exists()

    def test_to_the_terminal(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.convert(given(file=task, out=None, format='json', version=2, axes='ros')) == 0
        assert json.loads(capsys.readouterr().out)['version'] == 2

    def test_keeps_comments(self, task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        out = tmp_path / 'a.yaml'
        assert mtdf.convert(given(file=task, out=out, format=None, version=2, axes='ros')) == 0
        assert out.read_text() == task.read_text()
        assert mtdf.convert(given(file=task, out=out, format=None, version=2, axes='unity')) == 0
        assert [line for line in out.read_text().splitlines() if '#' in line] == [
            line for line in task.read_text().splitlines() if '#' in line
        ]
        assert load_task(out) == load_task(task)
        assert 'are dropped' not in capsys.readouterr().err

    def test_to_json_says_that_comments_are_dropped(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.convert(given(file=task, out=None, format='json', version=2, axes='ros')) == 0
        assert f'{task}: warning: its comments are dropped, for JSON has none' in capsys.readouterr().err

    def test_without_a_name_the_format_stays(self, tmp_path: Path, task: Path, capsys: pytest.CaptureFixture[str]):
        file = tmp_path / 'a.json'
        assert mtdf.convert(given(file=task, out=file, format=None, version=2, axes='ros')) == 0
        capsys.readouterr()
        assert mtdf.convert(given(file=file, out=None, format=None, version=2, axes='unity')) == 0
        assert json.loads(capsys.readouterr().out)['axes'] == 'unity'

    def test_tells_the_warnings(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        file = tmp_path / 'a.yaml'
        file.write_text('object_descriptors: [a]\nkeyframes: []\n')
        assert mtdf.convert(given(file=file, out=None, format=None, version=2, axes='ros')) == 0
        assert "warning: no keyframe uses the descriptor 'a'" in capsys.readouterr().err


@pytest.mark.parametrize('command', ['repair', 'convert'])
class TestOut:
    """What cannot be written to is refused before anything is done."""

    def run(self, command: str, task: Path, out: Path) -> None:
        getattr(mtdf, command)(given(file=task, out=out, in_place=False, format=None, version=2, axes='ros'))

    def test_a_folder(self, command: str, task: Path, tmp_path: Path):
        with pytest.raises(Fault, match=f'--out {tmp_path} is a folder'):
            self.run(command, task, tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_in_a_folder_that_is_not_there(self, command: str, task: Path, tmp_path: Path):
        with pytest.raises(Fault, match=f'There is no folder {tmp_path / "new"} to write a.yaml into'):
            self.run(command, task, tmp_path / 'new' / 'a.yaml')
        assert list(tmp_path.iterdir()) == []


class TestShow:
    def test_words(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.show(given(file=task, scene='seed_cell')) == 0
        out = capsys.readouterr().out
        assert 'task origin  (-0.125, 0.402, -0.15) turned 0.0, 0.0, 30.0 deg in base_link' in out
        assert '[1]  place blue_box at (0.321, -0.534, 0.0237) turned 0.0, 0.0, 30.4 deg' in out
        assert "'green_box' is green_box" in out

    def test_refused(self, capsys: pytest.CaptureFixture[str]):
        assert mtdf.show(given(file=RECORDING, scene=None)) == 1
        assert 'is refused: 5 problems' in capsys.readouterr().err


class TestDiff:
    def test_same(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.diff(given(before=task, after=task, exit_code=True)) == 0
        assert capsys.readouterr().out == 'The tasks are the same.\n'

    def test_different(self, task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        other = tmp_path / 'a.yaml'
        other.write_text(task.read_text().replace('0.1329', '0.1429'))
        assert mtdf.diff(given(before=task, after=other, exit_code=False)) == 0
        assert mtdf.diff(given(before=task, after=other, exit_code=True)) == 1
        assert 'keyframes[7], place green_box: moved by 0.01 m' in capsys.readouterr().out

    def test_unreadable(self, task: Path, capsys: pytest.CaptureFixture[str]):
        assert mtdf.diff(given(before=task, after=RECORDING, exit_code=False)) == 1
        assert 'a comma is missing' in capsys.readouterr().err
