"""A map whose every version stays as it is: a change makes a new one that shares nearly everything with the old.

The entries are spread over buckets by their key's hash. A change copies one bucket and the tuple that holds them all,
never the entries of the others. Iteration is in the order of insertion, whatever the hashes are, so that everything
that goes through a map is the same in every process; the order does not count for equality.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, TypeVar, cast, overload

Key = TypeVar('Key', bound=Hashable)
Value = TypeVar('Value')
Default = TypeVar('Default')

FULL = 32  # entries a bucket holds on average before there are four times as many buckets


class PersistentMap(Mapping[Key, Value], Generic[Key, Value]):
    """An immutable map; `set` and `remove` give a new one at a cost that hardly grows with the map's size."""

    def __init__(self, entries: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        pairs = entries if isinstance(entries, Mapping) else dict(entries)
        self._spread([(key, (number, value)) for number, (key, value) in enumerate(pairs.items())], len(pairs))

    def _spread(self, entries: list[tuple[Key, tuple[int, Value]]], following: int) -> None:
        count = 1
        while len(entries) > FULL * count:
            count *= 4
        buckets: list[dict[Key, tuple[int, Value]]] = [{} for _ in range(count)]
        for key, entry in entries:
            buckets[hash(key) & (count - 1)][key] = entry
        self._buckets = tuple(buckets)
        self._size = len(entries)
        self._following = following  # the number of the next new entry

    def _changed(
        self, at: int, bucket: dict[Key, tuple[int, Value]], size: int, following: int
    ) -> PersistentMap[Key, Value]:
        new = cast('PersistentMap[Key, Value]', object.__new__(PersistentMap))
        new._buckets = (*self._buckets[:at], bucket, *self._buckets[at + 1 :])
        new._size = size
        new._following = following
        if size > FULL * len(self._buckets):
            new._spread([item for bucket in new._buckets for item in bucket.items()], following)
        return new

    def __reduce__(self) -> tuple[type[PersistentMap[Key, Value]], tuple[tuple[tuple[Key, Value], ...]]]:
        """Built anew elsewhere: the hashes of texts differ from process to process."""
        return PersistentMap, (tuple(self.items()),)

    def set(self, key: Key, value: Value) -> PersistentMap[Key, Value]:
        """The map with a value for a key; a key that was there keeps its place in the order."""
        at = hash(key) & (len(self._buckets) - 1)
        old = self._buckets[at].get(key)
        if old is not None and old[1] is value:
            return self
        bucket = self._buckets[at].copy()
        bucket[key] = (self._following if old is None else old[0], value)
        new = old is None
        return self._changed(at, bucket, self._size + new, self._following + new)

    def remove(self, key: Key) -> PersistentMap[Key, Value]:
        """The map without a key, which need not be there."""
        at = hash(key) & (len(self._buckets) - 1)
        if key not in self._buckets[at]:
            return self
        bucket = self._buckets[at].copy()
        del bucket[key]
        return self._changed(at, bucket, self._size - 1, self._following)

    def edit(self, edits: Iterable[tuple[Key, Value | None]]) -> PersistentMap[Key, Value]:
        """The map after edits in their order; None removes a key."""
        edits = tuple(edits)
        if len(edits) > max(FULL, len(self._buckets)):  # many at once: cheaper on a plain dictionary
            return self._edited_at_once(edits)
        new = self
        for key, value in edits:
            new = new.remove(key) if value is None else new.set(key, value)
        return new

    def _edited_at_once(self, edits: tuple[tuple[Key, Value | None], ...]) -> PersistentMap[Key, Value]:
        entries = {key: entry for bucket in self._buckets for key, entry in bucket.items()}
        following = self._following
        for key, value in edits:
            if value is None:
                entries.pop(key, None)
            elif key in entries:
                entries[key] = (entries[key][0], value)
            else:
                entries[key] = (following, value)
                following += 1
        new = cast('PersistentMap[Key, Value]', object.__new__(PersistentMap))
        new._spread(list(entries.items()), following)
        return new

    def changes_from(self, old: PersistentMap[Key, Value]) -> dict[Key, tuple[Value | None, Value | None]]:
        """The keys whose value differs, with the old and the new value, None where there is none; in the new order.

        Buckets that both versions share are not looked into.
        """
        if self is old:
            return {}
        if len(self._buckets) == len(old._buckets):
            pairs = [(a, b) for a, b in zip(old._buckets, self._buckets, strict=True) if a is not b]
        else:
            pairs = [(dict(_entries(old)), dict(_entries(self)))]
        gone = [(key, entry) for a, b in pairs for key, entry in a.items() if key not in b]
        found = [(key, a.get(key), entry) for a, b in pairs for key, entry in b.items() if _differs(a.get(key), entry)]
        changes: dict[Key, tuple[Value | None, Value | None]] = {}
        for key, entry in sorted(gone, key=lambda item: item[1][0]):
            changes[key] = (entry[1], None)
        for key, before, entry in sorted(found, key=lambda item: item[2][0]):
            changes[key] = (None if before is None else before[1], entry[1])
        return changes

    def edits_from(self, old: PersistentMap[Key, Value]) -> tuple[tuple[Key, Value | None], ...]:
        """What `edit` needs to make this map of the old one."""
        return tuple((key, after) for key, (_, after) in self.changes_from(old).items())

    @cached_property
    def _ordered(self) -> tuple[tuple[Key, tuple[int, Value]], ...]:
        return tuple(sorted(_entries(self), key=_number))

    @overload
    def get(self, key: Key, /) -> Value | None: ...
    @overload
    def get(self, key: Key, /, default: Value | Default) -> Value | Default: ...
    def get(self, key: Key, /, default: Value | Default | None = None) -> Value | Default | None:
        """The value of a key, or the default."""
        entry = self._buckets[hash(key) & (len(self._buckets) - 1)].get(key)
        return default if entry is None else entry[1]

    def __getitem__(self, key: Key) -> Value:
        return self._buckets[hash(key) & (len(self._buckets) - 1)][key][1]

    def __contains__(self, key: object) -> bool:
        return key in self._buckets[hash(key) & (len(self._buckets) - 1)]

    def __iter__(self) -> Iterator[Key]:
        return (key for key, _ in self._ordered)

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PersistentMap):
            return NotImplemented
        return self is other or (len(self) == len(other) and not self.changes_from(other))

    def __hash__(self) -> int:
        return hash(frozenset((key, entry[1]) for key, entry in _entries(self)))

    def __repr__(self) -> str:
        return f'PersistentMap({dict(self)!r})'


def _entries(found: PersistentMap[Key, Value]) -> Iterator[tuple[Key, tuple[int, Value]]]:
    """Keys with their number and value, in no order."""
    return (item for bucket in found._buckets for item in bucket.items())


def _differs(before: tuple[int, Value] | None, entry: tuple[int, Value]) -> bool:
    return before is not entry and (before is None or (before[1] is not entry[1] and before[1] != entry[1]))


def _number(item: tuple[Key, tuple[int, Value]]) -> int:
    return item[1][0]
