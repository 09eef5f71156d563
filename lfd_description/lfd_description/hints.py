"""What somebody may have meant: the nearest name to one that does not exist."""

import difflib
from collections.abc import Iterable

_LONGEST = 60  # characters that are compared; a name is no longer


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like another, if one is at all."""
    found = difflib.get_close_matches(name[:_LONGEST].lower(), list(known), n=1)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remark to go behind a name that does not exist; empty if nothing is like it."""
    found = nearest(name, known)
    return f" (did you mean '{found}'?)" if found else ''


def no_such(kind: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a thing of which there is none of that name."""
    names = list(known)
    return f"There is no {kind} '{name}'{did_you_mean(name, names)}; choose one of {', '.join(names)}."
