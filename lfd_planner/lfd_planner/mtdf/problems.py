"""What is wrong with a task file, and where: found all at once, told one sentence each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lfd_description.scenes.values import shortened

MAX_TOLD = 50
GIVE_UP = 1000  # problems after which nothing more is read, for nobody reads more


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, or that is probably not meant."""

    line: int
    """Counts from 1; 0 where there is no text."""
    column: int
    """In characters, counts from 1; 0 where there is no text."""
    keyframe: int | None
    """Index into the keyframes, from 0 as in lfd_msgs; None: the task as a whole."""
    object: str | None
    message: str
    fix: str
    severity: Literal['error', 'warning'] = 'error'

    @property
    def is_error(self) -> bool:
        """Whether the task cannot be used."""
        return self.severity == 'error'

    def __str__(self) -> str:
        place = [f'line {self.line}, column {self.column}'] if self.line else []
        place += [f'keyframes[{self.keyframe}]'] if self.keyframe is not None else []
        place += [f"object '{shortened(self.object)}'"] if self.object else []
        warning = '' if self.is_error else 'warning: '
        end = '' if self.fix.endswith('?') else '.'
        return f'{", ".join(place)}{": " if place else ""}{warning}{self.message}; {self.fix}{end}'


class MtdfError(ValueError):
    """A task that cannot be used; `problems` has all that is wrong with it, and the message is a line for each."""

    def __init__(self, problems: Iterable[Problem], source: str = '') -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__('\n'.join(told(self.problems, source)))


def told(problems: Sequence[Problem], source: str = '') -> list[str]:
    """A sentence for each problem, the first `MAX_TOLD` of them, each after the name of its source."""
    before = f'{source}, ' if source else ''
    lines = [f'{before}{problem}' for problem in problems[:MAX_TOLD]]
    more = len(problems) - len(lines)
    return [*lines, f'{before}and there are {more} other problems; mend these first.'] if more else lines


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Those that make the task unusable."""
    return tuple(problem for problem in problems if problem.is_error)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """As they stand in the text, errors before warnings of the same place; no more than `GIVE_UP`, errors first."""
    first = sorted(problems, key=lambda problem: (problem.severity, problem.line, problem.column))[:GIVE_UP]
    return tuple(sorted(first, key=lambda problem: (problem.line, problem.column, problem.severity)))
