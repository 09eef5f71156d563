"""The order of the twin's messages: whole scenes on one topic, updates on another, numbered so that a gap is noticed.

The number travels in the message's `name` as `SESSION/NUMBER`, such as `1718000000/42`. The session is any text that
changes when the twin starts anew; without it, `42`, a restarted twin is known by its next whole scene only. Every
update is one more than the one before; a whole scene has the number of the last update that is in it. Updates without
a number are taken as they come, and nobody notices if one is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Update = TypeVar('Update')

MOST_WAITING = 10_000
"""Updates that are kept while a whole scene is waited for; of more, the whole scene will tell."""
_MOST_DIGITS = 18


@dataclass(frozen=True)
class Revision:
    """The number of a state of the twin."""

    session: str
    number: int

    @staticmethod
    def parse(name: str) -> Revision | None:
        """The revision that a message's name tells; None if it tells none."""
        session, _, number = name.rpartition('/')
        if not (number.isascii() and number.isdigit() and len(number) <= _MOST_DIGITS):
            return None
        return Revision(session, int(number))

    def __str__(self) -> str:
        return f'{self.session}/{self.number}' if self.session else str(self.number)


class Sequence(Generic[Update]):
    """Says which updates are to be applied now, in their order; the others wait for what is missing."""

    def __init__(self) -> None:
        self.current: Revision | None = None
        """The newest state that is whole; None before the first one, or if the twin does not number."""
        self.started = False
        """Whether there was a whole scene, or an update that needs none."""
        self._waiting: dict[Revision, Update] = {}

    @property
    def gap(self) -> str:
        """What is missing, as one sentence; empty if nothing is."""
        if not self._waiting:
            return ''
        newest = list(self._waiting)[-1]
        if self.current is None:
            return f'Update {newest} came before any whole scene.'
        if newest.session != self.current.session:
            return f'The twin has started anew (update {newest}) and has not sent its whole scene yet.'
        first = min(revision.number for revision in self._waiting if revision.session == newest.session)
        return f'Updates {self.current.number + 1} to {first - 1} of the twin are missing.'

    def whole(self, revision: Revision | None) -> tuple[bool, list[Update]]:
        """A whole scene has come: whether to take it, and the updates that follow it at once."""
        if self._is_stale(revision):
            return False, []
        self.started = True
        self.current = revision
        self._waiting = {
            waiting: update
            for waiting, update in self._waiting.items()
            if revision and waiting.session == revision.session and waiting.number > revision.number
        }
        return True, self._following()

    def update(self, revision: Revision | None, update: Update) -> list[Update]:
        """An update has come: all updates that are to be applied now."""
        if revision is None:
            self.started = True
            return [update]
        current = self.current
        if current and revision.session == current.session and revision.number <= current.number:
            return []
        if current is None and (self.started or revision.number == 1):
            # Nothing was before update 1, and a whole scene without a number cannot be compared with any other.
            self.current, self.started = Revision(revision.session, revision.number - 1), True
        self._waiting[revision] = update
        if len(self._waiting) > MOST_WAITING:  # the newest stays: it tells that there is a gap
            del self._waiting[next(iter(self._waiting))]
        return self._following()

    def _is_stale(self, revision: Revision | None) -> bool:
        """Whether a whole scene was overtaken by updates on the other topic."""
        current = self.current
        if revision is None or current is None or not revision.session:
            return False
        return revision.session == current.session and revision.number < current.number

    def _following(self) -> list[Update]:
        found: list[Update] = []
        while self.current is not None:
            following = Revision(self.current.session, self.current.number + 1)
            if following not in self._waiting:
                break
            found.append(self._waiting.pop(following))
            self.current = following
        return found
