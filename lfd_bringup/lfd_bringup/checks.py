"""`./lfd test`: linters, type checker, tests."""

from __future__ import annotations

import argparse
import subprocess
import sys

from .home.console import complain, say
from .home.layout import CHECKOUT

_CHECKS = (
    ('ruff check', [sys.executable, '-m', 'ruff', 'check', '.']),
    ('ruff format', [sys.executable, '-m', 'ruff', 'format', '--check', '.']),
    ('mypy', [sys.executable, '-m', 'mypy']),
    ('pytest', [sys.executable, '-m', 'pytest']),
)
# Tests wait for processes most of the time, so two files at once take hardly more than one; the tests of a file share
# graphs and stay together, in their order: the one that sets up a second home comes early, and others fill the wait.
# Simulated controllers have real deadlines, which a shared machine misses at times: a test that failed gets a second
# try and is listed as RERUN, so that nobody overlooks it. The slowest are listed, too.
_SIDE_BY_SIDE = ('-n', '2', '--dist', 'loadfile', '--no-loadscope-reorder', '--reruns', '1', '-raR', '--durations=40')


def main(arguments: argparse.Namespace) -> int:
    """Run all checks, or only pytest when it was given arguments; return 1 if any failed."""
    checks = _CHECKS[-1:] if arguments.rest else _CHECKS
    failed = []
    for name, command in checks:
        say(f'── {name}')
        if subprocess.run(
            [*command, *((arguments.rest or _SIDE_BY_SIDE) if name == 'pytest' else [])], cwd=CHECKOUT, check=False
        ).returncode:
            failed.append(name)
    if failed:
        complain(f'failed: {", ".join(failed)}')
    return 1 if failed else 0
