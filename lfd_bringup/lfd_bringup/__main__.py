"""Runs a command of ./lfd inside the environment."""

import sys

from .commands import handler, parse
from .home.console import guarded


def main() -> int:
    """Run the command; return its exit code."""
    arguments = parse(sys.argv[1:])
    return guarded(lambda: handler(arguments)(arguments))


if __name__ == '__main__':
    sys.exit(main())
