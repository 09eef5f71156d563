"""Finds a Python that the environment can be made of, and checks what else the machine must have."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .faults import DISK_FULL, Fault

SUPPORTED = ((3, 11), (3, 12))
MINIMUM_GLIBC = (2, 28)  # the ROS 2 wheels are manylinux_2_28
GOOD_IN_PATHS = '/ ._-+@='  # besides letters and digits; CMake, the linker or the shell trip over others
NEEDED_BYTES = 2_000_000_000  # for the environment, the build and pip's temporary files

_PROBE = """
import importlib.util, json, os, sys, sysconfig
print(json.dumps({
    'version': sys.version_info[:2],
    'headers': os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')),
    'pip': all(importlib.util.find_spec(name) for name in ('venv', 'ensurepip')),
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python on this machine and what keeps it from being used, if anything."""

    path: str
    version: tuple[int, int]
    objection: str = ''

    def __str__(self) -> str:
        return '{} ({}.{})'.format(self.path, *self.version)


def probe(path: str) -> Interpreter:
    """Ask a Python what it is and has."""
    try:
        answer = subprocess.run([path, '-c', _PROBE], capture_output=True, text=True, timeout=30, check=True)
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return Interpreter(path, (0, 0), 'does not run')
    version = (int(facts['version'][0]), int(facts['version'][1]))
    name = 'python{}.{}'.format(*version)
    if version not in SUPPORTED:
        return Interpreter(path, version, 'is Python {}.{}, not 3.11 or 3.12'.format(*version))
    if not facts['headers']:
        return Interpreter(path, version, f'has no C headers (Debian, Ubuntu: sudo apt install {name}-dev)')
    if not facts['pip']:
        return Interpreter(path, version, f'comes without venv and pip (Debian, Ubuntu: sudo apt install {name}-venv)')
    return Interpreter(path, version)


def choose() -> Interpreter:
    """The Python to make the environment of: LFD_PYTHON if set, else the running one, else one on the PATH."""
    named = os.environ.get('LFD_PYTHON')
    own = Path(sys.base_prefix, 'bin', 'python{}.{}'.format(*sys.version_info))  # not that of an environment
    names = [named] if named else [str(own), sys.executable, 'python3.12', 'python3.11', 'python3']
    tried: list[Interpreter] = []
    for path in dict.fromkeys(shutil.which(name) or name for name in names):
        candidate = probe(path)
        if not candidate.objection:
            return candidate
        if Path(path).exists():
            tried.append(candidate)
    reasons = '; '.join(f'{python.path} {python.objection}' for python in tried) or f'{named} does not exist'
    raise Fault(
        f'no usable Python 3.11 or 3.12 was found: {reasons}.',
        'install what is missing, or name another one: LFD_PYTHON=/path/to/python3.12 ./lfd setup',
    )


def check_platform() -> str:
    """Refuse machines for which there are no ROS 2 wheels; return what the machine is."""
    machine = f'{platform.system()} {platform.machine()}'
    if machine != 'Linux x86_64':
        raise Fault(
            f'the ROS 2 wheels exist for Linux on x86-64 only, and this is {machine}.',
            'use such a machine, or a ROS 2 Jazzy installation (README, "On a ROS machine")',
        )
    library, version = platform.libc_ver()
    numbers = tuple(int(part) for part in version.split('.')[:2] if part.isdigit())
    if library != 'glibc' or numbers < MINIMUM_GLIBC:
        raise Fault(
            f'the ROS 2 wheels need glibc 2.28 or newer, and this machine has {library or "no glibc"} {version}.',
            'use a newer distribution (Debian 12, Ubuntu 22.04 or newer, Fedora, RHEL 8 or newer)',
        )
    return f'{machine}, {library} {version}'


def check_path(folder: Path) -> None:
    """Refuse folders whose names the build tools cannot handle."""
    bad = sorted({letter for letter in str(folder) if not letter.isalnum() and letter not in GOOD_IN_PATHS})
    if bad:
        raise Fault(
            f'the path {str(folder)!r} has {" ".join(map(repr, bad))} in it, which the build tools cannot handle.',
            'use a folder named with letters, digits, spaces and ._-+@= (LFD_HOME moves all that lfd writes)',
        )


def check_compiler() -> str:
    """Compile one line against Python's headers; return the compiler's name."""
    compiler = os.environ.get('CXX') or next(filter(shutil.which, ('c++', 'g++', 'clang++')), '')
    fix = 'install one (Debian, Ubuntu: sudo apt install g++), or name it: CXX=/path/to/g++ ./lfd setup'
    if not compiler or not shutil.which(compiler.split()[0]):
        raise Fault(f'no C++ compiler was found{f" at CXX={compiler}" if compiler else ""}.', fix)
    with tempfile.TemporaryDirectory(prefix='lfd-') as folder:
        source = Path(folder, 'check.cpp')
        source.write_text('#include <string>\nint main() { return std::string().size(); }\n')
        result = subprocess.run(
            [*compiler.split(), str(source), '-o', str(source.with_suffix(''))],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    if result.returncode != 0:
        first = next((line for line in result.stderr.splitlines() if 'error' in line), 'it says nothing more')
        raise Fault(f'the C++ compiler {compiler} cannot compile and link one line: {first.strip()}', fix)
    return compiler


def check_space(folder: Path, needed: int = NEEDED_BYTES) -> str:
    """Refuse a disk that is too full for a set-up; return what is free."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Fault(
            f'the disk of {folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} GB are needed.', DISK_FULL
        )
    return f'{free / 1e9:.0f} GB free'


def check_writable(folder: Path) -> None:
    """Refuse a home that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix='.lfd-'):
            pass
    except OSError as error:
        raise Fault(
            f'{folder} cannot be written to: {error.strerror}.',
            DISK_FULL
            if error.errno == 28
            else 'set LFD_HOME to a folder that can be, for example: LFD_HOME=$HOME/lfd ./lfd demo',
        ) from None
