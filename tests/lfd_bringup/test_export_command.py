"""./lfd export: what a user sees of native programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.programs.cells import PULSES, acting, stacked
from support.programs.inform import parse_inform
from support.programs.rapid import parse_rapid
from support.programs.urscript import run_urscript

from lfd_bringup import commands
from lfd_bringup.commands import handler, parse
from lfd_bringup.home.console import guarded
from lfd_planner.error_codes import Code
from lfd_planner.programs import ENDINGS, TOLERANCE
from lfd_planner.solution import Solution
from lfd_planner.solution_file import PlanningError, dump_error, save_solution


def run(*arguments: object) -> int:
    """Run the command as ./lfd does."""
    parsed = parse(['export', *map(str, arguments)])
    return guarded(lambda: handler(parsed)(parsed))


def written(folder: Path, solution: Solution) -> Path:
    file = folder / 'out.json'
    save_solution(file, solution)
    return file


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written without --out is written to the current folder."""
    monkeypatch.chdir(tmp_path)


def test_a_planned_task_becomes_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solution = stacked('ur5e')
    assert run(written(tmp_path, solution)) == 0
    told = capsys.readouterr()
    assert 'out.script is written' in told.err
    assert 'digital output standard:0: gripper, on = closed' in told.err
    assert 'widths' in told.err
    assert told.out == ''
    recorded = run_urscript((tmp_path / 'out.script').read_text(), solution.trajectory.q[0])
    np.testing.assert_allclose(recorded.q, solution.trajectory.q[-1], atol=1e-6)


def test_the_format_is_the_one_of_the_robot(tmp_path: Path) -> None:
    assert run(written(tmp_path, acting('irb1600')), '--name', 'my stack', '--tool', 't' * 32) == 0
    assert parse_rapid((tmp_path / 'my_stack.mod').read_bytes().decode()).name == 'my_stack'
    assert run(written(tmp_path, acting('gp8')), '--out', 'job.JBI', '--pulses-per-degree', *PULSES) == 0
    assert parse_inform((tmp_path / 'job.JBI').read_bytes().decode()).name == 'JOB'


def test_signals_are_wired_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, acting('irb1600'))
    wired = ('--gripper-output', 'doGrip', '--output', 'lamp=doLamp', '--output', 'glue=aoGlue', '--input', 'door=diA')
    assert run(file, *wired, '--out', 'a.mod') == 0
    text = (tmp_path / 'a.mod').read_text()
    for statement in ('SetDO doGrip,1;', 'SetDO doLamp,1;', 'SetAO aoGlue,0.2500;', 'WaitDI diA,1\\MaxTime:=2.500;'):
        assert statement in text
    assert run(file, '--output', 'lamp=a', '--output', 'lamp=b') == 1


def test_moves_to_edit(tmp_path: Path) -> None:
    file = written(tmp_path, acting('ur5e'))
    for name, tolerance in (('fine', 0.0001), ('coarse', 0.01)):
        assert run(file, '--mode', 'moves', '--tolerance', tolerance, '--name', name) == 0
    assert (
        0
        < (tmp_path / 'coarse.script').read_text().count('movej')
        < (tmp_path / 'fine.script').read_text().count('movej')
    )


@pytest.mark.parametrize(
    ('robot', 'arguments', 'sentence'),
    [
        ('gp8', (), 'add --pulses-per-degree S L U R B T'),
        ('ur5e', ('--format', 'rapid'), 'use --format urscript'),
        ('irb1600', ('--mode', 'servo'), 'rapid has no servo mode'),
        ('ur5e', ('--gripper-output', '9'), "'9' is no digital output"),
        ('ur5e', ('--input', 'dor=1'), "did you mean 'door'?"),
        ('ur5e', ('--out', '.'), 'is a folder'),
        ('ur5e', ('--out', 'nowhere/a.script'), 'There is no folder nowhere'),
    ],
)
def test_refusals(
    robot: str, arguments: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(written(tmp_path, acting(robot)), *arguments) == 1
    assert sentence in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ['out.json']


def test_files_without_a_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / 'out.json'
    file.write_text(dump_error('ur5e', PlanningError(Code.NO_IK_SOLUTION, 'The box is too far away.')))
    assert run(file) == 1
    assert 'holds no motion: The box is too far away.' in capsys.readouterr().err
    save_solution(file, acting('ur5e'))
    data = json.loads(file.read_text())
    for change in ({'points': data['points'][::-1]}, {'robot': 'r2d2'}, {'segments': 3}, {'joint_names': ['a'] * 6}):
        file.write_text(json.dumps({**data, **change}))
        assert run(file) == 1
        told = capsys.readouterr().err
        assert told.startswith('lfd: ')
        assert 'Traceback' not in told
    assert run(tmp_path / 'none.json') == 1
    assert [each.name for each in tmp_path.iterdir()] == ['out.json']


@pytest.mark.parametrize(
    'arguments',
    [
        (),
        ('a', '--format', 'karel'),
        ('a', '--pulses-per-degree', *'12345'),
        ('a', '--input', 'door'),
        ('a', '--mode', 'x'),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='2'):
        run(*arguments)
    assert 'lfd: ' in capsys.readouterr().err


def test_help_has_examples_and_the_defaults_are_the_programs_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match='0'):
        run('--help')
    assert capsys.readouterr().out.count('  ./lfd export OUT.json') >= 4
    assert set(commands.FORMATS) == set(ENDINGS)
    assert parse(['export', 'a']).tolerance == TOLERANCE
