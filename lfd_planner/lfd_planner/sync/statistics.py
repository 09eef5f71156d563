"""What mirroring to one server has cost so far."""

from __future__ import annotations

from dataclasses import dataclass

from .requests import Synchronised


@dataclass
class Statistics:
    """Sums since the start, and the last synchronisation."""

    requests: int = 0
    """Acknowledged."""
    failures: int = 0
    """Refused, or not answered in time."""
    added: int = 0
    moved: int = 0
    removed: int = 0
    bytes: int = 0
    """Sent in requests that change something."""
    last: Synchronised | None = None
    last_bytes: int = 0

    def count(self, done: Synchronised, size: int) -> None:
        """Take note of an acknowledged request of so many bytes."""
        self.requests += 1
        self.added += done.added
        self.moved += done.moved
        self.removed += done.removed
        self.last, self.last_bytes = done, size

    def values(self) -> dict[str, str]:
        """All numbers by name, as people read them."""
        last = self.last
        return {
            'requests': str(self.requests),
            'failures': str(self.failures),
            'objects added': str(self.added),
            'objects moved': str(self.moved),
            'objects removed': str(self.removed),
            'bytes sent': str(self.bytes),
            'last: objects added': str(last.added if last else 0),
            'last: objects moved': str(last.moved if last else 0),
            'last: objects removed': str(last.removed if last else 0),
            'last: bytes sent': str(self.last_bytes),
            'last: latency [ms]': f'{1e3 * last.latency:.3f}' if last else '-',
        }
