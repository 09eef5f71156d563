"""What a server publishes of our own requests, known again: it may come long after the acknowledgement."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from lfd_planner.scene import Added, Moved, Pose, WorldObject
from lfd_planner.scene.diffs import ObjectChange

from .sameness import near

KEPT = 3.0
"""[s] for which a pose that was sent is known again."""
_MOST = 256  # poses of one object


class Echoes:
    """The poses that were sent of late, by object."""

    def __init__(self) -> None:
        self._sent: dict[str, deque[tuple[float, Pose]]] = {}
        self._shown: dict[str, float] = {}  # when an object's geometry was sent
        self._tidied = 0.0

    @property
    def kept(self) -> int:
        """How many poses are kept."""
        return sum(map(len, self._sent.values()))

    def remember(self, changes: Iterable[ObjectChange], now: float) -> None:
        """Take note of changes that are sent at the time `now` [s]."""
        if now - self._tidied > KEPT:
            self._tidied = now
            self._sent = {id: poses for id, poses in self._sent.items() if now - poses[-1][0] < KEPT}
        for change in changes:
            if isinstance(change, Added):
                self._shown[change.id] = now
            match change:
                case Added(WorldObject(id, _, pose)) | Moved(id, pose):
                    poses = self._sent.setdefault(id, deque(maxlen=_MOST))
                    poses.append((now, pose))
                    while now - poses[0][0] >= KEPT:
                        poses.popleft()
                case _:
                    self._sent.pop(change.id, None)
                    self._shown.pop(change.id, None)

    def know(self, id: str, pose: Pose, now: float) -> bool:
        """Whether an object was sent to this pose not long before `now` [s]."""
        return any(now - at < KEPT and near(pose, sent) for at, sent in self._sent.get(id, ()))

    def shown(self, now: float) -> frozenset[str]:
        """The objects whose geometry was sent not long before `now` [s]."""
        self._shown = {id: at for id, at in self._shown.items() if now - at < KEPT}
        return frozenset(self._shown)

    def clear(self) -> None:
        """Forget all."""
        self._sent.clear()
        self._shown.clear()
