"""./lfd validate: what a user sees of the judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.pick_and_place import BOX, ORIGIN, pick_and_place

from lfd_bringup.commands import handler, parse
from lfd_bringup.home.console import guarded
from lfd_description.scenes import find_scene
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import dump_task
from lfd_planner.solution_file import PlanningError, Request, dump_error, save_solution, scene_digest

TASK = dump_task(pick_and_place().task)


def run(*arguments: object) -> int:
    """Run the command as ./lfd does."""
    parsed = parse(['validate', *map(str, arguments)])
    return guarded(lambda: handler(parsed)(parsed))


def written(folder: Path, request: Request | None = None) -> Path:
    """A solution file that can be judged alone, unless something else is asked for."""
    digest = scene_digest(find_scene('seed_cell'))
    case = pick_and_place()
    start = {name: case.scene.joints[name] for name in (*case.solution.joints, 'joint_left_finger')}
    file = folder / 'out.json'
    save_solution(file, case.solution, request or Request('seed_cell', digest, TASK, ORIGIN, start))
    return file


def test_a_file_is_judged_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(written(tmp_path)) == 0
    told = capsys.readouterr().out
    assert 'accepted' in told
    assert 'smallest clearance' in told


def test_a_refusal_is_told_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path)
    x, y, z = ORIGIN.position
    assert run(file, '--origin', x + 0.01, y, z, 0, 0, 0) == 1
    assert f"'{BOX}' is 10.00 mm away" in capsys.readouterr().out
    assert run(file, '--json', '--origin', x, y, z, 0, 0, 0.1) == 1
    report = json.loads(capsys.readouterr().out)
    assert report['ok'] is False
    assert {finding['check'] for finding in report['findings']} == {'place', 'moved'}


def test_scene_and_task_can_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, Request())
    assert run(file) == 2
    assert '--scene' in capsys.readouterr().err
    assert run(file, '--scene', 'seed_cell') == 2
    assert '--task' in capsys.readouterr().err
    task = tmp_path / 'task.mtdf.yaml'
    task.write_text(TASK)
    assert run(file, '--scene', 'seed_cell', '--task', task, '--origin', *ORIGIN.position, 0, 0, 0) == 0


def test_a_scene_that_changed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, Request('seed_cell', 'other', TASK, ORIGIN))
    assert run(file) == 1
    assert 'not as it was' in capsys.readouterr().err
    assert run(file, '--scene', 'seed_cell') == 0


def test_files_without_a_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / 'out.json'
    file.write_text(dump_error('ur5e', PlanningError(Code.NO_IK_SOLUTION, 'The box is too far away.')))
    assert run(file) == 1
    assert 'holds no motion: The box is too far away.' in capsys.readouterr().err
    file.write_text('nonsense')
    assert run(file) == 1
    assert f'{file}: line 1' in capsys.readouterr().err


@pytest.mark.parametrize(
    'arguments',
    [(), ('out.json', '--origin', '1'), ('out.json', '--origin', *'12345', 'nan'), ('a', '--robot', 'r2d2')],
)
def test_wrong_usage(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='2'):
        run(*arguments)
    assert 'lfd: ' in capsys.readouterr().err


def test_another_robot_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(written(tmp_path), '--robot', 'gp8') == 1
    assert 'joints of gp8' in capsys.readouterr().out
