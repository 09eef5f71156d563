"""A task made of stages: checked, then planned, best solutions first, and able to say why there are none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .containers import StructureError
from .context import Context
from .stage import Direction, Stage
from .state import Step


class TaskConstructor:
    """Plans a stage that reads nothing from outside, usually a `Serial` that begins with a generator.

    Raises:
        StructureError: stages do not fit together; the message has one line for each fault.
    """

    def __init__(self, stage: Stage, context: Context | None = None) -> None:
        faults = list(stage.faults())
        if not faults and stage.direction is not Direction.GENERATE:
            faults.append(f"'{stage.name}' must begin and end with stages that read nothing from outside it.")
        if faults:
            raise StructureError('\n'.join(faults))
        self.stage = stage
        self.context = context or Context()

    def solutions(self) -> Iterator[Step]:
        """Solutions as they are found; the first comes as early as possible."""
        yield from self.stage.run(self.context, None, None, None)

    def plan(self, most: int | None = None) -> tuple[Step, ...]:
        """So many solutions (None: all there are) found until time is up, the cheapest first."""
        found = itertools.islice(self.solutions(), most)
        return tuple(sorted(found, key=lambda step: step.cost))

    def explain_failure(self) -> str:
        """What was rejected by which stage and how often, one line each: the last keyframe first."""
        return '\n'.join(map(str, self.context.journal.counts))
