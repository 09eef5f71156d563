"""The way in: read the command line, bring the home up to date, run the command inside it."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

from ..commands import parse
from . import steps
from .console import complain, say
from .doctor import check_machine
from .environment import environment
from .faults import Fault
from .layout import Layout


def main(argv: list[str]) -> int:
    """Run `./lfd ARGV` from outside the environment; return the exit code (0 done, 1 failed, 2 wrong usage)."""
    arguments = parse(argv)  # before any work: wrong usage is answered at once, with exit code 2
    layout = Layout.default()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    try:
        if arguments.command == 'clean':
            return _clean(layout)
        steps.ensure(layout, with_tests=arguments.command == 'test')
    except Fault as fault:
        complain(str(fault))
        if arguments.command == 'doctor':
            check_machine(layout)
        return 1
    except KeyboardInterrupt:
        say('\nStopped. What was done so far is kept: the same command continues from here.')
        return 130
    if arguments.command == 'setup':
        print(f'lfd is set up in {layout.home}. Try: ./lfd demo')
        return 0
    env = environment(layout) | {'LFD_HOME': str(layout.home)}
    if 'ROS_DOMAIN_ID' not in os.environ:
        env['LFD_OWN_DOMAIN'] = '1'  # chosen by lfd: it may choose another one when it is taken
    os.execve(layout.python, [str(layout.python), '-m', 'lfd_bringup', *argv], env)


def _clean(layout: Layout) -> int:
    steps.remove(layout.venv, layout.state)
    print(f'Removed {layout.venv} and {layout.state}.')
    return 0


def _stop(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)
