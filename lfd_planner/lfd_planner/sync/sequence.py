"""The order of the twin's messages: whole scenes on one topic, updates on another, numbered so that a gap is noticed.

The number travels in the message's `name` as `SESSION/NUMBER`, such as `1718000000/42`. The session is any text that
changes when the twin starts anew; without it, `42`, a restarted twin is known by its next whole scene only. Every
update is one more than the one before; a whole scene has the number of the last update that is in it. Updates without
a number are taken as they come after a whole scene, and nobody notices if one is missing.

The two topics have no common order: an update may overtake the whole scene that it follows, or a whole scene come after
updates that it does not have. The first waits; the second is taken, and the updates that came since are applied again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

Update = TypeVar('Update')

MOST_WAITING = 10_000
"""Updates that are kept while a whole scene is waited for; of more, the whole scene will tell."""
MOST_BYTES = 64_000_000
"""Of updates that wait, and again of those that were applied."""
MOST_APPLIED = 1_000
"""Updates that can be applied again after a whole scene that is older than they are."""
_MOST_PAST = 16  # sessions
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


@dataclass(frozen=True)
class _Kept(Generic[Update]):
    """An update, and how big it is [bytes]."""

    revision: Revision
    update: Update
    size: int


class Sequence(Generic[Update]):
    """Says which updates are to be applied now, in their order; the others wait for what is missing."""

    def __init__(self) -> None:
        self.current: Revision | None = None
        """The newest state that is whole; None before the first one, or if the twin does not number."""
        self.started = False
        """Whether there was a whole scene; an update alone does not tell what was before it."""
        self._waiting: dict[Revision, _Kept[Update]] = {}
        self._applied: deque[_Kept[Update]] = deque()  # without gaps, up to the current one
        self._waiting_size = self._applied_size = 0  # [bytes]
        self._heard = ''  # the session that spoke last
        self._past: deque[str] = deque(maxlen=_MOST_PAST)

    @property
    def gap(self) -> str:
        """What is missing, as one sentence; empty if nothing is."""
        current = self.current
        session = self._heard if current is None or self._heard not in self._past else current.session
        numbers = [revision.number for revision in self._waiting if revision.session == session]
        if not numbers:
            return ''
        if current is None:
            return f'Update {Revision(session, max(numbers))} came before any whole scene.'
        if session != current.session:
            newest = Revision(session, max(numbers))
            return f'The twin has started anew (update {newest}) and has not sent its whole scene yet.'
        return f'Updates {current.number + 1} to {min(numbers) - 1} of the twin are missing.'

    def whole(self, revision: Revision | None) -> tuple[bool, list[Update]]:
        """A whole scene has come: whether to take it, and the updates that follow it at once."""
        again: list[Update] = []
        if revision is not None and self._is_overtaken(revision):
            newer = [kept for kept in self._applied if kept.revision.number > revision.number]
            if self.current and len(newer) == self.current.number - revision.number:
                again = [kept.update for kept in newer]
            elif revision.session:
                return False, []
        self.started = True
        if not again:
            self._become(revision)
        return True, [*again, *self._following()]

    def update(self, revision: Revision | None, update: Update, size: int = 0) -> list[Update]:
        """An update of `size` [bytes] has come: all updates that are to be applied now."""
        if revision is None:
            return [update] if self.started else []  # before a whole scene nobody knows what it changes
        self._heard = revision.session
        if self.current is None and self.started and not self._waiting:
            # A whole scene without a number cannot be compared with any other.
            self.current = Revision(revision.session, revision.number - 1)
        if self._is_overtaken(revision) or revision == self.current:
            if not self._counts_anew(revision, update):
                return []
            self.current = None
            self._forget_applied()
        self._keep_waiting(_Kept(revision, update, size))
        return self._following()

    def _is_overtaken(self, revision: Revision) -> bool:
        current = self.current
        return current is not None and revision.session == current.session and revision.number < current.number

    def _counts_anew(self, revision: Revision, update: Update) -> bool:
        """Whether an update has the number of an earlier one and is another: a twin without sessions was restarted."""
        return not revision.session and not any(
            kept.revision == revision and kept.update == update for kept in self._applied
        )

    def _become(self, revision: Revision | None) -> None:
        """Go on from a whole scene."""
        before, self.current = self.current, revision
        self._forget_applied()
        past = before.session if before and (revision is None or before.session != revision.session) else None
        if past is not None:
            self._past.append(past)
        for waiting in list(self._waiting):
            old = revision is not None and waiting.session == revision.session and waiting.number <= revision.number
            if old or revision is None or waiting.session == past:
                self._waiting_size -= self._waiting.pop(waiting).size
        if revision is not None:
            self._heard = revision.session
            self._past = deque((name for name in self._past if name != revision.session), _MOST_PAST)

    def _keep_waiting(self, kept: _Kept[Update]) -> None:
        if kept.revision in self._waiting:
            return
        self._waiting[kept.revision] = kept
        self._waiting_size += kept.size
        while len(self._waiting) > MOST_WAITING or (self._waiting_size > MOST_BYTES and len(self._waiting) > 1):
            oldest = next(iter(self._waiting))  # the newest stays: it tells that there is a gap
            self._waiting_size -= self._waiting.pop(oldest).size

    def _keep_applied(self, kept: _Kept[Update]) -> None:
        self._applied.append(kept)
        self._applied_size += kept.size
        while self._applied and (len(self._applied) > MOST_APPLIED or self._applied_size > MOST_BYTES):
            self._applied_size -= self._applied.popleft().size

    def _forget_applied(self) -> None:
        self._applied.clear()
        self._applied_size = 0

    def _following(self) -> list[Update]:
        found: list[Update] = []
        while self.current is not None:
            following = Revision(self.current.session, self.current.number + 1)
            if following not in self._waiting:
                break
            kept = self._waiting.pop(following)
            self._waiting_size -= kept.size
            self._keep_applied(kept)
            found.append(kept.update)
            self.current = following
        return found
