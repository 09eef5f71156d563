"""Who may stop what takes long: it asks a `ShouldStop` now and then, and ends when that says yes."""

from collections.abc import Callable

ShouldStop = Callable[[], bool]


def never() -> bool:
    """Nobody wants to stop."""
    return False
