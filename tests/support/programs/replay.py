"""What a program did when it was run: sections that its comments name, each with its moves and actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

Inputs = Callable[[str, float], bool]
"""The value of an input port, some seconds after it was first looked at."""


class ProgramError(Exception):
    """The controller would refuse the program, or stop in it."""


class Halted(Exception):
    """The program ended itself."""


def all_on(port: str, waited: float) -> bool:
    """Every input is on."""
    return True


@dataclass
class Section:
    """What happened below one comment; the first section is what happened before any."""

    title: str
    times: list[float] = field(default_factory=lambda: [0.0])
    """Of the set-points, from the section's start [s]."""
    q: list[np.ndarray] = field(default_factory=list)
    """Set-points [rad]; the first is where the arm was."""
    acts: list[tuple[object, ...]] = field(default_factory=list)
    """Such as ('output', '1', True), ('input', '2', True) and ('pause', 0.5), and ('move',) for motion between them."""
    blends: list[float] = field(default_factory=list)
    """Radius of each movej [m]."""
    rest_time: float = 0.0
    """Spent in holding the last set-point [s]."""


class Recorder:
    """Writes down what the arm does."""

    def __init__(self, start: np.ndarray) -> None:
        self.q = np.array(start, dtype=float)
        self.approach: np.ndarray | None = None
        """Where the slow move at the start went."""
        self.sections = [Section('', q=[self.q])]
        self.stands = True
        """Whether the arm is told to come to rest before what follows."""

    def comment(self, text: str) -> None:
        if text.startswith('keyframe '):
            self.sections.append(Section(text, q=[self.q]))

    def approached(self, q: np.ndarray) -> None:
        if self.approach is not None or len(self.sections) > 1:
            raise ProgramError('a move without a time in the middle of the program')
        self.approach = self.q = np.array(q, dtype=float)
        self.sections[0] = Section('', q=[self.q])

    def moved(self, q: np.ndarray, duration: float, *, stops: bool) -> None:
        if duration <= 0.0:
            raise ProgramError(f'a move that takes {duration} s')
        now = self.sections[-1]
        now.times.append(now.times[-1] + duration)
        self.q = np.array(q, dtype=float)
        self.stands = stops
        now.q.append(self.q)
        if not now.acts or now.acts[-1] != ('move',):
            now.acts.append(('move',))

    def held(self, duration: float) -> None:
        self.sections[-1].rest_time += duration
        self.stands = True

    def act(self, *what: object) -> None:
        if not self.stands:
            raise ProgramError(f'{what} while the arm moves')
        self.sections[-1].acts.append(what)
