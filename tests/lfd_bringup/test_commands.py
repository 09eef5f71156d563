"""The command line answers wrong usage at once, in one sentence, with exit code 2."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from lfd_bringup import commands
from lfd_bringup.domain import claim
from lfd_bringup.home.environment import default_domain, environment
from lfd_bringup.home.layout import Layout


@pytest.mark.parametrize(
    ('arguments', 'sentence'),
    [
        (['fly'], "invalid choice: 'fly'"),
        ([], 'the following arguments are required: COMMAND'),
        (['up'], 'the following arguments are required: --robot'),
        (['up', '--robot', 'gp9'], "there is no robot 'gp9'; the robots are gp8, irb1600"),
        (['demo', '--robot', 'gp8', 'r2d2'], "there is no robot 'r2d2'"),
        (['up', '--robot', 'gp8', '--hardware', 'gearbox'], "invalid choice: 'gearbox'"),
        (['up', '--robot', 'gp8', '--domain-id', '300'], 'use a number from 0 to 231'),
        (['up', '--robot', 'gp8', '--port', '70000'], 'is no port; write a number from 1 to 65535'),
        (['up', '--robot', 'gp8', '--no-page', '--lan'], '--port, --lan and --folder are of the page'),
        (['up', '--robot', 'gp8', '--unity', 'here'], "'here' is no address with a port"),
        (['up', '--robot', 'gp8', '--unity', '--twin-axes', 'unity'], '--twin-axes says the axes of a twin'),
        (['up', '--robot', 'gp8', '--no-page', '--twin-axes', 'ros'], 'with --unity and --no-page, without --scene'),
        (['up', '--robot', 'gp8', '--hand', 'glove'], "invalid choice: 'glove'"),
        (['vr', 'replay'], 'the following arguments are required: FILE.mcap'),
        (['run'], 'run needs a program'),
        (['doctor', '--loud'], 'unrecognized arguments: --loud'),
    ],
)
def test_wrong_usage_is_refused_before_anything_is_set_up(arguments, sentence, lfd, tmp_path: Path):
    result = lfd(*arguments, LFD_HOME=str(tmp_path / 'home'))
    assert result.returncode == 2
    assert sentence in result.stderr
    assert re.search(r'See: \./lfd.* --help', result.stderr)
    assert 'Traceback' not in result.stderr
    assert not (tmp_path / 'home').exists()


@pytest.mark.parametrize(
    'command',
    ['', 'demo', 'up', 'execute', 'recover', 'graph', 'robots', 'doctor', 'vr', 'test', 'run', 'setup', 'clean'],
)
def test_help_has_an_example_and_needs_no_environment(command: str, lfd, tmp_path: Path):
    result = lfd(*filter(None, [command]), '--help', LFD_HOME=str(tmp_path / 'home'))
    assert result.returncode == 0
    assert f'./lfd {command}' in result.stdout
    assert not (tmp_path / 'home').exists()


def test_robots_are_listed(lfd):
    result = lfd('robots')
    assert result.returncode == 0
    for name in commands.robot_folders():
        assert re.search(rf'^{name} ', result.stdout, re.MULTILINE)


def test_the_graph_is_printed_for_both_homes(lfd):
    assert 'lfd_hardware/ros2_control_node' in lfd('graph', '--robot', 'gp8').stdout
    assert 'controller_manager/ros2_control_node' in lfd('graph', '--robot', 'gp8', '--home', 'ros').stdout


def test_run_gives_the_exit_code_of_the_program(lfd):
    assert lfd('run', 'python', '-c', 'import rclpy, moveit_msgs.msg; raise SystemExit(7)').returncode == 7
    missing = lfd('run', 'no-such-program')
    assert missing.returncode == 1
    assert 'no-such-program cannot be run: No such file or directory.' in missing.stderr


def test_the_doctor_is_content(lfd):
    result = lfd('doctor')
    assert result.returncode == 0, result.stdout
    assert 'All is well' in result.stdout
    assert 'a message went from one participant to another' in result.stdout


def test_an_old_python_is_told_what_to_install(checkout: Path, user_environment):
    """Every Python 3 must be able to read the file and say what is missing."""
    pretend = (
        'import runpy, sys\n'
        'sys.version_info = (3, 9, 2)\n'
        f'sys.argv = [{str(checkout / "lfd")!r}, "doctor"]\n'
        f'runpy.run_path(sys.argv[0], run_name="__main__")\n'
    )
    result = subprocess.run(
        [sys.executable, '-c', pretend],
        env={**user_environment, 'PATH': '/nowhere', 'LFD_PYTHON': ''},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert 'Python 3.11 or 3.12 is needed, and python3 here is 3.9.' in result.stderr
    assert 'Fix: install python3.12' in result.stderr


def test_the_environment_shuts_out_a_sourced_ros_installation():
    foreign = {
        'PYTHONPATH': '/opt/ros/lib',
        'LD_LIBRARY_PATH': '/opt/ros/lib',
        'AMENT_PREFIX_PATH': '/opt/ros',
        'PATH': '/bin',
    }
    inside = environment(Layout.inside(), foreign)
    assert not [key for key, value in inside.items() if '/opt/ros' in value]
    assert inside['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'
    assert environment(Layout.inside(), {**foreign, 'ROS_DOMAIN_ID': '7'})['ROS_DOMAIN_ID'] == '7'


def test_two_clones_have_domains_of_their_own():
    numbers = [default_domain(Path(f'/home/ada/{name}')) for name in ('lfd', 'lfd 2', 'lfd-old', 'work/lfd')]
    assert len(set(numbers)) == len(numbers)
    assert all(1 <= number <= 101 for number in numbers)


def test_a_taken_domain_of_its_own_is_passed_by(monkeypatch: pytest.MonkeyPatch):
    """Two graphs of one clone, or two clones whose domains happen to be equal, get one each."""
    monkeypatch.setenv('LFD_OWN_DOMAIN', '1')
    with claim() as first, claim() as second:
        assert first.number != second.number


def test_the_folder_of_the_user_does_not_shadow_our_modules(lfd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / 'yaml.py').write_text('raise SystemExit(9)')
    monkeypatch.chdir(tmp_path)
    assert lfd('robots').returncode == 0


def test_a_reader_who_has_seen_enough_is_no_error(checkout: Path, user_environment):
    shell = f'"{checkout}/lfd" robots | head -1'
    result = subprocess.run(['bash', '-c', shell], env=user_environment, capture_output=True, text=True, check=False)
    assert result.stdout.startswith('name ')
    assert result.stderr == ''


def test_a_terminal_without_our_letters_gets_others(lfd):
    result = lfd('graph', '--robot', 'gp8', PYTHONIOENCODING='ascii')
    assert result.returncode == 0
    assert 'robot_state_publisher' in result.stdout


def test_an_empty_ros_domain_id_counts_as_none(lfd):
    result = lfd('doctor', ROS_DOMAIN_ID='')
    assert "this checkout's own" in result.stdout


def test_a_wide_discovery_range_of_a_sourced_ros_is_not_ours(lfd):
    show = 'import os; print(os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"])'
    assert lfd('run', 'python', '-c', show, ROS_AUTOMATIC_DISCOVERY_RANGE='SUBNET').stdout == 'LOCALHOST\n'


def test_a_bad_ros_domain_id_is_refused(lfd):
    result = lfd('up', '--robot', 'gp8', ROS_DOMAIN_ID='soon')
    assert result.returncode == 1
    assert "ROS_DOMAIN_ID is set, and 'soon' is not a ROS domain" in result.stderr
