"""`./lfd run`: a program of the user's, inside the environment."""

from __future__ import annotations

import argparse
import os

from .home.faults import Fault


def main(arguments: argparse.Namespace) -> int:
    """Become the program."""
    program: list[str] = arguments.rest
    try:
        os.execvp(program[0], program)
    except OSError as error:
        raise Fault(
            f'{program[0]} cannot be run: {error.strerror}.', 'check its name and that it is executable'
        ) from None
