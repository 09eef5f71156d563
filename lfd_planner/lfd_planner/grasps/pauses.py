"""Places where the making of grasps can be stopped: meshes take a while, and a person who cancels does not wait.

What is made is kept for others, whoever asked first; so who may stop it is no argument of what makes it, but is known
to the thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lfd_planner.stopping import ShouldStop, never

_asked: ContextVar[ShouldStop] = ContextVar('should_stop', default=never)


class Interrupted(Exception):
    """Somebody said to stop before the grasps were made."""


@contextmanager
def stoppable(should_stop: ShouldStop) -> Iterator[None]:
    """What is made within is stopped at the next pause after `should_stop` says yes."""
    token = _asked.set(should_stop)
    try:
        yield
    finally:
        _asked.reset(token)


def pause() -> None:
    """Go on, unless somebody says to stop.

    Raises:
        Interrupted: he does.
    """
    if _asked.get()():
        raise Interrupted
