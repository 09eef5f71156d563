"""`./lfd robots`: a stranger's URDF in, a robot out, and every refusal in one sentence."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from support.urdfs import PUBLISHED, ball, serial_arm

from lfd_bringup import robots
from lfd_bringup.commands import handler, parse
from lfd_description.robots import load_robot, robot_names


def test_the_table_has_every_robot(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = parse(['robots'])

    assert handler(arguments)(arguments) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == list(robot_names())


def test_adding_a_robot_prints_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(robots, 'ROBOTS', tmp_path / 'robots')
    file = tmp_path / 'my arm.urdf'
    file.write_text(serial_arm(6, body=ball()))
    arguments = parse(['robots', 'add', str(file), '--gripper', 'two_finger', '--name', 'mine'])

    assert handler(arguments)(arguments) == 0
    shown = capsys.readouterr()
    for what in ('tip ', 'base ', 'gripper mount ', 'home ', 'inverse kinematics ', 'collision checks ', 'checked '):
        assert f'\n  {what}' in shown.out
    assert './lfd up --robot mine' in shown.out
    assert load_robot(tmp_path / 'robots' / 'mine').gripper == 'two_finger'


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['/none.urdf'], '/none.urdf cannot be read: No such file or directory.'),
        ([PUBLISHED / 'pr2_description/urdf/pr2.urdf'], '--tip r_gripper_tool_frame or l_gripper_tool_frame.'),
        ([PUBLISHED / 'double_pendulum_description/urdf/double_pendulum.urdf'], 'cannot move: its limits are 0 and 0'),
        ([PUBLISHED / 'ur_description/urdf/ur5_robot.urdf', '--name', 'gp8'], "There is a robot 'gp8' already"),
    ],
)
def test_a_refusal_is_one_sentence_and_exit_code_1(lfd, options: list[object], message: str, checkout: Path) -> None:
    before = sorted((checkout / 'lfd_description/robots').iterdir())

    result = lfd('robots', 'add', *options)
    assert result.returncode == 1
    (sentence,) = (line for line in result.stderr.splitlines() if line.startswith('lfd: '))
    assert message in sentence
    assert 'Traceback' not in result.stderr
    assert sorted((checkout / 'lfd_description/robots').iterdir()) == before


@pytest.mark.parametrize(
    'options',
    [
        ['add'],
        ['add', 'x.urdf', '--gripper', 'none'],
        ['show', 'nobody'],
        ['show', '--size', '3x3'],
        ['build', 'nobody'],
        ['remove'],
    ],
)
def test_wrong_usage_is_exit_code_2(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(['robots', *options])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith('lfd: ')


def test_a_variant_is_built_into_a_folder_of_its_own(lfd, tmp_path: Path) -> None:
    out = tmp_path / 'moveit config'

    result = lfd('robots', 'build', 'ur5e', '--gripper', 'suction', '--prefix', 'left_', '--out', out)
    assert result.returncode == 0, result.stderr
    assert {file.name for file in out.iterdir()} == {
        'ur5e.urdf',
        'ur5e.srdf',
        'controllers.yaml',
        'joint_limits.yaml',
        'kinematics.yaml',
        'ompl_planning.yaml',
        'moveit_controllers.yaml',
        'grasp_data.yaml',
    }
    assert ET.parse(out / 'ur5e.urdf').find('link[@name="left_suction_cup"]') is not None
    assert 'left_ur5e_controller' in yaml.safe_load((out / 'controllers.yaml').read_text())


def test_out_is_for_one_robot(lfd, tmp_path: Path) -> None:
    result = lfd('robots', 'build', '--out', tmp_path)

    assert result.returncode == 1
    assert '--out is for one robot' in result.stderr
