"""The command line of ./lfd: what can be asked for, and where the answer is.

Read twice for every command: outside the environment, where wrong usage is answered at once, and inside it, where the
command runs. The first reading has the standard library alone, so handlers are named here and imported when run.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from .home.layout import CHECKOUT

DEMO_ROBOTS = ('gp8', 'irb1600', 'ur5e')
HARDWARE = ('mock',)
HIGHEST_DOMAIN = 231  # the highest for which DDS has all its ports

_EXAMPLES = """\
examples:
  ./lfd demo                          three arms move on simulated controllers, over real ROS 2
  ./lfd up --robot ur5e               bring up one arm; Ctrl-C stops it
  ./lfd doctor                        check this machine and explain what is wrong
  ./lfd run python my_node.py         run a program of yours in the same ROS 2 environment

The first start sets everything up below this folder (.venv and .lfd); nothing else on the machine is changed.
exit codes: 0 done, 1 refused or failed, 2 wrong usage
"""


def robot_folders() -> list[str]:
    """Names of the robots in the checkout: a robot is a folder."""
    return sorted(path.parent.name for path in (CHECKOUT / 'lfd_description' / 'robots').glob('*/robot.yaml'))


def robot_name(text: str) -> str:
    """A robot that exists; argparse prints the sentence otherwise."""
    names = robot_folders()
    if text not in names:
        raise argparse.ArgumentTypeError(f'there is no robot {text!r}; the robots are {", ".join(names)}')
    return text


def domain_id(text: str) -> int:
    """A ROS domain number; argparse prints the sentence otherwise."""
    if not text.isdigit() or int(text) > HIGHEST_DOMAIN:
        raise argparse.ArgumentTypeError(f'{text!r} is not a ROS domain; use a number from 0 to {HIGHEST_DOMAIN}')
    return int(text)


class _Parser(argparse.ArgumentParser):
    """Wrong usage in one sentence, with the way to help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f'lfd: {message}\nSee: ./{self.prog} --help\n')


def parser() -> argparse.ArgumentParser:
    """The command line as argparse sees it."""
    top = _Parser(
        prog='lfd',
        description='Show a manipulation task once, in VR; any industrial arm performs it.',
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest='command', metavar='COMMAND', required=True, parser_class=_Parser)

    def add(name: str, handler: str, text: str, example: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, epilog=f'example: ./lfd {example}')
        command.set_defaults(handler=handler)
        return command

    demo = add(
        'demo', 'demo.main:main', 'Move arms through a trajectory, measure and report it.', 'demo --robot gp8 ur10e'
    )
    demo.add_argument('--robot', nargs='+', type=robot_name, default=list(DEMO_ROBOTS), metavar='NAME', dest='robots')
    demo.add_argument(
        '--out', type=Path, default=Path('lfd-demo'), metavar='DIR', help='report folder (default: %(default)s)'
    )
    demo.add_argument('--headless', action='store_true', help='no live view in the terminal')

    up = add('up', 'supervisor:main', 'Bring up the ROS 2 graph of one robot until Ctrl-C.', 'up --robot ur5e')
    _add_graph_arguments(up)
    up.add_argument(
        '--domain-id',
        type=domain_id,
        metavar='N',
        help='ROS domain (default: $ROS_DOMAIN_ID, else one of this checkout that is free)',
    )

    up.add_argument(
        '--discovery',
        choices=('localhost', 'subnet'),
        default='localhost',
        help='who on the network may take part (default: this machine only)',
    )

    graph = add('graph', 'graph:main', 'Print which nodes run for a robot, with all parameters.', 'graph --robot gp8')
    _add_graph_arguments(graph)
    graph.add_argument(
        '--home',
        choices=('embedded', 'ros'),
        default='embedded',
        help='ros: as the launch files start them on a ROS 2 machine (default: %(default)s)',
    )

    add('robots', 'robots:main', 'List the robots.', 'robots')
    add('doctor', 'home.doctor:main', 'Check the machine and the environment, and explain them.', 'doctor')

    add(
        'test', 'checks:main', 'Run the linters, the type checker and all tests.', 'test tests/interop -x'
    ).add_argument('rest', nargs='*', metavar='...', help='if given: only pytest, with these arguments')
    add('run', 'run:main', 'Run a program inside the environment.', 'run python my_node.py').add_argument(
        'rest', nargs='*', metavar='PROGRAM ...'
    )
    add('setup', '', 'Set everything up and do nothing else.', 'setup')
    add('clean', '', 'Remove all that lfd made (.venv and .lfd).', 'clean')
    return top


def _add_graph_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument('--robot', required=True, type=robot_name, metavar='NAME', help=', '.join(robot_folders()))
    command.add_argument('--hardware', choices=HARDWARE, default='mock', help='default: %(default)s')


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; exits with code 2 and one sentence on wrong usage."""
    top = parser()
    rest: Sequence[str] = ()
    if argv[:1] in (['test'], ['run']) and argv[1:2] not in (['-h'], ['--help']):
        argv, rest = argv[:1], argv[1:]  # for another program, options included
    arguments = top.parse_args(argv)
    arguments.rest = list(rest)
    if arguments.command == 'run' and not rest:
        top.error('run needs a program, for example: ./lfd run python')
    return arguments


def handler(arguments: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """The function that carries out a command."""
    module, function = arguments.handler.split(':')
    found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(f'{__package__}.{module}'), function)
    return found
