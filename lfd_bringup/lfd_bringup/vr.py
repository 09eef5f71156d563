"""`./lfd vr`: what can be done with logs of demonstrations, without a graph."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_planner.mtdf import dump_task
from lfd_vr_bridge.demo_log.log_file import LogError, read_log
from lfd_vr_bridge.demo_log.replay import replayed

from .home.console import say
from .home.faults import Fault


def replay(arguments: argparse.Namespace) -> int:
    """Show a log to the recorder again; uses `file` (a path) and `out` (a path, or None: the task goes to stdout)."""
    try:
        log = read_log(arguments.file)
        name, task = replayed(log)
    except LogError as error:
        raise Fault(str(error)) from None
    text = dump_task(task)
    if arguments.out is None:
        sys.stdout.write(text)
    else:
        _write(arguments.out, text)
    cut = '' if log.is_finished else ' The log was cut short; this is what it has.'
    say(f"'{name}': {len(log.events)} events, {len(task.keyframes)} keyframes.{cut}")
    return 0


def _write(out: Path, text: str) -> None:
    try:
        write_atomically(out, text)
    except OSError as error:
        raise Fault(f'{out} cannot be written: {error.strerror or error}.', 'choose another file with --out') from None
