"""Which pairs may touch: MoveIt's allowed collision matrix as a value.

A pair's own entry decides. Without one, the defaults of the two names do: if both have a default, both must allow it.
Without any, touching is a collision. Names are links of the robot and ids of objects, there or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from .persistent_map import PersistentMap

Row = PersistentMap[str, bool]
_EMPTY: Row = PersistentMap()

PairEdit = tuple[str, str, bool | None]
"""Two names and what their entry becomes; None: they have none."""


@dataclass(frozen=True)
class AllowedCollisions:
    """Entries of pairs, kept for both orders of the names, and defaults of names; True allows, False forbids."""

    rows: PersistentMap[str, Row] = field(default_factory=PersistentMap)
    defaults: PersistentMap[str, bool] = field(default_factory=PersistentMap)

    @staticmethod
    def of(pairs: Iterable[tuple[str, str]]) -> AllowedCollisions:
        """What allows these pairs and nothing else."""
        rows: dict[str, dict[str, bool]] = {}
        for a, b in pairs:
            rows.setdefault(a, {})[b] = True
            rows.setdefault(b, {})[a] = True
        return AllowedCollisions(PersistentMap({name: PersistentMap(row) for name, row in rows.items()}))

    def entry(self, a: str, b: str) -> bool | None:
        """The pair's own entry; None if there is none."""
        return self.rows.get(a, _EMPTY).get(b)

    def decision(self, a: str, b: str) -> bool | None:
        """What entries and defaults say of a pair; None if they say nothing."""
        entry = self.entry(a, b)
        if entry is not None:
            return entry
        said = [default for default in (self.defaults.get(a), self.defaults.get(b)) if default is not None]
        return all(said) if said else None

    def allows(self, a: str, b: str) -> bool:
        """Whether two may touch."""
        return self.decision(a, b) is True

    @property
    def names(self) -> tuple[str, ...]:
        """All names that have an entry or a default, sorted."""
        return tuple(sorted({*self.rows, *self.defaults}))

    def pairs(self) -> Iterator[tuple[str, str, bool]]:
        """The entries of all pairs, each once, names in alphabetical order."""
        for a in sorted(self.rows):
            for b, allowed in sorted(self.rows[a].items()):
                if a <= b:
                    yield a, b, allowed

    def allow(self, a: str, *others: str) -> AllowedCollisions:
        """These, and `a` may touch each of the others."""
        return self.edited((a, b, True) for b in others)

    def forbid(self, a: str, *others: str) -> AllowedCollisions:
        """These, and `a` may touch none of the others, whatever the defaults are."""
        return self.edited((a, b, False) for b in others)

    def with_default(self, name: str, allowed: bool | None) -> AllowedCollisions:
        """These with a default for a name, or with none."""
        return replace(self, defaults=self.defaults.edit([(name, allowed)]))

    def without(self, name: str) -> AllowedCollisions:
        """These without the entries of a name; its default stays, as MoveIt's does when an object is removed."""
        row = self.rows.get(name)
        return self if row is None else self.edited((name, other, None) for other in row)

    def edited(self, edits: Iterable[PairEdit]) -> AllowedCollisions:
        """These after edits of pairs, in their order; only the rows of the pairs are made anew."""
        rows: dict[str, list[tuple[str, bool | None]]] = {}
        for a, b, allowed in edits:
            rows.setdefault(a, []).append((b, allowed))
            if a != b:
                rows.setdefault(b, []).append((a, allowed))
        new = {name: self.rows.get(name, _EMPTY).edit(row) for name, row in rows.items()}
        return replace(self, rows=self.rows.edit((name, row or None) for name, row in new.items()))

    def updated(self, newer: AllowedCollisions) -> AllowedCollisions:
        """These, but for what the newer ones have an entry or a default."""
        edits = [(a, b, allowed) for a, b, allowed in newer.pairs() if self.entry(a, b) is not allowed]
        known = self if not newer.defaults else replace(self, defaults=self.defaults.edit(newer.defaults.items()))
        return known.edited(edits) if edits else known

    def pairs_changed_from(self, old: AllowedCollisions) -> tuple[PairEdit, ...]:
        """The edits that make the entries of `old` these, names in alphabetical order."""
        edits: dict[tuple[str, str], bool | None] = {}
        for name, (before, after) in self.rows.changes_from(old.rows).items():
            for other, (_, allowed) in (after or _EMPTY).changes_from(before or _EMPTY).items():
                edits[min(name, other), max(name, other)] = allowed
        return tuple((a, b, allowed) for (a, b), allowed in sorted(edits.items()))


NONE_ALLOWED = AllowedCollisions()


def from_matrix(
    names: Sequence[str], allowed: npt.NDArray[np.bool_], defaults: Mapping[str, bool]
) -> AllowedCollisions:
    """Read a square symmetric matrix; what it says is kept only where the defaults do not say it already."""
    has = np.array([name in defaults for name in names], dtype=np.bool_)
    value = np.array([defaults.get(name, True) for name in names], dtype=np.bool_)
    implied = np.logical_and.outer(value, value) & np.logical_or.outer(has, has)
    told = np.argwhere(np.triu(allowed != implied, 1))
    edits = ((names[i], names[j], bool(allowed[i, j])) for i, j in told.tolist())
    return AllowedCollisions(defaults=PersistentMap(defaults)).edited(edits)
