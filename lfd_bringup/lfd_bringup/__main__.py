"""Runs a command of ./lfd inside the environment."""

import sys

from .commands import handler, parse
from .home.console import complain, say
from .home.faults import Fault


def main() -> int:
    """Run the command; return its exit code."""
    arguments = parse(sys.argv[1:])
    try:
        return handler(arguments)(arguments)
    except Fault as fault:
        complain(str(fault))
        return 1
    except KeyboardInterrupt:
        say('')
        return 130


if __name__ == '__main__':
    sys.exit(main())
