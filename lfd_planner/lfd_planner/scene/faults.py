"""What can be wrong with a request to a scene, with the codes that MoveIt's clients know."""

from collections.abc import Collection
from itertools import islice

from lfd_description.scenes.values import shortened
from lfd_planner.error_codes import Code as Code


class SceneFault(ValueError):
    """A request that a scene refuses: `problems` holds one sentence each, the message is all of them, one a line."""

    def __init__(self, code: Code, *problems: str) -> None:
        super().__init__('\n'.join(problems))
        self.code = code
        self.problems = problems


def quoted(name: str) -> str:
    """A stranger's name in quotes, fit for a message."""
    return f"'{shortened(name)}'"


def names(found: Collection[str], most: int = 20) -> str:
    """Names for a message, and how many more there are."""
    if not found:
        return 'none'
    more = f' and {len(found) - most} more' if len(found) > most else ''
    return ', '.join(shortened(name) for name in islice(found, most)) + more
