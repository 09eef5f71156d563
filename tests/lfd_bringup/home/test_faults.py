"""What can go wrong during the set-up: one sentence for the cause, one for the fix, exit code 1, nothing half done."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lfd_bringup.home import interpreter
from lfd_bringup.home.faults import Fault, explain

LOG = Path('/tmp/setup.log')


@pytest.mark.parametrize(
    ('output', 'cause'),
    [
        ('ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device', 'the disk is full'),
        ('ERROR: No matching distribution found for numpy==99.0', 'the package index does not have numpy==99.0'),
        ("ERROR: Invalid requirement: 'numpy=1' (from line 3 of embedded.txt)", "not valid: 'numpy=1' (from line 3"),
        (
            'Failed to establish a new connection: [Errno -3] Temporary failure in name resolution\n'
            'ERROR: No matching distribution found for numpy==2.4.6',
            'cannot be reached',
        ),
        ('SSLError(SSLCertVerificationError(1, CERTIFICATE_VERIFY_FAILED', 'certificate'),
        ('cc1plus: fatal error: Killed signal terminated program cc1plus', 'ran out of memory'),
        ('x.c:1:10: fatal error: Python.h: No such file or directory', "Python's C headers are missing"),
        ('error: [Errno 30] Read-only file system: /mnt/x', 'read-only'),
    ],
)
def test_known_failures_are_explained(output: str, cause: str):
    fault = explain('Install 3 packages', f'some line\n{output}\n', 1, LOG)
    assert cause in fault.cause
    assert fault.is_understood
    assert str(LOG) in fault.fix


def test_an_unknown_failure_names_the_line_and_the_log():
    fault = explain('Build', 'fine\nCMake Error: something odd\nmore\n', 2, LOG)
    assert fault.cause == 'Build failed with exit code 2: CMake Error: something odd'
    assert str(LOG) in fault.fix
    assert not fault.is_understood
    assert 'was stopped by signal 9' in explain('Build', '', -9, LOG).cause


@pytest.fixture
def clone(checkout: Path, tmp_path: Path) -> Path:
    """A fresh clone with what is not committed yet, in a folder with a space."""
    target = tmp_path / 'a clone'
    git = ['git', '-C', str(checkout), 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
    for name in filter(None, subprocess.run(git, capture_output=True, text=True, check=True).stdout.split('\0')):
        if (checkout / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(checkout / name, target / name)
    return target


def assert_one_clear_failure(result: subprocess.CompletedProcess[str], sentence: str) -> None:
    assert result.returncode == 1
    assert sentence in result.stderr
    assert 'Fix: ' in result.stderr
    assert 'Traceback' not in result.stderr


def test_a_broken_requirement_is_named_and_the_next_run_repairs(clone: Path, lfd):
    requirements = clone / 'lfd_bringup' / 'requirements' / 'embedded.txt'
    good = requirements.read_text()
    requirements.write_text('there-is-no-such-package-for-lfd==1.0\n')
    assert_one_clear_failure(
        lfd('setup', script=clone / 'lfd', LFD_HOME=str(clone)),
        'the package index does not have there-is-no-such-package-for-lfd==1.0',
    )
    requirements.write_text('numpy=2.4\n')
    assert_one_clear_failure(
        lfd('setup', script=clone / 'lfd', LFD_HOME=str(clone)), 'a line of the requirements is not valid'
    )
    # The whole set-up would take minutes and test_first_start does it: here it must get past the mended list.
    requirements.write_text(next(line for line in good.splitlines() if line.startswith('packaging==')) + '\n')
    lfd('setup', script=clone / 'lfd', LFD_HOME=str(clone))
    assert list(clone.glob('.venv/lib/*/site-packages/packaging/__init__.py'))


def test_no_compiler(lfd, tmp_path: Path):
    tools = tmp_path / 'bin'
    tools.mkdir()
    for name in ('python3', 'env', 'git'):
        (tools / name).symlink_to(shutil.which(name) if name != 'python3' else Path(sys.executable).resolve())
    assert_one_clear_failure(
        lfd('setup', PATH=str(tools), LFD_HOME=str(tmp_path / 'home')), 'no C++ compiler was found'
    )
    assert_one_clear_failure(lfd('setup', CXX='/no/such/g++', LFD_HOME=str(tmp_path / 'home')), 'CXX=/no/such/g++')
    assert_one_clear_failure(
        lfd('setup', CXX='false', LFD_HOME=str(tmp_path / 'home')), 'cannot compile and link one line'
    )


def test_no_usable_python(lfd, tmp_path: Path):
    result = lfd('setup', LFD_PYTHON='/no/such/python', LFD_HOME=str(tmp_path / 'home'))
    assert_one_clear_failure(result, 'no usable Python 3.11 or 3.12 was found: /no/such/python does not exist')


def test_a_home_that_cannot_be_written(lfd, tmp_path: Path):
    """Not even root can make a folder below a file."""
    (tmp_path / 'file').write_text('')
    assert_one_clear_failure(lfd('demo', LFD_HOME=str(tmp_path / 'file')), 'cannot be written to')


def test_a_read_only_file_system_points_to_lfd_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, 'mkdir', refuse)
    with pytest.raises(Fault, match='Read-only file system') as caught:
        interpreter.check_writable(tmp_path)
    assert 'LFD_HOME=' in caught.value.fix


def test_too_little_disk_is_refused_before_anything_is_written(tmp_path: Path):
    with pytest.raises(Fault, match=r'GB free, and 1000000\.0 GB are needed'):
        interpreter.check_space(tmp_path, needed=10**15)


def test_another_machine_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interpreter.platform, 'machine', lambda: 'aarch64')
    with pytest.raises(Fault, match='Linux on x86-64 only, and this is Linux aarch64'):
        interpreter.check_platform()


def test_an_old_c_library_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interpreter.platform, 'libc_ver', lambda: ('glibc', '2.17'))
    with pytest.raises(Fault, match=r'need glibc 2\.28 or newer, and this machine has glibc 2\.17'):
        interpreter.check_platform()


@pytest.mark.parametrize('name', ["o'hara", 'a"b', 'a$b', 'a,b', 'a(1)', 'a;b', 'a:b', 'a\nb'])
def test_a_path_that_the_build_tools_cannot_handle_is_refused(name: str, lfd, tmp_path: Path):
    result = lfd('setup', LFD_HOME=str(tmp_path / name))
    assert_one_clear_failure(result, 'cannot handle')
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize('command', ['setup', 'clean'])
def test_an_environment_of_somebody_else_is_not_touched(command: str, lfd, tmp_path: Path):
    precious = tmp_path / '.venv' / 'precious'
    precious.parent.mkdir()
    precious.write_text('mine')
    (tmp_path / '.lfd').mkdir()
    assert_one_clear_failure(lfd(command, LFD_HOME=str(tmp_path)), 'is there already, and lfd did not make it')
    assert precious.read_text() == 'mine'


def test_settings_that_make_pip_install_elsewhere_are_ignored(clone: Path, lfd, tmp_path: Path):
    requirements = clone / 'lfd_bringup' / 'requirements' / 'embedded.txt'
    requirements.write_text(next(line for line in requirements.read_text().splitlines() if 'packaging==' in line))
    lfd('setup', script=clone / 'lfd', LFD_HOME=str(clone), PIP_TARGET=str(tmp_path / 'elsewhere'), PIP_USER='1')
    assert list(clone.glob('.venv/lib/*/site-packages/packaging/__init__.py'))
    assert not (tmp_path / 'elsewhere').exists()
