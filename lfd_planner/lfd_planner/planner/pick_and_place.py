"""A pick and its place as one container, of which the rest of a task takes the ways that it found."""

from __future__ import annotations

from lfd_planner.task import Context, Fallbacks, State, Step
from lfd_planner.task.stage import Blame, Run


class PickAndPlace(Fallbacks):
    """Ways to pick something and place it, as they are found; a search with more effort finds all and sorts them."""

    def run(self, context: Context, start: State | None, end: State | None, before: State | None) -> Run:
        """The steps of the first stage that has any."""
        found = super().run(context, start, end, before)
        if context.effort == 1:
            return (yield from found)
        steps: list[Step] = []
        while True:
            try:
                steps.append(next(found))
            except StopIteration as done:
                blame: Blame = done.value
                break
        yield from sorted(steps, key=lambda step: step.cost)
        return blame
