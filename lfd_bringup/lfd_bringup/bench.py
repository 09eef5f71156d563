"""`./lfd bench`: measure lfd against its peers, each benchmark a program of its own in tests/benchmarks."""

from __future__ import annotations

import argparse
import subprocess
import sys

from .commands import BENCHMARKS, benchmarks
from .home.console import say


def main(arguments: argparse.Namespace) -> int:
    """Run one benchmark, or all; return 1 if any failed."""
    names = [arguments.name] if arguments.name else benchmarks()
    codes = []
    for name in names:
        say(f'── bench {name}')
        program = [sys.executable, str(BENCHMARKS / f'bench_{name}.py')]
        codes.append(subprocess.run([*program, *arguments.rest], check=False).returncode)
    return int(any(codes))
