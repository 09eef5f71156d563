"""What a person sees while lfd works: one line per step, redrawn on a terminal, repeated now and then elsewhere."""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from .faults import Fault, explain

BAR_WIDTH = 20
REDRAW_PERIOD = 0.1  # [s] on a terminal
REPEAT_PERIOD = 15.0  # [s] where there is no terminal, so that a CI log shows life


def use_colour(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that wants colours (https://no-color.org)."""
    return (
        stream is not None and stream.isatty() and not os.environ.get('NO_COLOR') and os.environ.get('TERM') != 'dumb'
    )


def coloured(text: str, code: str, stream: TextIO | None) -> str:
    """The text in an ANSI colour where the stream wants it."""
    return f'\x1b[{code}m{text}\x1b[0m' if use_colour(stream) else text


class StepLine:
    """One step of a longer work: `[2/4] Install 160 packages  ██████░░░░  58 %  0:31  numpy`."""

    def __init__(self, title: str, number: int, total: int, stream: TextIO | None = None) -> None:
        self._label = f'[{number}/{total}] {title}'
        self._stream = stream or sys.stderr
        self._live = use_colour(self._stream)
        self._start = self._drawn = time.monotonic()
        self._print(self._label if not self._live else '')

    def update(self, fraction: float | None, detail: str = '') -> None:
        """Show how far the step is: a fraction of 1, or None when that is not known."""
        now = time.monotonic()
        if now - self._drawn < (REDRAW_PERIOD if self._live else REPEAT_PERIOD):
            return
        self._drawn = now
        filled = round(BAR_WIDTH * min(max(fraction or 0.0, 0.0), 1.0))
        bar = '' if fraction is None else f'  {"█" * filled}{"░" * (BAR_WIDTH - filled)} {100 * fraction:3.0f} %'
        text = f'{self._label}{bar}  {self._elapsed()}  {detail}'
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._print(f'\r\x1b[2K{text[:width]}', end='')
        else:
            percent = '' if fraction is None else f' {100 * fraction:.0f} %,'
            self._print(f'      {percent} {self._elapsed()}  {detail}')

    def end(self, ok: bool) -> None:
        """Close the line."""
        mark = coloured('done', '32', self._stream) if ok else coloured('failed', '31', self._stream)
        prefix = f'\r\x1b[2K{self._label}  ' if self._live else '      '
        self._print(f'{prefix}{mark} in {self._elapsed()}')

    def _elapsed(self) -> str:
        seconds = int(time.monotonic() - self._start)
        return f'{seconds // 60}:{seconds % 60:02d}'

    def _print(self, text: str, end: str = '\n') -> None:
        if text:
            print(text, end=end, file=self._stream, flush=True)


def guarded(command: Callable[[], int]) -> int:
    """Run a command so that whatever goes wrong is one sentence and an exit code, never a traceback.

    A Fault explains itself; other failures of the system (a full disk, a lost permission) are named as they come.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None when closed by the user
            stream.reconfigure(errors='replace')  # a terminal without these letters gets question marks
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except Fault as fault:
        complain(str(fault))
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `./lfd robots | head -1`: leave nothing to be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:
        complain(str(explain('The command', f'[Errno {error.errno}] {error}', 1, Path('.lfd/log'))))
        return 1
    except KeyboardInterrupt:
        say('')
        return 130
    return code


def say(text: str) -> None:
    """One line to the person, on stderr: stdout belongs to what a command was asked for."""
    print(text, file=sys.stderr, flush=True)


def complain(text: str) -> None:
    """A failure, marked as such."""
    say(f'{coloured("lfd:", "31", sys.stderr)} {text}')
