"""The way in: read the command line, bring the home up to date, run the command inside it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from types import FrameType

from ..commands import parse
from . import steps
from .console import guarded, say
from .doctor import check_machine
from .environment import environment
from .faults import Fault
from .layout import Layout


def main(argv: list[str]) -> int:
    """Run `./lfd ARGV` from outside the environment; return the exit code (0 done, 1 failed, 2 wrong usage)."""
    arguments = parse(argv)  # before any work: wrong usage is answered at once, with exit code 2
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    return guarded(lambda: _run(argv, arguments))


def _run(argv: list[str], arguments: argparse.Namespace) -> int:
    layout = Layout.outside()
    if arguments.command == 'clean':
        steps.clean(layout)
        print(f'Removed what lfd had made in {layout.home}.')
        return 0
    _set_up(layout, arguments.command)
    if arguments.command == 'setup':
        print(f'lfd is set up in {layout.home}. Try: ./lfd demo')
        return 0
    env = environment(layout)
    if not os.environ.get('ROS_DOMAIN_ID'):
        env['LFD_OWN_DOMAIN'] = '1'  # chosen by lfd: it may choose another one when it is taken
    # -P: a yaml.py in the user's folder is not ours to import.
    os.execve(layout.python, [str(layout.python), '-P', '-m', 'lfd_bringup', *argv], env)


def _set_up(layout: Layout, command: str) -> None:
    try:
        steps.ensure(layout, with_tests=command in ('test', 'bench'))
    except Fault:
        if command == 'doctor':
            check_machine(layout)
        raise
    except KeyboardInterrupt:
        say('\nStopped. What was done so far is kept: the same command continues from here.')
        raise


def _stop(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)
