"""What messages may hold: everything that comes from outside is checked here, each fault in one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lfd_planner.scene import Code, SceneFault
from lfd_planner.scene.faults import quoted

MAX_METRES = 1000.0
"""No length and no coordinate of a message is above this."""
MIN_LENGTH = 1e-6  # [m]
MAX_SHAPES = 10_000  # of one object
MAX_TRIANGLES = 5_000_000  # of one mesh
MAX_NAME = 1000  # characters
MAX_PROBLEMS = 20  # told of one message


class Report:
    """Collects what is wrong with one message; `place` says which, such as Object 'box'."""

    def __init__(self, place: str) -> None:
        self.place = place
        self._problems: list[str] = []

    def problem(self, sentence: str) -> None:
        """Note something wrong; the sentence goes on after the place."""
        if len(self._problems) < MAX_PROBLEMS:
            self._problems.append(f'{self.place}: {sentence}')

    def finish(self, code: Code = Code.FAILURE) -> None:
        """Raise what was noted, if anything was.

        Raises:
            SceneFault: something is wrong with the message.
        """
        if self._problems:
            raise SceneFault(code, *self._problems)

    def length(self, value: float, what: str) -> float:
        """A length above zero [m]; 1 after noting that it is none."""
        if not math.isfinite(value):
            self.problem(f'the {what} is {value}, which is no finite number; send metres.')
        elif value < MIN_LENGTH:
            self.problem(f'the {what} is {value:g}, which is no length of a solid; send metres above zero.')
        elif value > MAX_METRES:
            self.problem(f'the {what} is {value:g} m, more than {MAX_METRES:g}; send metres, not millimetres.')
        else:
            return value
        return 1.0

    def coordinates(self, values: Iterable[float], what: str) -> bool:
        """Whether all numbers are coordinates [m]; noted if they are not."""
        for value in values:
            if not math.isfinite(value):
                self.problem(f'the {what} has {value}, which is no finite number; send metres.')
                return False
            if abs(value) > MAX_METRES:
                self.problem(f'the {what} has {value:g} m, more than {MAX_METRES:g}; send metres, not millimetres.')
                return False
        return True

    def name(self, value: str, what: str) -> str:
        """A name that can be seen; noted if it is none."""
        if not value or len(value) > MAX_NAME or not value.isprintable():
            self.problem(f'{quoted(value)} is no {what}; send up to {MAX_NAME} characters that can be seen.')
        return value
